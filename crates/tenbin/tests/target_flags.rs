//! Flags of the built-in target that depend on each other.

use std::process::Command;

use crate::support::{Home, TENBIN};

#[test]
fn rejects_impossible_thread_pools() {
    refused(&[
        (&["--thread-limit", "4"], "--thread-limit: it needs --thread-pool growing"),
        (&["--thread-pool", "growing"], "threads is 0"),
        (&["--threads", "8", "--thread-pool", "growing", "--thread-limit", "7"], "from 8 (threads)"),
        (&["--threads", "8", "--thread-pool", "elastic"], "fixed, growing"),
    ]);
}

#[test]
fn rejects_impossible_paces() {
    refused(&[
        (&["--slow-start-factor", "3"], "--slow-start-factor: it needs --slow-start"),
        (&["--slow-start", "20s", "--slow-start-factor", "much"], "\"much\" is not a factor"),
        (&["--slow-start", "20s", "--slow-start-factor", "0"], "from 0.01 to 100"),
        (&["--drift", "0.1"], "\"0.1\" is not a share\n  help: write 1%"),
        (&["--drift", "0%"], "above 0"),
        (&["--step-after", "20s"], "--step-after and --step-factor: each needs the other"),
        (&["--step-after", "20s", "--step-factor", "1000"], "from 0.01 to 100"),
    ]);
}

#[test]
fn rejects_impossible_hangs() {
    refused(&[
        (&["--hang-share", "50%"], "--hang-share: it needs --hang-after"),
        (&["--hang-after", "3s", "--hang-share", "0.5"], "\"0.5\" is not a share"),
        (&["--hang-after", "3s", "--hang-share", "101%"], "at most 1"),
        (&["--hang-after", "25h"], "at most 24h"),
    ]);
}

fn refused(cases: &[(&[&str], &str)]) {
    let home = Home::new();
    for &(flags, said) in cases {
        let mut command = Command::new(TENBIN);
        command.args(["target", "--listen", "127.0.0.1:0"]).args(flags);
        home.isolate(&mut command);
        let output = command.output().expect("run");
        let stderr = String::from_utf8(output.stderr).expect("UTF-8");
        assert_eq!((output.status.code(), stderr.contains(said)), (Some(2), true), "{stderr}");
        assert!(output.stdout.is_empty());
    }
}
