//! Description of a run when it begins.

use std::fmt;

use crate::study::StudyPlace;
use crate::study_id::StudyId;

/// Whether requests wait for replies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Model {
    /// Users who wait for the reply before they ask again.
    Closed,
    /// Requests at times that do not depend on replies.
    Open,
}

impl Model {
    /// The word in the store and in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Closed => "closed",
            Self::Open => "open",
        }
    }

    /// The model of this word.
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
    /// Requests, each with one reply; [`record::Tally::statuses`] are the protocol's own.
    #[default]
    Requests,
    /// SQL transactions, each one run of a script. [`record::Tally::statuses`] say how often they were tried;
    /// 999 stands for more, too.
    Transactions,
}

impl Unit {
    /// The word in the store and in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Requests => "requests",
            Self::Transactions => "transactions",
        }
    }

    /// The unit of this word.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Requests, Self::Transactions].into_iter().find(|unit| unit.name() == name)
    }
}

/// A part of a step that has an account of its own: a statement of a transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartOf {
    /// Its text, or the first line of it.
    pub name: String,
    /// The number of its step.
    pub of: u16,
}

/// A load in words, and whether it is profiled.
pub fn in_words(load_words: &str, is_profiled: bool) -> String {
    format!("{load_words}{}", if is_profiled { ", profiled" } else { "" })
}

/// A run that begins. Texts are untrusted: escape them before printing.
#[derive(Clone, Debug, PartialEq)]
pub struct NewRun {
    /// When the load began, in milliseconds since 1970 (UTC).
    pub started_at_unix_ms: i64,
    /// One line for people, such as the URL without user information.
    pub title: String,
    /// The plan in words.
    pub plan_text: String,
    /// The plan for programs.
    pub plan_json: serde_json::Value,
    /// Hash of the plan, equal for equal plans.
    pub plan_hash: String,
    /// The version that measured.
    pub tenbin_version: String,
    /// The machine that measured: a JSON object.
    pub host: serde_json::Value,
    /// The load in words, such as `100 users, closed`, without whether it is profiled.
    pub load_words: String,
    /// Whether the run samples where its system spends CPU time, which costs some.
    pub is_profiled: bool,
    /// Closed or open.
    pub model: Model,
    /// Users of a closed load of Tenbin's own generator, whatever connections they share. `None` for any other load.
    pub users: Option<u32>,
    /// Names of the steps; the place in the list is the number of the step.
    pub steps: Vec<String>,
    /// Unit of each step, by number.
    pub units: Vec<Unit>,
    /// Their parts, in the order of their numbers, which go on where those of the steps end. They are in no sum over steps.
    pub parts: Vec<PartOf>,
    /// Requests intended before this are warm-up.
    pub warm_up_ns: u64,
    /// How long the run is to last after the warm-up; `None` if something else ends it.
    pub planned_duration_ns: Option<u64>,
    /// Beyond this response time the plan calls an end late; `None` if it does not say.
    pub latency_limit_ns: Option<u64>,
    /// Whether each request or transaction has a connection of its own.
    pub connects_each: bool,
    /// Notes that every reader must know, such as `TLS certificates were not verified (--insecure)`.
    pub stamps: Vec<String>,
    /// The study that this run belongs to, and where; `None` for a run on its own.
    pub place: Option<(StudyId, StudyPlace)>,
    /// Version that the system reports, in one line.
    pub system_version: Option<String>,
}

impl NewRun {
    /// The key of `plan_json` for the path of the plan file, as the command that made the run had it.
    pub const PLAN_FILE: &str = "plan_file";
    /// The key of `plan_json` for the name that a command line gives to the system of a single run.
    pub const SYSTEM: &str = "system";

    /// Name of the system of a single run; `None` if its command gave none.
    pub fn named_system(&self) -> Option<&str> {
        self.plan_json[Self::SYSTEM].as_str()
    }

    /// The load in words, and whether it is profiled: `100 users, closed, profiled`.
    pub fn load_in_words(&self) -> String {
        in_words(&self.load_words, self.is_profiled)
    }

    /// Unit of the run as a whole: transactions if all steps are, else requests.
    pub fn unit(&self) -> Unit {
        let is_sql = !self.units.is_empty() && self.units.iter().all(|unit| *unit == Unit::Transactions);
        if is_sql { Unit::Transactions } else { Unit::Requests }
    }

    /// The parts of a step: under which number their seconds are kept, and their names.
    pub fn parts_of(&self, step: u16) -> impl Iterator<Item = (u16, &str)> {
        let numbered = (0..=u16::MAX).skip(self.steps.len()).zip(&self.parts);
        numbered.filter(move |(_, part)| part.of == step).map(|(number, part)| (number, part.name.as_str()))
    }
}
