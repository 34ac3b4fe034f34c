//! A whole study: what it plans, and its runs, turn by turn, until its procedure says that it is over.

use std::cell::RefCell;
use std::path::Path;
use std::time::{Duration, Instant};

use engine::allowed_cores;
use lab::leftovers::{Leftovers, Swept};
use plan::{Fault, Study};
use stats::DuelEnd;
use store::{Compare, EXTENSIONS_MAX, NewStudy, Place, Procedure, Store, StudyEnding, StudyId, Verdict};

use crate::cores::Cores;
use crate::course::{self, Course, Turn, Why};
use crate::live::Observer;
use crate::made::Made;
use crate::one_run::{RunError, Runner, Tools, unix_ms};
use crate::pace::Pace;
use crate::planned_run::Bench;
use crate::schedule::schedule;
use crate::stopper::Stopper;
use crate::{host, scratch};

/// Hears of a study's progress, and of each run's.
pub trait StudyObserver: Observer {
    /// A run begins.
    fn place_begins(&mut self, place: &Place, ahead: &Ahead);
    /// It is over and kept.
    fn place_ends(&mut self, place: &Place, made: &Made);
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
    /// What is left of the time that the study may take; `None`: it has no bound.
    pub budget: Option<Duration>,
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
        source: plan::without_secrets(&study.source),
        plan_hash: study.hash.clone(),
        tenbin_version: env!("CARGO_PKG_VERSION").to_owned(),
        host: host::describe(),
        seed: study.seed,
        is_quick: study.is_quick,
        compare: Compare {
            by: compare.by_name().to_owned(),
            higher_is_better: compare.higher_is_better,
            matters: compare.matters,
            blocks: compare.blocks,
            procedure,
            also: compare.also.iter().map(|metric| metric.name().to_owned()).collect(),
            baseline: study.baseline(),
            within_s: compare.within_ns.map(|ns| ns as f64 / 1e9),
        },
        gates: study.gates.iter().map(|gate| gate.text.clone()).collect(),
        planned,
        stamps,
    };
    Ok(store.begin_study(&new)?)
}

/// Takes over a finished study and plans the runs that bring it to so many blocks. `study` has the seed of the one that was
/// kept. `within_s` is the time that it may take from now on, with what it took so far.
pub fn extend_study(
    study: &Study,
    kept: &store::Study,
    blocks: u32,
    within_s: Option<f64>,
    store: &Store,
) -> Result<(), RunError> {
    can_extend(study, kept, blocks)?;
    let places = course::further(study, kept, blocks);
    Ok(store.extend_study(kept, within_s, blocks, &numbered(places, &kept.new.planned))?)
}

/// How many blocks a study has: under the load with the most, those that count in a duel.
pub fn blocks_of(study: &Study, kept: &store::Study) -> Result<u32, RunError> {
    Ok(course::blocks_so_far(study, kept)?.0)
}

/// Whether a finished study can be extended to so many blocks.
fn can_extend(study: &Study, kept: &store::Study, blocks: u32) -> Result<(), RunError> {
    let (has, in_the_way) = course::blocks_so_far(study, kept)?;
    let is_search = matches!(kept.new.compare.procedure, Procedure::Best { .. } | Procedure::Capacity(_));
    let most = stats::EXTENDED_MAX;
    let (what, way_out) = if is_search {
        (
            "the study is a search, which cannot be extended".to_owned(),
            "run it anew, or compare the variants in question in a plan of their own".to_owned(),
        )
    } else if let Some(end) = in_the_way {
        let why = match end {
            DuelEnd::NoRatio => "a figure is 0, and has no ratio",
            _ => "many more runs of one variant were lost than of the other",
        };
        (
            format!("further blocks cannot decide this study: {why}"),
            "mend the cause, and run it anew".to_owned(),
        )
    } else if has >= most {
        (
            format!("the study has {has} blocks, and further ones cannot decide more"),
            "run it anew, with longer runs".to_owned(),
        )
    } else if kept.extensions.len() >= EXTENSIONS_MAX {
        (
            format!(
                "the study was extended {EXTENSIONS_MAX} times, and a further extension cannot decide more"
            ),
            "run it anew, with more `blocks` in the plan".to_owned(),
        )
    } else if !(has + 1..=most).contains(&blocks) {
        (
            format!(
                "--blocks {blocks}: the study has {has} blocks, and this is the number with the added ones"
            ),
            format!("write a number from {} to {most}", has + 1),
        )
    } else {
        return Ok(());
    };
    Err(RunError::Plan(vec![Fault::new(&kept.new.title, what, way_out)]))
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
    tidy_up().iter().for_each(|line| observer.says(line));
    let cores = Cores::choose(&study.pin, &allowed_cores()).map_err(|fault| RunError::Plan(vec![fault]))?;
    let runner = Runner { store, tools: Tools::local(stopper) };
    let bench = Bench { study, id, runner, tenbin, cores: &cores, answering: RefCell::default() };
    let why = match turns(&bench, observer) {
        // It can be resumed once the system answers.
        Err(error @ RunError::Rejected { .. }) => {
            let ending = StudyEnding { ended_at_unix_ms: unix_ms(), verdict: Verdict::Partial, why: None };
            store.finish_study(id, &ending)?;
            return Err(error);
        }
        why => why?,
    };
    let verdict = if why.is_some_and(Why::is_whole) { Verdict::Complete } else { Verdict::Partial };
    let why = why.map(|why| why.word().to_owned());
    Ok(store.finish_study(id, &StudyEnding { ended_at_unix_ms: unix_ms(), verdict, why })?)
}

/// How often a turn is made in which runs were cut short, before it is given up.
const TRIES: u32 = 3;

/// Turn after turn; `None`: somebody asked to stop, or a run that others hang on never came to its end.
fn turns(bench: &Bench<'_>, observer: &mut dyn StudyObserver) -> Result<Option<Why>, RunError> {
    let mut kept = bench.runner.store.load_study(bench.id)?;
    let course = course::of(bench.study, &kept, bench.runner.store);
    let mut going = Going { pace: Pace::of(bench.study, &kept), begun: Instant::now(), made: 0 };
    let mut places: Vec<Place> = kept.missing().cloned().collect();
    let mut tries = 1;
    loop {
        if let Some(stopped) = going.turn(bench, &*course, &kept, &places, observer)? {
            return Ok(stopped);
        }
        kept = bench.runner.store.load_study(bench.id)?;
        if course.needs_every_run() && kept.missing().next().is_some() {
            if tries == TRIES {
                observer.says("a run was cut short again and again: nothing more can be decided");
                return Ok(None);
            }
            tries += 1;
            places = kept.missing().cloned().collect();
            continue;
        }
        tries = 1;
        let (next, news) = match course.next(&kept)? {
            Turn::Runs { places, news } => (Ok(places), news),
            Turn::Over { why, news } => (Err(why), news),
        };
        news.iter().for_each(|line| observer.says(line));
        match next {
            Err(why) => return Ok(unless_missing(why, &kept)),
            Ok(next) => places = numbered(next, &kept.new.planned),
        }
        bench.runner.store.plan_more(bench.id, &places)?;
        kept.new.planned.extend_from_slice(&places);
    }
}

/// Runs that were cut short, and that no decision needed, can still be made: then the study can be gone on with.
fn unless_missing(why: Why, kept: &store::Study) -> Option<Why> {
    kept.missing().next().is_none().then_some(why)
}

/// A study that goes on.
struct Going<'a> {
    pace: Pace<'a>,
    begun: Instant,
    /// Runs so far.
    made: usize,
}

impl Going<'_> {
    /// Makes the runs of a turn; something if the study stops before their end.
    fn turn(
        &mut self,
        bench: &Bench<'_>,
        course: &dyn Course,
        kept: &store::Study,
        places: &[Place],
        observer: &mut dyn StudyObserver,
    ) -> Result<Option<Option<Why>>, RunError> {
        let later = course.later_at_most(kept);
        for (index, place) in places.iter().enumerate() {
            if bench.runner.tools.is_stopped() {
                return Ok(Some(None));
            }
            // Of a block that cannot be finished no run is of use.
            let is_of_block = |next: &&Place| (next.block, &next.stage) == (place.block, &place.stage);
            let block = places[index..].iter().take_while(is_of_block).count();
            let block = &places[index..index + block];
            if !self.pace.is_time_for(block, self.begun.elapsed()) {
                let later = later.map(|later| later + places.len() - index - block.len());
                observer.says(&self.pace.spent(block, later, self.begun.elapsed()));
                return Ok(Some(Some(Why::Budget)));
            }
            observer.place_begins(place, &self.ahead(&places[index..], later));
            let begun = Instant::now();
            let amount = course.amount(kept, place)?;
            let (mut made, is_made_again) = bench.run(place, amount.as_ref(), observer)?;
            if is_made_again {
                observer.says(
                    "every request was rejected, but not those of a single user: the run is made again",
                );
                made = bench.run(place, amount.as_ref(), observer)?.0;
            }
            self.pace.note(place, begun.elapsed());
            observer.place_ends(place, &made);
            self.made += 1;
        }
        Ok((bench.runner.tools.is_stopped()).then_some(None))
    }

    fn ahead(&self, left: &[Place], later: Option<usize>) -> Ahead {
        Ahead {
            number: self.made,
            of: later.map(|later| self.made + left.len() + later),
            is_at_most: later != Some(0),
            left: later.and_then(|later| self.pace.expected(left, later)),
            budget: self.pace.left(self.begun.elapsed()),
        }
    }
}

/// Positions go on where those of the planned places end.
fn numbered(places: Vec<Place>, planned: &[Place]) -> Vec<Place> {
    let first = planned.last().map_or(0, |place| place.position.saturating_add(1));
    (first..).zip(places).map(|(position, place)| Place { position, ..place }).collect()
}

/// Ends what studies left behind that were killed, so that it does not share the machine with this one. Says what it ended,
/// removed, and left alone, unescaped.
pub fn tidy_up() -> Vec<String> {
    let Leftovers { ended, elsewhere } = lab::leftovers::sweep();
    let ended = ended.iter().map(|Swept { pid, command, .. }| {
        format!("ended process {pid} ({command}): a Tenbin that was killed left it running")
    });
    let left = (!elsewhere.is_empty()).then(|| {
        let pids: Vec<String> = elsewhere.iter().map(u32::to_string).collect();
        format!("left processes alone that a Tenbin of another PID namespace started: {}", pids.join(", "))
    });
    ended.chain(left).chain(scratch::sweep()).collect()
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
    // Whoever names no seed gets the one that was drawn when it began.
    let mut study = study.clone();
    study.set_seed(kept.seed);
    // Runs may follow that make up for invalid ones.
    let is_planned_so = *procedure != Procedure::Blocks || kept.planned.starts_with(&schedule(&study));
    if kept.plan_hash == study.hash && kept.compare.procedure == *procedure && is_planned_so {
        return Ok(());
    }
    Err(Fault::new(
        &study.title,
        "the plan, or a file that it uses, has changed since this study began",
        "run it anew, or bring back the plan as it was",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::course::tests::begun;

    #[test]
    fn a_study_is_not_over_while_a_run_is_missing_that_can_still_be_made() {
        let (_, store, id, _folder) = begun(3, "{ blocks: 2 }");
        let mut kept = store.load_study(&id).expect("it is kept");
        assert_eq!(unless_missing(Why::Blocks, &kept), None);
        kept.new.planned.clear();
        assert_eq!(unless_missing(Why::Blocks, &kept), Some(Why::Blocks));
    }
}
