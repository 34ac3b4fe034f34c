//! What probably kept a system from doing more: the first of a list of rules that fires. Nothing here is more than
//! suspected, because nothing was changed to confirm it.
//!
//! One file for each resource; `RULES` is their order.

use std::collections::BTreeMap;

use store::{Run, StoreError, Study};

use crate::causes::Resource;
use crate::counting::{self, Counted};
use crate::eligibility::{Eligibility, eligibility};
use crate::measured::Measured;
use crate::setting::Setting;
use crate::signals::Signals;
use crate::words::many;

mod cpu;
mod disks;
mod evidence;
mod generator;
mod host;
mod listen_queue;
mod load;
mod memory;
mod one_core;
mod open_files;
mod quota;
mod refusals;
mod threads;
mod waiting;
mod words;

pub use evidence::{CombinedFigures, Evidence, RunEvidence};
use words::{cpu_in_brackets, percent};

/// A rule: what it finds, its row of `docs/measurement.md`, and how.
pub struct Rule {
    /// What it may find.
    pub finds: &'static [Resource],
    /// When it says so; `{limits}` stands for the doubts that make the generator the limit.
    pub when: &'static str,
    /// Why from there on.
    pub why: &'static str,
    find: fn(&Evidence<'_>) -> Option<Bottleneck>,
}

/// Every rule; the first that fires speaks: who did not ask for more, then what ran short, then who waited without anything being
/// short. A queue is full because what empties it is short, so queues come after resources.
pub const RULES: &[Rule] = &[
    generator::THE_GENERATOR,
    load::AN_OPEN_LOAD_THAT_WAS_ANSWERED,
    refusals::HARDLY_ANYTHING_BUT_REFUSALS,
    host::CORES_TAKEN_BY_THE_HOST,
    quota::CPU_QUOTA,
    cpu::ALL_CORES,
    one_core::ONE_THREAD,
    memory::LIMIT_OF_MEMORY,
    memory::MEMORY,
    disks::DISKS,
    threads::DISKS_OF_THREADS,
    open_files::OPEN_FILES,
    one_core::ONE_CORE,
    one_core::ONE_CORE_IN_TURNS,
    listen_queue::A_QUEUE_OF_CONNECTIONS,
    refusals::SOME_REFUSALS,
    load::PAUSES_OF_USERS,
    cpu::WAITS_FOR_A_CORE,
    load::A_LONE_USER,
    threads::A_DEPENDENCY,
    threads::A_LOCK,
    waiting::ITS_OWN_WAITING,
];

impl Resource {
    /// Not known.
    pub const UNKNOWN: Self = Self::new("unknown", "not known");

    /// When the bottleneck is not known, and why.
    pub const WHEN_UNKNOWN: [&str; 2] = [
        "the machine or the system was not read, or the cores were 75 % busy or more and nothing above fired",
        "an honest answer",
    ];
}

/// From this share of the time on, cores, threads and disks are called busy all the time: what is left is between two
/// requests.
const BUSY: f64 = 0.9;
/// Below it there is room enough to say that cores were not short.
const ROOMY: f64 = 0.75;
/// Of what may be held, files and connections.
const FULL: f64 = 0.95;
/// Of the requests that ended.
const REFUSED: f64 = 0.01;
/// What probably kept a run, or all runs of a setting, from doing more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bottleneck {
    /// What it is.
    pub resource: Resource,
    /// A few words for people, such as `CPU of the machine`.
    pub what: &'static str,
    /// The evidence in a sentence with its figures, without a full stop. May quote names: escape it.
    pub because: String,
    /// How sure it is.
    pub certainty: Certainty,
}

/// How sure a bottleneck is. There is no `confirmed` before a perturbation has confirmed one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Certainty {
    /// A rule has fired.
    Suspected,
    /// None has.
    Unknown,
}

impl Certainty {
    /// Its name in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Suspected => "suspected",
            Self::Unknown => "unknown",
        }
    }
}

/// What the first rule says that fires, or that none did; `None` where nothing was answered well, so that there is nothing to
/// explain.
pub fn bottleneck(evidence: &Evidence<'_>) -> Option<Bottleneck> {
    if evidence.together.counts.ok == 0 {
        return None;
    }
    let mut found = RULES.iter().find_map(|rule| (rule.find)(evidence)).unwrap_or_else(|| unknown(evidence));
    if found.resource.is_of_the_machine && !evidence.is_system_read() {
        found.because.push_str("; the system itself was not read");
        if !evidence.is_on_this_machine() {
            found.because.push_str(", and may run elsewhere");
        }
    }
    let errors = evidence.together.error_share();
    if errors >= REFUSED && !found.resource.tells_errors {
        let many = many(evidence.together.unit);
        found.because.push_str(&format!("; in addition, {} of the {many} did not end ok", percent(errors)));
    }
    Some(found)
}

/// The bottleneck of a setting under a load.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OfSetting {
    /// The load.
    pub load: String,
    /// System and variant.
    pub setting: Setting,
    /// What probably kept it from doing more.
    pub bottleneck: Bottleneck,
}

/// The bottlenecks of every setting of a study by the runs that it has so far, whether it goes on or not: those that count and may
/// be believed, or else those that may not.
pub fn bottlenecks(study: &Study) -> Result<Vec<OfSetting>, StoreError> {
    let by_position: BTreeMap<u32, &Run> =
        study.runs.iter().filter_map(|run| Some((run.new.place.as_ref()?.1.position, run))).collect();
    let mut loads: Vec<&str> = study.new.planned.iter().map(|place| place.load.as_str()).collect();
    loads.sort_unstable();
    loads.dedup();
    let mut found = Vec::new();
    for load in loads {
        for Counted { places, others, .. } in counting::counted(study, load) {
            let Some(place) = places.first().or(others.first()) else { continue };
            let runs: Vec<&Run> =
                places.iter().filter_map(|place| by_position.get(&place.position).copied()).collect();
            let bottleneck = of_runs(&runs)?;
            let of_setting =
                |bottleneck| OfSetting { load: load.to_owned(), setting: Setting::of(place), bottleneck };
            found.extend(bottleneck.map(of_setting));
        }
    }
    Ok(found)
}

/// The bottleneck of runs of one setting under one load: of those that may be believed, or else of those that may not.
pub fn of_runs(runs: &[&Run]) -> Result<Option<Bottleneck>, StoreError> {
    let eligible_as = |wanted| runs.iter().copied().filter(move |run| eligibility(run) == wanted).collect();
    let (valid, invalid): (Vec<&Run>, Vec<&Run>) =
        (eligible_as(Eligibility::Valid), eligible_as(Eligibility::Invalid));
    let runs = if valid.is_empty() { invalid } else { valid };
    let Some(together) = CombinedFigures::of(&runs)? else { return Ok(None) };
    let measured = runs.iter().map(|run| Measured::of(run)).collect::<Result<Vec<_>, _>>()?;
    let signals: Vec<Option<Signals>> = runs.iter().map(|run| Signals::of(run)).collect();
    let of_run = |((run, measured), signals)| RunEvidence { run, measured, signals };
    let seen = runs.iter().copied().zip(&measured).zip(signals.iter().map(Option::as_ref)).map(of_run);
    Ok(bottleneck(&Evidence { runs: seen.collect(), together }))
}

fn suspected(resource: Resource, because: String) -> Option<Bottleneck> {
    Some(Bottleneck { resource, what: resource.words, because, certainty: Certainty::Suspected })
}

fn unknown(evidence: &Evidence<'_>) -> Bottleneck {
    let because = match evidence.signal(|signals| signals.busy) {
        Some(busy) => format!(
            "the cores were {} busy{}, and no resource that was read was clearly exhausted",
            percent(busy),
            cpu_in_brackets(evidence)
        ),
        None => "no resource was read during the run".to_owned(),
    };
    Bottleneck {
        resource: Resource::UNKNOWN,
        what: Resource::UNKNOWN.words,
        because,
        certainty: Certainty::Unknown,
    }
}
