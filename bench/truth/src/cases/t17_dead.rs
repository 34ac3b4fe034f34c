//! T17: a server that is killed during the load and stays dead. Connections are refused quickly, so the outage adds few errors and
//! little response time.

use std::thread;
use std::time::Duration;

use crate::bench::Bench;
use crate::broken::{self, BrokenServer, Model, Part};
use crate::grade::Grade;

const DEAD: BrokenServer = BrokenServer {
    case: "T17",
    what: "dead from second 3 on",
    single: "exec {target}",
    act: |server| {
        server.wait_for_load();
        thread::sleep(Duration::from_secs(3));
        server.kill();
    },
    in_study: "timeout --foreground -s KILL 0.9 {target}; sleep 60; :",
    gone: 0.50..=0.70,
    outage_s: Some(2.5..=3.4),
    open_flags: "",
    connections: "400",
    only_full: &[Part::Best, Part::Study(Model::Open)],
};

pub(crate) fn run(bench: &Bench) -> Vec<Grade> {
    broken::grades(bench, &DEAD)
}
