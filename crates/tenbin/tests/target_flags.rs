//! Flags of the built-in target that belong together.

mod support;

use std::process::Command;

use support::{Home, TENBIN};

#[test]
fn thread_pools_that_cannot_be_are_refused() {
    let home = Home::new();
    for (flags, said) in [
        (&["--thread-limit", "4"][..], "--thread-limit: it belongs to --thread-pool growing"),
        (&["--thread-pool", "growing"][..], "threads is 0"),
        (&["--threads", "8", "--thread-pool", "growing", "--thread-limit", "7"][..], "from 8 (threads)"),
        (&["--threads", "8", "--thread-pool", "elastic"][..], "fixed, growing"),
    ] {
        let mut command = Command::new(TENBIN);
        command.args(["target", "--listen", "127.0.0.1:0"]).args(flags);
        home.isolate(&mut command);
        let output = command.output().expect("run");
        let stderr = String::from_utf8(output.stderr).expect("UTF-8");
        assert_eq!((output.status.code(), stderr.contains(said)), (Some(2), true), "{stderr}");
        assert!(output.stdout.is_empty());
    }
}
