//! Tests that a process that leaves its parent and its session still belongs to the system.

use std::process::{Command, Stdio};

use lab::probes::{Subject, Watch};
use rustix::process::{Pid, Signal, WaitOptions};

/// Value of the descendants of this process.
fn value(metric: &str) -> Option<f64> {
    let roots = vec![("app".to_owned(), std::process::id())];
    let (looks, _) = Watch::begin(Subject { roots, ..Subject::default() }).end();
    let mut readings = looks[0].readings.iter();
    readings.find(|reading| reading.subject == "app" && reading.metric == metric).map(|reading| reading.value)
}

#[test]
fn daemon_is_counted_below_the_keeper_that_adopts_it() {
    // This process is the keeper, so this test is alone in its file.
    rustix::process::set_child_subreaper(Some(rustix::process::getpid())).unwrap();
    assert_eq!(value("processes"), Some(0.0));
    let mut command = Command::new("sh");
    command.args(["-c", "setsid sh -c 'sleep 60 > /dev/null & echo $!'"]);
    let output = command.stdin(Stdio::null()).stderr(Stdio::null()).output().unwrap();
    let daemon: i32 = String::from_utf8(output.stdout).unwrap().trim().parse().unwrap();
    let daemon = Pid::from_raw(daemon).unwrap();
    assert_eq!(value("processes"), Some(1.0));
    assert!(value("rss_bytes").unwrap() > 0.0);
    rustix::process::kill_process(daemon, Signal::KILL).unwrap();
    rustix::process::waitpid(Some(daemon), WaitOptions::empty()).unwrap();
    assert_eq!(value("processes"), Some(0.0));
}
