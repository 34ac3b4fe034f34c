//! Description of a run when it begins.

use std::fmt;

use crate::study::StudyPlace;
use crate::study_id::StudyId;

/// Load model: whether requests wait for replies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Model {
    /// Users wait for the reply before they send the next request.
    Closed,
    /// Requests are sent at times that do not depend on replies.
    Open,
}

impl Model {
    /// Returns the word for the model in the store and in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Closed => "closed",
            Self::Open => "open",
        }
    }

    /// Finds the model with this name; `None` if there is none.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Closed, Self::Open].into_iter().find(|model| model.name() == name)
    }
}

impl fmt::Display for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Unit that a step is counted in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unit {
    /// Requests, each with one reply. [`record::Tally::statuses`] are the protocol's own.
    #[default]
    Requests,
    /// SQL transactions, each one execution of a script. [`record::Tally::statuses`] count tries per transaction; 999 stands for
    /// 999 or more.
    Transactions,
}

impl Unit {
    /// Returns the word for the unit in the store and in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Requests => "requests",
            Self::Transactions => "transactions",
        }
    }

    /// Returns whether [`record::Tally::statuses`] count tries instead of reply statuses.
    pub const fn counts_tries(self) -> bool {
        matches!(self, Self::Transactions)
    }

    /// Returns whether the parts of a step are the statements that the plan gives.
    pub const fn has_planned_statements(self) -> bool {
        matches!(self, Self::Transactions)
    }

    /// Returns whether the time to connect includes a log-in.
    pub const fn connects_with_log_in(self) -> bool {
        matches!(self, Self::Transactions)
    }

    /// Returns the common unit of several steps or runs; requests if they differ.
    pub fn for_all(units: impl IntoIterator<Item = Self>) -> Self {
        let mut units = units.into_iter();
        let first = units.next().unwrap_or_default();
        if units.all(|unit| unit == first) { first } else { Self::default() }
    }

    /// Finds the unit with this name; `None` if there is none.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Requests, Self::Transactions].into_iter().find(|unit| unit.name() == name)
    }
}

/// A part of a step with its own counts: a statement of a transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepPart {
    /// Text of the statement, or its first line.
    pub name: String,
    /// Number of the step.
    pub of: u16,
}

/// Returns the load in words, followed by `, profiled` if the run is profiled.
pub fn in_words(load_words: &str, is_profiled: bool) -> String {
    format!("{load_words}{}", if is_profiled { ", profiled" } else { "" })
}

/// Description of a run when it begins. Texts are untrusted: escape them before printing.
#[derive(Clone, Debug, PartialEq)]
pub struct NewRun {
    /// When the load began, in milliseconds since 1970 (UTC).
    pub started_at_unix_ms: i64,
    /// Title in one line, such as the URL without user information.
    pub title: String,
    /// Plan in words.
    pub plan_text: String,
    /// Plan in the form for programs.
    pub plan_json: serde_json::Value,
    /// Hash of the plan, equal for equal plans.
    pub plan_hash: String,
    /// Version of Tenbin that measured the run.
    pub tenbin_version: String,
    /// Machine that measured the run: a JSON object.
    pub host: serde_json::Value,
    /// Load in words, such as `100 users, closed`, without the note that it is profiled.
    pub load_words: String,
    /// Whether the run samples the CPU time of its system, which has a cost.
    pub is_profiled: bool,
    /// Load model: closed or open.
    pub model: Model,
    /// Users of a closed load of Tenbin's own generator, also where they share connections. `None` for any other load.
    pub users: Option<u32>,
    /// Names of the steps; the place in the list is the number of the step.
    pub steps: Vec<String>,
    /// Unit of each step, in the order of the steps.
    pub units: Vec<Unit>,
    /// Parts of the steps. Their numbers continue after those of the steps. Sums over steps leave them out.
    pub parts: Vec<StepPart>,
    /// End of the warm-up: requests intended before it are warm-up.
    pub warm_up_ns: u64,
    /// Planned duration after the warm-up; `None` if something else ends the run.
    pub planned_duration_ns: Option<u64>,
    /// Response time above which the plan calls an ok reply late; `None` if the plan sets no limit.
    pub latency_limit_ns: Option<u64>,
    /// Whether each request or transaction opens its own connection.
    pub connects_each: bool,
    /// Notes that every report must show, such as `TLS certificates were not verified (--insecure)`.
    pub stamps: Vec<String>,
    /// Study and place in it; `None` for a run on its own.
    pub place: Option<(StudyId, StudyPlace)>,
    /// Version that the system reports, in one line. `None` if it reports none.
    pub system_version: Option<String>,
}

impl NewRun {
    /// Key of `plan_json` for the path of the plan file, as the command line gave it.
    pub const PLAN_FILE: &str = "plan_file";
    /// Key of `plan_json` for the name that a command line gives to the system of a single run.
    pub const SYSTEM: &str = "system";

    /// Returns the name of the system of a single run; `None` if the command line gave none.
    pub fn named_system(&self) -> Option<&str> {
        self.plan_json[Self::SYSTEM].as_str()
    }

    /// Returns the load in words, with a note if it is profiled: `100 users, closed, profiled`.
    pub fn load_in_words(&self) -> String {
        in_words(&self.load_words, self.is_profiled)
    }

    /// Returns the unit of the run as a whole: transactions if all steps are, else requests.
    pub fn unit(&self) -> Unit {
        Unit::for_all(self.units.iter().copied())
    }

    /// Returns whether the load replays a log without its pauses, so that each session sends as soon as it is answered.
    pub fn is_replay_without_pauses(&self) -> bool {
        self.plan_json.get("replay").is_some_and(|replay| replay["speed"].is_null())
    }

    /// Returns the parts of a step: the number under which the seconds of each part are stored, and its name.
    pub fn parts_of(&self, step: u16) -> impl Iterator<Item = (u16, &str)> {
        let numbered = (0..=u16::MAX).skip(self.steps.len()).zip(&self.parts);
        numbered.filter(move |(_, part)| part.of == step).map(|(number, part)| (number, part.name.as_str()))
    }
}
