//! A whole study: what it plans, and its runs, turn by turn, until its procedure says that it is over.

use std::path::Path;
use std::time::{Duration, Instant};

use engine::allowed_cores;
use plan::{Fault, Study};
use store::{Compare, NewStudy, Place, Procedure, Store, StudyEnding, StudyId, Verdict};

use crate::cores::Cores;
use crate::course::{self, Turn, Why};
use crate::live::Observer;
use crate::one_run::{RunError, unix_ms};
use crate::pace::Pace;
use crate::place::{self, Bench, PlaceEnded};
use crate::schedule::schedule;
use crate::stopper::{StopLevel, Stopper};
use crate::{host, scratch};

/// Hears of a study's progress, and of each run's.
pub trait StudyObserver: Observer {
    /// A run begins.
    fn place_begins(&mut self, place: &Place, ahead: &Ahead);
    /// It is over and kept.
    fn place_ends(&mut self, place: &Place, ended: &PlaceEnded);
    /// What the study's procedure found or decided, in a line.
    fn says(&mut self, _line: &str) {}
}

/// What is ahead of a study when one of its runs begins.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ahead {
    /// The number of the run among those that this process makes, from 0.
    pub number: usize,
    /// How many those are; `None`: nobody can say.
    pub of: Option<usize>,
    /// Whether they may turn out to be fewer.
    pub is_at_most: bool,
    /// How long all that are left will take, or take at most; `None`: nobody can say.
    pub left: Option<Duration>,
}

/// Keeps what a study plans; from now on it has a name, and can be resumed under it. `procedure` finds its answer: see
/// [`crate::procedure`].
pub fn begin_study(study: &Study, procedure: Procedure, store: &Store) -> Result<StudyId, RunError> {
    let allowed = allowed_cores();
    let cores = Cores::choose(&study.pin, &allowed).map_err(|fault| RunError::Plan(vec![fault]))?;
    let mut stamps = Vec::new();
    if study.systems.iter().any(plan::System::is_started) {
        stamps.push(cores.stamp(&allowed));
    }
    if study.is_quick {
        stamps.push("QUICK: short runs, to see that the plan works and roughly where things lie".to_owned());
    }
    let planned = if procedure == Procedure::Blocks { schedule(study) } else { Vec::new() };
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
            procedure,
            also: Vec::new(),
            baseline: None,
            within_s: None,
        },
        gates: study.gates.iter().map(|gate| gate.text.clone()).collect(),
        planned,
        stamps,
    };
    Ok(store.begin_study(&new)?)
}

/// Does the runs of a study that are left, in their order, until its procedure says that it is over, its time is spent,
/// or somebody asks to stop. `tenbin` is this program.
pub fn run_study(
    study: &Study,
    id: &StudyId,
    store: &Store,
    tenbin: &Path,
    stopper: &Stopper,
    observer: &mut dyn StudyObserver,
) -> Result<(), RunError> {
    tidy_up();
    let cores = Cores::choose(&study.pin, &allowed_cores()).map_err(|fault| RunError::Plan(vec![fault]))?;
    let bench = Bench { study, id, store, stopper, tenbin, cores: &cores };
    let why = turns(&bench, observer)?;
    let verdict = if why.is_some_and(Why::is_whole) { Verdict::Complete } else { Verdict::Partial };
    let why = why.map(|why| why.word().to_owned());
    Ok(store.finish_study(id, &StudyEnding { ended_at_unix_ms: unix_ms(), verdict, why })?)
}

/// Turn after turn; `None`: somebody asked to stop, or a run that later ones hang on did not come to its end.
fn turns(bench: &Bench<'_>, observer: &mut dyn StudyObserver) -> Result<Option<Why>, RunError> {
    let begun = Instant::now();
    let mut kept = bench.store.load_study(bench.id)?;
    let course = course::of(bench.study, &kept, bench.store);
    let mut pace = Pace::of(bench.study, &kept);
    let mut places: Vec<Place> = kept.missing().cloned().collect();
    let mut number = 0;
    loop {
        let later = course.later_at_most(&kept);
        for (index, place) in places.iter().enumerate() {
            if bench.stopper.level() != StopLevel::Go {
                return Ok(None);
            }
            // Of a block that cannot be finished no run is of use.
            let block = places[index..].iter().take_while(|next| is_same_block(next, place)).count();
            if !pace.is_time_for(&places[index..index + block], begun.elapsed()) {
                observer.says(&format!(
                    "the time that the study may take would not last for the next {block} runs: it ends here"
                ));
                return Ok(Some(Why::Budget));
            }
            let ahead = Ahead {
                number,
                of: later.map(|later| number + places.len() - index + later),
                is_at_most: later != Some(0),
                left: later.and_then(|later| pace.expected(&places[index..], later)),
            };
            observer.place_begins(place, &ahead);
            let begun = Instant::now();
            let amount = course.amount(&kept, place)?;
            let ended = place::run(bench, place, amount.as_ref(), observer)?;
            pace.note(place, begun.elapsed());
            observer.place_ends(place, &ended);
            number += 1;
        }
        if bench.stopper.level() != StopLevel::Go {
            return Ok(None);
        }
        kept = bench.store.load_study(bench.id)?;
        if course.needs_every_run() && kept.missing().next().is_some() {
            return Ok(None);
        }
        match course.next(&kept)? {
            Turn::Over { why, news } => {
                news.iter().for_each(|line| observer.says(line));
                return Ok(Some(why));
            }
            Turn::Runs { places: next, news } => {
                news.iter().for_each(|line| observer.says(line));
                places = numbered(next, &kept.new.planned);
                bench.store.plan_more(bench.id, &places)?;
                kept.new.planned.extend_from_slice(&places);
            }
        }
    }
}

fn is_same_block(one: &Place, other: &Place) -> bool {
    (one.block, &one.stage) == (other.block, &other.stage)
}

/// Positions go on where those of the planned places end.
fn numbered(places: Vec<Place>, planned: &[Place]) -> Vec<Place> {
    let first = planned.last().map_or(0, |place| place.position + 1);
    (first..).zip(places).map(|(position, place)| Place { position, ..place }).collect()
}

/// Ends what studies left behind that were killed, so that it does not share the machine with this one.
pub(crate) fn tidy_up() {
    lab::leftovers::sweep();
    scratch::sweep();
}

/// Whether a study that was kept is the one of this plan, and finds its answer by this procedure.
pub fn is_of(kept: &NewStudy, study: &Study, procedure: &Procedure) -> Result<(), Fault> {
    if kept.is_quick != study.is_quick {
        let (what, way_out) = match kept.is_quick {
            true => ("this study is a quick one", "add --quick"),
            false => ("this study is no quick one", "leave out --quick"),
        };
        return Err(Fault::new(&study.title, what, way_out));
    }
    let is_planned_so = *procedure != Procedure::Blocks || kept.planned == schedule(study);
    if kept.plan_hash == study.hash && kept.compare.procedure == *procedure && is_planned_so {
        return Ok(());
    }
    Err(Fault::new(
        &study.title,
        "the plan, or a file that it uses, has changed since this study began",
        "run it anew, or bring back the plan as it was",
    ))
}
