//! Studies: their plans, their runs, and their state.

use std::collections::{BTreeMap, BTreeSet};

use crate::baseline::Baseline;
use crate::ending::Verdict;
use crate::extension::Extension;
use crate::intervention::Intervention;
use crate::procedure::Procedure;
use crate::run::Run;
use crate::run_id::RunId;
use crate::stage;
use crate::study_id::StudyId;

/// Prefix of the source of a study that was planned by a command line; the command follows.
pub const COMMAND: &str = "# Command: ";

/// Description of a study when it begins. Texts are untrusted: escape them before printing.
#[derive(Clone, Debug, PartialEq)]
pub struct NewStudy {
    /// Start time, in milliseconds since 1970 (UTC).
    pub started_at_unix_ms: i64,
    /// Title, in one line.
    pub title: String,
    /// Question that the study answers; `None` if the plan has none.
    pub question: Option<String>,
    /// Text of the plan file. Without a file it begins with [`COMMAND`] and the command line.
    pub source: String,
    /// Hash of the plan, equal for equal plans.
    pub plan_hash: String,
    /// Version of Tenbin that measured the study.
    pub tenbin_version: String,
    /// Machine that measured the study: a JSON object.
    pub host: serde_json::Value,
    /// Seed of every random draw.
    pub seed: u64,
    /// Whether the study is quick: it only shows that the plan works.
    pub is_quick: bool,
    /// Comparison of its variants.
    pub compare: Compare,
    /// Conditions that every run must pass, in the words of the plan.
    pub gates: Vec<String>,
    /// Names of the loads, in the order of the plan. Empty if an earlier version stored the study.
    pub loads: Vec<String>,
    /// Planned runs, in order of their positions. Adaptive procedures plan more later.
    pub planned: Vec<StudyPlace>,
    /// Notes that every report must show.
    pub stamps: Vec<String>,
}

impl NewStudy {
    /// Returns the names of the loads that have places, in the order of the plan.
    pub fn loads_of_places(&self) -> Vec<&str> {
        let names: BTreeSet<&str> = self.planned.iter().map(|place| place.load.as_str()).collect();
        let mut names: Vec<&str> = names.into_iter().collect();
        self.sort_loads(&mut names);
        names
    }

    /// Sorts names of loads by the order of the plan. Names that it does not list come last, in their own order.
    pub fn sort_loads(&self, names: &mut [&str]) {
        let places: BTreeMap<&str, usize> = self.loads.iter().map(String::as_str).zip(0..).collect();
        names.sort_by_key(|name| places.get(name).copied().unwrap_or(usize::MAX));
    }
}

/// Comparison of the variants of a study.
#[derive(Clone, Debug, PartialEq)]
pub struct Compare {
    /// Metric, such as `throughput`.
    pub by: String,
    /// Whether higher values are better.
    pub higher_is_better: bool,
    /// Smallest relevant difference, as a share: 0.03 is 3 %.
    pub matters: f64,
    /// Number of blocks, which is the maximum if the procedure decides when to end.
    pub blocks: u32,
    /// Procedure that chooses the next runs.
    pub procedure: Procedure,
    /// Further metrics, judged together with the first one.
    pub also: Vec<String>,
    /// Row that all others are compared with, as `system variant`; `None` to compare every row with every other.
    pub baseline: Option<String>,
    /// Time limit of the study; `None` for no limit.
    pub within_s: Option<f64>,
}

/// Note of a study whose plan accepts differences between the work of its variants.
pub const UNLIKE_OK: &str = "differences between the work of the variants are accepted (`unlike: ok`)";

impl Compare {
    /// Returns whether the study only looks for failures and compares nothing.
    pub fn looks_for_failures(&self) -> bool {
        self.by == "failures"
    }
}

/// Place of a run in its study.
#[derive(Clone, Debug, PartialEq)]
pub struct StudyPlace {
    /// Number of the block, from 0.
    pub block: u32,
    /// Position in the order of the whole study, from 0; unique.
    pub position: u32,
    /// Name of the system.
    pub system: String,
    /// Values of its parameters in words, such as `workers=8 threads=1`; empty if it has none.
    pub variant: String,
    /// Values of its parameters, by name.
    pub knobs: Vec<(String, String)>,
    /// Name of the load.
    pub load: String,
    /// Purpose of the run: a word of [`crate::stage`].
    pub stage: String,
    /// Number of users, in place of the load's own level; at least 1.
    pub users: Option<u32>,
    /// Requests per second, in place of the load's own level; finite, above 0. Never set together with `users`.
    pub rate_per_s: Option<f64>,
    /// Change made by an experiment; `None` for every other run. Runs with a change count in no figure of the study.
    pub intervention: Option<Intervention>,
}

impl Compare {
    /// Returns whether every figure is finite. NaN and infinity can be neither stored nor printed.
    pub fn is_finite(&self) -> bool {
        self.matters.is_finite() && self.within_s.is_none_or(f64::is_finite) && self.procedure.is_finite()
    }
}

impl StudyPlace {
    /// Returns the reason why the place cannot be stored; `None` if it can.
    pub fn fault(&self) -> Option<&'static str> {
        match (self.users, self.rate_per_s) {
            _ if !stage::ALL.contains(&&*self.stage) => Some("a run of an unknown stage"),
            (Some(_), Some(_)) => Some("a run of so many users and of a rate"),
            (Some(0), None) => Some("a run of no users"),
            (None, Some(rate)) if !(rate.is_finite() && rate > 0.0) => Some("a run whose rate is no rate"),
            _ if self.intervention.is_some() != (self.stage == stage::INTERVENTION) => {
                Some("a run that changes something outside of an experiment, or nothing in one")
            }
            _ if self.intervention.as_ref().is_some_and(|change| !change.is_sound()) => {
                Some("a run that changes something by no figure")
            }
            _ => None,
        }
    }
}

/// End of a study.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StudyEnding {
    /// Time of the end, in milliseconds since 1970 (UTC).
    pub ended_at_unix_ms: i64,
    /// Outcome of the study.
    pub verdict: Verdict,
    /// Reason for the end: `decided`, [`OUT_OF_TIME`], `blocks`, `not fit`. `None` if it was interrupted.
    pub why: Option<String>,
}

/// Reason of a study that stopped because its time limit was reached. It can be resumed with more time.
pub const OUT_OF_TIME: &str = "budget";

impl StudyEnding {
    /// Returns whether a study that stopped for this reason can never be resumed.
    pub fn is_permanent(why: Option<&str>) -> bool {
        why.is_some_and(|why| why != OUT_OF_TIME)
    }
}

/// State of a study.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StudyState {
    /// A live process is still writing the study.
    Running,
    /// Runs or the ending are missing, and no process is making them, because the study was stopped or ran out of time.
    /// It can be resumed.
    Interrupted,
    /// The study ended, and either gave a reason or has all runs that were planned at its start.
    Complete,
}

impl StudyState {
    /// Derives the state of a study: whether it has an ending, has all its runs, and is being written by a live
    /// process.
    pub fn of(has_ended: bool, is_whole: bool, is_written: impl FnOnce() -> bool) -> Self {
        match has_ended {
            true if is_whole => Self::Complete,
            false if is_written() => Self::Running,
            _ => Self::Interrupted,
        }
    }

    /// Returns the word for the state in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Interrupted => "interrupted",
            Self::Complete => "complete",
        }
    }
}

/// Summary of a study, in one line.
#[derive(Clone, Debug, PartialEq)]
pub struct StudySummary {
    /// Name of the study.
    pub id: StudyId,
    /// Start time, in milliseconds since 1970 (UTC).
    pub started_at_unix_ms: i64,
    /// Title, in one line.
    pub title: String,
    /// Question that the study answers.
    pub question: Option<String>,
    /// Number of planned runs.
    pub planned: u64,
    /// Number of planned runs that are done.
    pub done: u64,
    /// State of the study.
    pub state: StudyState,
    /// Outcome; `None` without an ending.
    pub verdict: Option<Verdict>,
}

/// A stored study with its runs.
#[derive(Clone, Debug)]
pub struct Study {
    /// Name of the study.
    pub id: StudyId,
    /// Description when it began.
    pub new: NewStudy,
    /// Facts at its end; `None` if it is still running or was cut short.
    pub ending: Option<StudyEnding>,
    /// State of the study.
    pub state: StudyState,
    /// One run per place, in order of positions: the latest done run, else the latest with an ending, else none. They hold totals,
    /// not seconds: load a run by itself for those.
    pub runs: Vec<Run>,
    /// Extensions after its end, in order.
    pub extensions: Vec<Extension>,
    /// Runs that no figure includes, because they were repeated, cut short, or are still running; in the order in which
    /// they began.
    pub superseded: Vec<RunId>,
    /// Stored baseline that the study is compared with; `None` if none was asked for.
    pub baseline: Option<Baseline>,
}

impl Study {
    /// Returns the run at a position; `None` if there is none.
    pub fn run(&self, position: u32) -> Option<&Run> {
        self.runs
            .iter()
            .find(|run| run.new.place.as_ref().is_some_and(|(_, place)| place.position == position))
    }

    /// Returns the planned places without a done run. Slices of a block share a start, so if one is missing, all of
    /// them are.
    pub fn missing(&self) -> impl Iterator<Item = &StudyPlace> {
        // A map avoids a search through thousands of runs for each place.
        let is_done = |run: &&Run| run.ending.as_ref().is_some_and(|ending| ending.is_done());
        let done: BTreeMap<u32, i64> = self
            .runs
            .iter()
            .filter(is_done)
            .filter_map(|run| Some((run.new.place.as_ref()?.1.position, run.new.started_at_unix_ms)))
            .collect();
        let torn = self.torn(&done);
        self.new.planned.iter().filter(move |place| {
            !done.contains_key(&place.position)
                || stage::is_slice(&place.stage) && torn.contains(&(place.load.as_str(), place.block))
        })
    }

    /// Finds blocks of slices, by load and number, whose slices do not share one start: a slice is missing, or one
    /// began after a later one because the block was repeated and interrupted again. `done` maps positions to the start
    /// of their run.
    fn torn(&self, done: &BTreeMap<u32, i64>) -> BTreeSet<(&str, u32)> {
        let mut last: BTreeMap<(&str, u32), i64> = BTreeMap::new();
        let slices = self.new.planned.iter().filter(|place| stage::is_slice(&place.stage));
        let mut torn = BTreeSet::new();
        for place in slices {
            let block = (place.load.as_str(), place.block);
            let began = done.get(&place.position);
            if began.is_none_or(|began| last.insert(block, *began).is_some_and(|before| before > *began)) {
                torn.insert(block);
            }
        }
        torn
    }
}
