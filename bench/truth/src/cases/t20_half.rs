//! T20: a server on which, from a certain time on, half of the connections hang. The others are as fast as before, so the server is
//! half unavailable, though it never stops answering.

use crate::bench::Bench;
use crate::broken::{self, BrokenServer, Model, Part, leave_alone};
use crate::grade::Grade;

const HALF: BrokenServer = BrokenServer {
    case: "T20",
    what: "half of the connections hang",
    single: "exec {target} --hang-after 2500ms --hang-share 50%",
    act: leave_alone,
    in_study: "exec {target} --hang-after 500ms --hang-share 50%",
    // Half of the users or arrivals get no answer for 3.5 of 5 s.
    gone: 0.18..=0.42,
    outage_s: None,
    // An open load avoids connections that hang, unless each arrival opens a connection.
    open_flags: "--requests-per-connection 1",
    connections: "400",
    only_full: &[Part::Study(Model::Open)],
};

pub(crate) fn run(bench: &Bench) -> Vec<Grade> {
    broken::grades(bench, &HALF)
}
