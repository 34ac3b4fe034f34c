//! T19: a server that, from a certain time on, accepts connections and never answers. Time-outs are the first errors.

use crate::bench::Bench;
use crate::broken::{self, BrokenServer, Model, Part, leave_alone};
use crate::grade::Grade;

const HANGING: BrokenServer = BrokenServer {
    case: "T19",
    what: "all connections hang",
    single: "exec {target} --hang-after 3s",
    act: leave_alone,
    in_study: "exec {target} --hang-after 800ms",
    gone: 0.50..=0.80,
    outage_s: Some(2.5..=4.0),
    open_flags: "",
    connections: "400",
    only_full: &[Part::Best, Part::Study(Model::Closed)],
};

pub(crate) fn run(bench: &Bench) -> Vec<Grade> {
    broken::grades(bench, &HANGING)
}
