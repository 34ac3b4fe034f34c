//! Events of a run, in the order in which they occur.

use std::collections::BTreeMap;

use evidence::{Ending, Event, GateResult, Reading, SteadyStart, StudyId, StudyPlace};
use record::Interval;

use crate::study_event::{BlockEnded, Finding, Next, VerdictSoFar};

/// Event of a run or a study. Times are in nanoseconds since the start of the run's load.
///
/// A run whose load began publishes `Began`, then `Second`, `Reading`, and `Event` as they occur, then `LoadEnded`, possibly a few more
/// events of the plan, `Finding`, and `Ended`. A run whose load never began publishes only `Ended`. A confirmation run lies between
/// `LoadEnded` and `Ended` of the run that it confirms, and has its own name. If the store or Tenbin itself failed, a run has no `Ended`.
#[derive(Clone, Debug, PartialEq)]
pub enum RunEvent {
    /// A run of a study is about to start.
    Next(Box<Next>),
    /// Tables are filled before the load.
    Filling(Filling),
    /// The system took longer than usual to become steady after its start, or did not become steady. The run has a name in the store.
    Steady(SteadyStart),
    /// The load begins. The run has a name in the store.
    Began(Box<Began>),
    /// A second of the load is over and stored. A second comes in several events if a worker reports late.
    Second(Second),
    /// Probes read the metrics of machine, system, and generator. The readings are stored.
    Reading(Readings),
    /// An event of the plan's timeline ended, or could not begin. It is stored.
    Event(Box<Event>),
    /// The load is over: no more seconds follow.
    LoadEnded,
    /// Conclusion from the evidence so far.
    Finding(Finding),
    /// The run is over and stored completely.
    Ended(Box<Ended>),
    /// The last run of a block of a study is over.
    BlockEnded(BlockEnded),
    /// State of a comparison after a turn of its study.
    VerdictSoFar(VerdictSoFar),
    /// Decision of a study or a run, as a line of text. Procedures have no typed form of these yet.
    Remark(String),
}

/// Progress of filling tables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Filling {
    /// The first table is about to be created.
    Begins,
    /// Rows were written.
    Rows {
        /// Number of rows so far.
        rows: u64,
        /// Number of rows of all tables.
        rows_all: u64,
    },
    /// Step without a row count, such as an index. Holds its short name.
    Step(String),
}

/// Start of a load.
#[derive(Clone, Debug, PartialEq)]
pub struct Began {
    /// Description of the load as stored, such as `50 users, closed`.
    pub load: String,
    /// Names of the steps, by number.
    pub steps: Vec<String>,
    /// Names of the endpoints of the steps, by number of the step. Empty for the endpoint of the `url`.
    pub endpoints: Vec<String>,
    /// Study of the run, and its place in the study. `None` for a run outside a study, and for a confirmation run.
    pub place: Option<(StudyId, StudyPlace)>,
    /// Length of the warm-up, in nanoseconds.
    pub warm_up_ns: u64,
    /// Planned length, warm-up included, in nanoseconds. `None` if no time limit ends the load.
    pub planned_ns: Option<u64>,
    /// Upper bound of the run's memory, in bytes. `None` if another load generator runs the load.
    pub memory_bound_bytes: Option<u64>,
}

/// Account of an interval. [`Began::endpoints`] has the endpoint of a step. Further keys, such as an address, will become fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub struct Account {
    /// Number of the step. Numbers from the number of steps on stand for parts of steps, such as the statements of a transaction.
    pub step: u16,
}

impl Account {
    /// Creates the account of a step, or of a part of a step.
    pub const fn of_step(step: u16) -> Self {
        Self { step }
    }
}

/// Intervals of one second by account. Each account has one interval per worker and phase.
pub type Intervals = BTreeMap<Account, Vec<Interval>>;

/// One second of a load.
#[derive(Clone, Debug, PartialEq)]
pub struct Second {
    /// Whole seconds since the load began.
    pub second: u64,
    /// Figures over all steps. `None` if the event has only parts of steps.
    pub figures: Option<Figures>,
    /// Intervals by account. Empty for a subscriber to [`crate::Detail::Figures`].
    pub intervals: Intervals,
}

/// Figures of one second, and the state of the run at its end. Needs no earlier frames, so lost frames do no harm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Figures {
    /// Time since the load began, in nanoseconds.
    pub elapsed_ns: u64,
    /// Planned length, warm-up included, in nanoseconds. `None` if no time limit ends the load.
    pub planned_ns: Option<u64>,
    /// Planned number of requests. `None` if no request limit ends the load.
    pub planned_requests: Option<u64>,
    /// Whether the second only has requests of the warm-up.
    pub is_warm_up: bool,
    /// Number of requests of the measured phase that have ended since the load began.
    pub ended: u64,
    /// Number of replies in this second, rejections included.
    pub answered: u64,
    /// Median response time of this second, in nanoseconds. `None` if there are too few samples.
    pub p50_ns: Option<u64>,
    /// 99th percentile of the response times of this second, in nanoseconds. `None` if there are too few samples.
    pub p99_ns: Option<u64>,
    /// 99th percentile of the send delays of this second, in nanoseconds. `None` if there are too few samples.
    pub send_delay_p99_ns: Option<u64>,
    /// Number of requests of this second that were rejected, failed, or timed out.
    pub errors: u64,
    /// Number of requests in flight at the end of this second.
    pub in_flight: u64,
}

/// Readings of all probes at one time.
#[derive(Clone, Debug, PartialEq)]
pub struct Readings {
    /// Time of the readings, in nanoseconds since the load began.
    pub at_ns: u64,
    /// Second that the readings are stored under.
    pub second: u64,
    /// One reading for each subject, metric, and label.
    pub readings: Vec<Reading>,
}

/// Completed run.
#[derive(Clone, Debug, PartialEq)]
pub struct Ended {
    /// Ending of the run, as stored.
    pub ending: Ending,
    /// Results of the conditions. Empty if there are none, or if the load did not run to its end.
    pub gates: Vec<GateResult>,
    /// Summary of the run. `None` if it was not requested, or if the load did not run to its end.
    pub brief: Option<Brief>,
}

/// Summary of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Brief {
    /// OK replies per second of the measured window.
    pub ok_per_s: f64,
    /// Median response time, in nanoseconds. `None` if there are too few samples.
    pub p50_ns: Option<u64>,
    /// Share of planned requests that did not end OK. `None` if no request was planned.
    pub errors_share: Option<f64>,
}
