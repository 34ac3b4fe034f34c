//! One run, from first to last: whoever asks for it, a URL or a study.

use lab::Output;
use store::{Failure, NewRun, Store, Verdict};

use crate::clock::{Clock, WallClock};
use crate::describe::describe;
use crate::generator::{Generator, LocalGenerator};
use crate::live::Observer;
use crate::made::{Brief, Loaded, Made};
use crate::measure::measure;
use crate::monitor::Attended;
use crate::planned_run::PlannedRun;
use crate::recording;
use crate::stage::{failure, kept};
use crate::stopper::{StopLevel, Stopper};
use crate::systems::{Lab, LocalLab};
use crate::thread_check::{Threads, Twin};

pub(crate) use crate::describe::{unit, unix_ms};
pub use crate::run_error::RunError;

/// Makes runs, one after the other.
#[derive(Clone, Copy, Debug)]
pub struct Runner<'a> {
    /// Where they are kept.
    pub store: &'a Store,
    /// What they are made with.
    pub tools: Tools<'a>,
}

/// What a run is made with.
#[derive(Clone, Copy, Debug)]
pub struct Tools<'a> {
    /// How somebody stops it.
    pub stopper: &'a Stopper,
    /// What makes its load.
    pub generator: &'a dyn Generator,
    /// What starts its system, and looks at it.
    pub lab: &'a dyn Lab,
    /// What time it is.
    pub clock: &'a dyn Clock,
}

impl<'a> Tools<'a> {
    /// The engine and the lab of this machine.
    pub fn local(stopper: &'a Stopper) -> Self {
        Self { stopper, generator: &LocalGenerator, lab: &LocalLab, clock: &WallClock }
    }

    /// Whether somebody has asked to stop it.
    pub fn is_stopped(&self) -> bool {
        self.stopper.level() != StopLevel::Go
    }
}

impl Runner<'_> {
    /// Starts the system if it is to be started, loads it, watches it, stops it, and keeps what came of it. A system that fails is
    /// a result.
    pub fn make(&self, mut planned: PlannedRun<'_>, observer: &mut dyn Observer) -> Result<Made, RunError> {
        let cancelled = || self.tools.is_stopped();
        let version = planned.stage.and_then(|stage| stage.version(self.tools.lab, &cancelled));
        let new = NewRun { place: planned.place.clone(), system_version: version, ..describe(planned.plan) };
        let (loaded, outputs) = match planned.start(self.tools.lab, &cancelled) {
            Ok(mut attended) => {
                let loaded = self.load(&mut planned, new, &mut attended, observer);
                // Whatever became of the load: the system must go.
                let left = attended.stop();
                let mut loaded = loaded?;
                let outputs = left.tell(&mut loaded.ending);
                (loaded, outputs)
            }
            Err(_) if cancelled() => (self.without_a_load(&new, Verdict::Partial, None)?, Vec::new()),
            Err(failure) => {
                (self.without_a_load(&new, Verdict::Aborted, Some(kept(&failure)))?, failure.outputs)
            }
        };
        self.keep(&planned, loaded, &outputs)
    }

    /// Its tables, a first connection, and the load itself. A system that cannot be spoken to has failed; only the store and this
    /// program end a study.
    fn load(
        &self,
        planned: &mut PlannedRun<'_>,
        mut new: NewRun,
        attended: &mut Attended<'_>,
        observer: &mut dyn Observer,
    ) -> Result<Loaded, RunError> {
        let prepared = match planned.prepare(&self.tools, observer) {
            Ok(prepared) => prepared,
            Err(_) if self.tools.is_stopped() => return self.without_a_load(&new, Verdict::Partial, None),
            Err(failure) => return self.without_a_load(&new, Verdict::Aborted, Some(failure)),
        };
        let notes = recording::record(planned.plan, &prepared, &mut new);
        let run = self.store.begin(&new)?;
        let threads = Threads::of(planned.plan, &prepared);
        let measured = measure(self, planned, prepared, &run, observer, attended);
        let mut measured = match (measured, planned.stage) {
            // A system that leaves no room for threads has failed, as one that cannot be spoken to.
            (Err(RunError::Threads(error)), Some(stage)) => {
                let what = format!("the threads of the load cannot be started: {error}");
                let failure = failure(stage.starts_processes(), "threads", what);
                return Ok(Loaded::without(run, Verdict::Aborted, Some(failure)));
            }
            (measured, _) => measured?,
        };
        let is_first_answer = planned.judge_first(&self.tools, &mut measured)?;
        if !measured.was_given_up {
            Twin { runner: self, plan: planned.plan, threads }.weigh(&run, &mut measured, observer)?;
        }
        let mut loaded = Loaded::of(run, measured, is_first_answer);
        if planned.place.is_none() {
            // The plan of a study says it for all runs.
            loaded.ending.notes.extend(notes);
        } else {
            // A system may take its time to stop.
            loaded.watchdog = None;
        }
        Ok(loaded)
    }

    fn without_a_load(
        &self,
        new: &NewRun,
        verdict: Verdict,
        failure: Option<Failure>,
    ) -> Result<Loaded, RunError> {
        Ok(Loaded::without(self.store.begin(new)?, verdict, failure))
    }

    /// Keeps what processes wrote, the ending, and what became of gates.
    fn keep(&self, planned: &PlannedRun<'_>, loaded: Loaded, outputs: &[Output]) -> Result<Made, RunError> {
        let Loaded { run, ending, counts, is_first_answer, watchdog } = loaded;
        for output in outputs {
            let process = plan::without_secrets(&output.process);
            self.store.keep_output(&run, &process, &output.text, output.dropped_bytes)?;
        }
        self.store.finish(&run, &ending).map_err(|source| RunError::storage(source, counts))?;
        drop(watchdog);
        let (mut gates, mut brief) = (Vec::new(), None);
        let is_over = matches!(ending.verdict, Verdict::Complete | Verdict::Degraded | Verdict::Invalid);
        if let Some(asked) = planned.gates.as_ref().filter(|_| is_over) {
            let kept = self.store.load(&run)?;
            gates = judge::judge_gates(asked, &kept)?;
            brief = Some(Brief::of(&kept)?);
            self.store.keep_gates(&run, &gates)?;
        }
        Ok(Made { run, ending, gates, brief, is_first_answer })
    }
}
