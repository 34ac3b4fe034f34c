//! A whole study: every variant under every load, block by block.

use std::path::Path;
use std::time::{Duration, Instant};

use engine::allowed_cores;
use plan::{Fault, Study};
use store::{Compare, NewStudy, Place, Store, StudyEnding, StudyId, Verdict};

use crate::cores::Cores;
use crate::live::Observer;
use crate::one_run::{RunError, unix_ms};
use crate::place::{self, Bench, PlaceEnded};
use crate::schedule::schedule;
use crate::stopper::{StopLevel, Stopper};
use crate::{host, scratch};

/// Hears of a study's progress, and of each run's.
pub trait StudyObserver: Observer {
    /// A run begins: its number among those that are left, from 0, how many those are, and how long they will take.
    fn place_begins(&mut self, number: usize, of: usize, place: &Place, left: Option<Duration>);
    /// It is over and kept.
    fn place_ends(&mut self, place: &Place, ended: &PlaceEnded);
}

/// Keeps what a study plans; from now on it has a name, and can be resumed under it.
pub fn begin_study(study: &Study, store: &Store) -> Result<StudyId, RunError> {
    let allowed = allowed_cores();
    let cores = Cores::choose(&study.pin, &allowed).map_err(|fault| RunError::Plan(vec![fault]))?;
    let mut stamps = Vec::new();
    if study.systems.iter().any(plan::System::is_started) {
        stamps.push(cores.stamp(&allowed));
    }
    if study.is_quick {
        stamps.push("QUICK: short runs, to see that the plan works and roughly where things lie".to_owned());
    }
    let compare = &study.compare;
    let new = NewStudy {
        started_at_unix_ms: unix_ms(),
        title: study.title.clone(),
        question: study.question.clone(),
        source: study.source.clone(),
        plan_hash: study.hash.clone(),
        tenbin_version: env!("CARGO_PKG_VERSION").to_owned(),
        host: host::describe(),
        seed: study.seed,
        is_quick: study.is_quick,
        compare: Compare {
            by: compare.by.name().to_owned(),
            higher_is_better: compare.higher_is_better,
            matters: compare.matters,
            blocks: compare.blocks,
            procedure: store::Procedure::Blocks,
            also: Vec::new(),
            baseline: None,
            within_s: None,
        },
        gates: study.gates.iter().map(|gate| gate.text.clone()).collect(),
        planned: schedule(study),
        stamps,
    };
    Ok(store.begin_study(&new)?)
}

/// Does the runs of a study that are left, in their order, until they are done or somebody asks to stop. `tenbin` is this
/// program.
pub fn run_study(
    study: &Study,
    id: &StudyId,
    left: &[Place],
    store: &Store,
    tenbin: &Path,
    stopper: &Stopper,
    observer: &mut dyn StudyObserver,
) -> Result<(), RunError> {
    tidy_up();
    let cores = Cores::choose(&study.pin, &allowed_cores()).map_err(|fault| RunError::Plan(vec![fault]))?;
    let bench = Bench { study, id, store, stopper, tenbin, cores: &cores };
    let mut estimate = Estimate::default();
    for (number, place) in left.iter().enumerate() {
        if stopper.level() != StopLevel::Go {
            break;
        }
        observer.place_begins(number, left.len(), place, estimate.left(study, &left[number..]));
        let begun = Instant::now();
        let ended = place::run(&bench, place, observer)?;
        estimate.note(study, place, begun.elapsed());
        observer.place_ends(place, &ended);
    }
    let is_whole = stopper.level() == StopLevel::Go;
    let verdict = if is_whole { Verdict::Complete } else { Verdict::Partial };
    Ok(store.finish_study(id, &StudyEnding { ended_at_unix_ms: unix_ms(), verdict, why: None })?)
}

/// Ends what studies left behind that were killed, so that it does not share the machine with this one.
pub(crate) fn tidy_up() {
    lab::leftovers::sweep();
    scratch::sweep();
}

/// How long runs take beyond their load.
#[derive(Default)]
struct Estimate {
    runs: u32,
    beyond: Duration,
}

impl Estimate {
    fn note(&mut self, study: &Study, place: &Place, took: Duration) {
        self.runs += 1;
        self.beyond += took.saturating_sub(load_of(study, place).unwrap_or_default());
    }

    fn left(&self, study: &Study, places: &[Place]) -> Option<Duration> {
        let loads: Option<Duration> = places.iter().map(|place| load_of(study, place)).sum();
        let beyond = self.beyond.checked_div(self.runs).unwrap_or_default();
        loads.map(|loads| loads + beyond * places.len() as u32)
    }
}

/// How long the load of a run goes on, if time ends it.
fn load_of(study: &Study, place: &Place) -> Option<Duration> {
    let load = study.loads.iter().find(|load| load.name == place.load)?;
    load.run_ns.map(Duration::from_nanos)
}

/// Whether a study that was kept is the one of this plan.
pub fn is_of(kept: &NewStudy, study: &Study) -> Result<(), Fault> {
    if kept.is_quick != study.is_quick {
        let (what, way_out) = match kept.is_quick {
            true => ("this study is a quick one", "add --quick"),
            false => ("this study is no quick one", "leave out --quick"),
        };
        return Err(Fault::new(&study.title, what, way_out));
    }
    if kept.plan_hash == study.hash && kept.planned == schedule(study) {
        return Ok(());
    }
    Err(Fault::new(
        &study.title,
        "the plan, or a file that it uses, has changed since this study began",
        "run it anew, or bring back the plan as it was",
    ))
}
