//! T18: a server that is killed during the load, and restarted on the same port a moment later.

use crate::bench::Bench;
use crate::broken::{self, BrokenServer, Model, Part, leave_alone};
use crate::grade::Grade;

const RESTARTED: BrokenServer = BrokenServer {
    case: "T18",
    what: "killed and started again",
    single: "timeout --foreground -s KILL 2.5 {target}; sleep 0.7; exec {target}",
    act: leave_alone,
    in_study: "timeout --foreground -s KILL 1.0 {target}; sleep 0.3; exec {target}",
    // The server is down for 0.7 s plus its start-up time. Users return after a back-off of up to 1 s.
    gone: 0.13..=0.40,
    outage_s: Some(0.7..=1.9),
    open_flags: "",
    connections: "400",
    only_full: &[Part::Best, Part::Study(Model::Closed)],
};

pub(crate) fn run(bench: &Bench) -> Vec<Grade> {
    broken::grades(bench, &RESTARTED)
}
