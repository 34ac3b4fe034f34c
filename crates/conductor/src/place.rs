//! One run of a study, from first to last.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::Path;

use judge::{Window, rates};
use lab::{Stopped, System};
use plan::{Amount, Find, Study};
use record::{Percentile, Phase};
use store::{Ending, Failure, GateResult, NewRun, Place, Run, RunId, Store, StoreError, StudyId, Verdict};

use crate::beside::{Attended, Beside};
use crate::cores::Cores;
use crate::doubling::{Threads, Twin};
use crate::live::Observer;
use crate::one_run::{self, Measured, RunError};
use crate::prepare::prepare_unless_stopped;
use crate::stage::Stage;
use crate::stopper::{StopLevel, Stopper};
use crate::{arrivals, filling, gates, lone_pass, recording};

/// A note on the first run of a variant in a study of failures.
const ALL_REJECTED: &str =
    "the system rejected every request; if it should not, check the scenario with tenbin check --start";

/// What all runs of a study share.
pub(crate) struct Bench<'a> {
    pub(crate) study: &'a Study,
    pub(crate) id: &'a StudyId,
    pub(crate) store: &'a Store,
    pub(crate) stopper: &'a Stopper,
    /// The program itself, which also holds the processes of systems.
    pub(crate) tenbin: &'a Path,
    pub(crate) cores: &'a Cores,
    /// Variants whose system is known to do something else than reject, with the number of the load if that has a scenario
    /// of its own.
    pub(crate) answering: RefCell<BTreeSet<(usize, Option<usize>)>>,
}

impl Bench<'_> {
    /// Whether this would be the first answer to a scenario that is known of a variant.
    fn is_first(&self, numbers: (usize, usize)) -> bool {
        !self.answering.borrow().contains(&self.scenario(numbers))
    }

    /// Whether the study asks what fails: then a system that rejects everything is a result, and not an error of the plan.
    fn studies_failures(&self) -> bool {
        self.study.compare.find == Find::Failures
    }

    /// Judges a load that went first. A study ends where a system rejects all of it, and a single user as well: every
    /// further run would show the same. No run is preceded by a trial of its own, which would write into the system.
    fn judge_first(
        &self,
        stage: &Stage,
        numbers: (usize, usize),
        measured: &mut Measured,
    ) -> Result<(), RunError> {
        if measured.is_rejected && self.studies_failures() {
            measured.ending.notes.push(ALL_REJECTED.to_owned());
        } else if measured.is_rejected {
            measured.wait();
            if let Some(answers) = lone_pass::rejected(&stage.plan, self.stopper) {
                let name = format!("{} {}", stage.launch.system, stage.launch.variant).trim_end().to_owned();
                return Err(RunError::Rejected { name, answers });
            }
            measured.go_on();
        }
        self.answering.borrow_mut().insert(self.scenario(numbers));
        Ok(())
    }

    fn scenario(&self, (variant, load): (usize, usize)) -> (usize, Option<usize>) {
        (variant, self.study.loads[load].scenario.as_ref().map(|_| load))
    }
}

/// What came of a run of a study.
#[derive(Clone, Debug)]
pub struct PlaceEnded {
    /// Its name in the store.
    pub run: RunId,
    /// How it went.
    pub ending: Ending,
    /// What became of the plan's gates.
    pub gates: Vec<GateResult>,
    /// What was measured, of a load that came to its end.
    pub brief: Option<Brief>,
    /// Whether it was ended because every request was rejected, and is made again because a single user was answered.
    pub is_made_again: bool,
}

/// A run in three figures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Brief {
    /// Ok answers per second of the measured window.
    pub ok_per_s: f64,
    /// Median response time, where there are enough samples.
    pub p50_ns: Option<u64>,
    /// The share of planned requests that did not end ok; `None` if none was planned.
    pub errors_share: Option<f64>,
}

impl Brief {
    fn of(run: &Run) -> Result<Self, StoreError> {
        let tally = run.whole(Phase::Measured)?;
        Ok(Self {
            ok_per_s: Window::of(run).map_or(0.0, |window| window.ok_per_s()),
            p50_ns: tally.response.all().printable_at(Percentile::P50),
            errors_share: rates::error_share(&tally.counts),
        })
    }
}

/// Starts the system, loads it, watches it, stops it, and keeps what came of it. A system that fails is a result. `amount`
/// is in place of the load's own.
pub(crate) fn run(
    bench: &Bench<'_>,
    place: &Place,
    amount: Option<&Amount>,
    observer: &mut dyn Observer,
) -> Result<PlaceEnded, RunError> {
    let (variant, load) = find(bench.study, place)?;
    let mut stage = Stage::set(bench.study, variant, load, amount, bench.tenbin, bench.cores)?;
    if amount.is_none() {
        stage.plan.seed = arrivals::seed(bench.study.seed, place);
    }
    let is_first = bench.is_first((variant, load));
    let mut new = one_run::describe(&stage.plan);
    new.place = Some((bench.id.clone(), place.clone()));
    let cancelled = || bench.stopper.level() != StopLevel::Go;
    new.system_version = stage.version(&cancelled);
    // What a database says of itself belongs to the description of the run: it begins when that is known.
    let (run, ending, outputs) = if stage.launch.processes.is_empty() {
        let mut attended = Attended::somebody_elses();
        let (run, mut ending) = stage.load(bench, (variant, load), new, observer, &mut attended)?;
        ending.not_available = attended.not_available();
        (run, ending, Vec::new())
    } else {
        match lab::start(stage.recipe(), &cancelled) {
            Err(_) if cancelled() => {
                (bench.store.begin(&new)?, one_run::without_a_load(Verdict::Partial, None), Vec::new())
            }
            Err(failure) => {
                let ending = one_run::without_a_load(Verdict::Aborted, Some(kept(&failure)));
                (bench.store.begin(&new)?, ending, failure.outputs)
            }
            Ok(system) => stage.load_and_stop(bench, (variant, load), new, system, observer)?,
        }
    };
    for output in &outputs {
        let process = plan::without_secrets(&output.process);
        bench.store.keep_output(&run, &process, &output.text, output.dropped_bytes)?;
    }
    bench.store.finish(&run, &ending)?;
    let (mut gates, mut brief) = (Vec::new(), None);
    if matches!(ending.verdict, Verdict::Complete | Verdict::Degraded | Verdict::Invalid) {
        let kept = bench.store.load(&run)?;
        let asked: Vec<judge::Gate> = bench.study.gates_of(load).iter().map(gates::gate).collect();
        gates = judge::judge_gates(&asked, &kept)?;
        brief = Some(Brief::of(&kept)?);
        bench.store.keep_gates(&run, &gates)?;
    }
    let is_made_again = is_first
        && !bench.is_first((variant, load))
        && ending.verdict == Verdict::Partial
        && bench.stopper.level() == StopLevel::Go;
    Ok(PlaceEnded { run, ending, gates, brief, is_made_again })
}

impl Stage {
    fn load_and_stop(
        &self,
        bench: &Bench<'_>,
        numbers: (usize, usize),
        new: NewRun,
        mut system: System,
        observer: &mut dyn Observer,
    ) -> Result<(RunId, Ending, Vec<lab::Output>), RunError> {
        let subject = self.subject(&system);
        let mut attended = Attended::system(&mut system, subject);
        let measured = self.load(bench, numbers, new, observer, &mut attended);
        let died = attended.died.take();
        let not_available = attended.not_available();
        // Whatever became of the load: the system must go.
        let Stopped { failures, outputs } = system.stop();
        let (run, mut ending) = measured?;
        ending.not_available = not_available;
        ending.notes.extend(failures.iter().map(|failure| plan::without_secrets(&failure.to_string())));
        if let Some(died) = died {
            ending.verdict = Verdict::Aborted;
            ending.failure = Some(kept(&died));
        }
        Ok((run, ending, outputs))
    }

    /// Its tables, and the load itself. A system that cannot be spoken to has failed; only the store and this program end a study.
    fn load(
        &self,
        bench: &Bench<'_>,
        numbers: (usize, usize),
        mut new: NewRun,
        observer: &mut dyn Observer,
        beside: &mut dyn Beside,
    ) -> Result<(RunId, Ending), RunError> {
        let ready = self.fill(bench.stopper, observer).and_then(|()| {
            prepare_unless_stopped(&self.plan, bench.stopper)
                .map_err(|refusal| self.failure("connect", refusal.to_string()))
        });
        match ready {
            Ok(mut prepared) => {
                let is_first = bench.is_first(numbers);
                prepared.gives_up = is_first && !bench.studies_failures();
                recording::record(&self.plan, &prepared, &mut new);
                let run = bench.store.begin(&new)?;
                let (store, stopper) = (bench.store, bench.stopper);
                let threads = Threads::of(&self.plan, &prepared);
                let measured = one_run::measure(&self.plan, prepared, store, &run, stopper, observer, beside);
                // A system that leaves no room for threads has failed, as one that cannot be spoken to.
                let mut measured = match measured {
                    Err(RunError::Threads(error)) => return Ok((run, self.without_threads(&error))),
                    measured => measured?,
                };
                if is_first {
                    bench.judge_first(self, numbers, &mut measured)?;
                }
                if measured.was_given_up {
                    return Ok((run, measured.ending));
                }
                Twin { plan: &self.plan, threads, store, stopper }.weigh(&run, &mut measured, observer)?;
                Ok((run, measured.ending))
            }
            Err(_) if bench.stopper.level() != StopLevel::Go => {
                Ok((bench.store.begin(&new)?, one_run::without_a_load(Verdict::Partial, None)))
            }
            Err(failure) => {
                let ending = one_run::without_a_load(Verdict::Aborted, Some(failure));
                Ok((bench.store.begin(&new)?, ending))
            }
        }
    }

    /// Makes the tables that the plan wants, if it wants any.
    pub(crate) fn fill(&self, stopper: &Stopper, observer: &mut dyn Observer) -> Result<(), Failure> {
        let (Some(tables), Some(sql)) = (&self.launch.tables, &self.plan.sql) else { return Ok(()) };
        match filling::fill_for(&sql.database, tables, stopper, observer) {
            Ok(_) => Ok(()),
            Err(error) => Err(self.failure("prepare", error.to_string())),
        }
    }

    fn without_threads(&self, error: &std::io::Error) -> Ending {
        let failure = self.failure("threads", format!("the threads of the load cannot be started: {error}"));
        one_run::without_a_load(Verdict::Aborted, Some(failure))
    }

    fn failure(&self, stage: &str, what: String) -> Failure {
        let way_out = match (stage, self.launch.processes.is_empty()) {
            ("threads", _) => {
                "see how many processes the system starts, and raise the limit of processes (ulimit -u)"
            }
            ("prepare", true) => "see whether it runs, and correct url and prepare in the plan",
            ("prepare", false) => "look at the output of the system, and at url and prepare in the plan",
            (_, true) => "see whether it runs, and correct url in the plan",
            (_, false) => "look at the output of the system, and at url and ready in the plan",
        };
        Failure { stage: stage.to_owned(), process: None, what, way_out: way_out.to_owned() }
    }
}

/// The numbers of a place's variant and load in the plan. A search has one load, at levels that are named for themselves.
fn find(study: &Study, place: &Place) -> Result<(usize, usize), RunError> {
    let variant = study.variants.iter().position(|variant| {
        study.systems[variant.system].name == place.system && variant.name == place.variant
    });
    let is_level = place.users.is_some() || place.rate_per_s.is_some();
    let load = study.loads.iter().position(|load| is_level || load.name == place.load);
    variant.zip(load).ok_or(RunError::NotInPlan)
}

fn kept(failure: &lab::Failure) -> Failure {
    Failure {
        stage: failure.stage.word().to_owned(),
        process: failure.process.as_deref().map(plan::without_secrets),
        // It may quote a command.
        what: plan::without_secrets(&failure.what),
        way_out: failure.way_out.clone(),
    }
}
