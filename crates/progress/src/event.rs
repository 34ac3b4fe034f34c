//! The facts of a run, in the order in which they become known.

use std::collections::BTreeMap;

use evidence::{Ending, Event, GateResult, Reading, SteadyStart, StudyId, StudyPlace};
use record::Interval;

use crate::study_event::{BlockEnded, Finding, Next, VerdictSoFar};

/// A fact about a run or a study. Times are in nanoseconds since the load of the run began.
///
/// A run whose load began has `Began`, then `Second`, `Reading`, and `Event` as they come, `LoadEnded`, at most a few more events of
/// the plan, `Finding`, and `Ended`. If its load never began, it has `Ended` alone. A run that confirms another one lies between
/// `LoadEnded` and `Ended` of that run, and has a name of its own. If the store or Tenbin itself failed, a run has no `Ended`.
#[derive(Clone, Debug, PartialEq)]
pub enum RunEvent {
    /// A run of a study is about to be made.
    Next(Box<Next>),
    /// Tables are filled before the load.
    Filling(Filling),
    /// The start of the system waited for it to be steady, longer than usual or in vain. The run has a name in the store.
    Steady(SteadyStart),
    /// The load begins. The run has a name in the store.
    Began(Box<Began>),
    /// A second of the load is over and kept. A second comes in several events if a worker reports late.
    Second(Second),
    /// Probes looked at machine, system, and generator. The readings are kept.
    Reading(Readings),
    /// An event of the plan's timeline ended, or could not begin. It is kept.
    Event(Box<Event>),
    /// The load is over: no more seconds follow.
    LoadEnded,
    /// A conclusion from the evidence so far.
    Finding(Finding),
    /// The run is over and kept to its end.
    Ended(Box<Ended>),
    /// The last run of a block of a study is over.
    BlockEnded(BlockEnded),
    /// The state of a comparison after a turn of its study.
    VerdictSoFar(VerdictSoFar),
    /// A decision of a study or a run, in a line for people. Procedures have no typed form of these yet.
    Remark(String),
}

/// The progress of filling tables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Filling {
    /// The first table is about to be made.
    Begins,
    /// Rows are written.
    Rows {
        /// Rows so far.
        rows: u64,
        /// Rows of all tables.
        rows_all: u64,
    },
    /// A step without a count, such as an index; its name in a few words.
    Step(String),
}

/// A load that begins.
#[derive(Clone, Debug, PartialEq)]
pub struct Began {
    /// The load as it is stored, such as `50 users, closed`.
    pub load: String,
    /// The names of the steps, by number.
    pub steps: Vec<String>,
    /// The names of the endpoints that the steps speak to, by number of the step; empty for that of the `url`.
    pub endpoints: Vec<String>,
    /// The study and the place in it; `None` for a run outside a study, and for one that confirms another.
    pub place: Option<(StudyId, StudyPlace)>,
    /// Length of the warm-up, in nanoseconds.
    pub warm_up_ns: u64,
    /// Planned length, warm-up included, in nanoseconds; `None` if no time ends the load.
    pub planned_ns: Option<u64>,
    /// Upper bound of the memory that the run takes, in bytes; `None` if another load generator makes the load.
    pub memory_bound_bytes: Option<u64>,
}

/// The account that an interval belongs to. [`Began::endpoints`] has the endpoint of a step. Further keys, such as an address of
/// it, become fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub struct Account {
    /// Number of the step; numbers from the number of steps on are parts of steps, such as the statements of a transaction.
    pub step: u16,
}

impl Account {
    /// The account of a step, or of a part of one.
    pub const fn of_step(step: u16) -> Self {
        Self { step }
    }
}

/// The intervals of one second by account, one for each worker and phase.
pub type Intervals = BTreeMap<Account, Vec<Interval>>;

/// A second of a load.
#[derive(Clone, Debug, PartialEq)]
pub struct Second {
    /// Whole seconds since the load began.
    pub second: u64,
    /// Figures over all steps; `None` if the event has parts of steps only.
    pub figures: Option<Figures>,
    /// The intervals by account; empty for a subscriber to [`crate::Detail::Figures`].
    pub intervals: Intervals,
}

/// A second in figures, with the state of the run at its end. It stands on its own, so that lost frames do not matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Figures {
    /// Time since the load began, in nanoseconds.
    pub elapsed_ns: u64,
    /// Planned length, warm-up included, in nanoseconds; `None` if no time ends the load.
    pub planned_ns: Option<u64>,
    /// Planned number of requests; `None` if no count ends the load.
    pub planned_requests: Option<u64>,
    /// Whether the second has requests of the warm-up only.
    pub is_warm_up: bool,
    /// Requests of the measured phase that have ended since the load began.
    pub ended: u64,
    /// Replies in this second, rejections included.
    pub answered: u64,
    /// Median response time of this second; `None` if there are too few samples.
    pub p50_ns: Option<u64>,
    /// 99th percentile of the response times of this second; `None` if there are too few samples.
    pub p99_ns: Option<u64>,
    /// 99th percentile of the send delays of this second; `None` if there are too few samples.
    pub send_delay_p99_ns: Option<u64>,
    /// Requests of this second that were rejected, failed, or timed out.
    pub errors: u64,
    /// Requests in flight at the end of this second.
    pub in_flight: u64,
}

/// Readings of all probes at one time.
#[derive(Clone, Debug, PartialEq)]
pub struct Readings {
    /// When the probes looked.
    pub at_ns: u64,
    /// The second that the readings are stored under.
    pub second: u64,
    /// One for each subject, metric, and label.
    pub readings: Vec<Reading>,
}

/// A run that is over.
#[derive(Clone, Debug, PartialEq)]
pub struct Ended {
    /// The ending as it is stored.
    pub ending: Ending,
    /// The results of the conditions; empty if there are none, or if the load did not come to its end.
    pub gates: Vec<GateResult>,
    /// The run in three figures; `None` if they were not requested, or if the load did not come to its end.
    pub brief: Option<Brief>,
}

/// A run in three figures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Brief {
    /// Successful replies per second of the measured window.
    pub ok_per_s: f64,
    /// Median response time; `None` if there are too few samples.
    pub p50_ns: Option<u64>,
    /// Share of planned requests that did not end ok; `None` if none was planned.
    pub errors_share: Option<f64>,
}
