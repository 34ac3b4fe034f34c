//! T20: from some instant on half of the connections hang, and the others are as quick as before. The system is half gone, though
//! there is no moment without an answer.

use crate::bench::Bench;
use crate::broken::{self, Broken, Model, Part, leave_alone};
use crate::grade::Grade;

const HALF: Broken = Broken {
    case: "T20",
    what: "half of the connections hang",
    single: "exec {target} --hang-after 2500ms --hang-share 50%",
    act: leave_alone,
    in_study: "exec {target} --hang-after 500ms --hang-share 50%",
    // For 3.5 of five seconds half of the users, or of the arrivals.
    gone: 0.18..=0.42,
    outage_s: None,
    // An open load goes around connections that hang, unless each arrival has one of its own.
    open_flags: "--requests-per-connection 1",
    connections: "400",
    only_full: &[Part::Study(Model::Open)],
};

pub(crate) fn run(bench: &Bench) -> Vec<Grade> {
    broken::grades(bench, &HALF)
}
