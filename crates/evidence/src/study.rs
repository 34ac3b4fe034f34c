//! A study: what it plans, and what came of it.

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

/// Prefix of a source without a file; the command that wrote it follows.
pub const COMMAND: &str = "# Command: ";

/// A study that begins. Texts are untrusted: escape them before printing.
#[derive(Clone, Debug, PartialEq)]
pub struct NewStudy {
    /// When it began, in milliseconds since 1970 (UTC).
    pub started_at_unix_ms: i64,
    /// One line for people.
    pub title: String,
    /// The question that it answers.
    pub question: Option<String>,
    /// The text of the plan file. It may begin with [`COMMAND`] and the command that wrote it, where there was no file.
    pub source: String,
    /// Hash of the plan, equal for equal plans.
    pub plan_hash: String,
    /// The version that measured.
    pub tenbin_version: String,
    /// The machine that measured: a JSON object.
    pub host: serde_json::Value,
    /// Seed of every draw of the study.
    pub seed: u64,
    /// Whether it is the short form, which only shows that the plan works.
    pub is_quick: bool,
    /// How its variants are compared.
    pub compare: Compare,
    /// Conditions that every run must hold, in the words of the plan.
    pub gates: Vec<String>,
    /// The names of its loads, in the order of the plan; none of a study that an earlier version kept.
    pub loads: Vec<String>,
    /// Every run that is to be made, in order of their positions. A study whose procedure goes on plans more later.
    pub planned: Vec<StudyPlace>,
    /// Notes that every reader must know.
    pub stamps: Vec<String>,
}

impl NewStudy {
    /// The names of the loads that have places, in the order of the plan.
    pub fn loads_of_places(&self) -> Vec<&str> {
        let names: BTreeSet<&str> = self.planned.iter().map(|place| place.load.as_str()).collect();
        let mut names: Vec<&str> = names.into_iter().collect();
        self.sort_loads(&mut names);
        names
    }

    /// Brings names of loads into the order of the plan. Names that it does not list keep their order, at the end.
    pub fn sort_loads(&self, names: &mut [&str]) {
        let places: BTreeMap<&str, usize> = self.loads.iter().map(String::as_str).zip(0..).collect();
        names.sort_by_key(|name| places.get(name).copied().unwrap_or(usize::MAX));
    }
}

/// How the variants of a study are compared.
#[derive(Clone, Debug, PartialEq)]
pub struct Compare {
    /// The metric, such as `throughput`.
    pub by: String,
    /// Whether more of it is better.
    pub higher_is_better: bool,
    /// The smallest difference that matters, as a share: 0.03 is 3 %.
    pub matters: f64,
    /// How often every variant is measured; of a procedure that decides, at most.
    pub blocks: u32,
    /// Procedure that chooses the next runs.
    pub procedure: Procedure,
    /// Further metrics, judged together with the first.
    pub also: Vec<String>,
    /// The row that all others are compared with, `system variant` as reports write it; `None`: every row with every other.
    pub baseline: Option<String>,
    /// The time that the study may take; `None`: no bound.
    pub within_s: Option<f64>,
}

impl Compare {
    /// Whether the study asks what fails, and compares nothing.
    pub fn asks_for_failures(&self) -> bool {
        self.by == "failures"
    }
}

/// Where a run belongs in its study.
#[derive(Clone, Debug, PartialEq)]
pub struct StudyPlace {
    /// From 0.
    pub block: u32,
    /// Its place in the order of the whole study, from 0; no two are the same.
    pub position: u32,
    /// The name of the system.
    pub system: String,
    /// The values of its parameters in words, such as `workers=8 threads=1`; empty if it has none.
    pub variant: String,
    /// The same, by parameter.
    pub knobs: Vec<(String, String)>,
    /// The name of the load.
    pub load: String,
    /// Purpose of the run: a word of [`crate::stage`].
    pub stage: String,
    /// So many users, instead of the load's own level. At least one.
    pub users: Option<u32>,
    /// So many requests per second, instead of the load's own level: finite, and more than none. Never with `users`.
    pub rate_per_s: Option<f64>,
    /// Change that an experiment makes in this run; `None` for every other run. Such a run counts in no figure of the study.
    pub intervention: Option<Intervention>,
}

impl Compare {
    /// Whether every figure is finite, and so can be kept and printed.
    pub fn is_finite(&self) -> bool {
        self.matters.is_finite() && self.within_s.is_none_or(f64::is_finite) && self.procedure.is_finite()
    }
}

impl StudyPlace {
    /// Why it cannot be kept, if it cannot.
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

/// The end of a study.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StudyEnding {
    /// In milliseconds since 1970 (UTC).
    pub ended_at_unix_ms: i64,
    /// How it went.
    pub verdict: Verdict,
    /// Why it stopped: `decided`, [`OUT_OF_TIME`], `blocks`, `not fit`. `None` if it was interrupted.
    pub why: Option<String>,
}

/// Why a study stopped that may be given more time.
pub const OUT_OF_TIME: &str = "budget";

impl StudyEnding {
    /// Whether a study that stopped for this reason goes on no more, and never will.
    pub fn is_for_good(why: Option<&str>) -> bool {
        why.is_some_and(|why| why != OUT_OF_TIME)
    }
}

/// Where a study stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StudyState {
    /// Its process is still writing.
    Running,
    /// Runs are missing, or its ending, and nobody is making them: somebody stopped it, or its time was spent. It can be
    /// resumed.
    Interrupted,
    /// It has ended, and said why it stopped, or planned all its runs when it began and has them all.
    Complete,
}

impl StudyState {
    /// Where a study stands that has an ending or none, has made all its runs or not, and has a writer that lives or not.
    pub fn of(has_ended: bool, is_whole: bool, is_written: impl FnOnce() -> bool) -> Self {
        match has_ended {
            true if is_whole => Self::Complete,
            false if is_written() => Self::Running,
            _ => Self::Interrupted,
        }
    }

    /// The word in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Interrupted => "interrupted",
            Self::Complete => "complete",
        }
    }
}

/// One line about a study.
#[derive(Clone, Debug, PartialEq)]
pub struct StudySummary {
    /// Its name.
    pub id: StudyId,
    /// When it began, in milliseconds since 1970 (UTC).
    pub started_at_unix_ms: i64,
    /// One line for people.
    pub title: String,
    /// The question that it answers.
    pub question: Option<String>,
    /// Runs planned.
    pub planned: u64,
    /// Planned runs that are done.
    pub done: u64,
    /// Where it stands.
    pub state: StudyState,
    /// How it went; `None` without an ending.
    pub verdict: Option<Verdict>,
}

/// A stored study with its runs.
#[derive(Clone, Debug)]
pub struct Study {
    /// Its name.
    pub id: StudyId,
    /// Description when it began.
    pub new: NewStudy,
    /// Facts when it had ended; `None` if it goes on or was cut short.
    pub ending: Option<StudyEnding>,
    /// Where it stands.
    pub state: StudyState,
    /// In order of their positions: of each place the latest run that is done; if none is, the latest that has an ending;
    /// if none has, nothing. They know their totals, not their seconds: load one by itself for those.
    pub runs: Vec<Run>,
    /// Extensions after its end, in order.
    pub extensions: Vec<Extension>,
    /// Its other runs, which its figures leave out, in the order in which they began: made again since, cut short, or
    /// going on.
    pub superseded: Vec<RunId>,
    /// Stored baseline that it is compared with; `None`: it asked for none.
    pub baseline: Option<Baseline>,
}

impl Study {
    /// The run of a place, if there is one.
    pub fn run(&self, position: u32) -> Option<&Run> {
        self.runs
            .iter()
            .find(|run| run.new.place.as_ref().is_some_and(|(_, place)| place.position == position))
    }

    /// The planned places of which no run is done. Slices of a block share a start: if one is missing, all of them are.
    pub fn missing(&self) -> impl Iterator<Item = &StudyPlace> {
        // Thousands of runs are looked through once, and not once for each place.
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

    /// Blocks of slices, by load and number, whose slices are not all of one start: one is missing, or one was made after a later one,
    /// because the block was begun again and interrupted again. `done`: when the run of a position began.
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
