//! T21: a server that answers every request at once with an error. It is the fastest server, and useless.

use crate::bench::Bench;
use crate::broken::{self, BrokenServer, Model, Part, leave_alone};
use crate::grade::Grade;

/// The burst covers the trial connection and the readiness checks, and no token is refilled in time. The server answers, so it counts
/// as available.
const ERRORS: BrokenServer = BrokenServer {
    case: "T21",
    what: "errors at once",
    single: "exec {target} --rate-limit 0.0001/s --burst 5",
    act: leave_alone,
    in_study: "exec {target} --rate-limit 0.0001/s --burst 5",
    gone: 0.0..=1.0,
    outage_s: None,
    open_flags: "",
    connections: "400",
    only_full: &[Part::Best, Part::Study(Model::Closed)],
};

pub(crate) fn run(bench: &Bench) -> Vec<Grade> {
    broken::grades(bench, &ERRORS)
}
