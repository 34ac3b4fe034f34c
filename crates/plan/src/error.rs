//! Errors in a load or its steps: a field and a problem. Command line and plan file each print them with their own names.

mod step;

pub use step::StepProblem;

use crate::fault::Fault;
use crate::spec::{At, Field, InvalidText};
use crate::units::show_duration;

/// Error of a plan.
#[derive(Clone, Debug, PartialEq)]
pub struct PlanError {
    /// Value that is wrong.
    pub field: Field,
    /// Kind of error.
    pub problem: Problem,
    /// Place in the plan file. `None` for a command line.
    pub(crate) at: Option<At>,
}

/// Kind of error in a value.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Problem {
    /// The text cannot be parsed.
    #[allow(missing_docs, reason = "what is wrong, and what to write")]
    Unreadable { what: String, help: String },
    /// The value is out of range.
    #[allow(missing_docs, reason = "each says what it is")]
    OutOfRange { have: u64, min: u64, max: u64 },
    /// The duration is 0.
    NoTime,
    /// The rate is 0.
    NoRate,
    /// The rate of all stages is always 0.
    NoPeak,
    /// No stage has a duration.
    NoTimeInStages,
    /// The warm-up has a rate of 0.
    ColdWarmUp,
    /// The ramp-up is as long as the load, or longer.
    RampTooLong,
    /// A ramp has no duration.
    RampWithoutTime,
    /// Limit that is shorter than the generator's own send delay.
    ShedTooSoon,
    /// The value applies only to loads with a rate.
    NeedsRate,
    /// The value applies only to loads with users.
    NeedsUsers,
    /// The value applies only to databases.
    NeedsDatabase,
    /// The protocol allows fewer requests in flight on a connection.
    #[allow(missing_docs, reason = "how many it takes")]
    NoPipeline { max: u32 },
    /// The pipeline needs connections that carry more than one request.
    PipelineWithoutReuse,
    /// A load with a rate has no pool of users.
    PoolOfRate,
    /// Both a rate and stages.
    TwoRates,
    /// Both a duration and stages.
    TwoTimes,
    /// The recording already determines this value.
    SetByRecording,
    /// The recording ends before the warm-up does.
    RecordingTooShort,
    /// Users replay a recording in which some arrivals belong to no session.
    #[allow(missing_docs, reason = "how many")]
    NoSessions { arrivals: u64 },
    /// The recording has more sessions than the load has users.
    #[allow(missing_docs, reason = "each says what it is")]
    TooManySessions { sessions: u64, users: u64 },
    /// The connections carry one request each, so they have no lifetime.
    LifetimeOfOneRequest,
    /// Two limits of the send delay are given.
    TwoLimits,
    /// Stages cannot be extended.
    ExtendedStages,
    /// A load that ends after a number of requests cannot be extended.
    ExtendedRequests,
    /// The connect timeout is longer than the timeout of the request.
    #[allow(missing_docs, reason = "how long the whole request may take")]
    ConnectTooLong { timeout_ns: u64 },
    /// More threads than connections.
    #[allow(missing_docs, reason = "each says what it is")]
    TooManyThreads { threads: u64, connections: u32 },
    /// The error is in a step, not in the amount of load.
    Step(StepProblem),
}

/// Spelling of the names of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spelling {
    /// Named as flags: `-c`.
    Flags,
    /// Named as plan keys: `` `users` ``.
    Keys,
}

impl Spelling {
    /// Name of a value: `-d`, or `` `for` ``.
    fn name(self, field: Field) -> String {
        match self {
            Self::Flags => field.flag.to_owned(),
            Self::Keys => format!("`{}`", field.key),
        }
    }

    /// Name with a value: `-d 30s`, or `` `for: 30s` ``.
    fn example(self, field: Field, value: &str) -> String {
        match self {
            Self::Flags => format!("{} {value}", field.flag),
            Self::Keys => format!("`{}: {value}`", field.key),
        }
    }

    fn pick_name<'a>(self, flags: &'a str, keys: &'a str) -> &'a str {
        match self {
            Self::Flags => flags,
            Self::Keys => keys,
        }
    }
}

impl From<StepProblem> for Problem {
    fn from(problem: StepProblem) -> Self {
        Self::Step(problem)
    }
}

impl From<&InvalidText> for Problem {
    fn from(wrong: &InvalidText) -> Self {
        Self::Unreadable { what: wrong.what.clone(), help: wrong.help.clone() }
    }
}

impl PlanError {
    /// The error as text, for places where no line of a file can be shown.
    pub(crate) fn to_fault(&self, spelling: Spelling) -> Fault {
        Fault::new(self.names(spelling), self.what(spelling), self.help(spelling))
    }

    /// Names of the values that the error is about.
    pub(crate) fn names(&self, spelling: Spelling) -> String {
        if let Problem::Step(StepProblem::Script { place, .. } | StepProblem::Undefined { place, .. }) =
            &self.problem
        {
            return place.clone();
        }
        let name = spelling.name(self.field);
        match self.other() {
            Some(other) => format!("{name} and {}", spelling.name(other)),
            None => name,
        }
    }

    /// The second field, which contradicts the first. `None` if the error is about one field.
    pub(crate) fn other(&self) -> Option<Field> {
        match self.problem {
            Problem::TwoRates | Problem::TwoTimes | Problem::ExtendedStages => Some(Field::STAGES),
            Problem::SetByRecording => Some(Field::RECORDED),
            Problem::TwoLimits => Some(Field::SHED_AFTER),
            Problem::LifetimeOfOneRequest => Some(Field::KEEP_ALIVE),
            Problem::ExtendedRequests => Some(Field::REQUESTS),
            _ => None,
        }
    }

    /// Whether the key should not be given at all. The error then points at the key, not at the value.
    pub(crate) fn points_at_key(&self) -> bool {
        self.other().is_some()
            || matches!(self.problem, Problem::NeedsRate | Problem::NeedsUsers | Problem::NeedsDatabase)
    }

    /// Message of the error.
    pub(crate) fn what(&self, spelling: Spelling) -> String {
        let name = |field| spelling.name(field);
        // An error in a file shows the line, and an error of a command line begins with the flag.
        let it = spelling.pick_name("it", &name(self.field)).to_owned();
        let rates = |link: &str| format!("{} {link} {}", name(Field::RATE), name(Field::STAGES));
        match &self.problem {
            Problem::Unreadable { what, .. } => what.clone(),
            Problem::OutOfRange { have, min, max } => format!("{have} is not between {min} and {max}"),
            Problem::NoTime => "the duration must be greater than 0".to_owned(),
            Problem::NoRate => "the rate must be greater than 0".to_owned(),
            Problem::NoPeak => "the rate is 0 in all stages".to_owned(),
            Problem::NoTimeInStages => "the stages have no duration".to_owned(),
            Problem::ColdWarmUp => "the warm-up would run at a rate of 0".to_owned(),
            Problem::RampTooLong => "the load ends before the ramp-up does".to_owned(),
            Problem::RampWithoutTime => "a ramp requires a duration".to_owned(),
            Problem::ShedTooSoon => "the generator itself may delay a request that long".to_owned(),
            Problem::NeedsRate => format!("{it} requires a load with a rate"),
            Problem::NeedsUsers => {
                format!(
                    "it requires a load with {}, and {} sends without waiting for replies",
                    name(Field::USERS),
                    rates("or")
                )
            }
            Problem::NeedsDatabase => {
                format!("{it} applies to databases: postgres://…, mysql://…, sqlite:…")
            }
            Problem::NoPipeline { max: 1 } => pipeline_protocols(),
            Problem::NoPipeline { max } => format!("a connection takes at most {max} requests side by side"),
            Problem::PipelineWithoutReuse => {
                format!("{it} sends several requests over one connection, and each has its own")
            }
            Problem::PoolOfRate => {
                format!("with {}, {} sets the number of connections", rates("or"), name(Field::CONNECTIONS))
            }
            Problem::TwoRates => "both set the rate".to_owned(),
            Problem::TwoTimes => "the stages set the duration".to_owned(),
            Problem::SetByRecording => "the recording sets when requests start".to_owned(),
            Problem::RecordingTooShort => "the recording ends before the warm-up does".to_owned(),
            Problem::NoSessions { arrivals: 1 } => {
                format!("an arrival has no session, and {} play sessions", name(Field::USERS))
            }
            Problem::NoSessions { arrivals } => {
                format!("{arrivals} arrivals have no session, and {} play sessions", name(Field::USERS))
            }
            Problem::TooManySessions { sessions, users: 1 } => {
                format!("the recording has {sessions} sessions, and the load 1 user")
            }
            Problem::TooManySessions { sessions, users } => {
                format!("the recording has {sessions} sessions, and the load {users} users")
            }
            Problem::LifetimeOfOneRequest => "each connection carries one request".to_owned(),
            Problem::TwoLimits => "both set how late a request may be sent".to_owned(),
            Problem::ExtendedStages => "a rate that changes in stages does not become steady".to_owned(),
            Problem::ExtendedRequests => {
                "a number of requests ends the load, whether it is steady or not".to_owned()
            }
            Problem::ConnectTooLong { timeout_ns } => {
                format!(
                    "{it} is longer than the timeout of the whole request ({})",
                    show_duration(*timeout_ns)
                )
            }
            Problem::TooManyThreads { threads, connections } => {
                format!("{threads} threads cannot share {connections} connections")
            }
            Problem::Step(problem) => problem.what(spelling),
        }
    }

    /// Help of the error.
    pub(crate) fn help(&self, spelling: Spelling) -> String {
        let name = |field| spelling.name(field);
        let example = |field, value| spelling.example(field, value);
        let measured = || name(Field::MEASURED);
        match &self.problem {
            Problem::Unreadable { help, .. } => help.clone(),
            Problem::OutOfRange { min, max, .. } => format!("write a number from {min} to {max}"),
            Problem::NoTime => "write a duration such as 10s".to_owned(),
            Problem::NoRate => "write a rate such as 500/s".to_owned(),
            Problem::NoPeak => {
                let flags = "give a stage a rate, such as 10s:100/s";
                spelling.pick_name(flags, "give a stage a rate, such as `to: 100/s`").to_owned()
            }
            Problem::NoTimeInStages => {
                let keys = "give a stage a duration, such as `for: 10s`";
                spelling.pick_name("write 10s:100/s,30s:500/s", keys).to_owned()
            }
            Problem::ColdWarmUp => {
                let ramp = example(Field::RAMP_FROM, "10/s");
                let or_stages = spelling.pick_name(" or --stages 0s:10/s,…", "");
                format!("start at a rate, such as {ramp}{or_stages}")
            }
            Problem::RampTooLong => format!("shorten {}, or lengthen {}", name(Field::RAMP_UP), measured()),
            Problem::RampWithoutTime => {
                format!("add {}", example(Field::MEASURED, "30s"))
            }
            Problem::ShedTooSoon => "write 1ms or more".to_owned(),
            Problem::NeedsRate => {
                let (rate, stages) = (name(Field::RATE), name(Field::STAGES));
                match spelling {
                    Spelling::Flags => format!("add {rate} (or {stages}), or remove it"),
                    Spelling::Keys => format!("add {rate} or {stages}, or remove it"),
                }
            }
            Problem::NeedsUsers
            | Problem::ExtendedStages
            | Problem::SetByRecording
            | Problem::PipelineWithoutReuse
            | Problem::LifetimeOfOneRequest => "remove one of the two".to_owned(),
            Problem::RecordingTooShort => format!("shorten {}, or remove it", name(Field::WARM_UP)),
            Problem::NoSessions { .. } => {
                format!(
                    "add a column `session`, or write {} in place of {}",
                    name(Field::CONNECTIONS),
                    name(Field::USERS)
                )
            }
            Problem::TooManySessions { sessions, .. } => {
                format!("write {}", example(Field::USERS, &sessions.to_string()))
            }
            Problem::NeedsDatabase | Problem::PoolOfRate | Problem::NoPipeline { max: 1 } => {
                "remove it".to_owned()
            }
            Problem::NoPipeline { max } => format!("write a number from 1 to {max}"),
            Problem::TwoRates | Problem::TwoLimits => "use one of them".to_owned(),
            Problem::TwoTimes => format!("remove {}", measured()),
            Problem::ExtendedRequests => {
                format!("remove one of the two, and set the duration with {}", measured())
            }
            Problem::ConnectTooLong { .. } => {
                format!("shorten it, or lengthen {}", name(Field::TIMEOUT))
            }
            Problem::TooManyThreads { connections, .. } => format!("use at most {connections} threads"),
            Problem::Step(problem) => problem.help(spelling),
        }
    }
}

/// Names the protocols that can share a connection between concurrent requests.
fn pipeline_protocols() -> String {
    let owners = wire::step::owners().filter(|(_, own)| own.pipeline_max > 1);
    let nouns: Vec<&str> = owners.map(|(_, own)| own.noun).collect();
    format!("requests of this load cannot share a connection side by side; those of {} can", nouns.join(", "))
}
