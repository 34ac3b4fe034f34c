//! Thread check: a confirmation run with twice the threads decides whether the generator limited a suspect run.
//!
//! A run whose generator was near its limit is suspect. If there are cores for twice as many threads, the load is repeated with
//! them. The change of throughput then shows whether generator or system was the limit.

use evidence::{NewRun, RunId, ThreadRule, Verdict};
use judge::thread_check::{ThreadCheckFigures, is_doubtful, settle};
use plan::Plan;
use progress::{Ended, Stream};

use crate::describe::describe;
use crate::feed::Feed;
use crate::measure::{self, measure};
use crate::monitor::MonitoredSystem;
use crate::one_run::Runner;
use crate::planned_run::PlannedRun;
use crate::prepare::Prepared;
use crate::recording;
use crate::run_error::RunError;
use crate::stopper::StopLevel;
use crate::tools::Tools;

/// Number of threads, and of the cores for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Threads {
    count: u32,
    cores: usize,
    connections: u32,
}

impl Threads {
    pub(crate) fn of(tools: &Tools<'_>, plan: &Plan, prepared: &Prepared) -> Self {
        let pinned = prepared.cores.len();
        let cores = match prepared.thread_rule {
            // More threads would take cores from the system, so the check could not distinguish generator and system.
            Some(ThreadRule::HalfOfCores { .. }) => prepared.threads as usize,
            _ if pinned > 0 => pinned,
            _ => tools.generator.machine().cores.len(),
        };
        Self { count: prepared.threads, cores, connections: plan.connections() }
    }

    /// Twice the number of threads. `None` if some would have no core or no connection.
    fn doubled(self) -> Option<u32> {
        let doubled = self.count.checked_mul(2)?;
        (doubled as usize <= self.cores && doubled <= self.connections).then_some(doubled)
    }
}

/// Everything that a run and its confirmation run share.
pub(crate) struct ConfirmationRun<'a> {
    pub(crate) runner: &'a Runner<'a>,
    pub(crate) plan: &'a Plan,
    pub(crate) threads: Threads,
}

impl ConfirmationRun<'_> {
    /// Repeats the load with twice the threads if they can resolve the suspicion, and if there are cores for them. The run then becomes
    /// invalid, or is no longer suspect for this reason. Its ending is not stored yet.
    pub(crate) fn resolve_suspicion(
        &self,
        run: &RunId,
        measured: &mut measure::Measured,
        stream: &Stream,
    ) -> Result<(), RunError> {
        let is_doubtful = is_doubtful(&measured.ending);
        let Some(threads) = self.threads.doubled().filter(|_| is_doubtful) else { return Ok(()) };
        let mut plan = self.plan.clone();
        plan.threads = Some(threads);
        // If the load cannot be repeated, the run stays suspect.
        let Ok(prepared) = self.runner.tools.generator.prepare(&plan, self.runner.tools.stopper) else {
            return Ok(());
        };
        // The run is not stored yet, and the watchdog must not end it meanwhile.
        measured.wait();
        let confirmation = self.run_confirmation(&plan, prepared, stream);
        measured.go_on();
        match confirmation {
            Ok(Some((confirmation, figures))) => {
                let first = ThreadCheckFigures::of(&self.runner.store.load(run)?)?;
                settle(&mut measured.ending, [first, figures], [self.threads.count, threads], &confirmation);
                Ok(())
            }
            Ok(None) | Err(RunError::Threads(_)) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Runs the load with twice the threads, and stores it as its own run. `None` if it cannot be compared.
    fn run_confirmation(
        &self,
        plan: &Plan,
        prepared: Prepared,
        stream: &Stream,
    ) -> Result<Option<(RunId, ThreadCheckFigures)>, RunError> {
        let Runner { store, tools: Tools { stopper, lab, generator, .. } } = *self.runner;
        let described = describe(plan, generator.machine().facts);
        let mut new = NewRun { title: format!("{} (twice the threads)", described.title), ..described };
        recording::record_facts(plan, &prepared, &mut new);
        let run = store.begin(&new)?;
        let mut monitored = MonitoredSystem::external(lab);
        let planned = PlannedRun::of_load(plan, None);
        let feed = Feed { store, run: &run, stream };
        let measured = measure(self.runner, &planned, prepared, feed, &mut monitored)?;
        let mut ending = measured.ending;
        monitored.stop().add_to(&mut ending);
        store.finish(&run, &ending)?;
        feed.ended(Ended { ending: ending.clone(), gates: Vec::new(), brief: None });
        let is_whole = ending.verdict == Verdict::Complete && stopper.level() == StopLevel::Go;
        if !is_whole {
            return Ok(None);
        }
        let figures = ThreadCheckFigures::of(&store.load(&run)?)?;
        Ok(Some((run, figures)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_double_only_with_cores_and_connections() {
        let threads = |count, cores, connections| Threads { count, cores, connections }.doubled();
        assert_eq!(threads(1, 2, 50), Some(2));
        assert_eq!(threads(2, 2, 50), None);
        assert_eq!(threads(1, 8, 1), None);
        assert_eq!(threads(u32::MAX, 8, 50), None);
    }
}
