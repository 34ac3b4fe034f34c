//! Twice the threads: what decides whether a doubtful run was limited by its generator.
//!
//! A run whose generator was near its limit is suspect. If there are cores for twice as many threads, the same load is run once
//! more with them: what the system does then tells which of the two was the limit.

use judge::{Doubt, Measured};
use plan::Plan;
use record::Percentile;
use store::{Cause, Ending, Level, NewRun, RunId, Store, StoreError, Verdict};

use crate::describe::describe;
use crate::live::Observer;
use crate::measure::{self, measure};
use crate::monitor::Attended;
use crate::one_run::Runner;
use crate::planned_run::PlannedRun;
use crate::prepare::Prepared;
use crate::recording;
use crate::run_error::RunError;
use crate::stopper::StopLevel;
use crate::tools::Tools;

/// Causes that more threads can confirm or clear.
const CAUSES: [Doubt; 2] = [Doubt::GeneratorCpu, Doubt::Ceiling];
/// A rate that moves by less than this is the same.
const MOVED_MIN: f64 = 0.1;
/// Of one run to the next a p99 moves by itself; only one that falls below this part has another cause.
const P99_MOST: f64 = 0.5;

/// The figures of a run that more threads would change, if they were the limit.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Figures {
    ok_per_s: Option<f64>,
    p99_ns: Option<f64>,
}

/// How many threads there are, and cores for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Threads {
    count: u32,
    cores: usize,
    connections: u32,
}

impl Threads {
    pub(crate) fn of(tools: &Tools<'_>, plan: &Plan, prepared: &Prepared) -> Self {
        let pinned = prepared.cores.len();
        let cores = if pinned > 0 { pinned } else { tools.generator.machine().cores.len() };
        Self { count: prepared.threads, cores, connections: plan.connections() }
    }

    /// Twice as many, where each has a core and a connection.
    fn doubled(self) -> Option<u32> {
        let doubled = self.count.checked_mul(2)?;
        (doubled as usize <= self.cores && doubled <= self.connections).then_some(doubled)
    }
}

/// What a run and its twin share.
pub(crate) struct Twin<'a> {
    pub(crate) runner: &'a Runner<'a>,
    pub(crate) plan: &'a Plan,
    pub(crate) threads: Threads,
}

impl Twin<'_> {
    /// Runs the load again with twice the threads if a run is suspect for what these can tell, and there are cores for them; then the
    /// run is invalid or free of that suspicion. Its ending is not kept yet.
    pub(crate) fn weigh(
        &self,
        run: &RunId,
        measured: &mut measure::Measured,
        observer: &mut dyn Observer,
    ) -> Result<(), RunError> {
        let ending = &measured.ending;
        let is_doubtful = ending.validity.verdict == Level::Suspect
            && ending.verdict == Verdict::Complete
            && ending.validity.causes.iter().any(is_about_threads);
        let Some(threads) = self.threads.doubled().filter(|_| is_doubtful) else { return Ok(()) };
        let mut plan = self.plan.clone();
        plan.threads = Some(threads);
        // Whatever cannot be run again leaves the run as suspect as it was.
        let Ok(prepared) = self.runner.tools.generator.prepare(&plan, self.runner.tools.stopper) else {
            return Ok(());
        };
        // The run is not kept to its end yet: nobody may think that it hangs.
        measured.wait();
        let twin = self.run_twin(&plan, prepared, observer);
        measured.go_on();
        match twin {
            Ok(Some((twin, figures))) => {
                let first = figures_of(self.runner.store, run)?;
                settle(&mut measured.ending, [first, figures], [self.threads.count, threads], &twin);
                Ok(())
            }
            Ok(None) | Err(RunError::Threads(_)) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// The same load with twice the threads, kept as a run of its own. `None` if it cannot be compared.
    fn run_twin(
        &self,
        plan: &Plan,
        prepared: Prepared,
        observer: &mut dyn Observer,
    ) -> Result<Option<(RunId, Figures)>, RunError> {
        let Runner { store, tools: Tools { stopper, lab, generator, .. } } = *self.runner;
        let described = describe(plan, generator.machine().facts);
        let mut new = NewRun { title: format!("{} (twice the threads)", described.title), ..described };
        recording::record(plan, &prepared, &mut new);
        let run = store.begin(&new)?;
        let mut attended = Attended::somebody_elses(lab);
        let planned = PlannedRun::of_load(plan, None);
        let measured = measure(self.runner, &planned, prepared, &run, observer, &mut attended)?;
        let mut ending = measured.ending;
        attended.stop().tell(&mut ending);
        store.finish(&run, &ending)?;
        let is_whole = ending.verdict == Verdict::Complete && stopper.level() == StopLevel::Go;
        if !is_whole {
            return Ok(None);
        }
        Ok(Some((run.clone(), figures_of(store, &run)?)))
    }
}

fn is_about_threads(cause: &Cause) -> bool {
    Doubt::named(&cause.code).is_some_and(|doubt| CAUSES.contains(&doubt))
}

fn figures_of(store: &Store, run: &RunId) -> Result<Figures, StoreError> {
    let measured = Measured::of(&store.load(run)?)?;
    Ok(Figures { ok_per_s: measured.ok_per_s(), p99_ns: measured.response.at(Percentile::P99) })
}

/// More done, or done sooner, with more threads: then the first run measured its generator.
fn settle(ending: &mut Ending, [first, twin]: [Figures; 2], [threads, doubled]: [u32; 2], run: &RunId) {
    let ratio = |first: Option<f64>, twin: Option<f64>| {
        Some(twin? / first?).filter(|ratio| ratio.is_finite() && *ratio > 0.0)
    };
    let [rate, p99] = [ratio(first.ok_per_s, twin.ok_per_s), ratio(first.p99_ns, twin.p99_ns)];
    let Some(rate) = rate else { return };
    let is_better = rate > 1.0 + MOVED_MIN || p99.is_some_and(|p99| p99 < P99_MOST);
    let words = format!(
        "with {doubled} threads instead of {threads} it answered {rate:.2} times as much{}",
        p99.map_or_else(String::new, |p99| format!(", and its p99 was {p99:.2} times as long"))
    );
    ending.validity.causes.retain(|cause| !is_about_threads(cause));
    if is_better {
        ending.verdict = Verdict::Invalid;
        ending.validity.verdict = Level::Invalid;
        let cause = Cause {
            code: Doubt::GeneratorBound.code().to_owned(),
            sentence: format!("{words}: the generator was the limit"),
            remedy: format!("use --threads {doubled}, as run {run} did"),
        };
        ending.validity.causes.insert(0, cause);
    } else {
        if ending.validity.causes.is_empty() {
            ending.validity.verdict = Level::Valid;
        }
        ending.notes.push(format!(
            "The generator was near its limit, but {words} (run {run}): it was not what limited."
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::describe::without_a_load;

    fn suspect() -> Ending {
        let mut ending = without_a_load(Verdict::Complete, None, 0);
        let cause =
            |code: &str| Cause { code: code.to_owned(), sentence: String::new(), remedy: String::new() };
        ending.validity.causes = vec![cause("generator_cpu"), cause("ceiling")];
        ending
    }

    fn settled(first: [f64; 2], twin: [f64; 2]) -> Ending {
        let figures =
            |[ok_per_s, p99_ns]: [f64; 2]| Figures { ok_per_s: Some(ok_per_s), p99_ns: Some(p99_ns) };
        let mut ending = suspect();
        let run: RunId = "20261121-142500-ab12".parse().unwrap();
        settle(&mut ending, [figures(first), figures(twin)], [1, 2], &run);
        ending
    }

    #[test]
    fn more_with_more_threads_means_that_the_generator_was_the_limit() {
        for twin in [[15_000.0, 9e6], [10_200.0, 4e6]] {
            let ending = settled([10_000.0, 9e6], twin);
            assert_eq!((ending.verdict, ending.validity.verdict), (Verdict::Invalid, Level::Invalid));
            assert_eq!(ending.validity.causes[0].code, "generator_bound");
            assert_eq!(ending.validity.causes.len(), 1);
        }
    }

    #[test]
    fn the_same_with_more_threads_clears_it() {
        let ending = settled([10_000.0, 9e6], [9_500.0, 9.4e6]);
        assert_eq!((ending.verdict, ending.validity.verdict), (Verdict::Complete, Level::Valid));
        assert!(ending.validity.causes.is_empty() && ending.notes[0].contains("0.95 times as much"));
        let mut other = suspect();
        other.validity.causes.push(Cause { code: "steal".to_owned(), ..other.validity.causes[0].clone() });
        let none = Figures { ok_per_s: None, p99_ns: None };
        let run: RunId = "20261121-142500-ab12".parse().unwrap();
        let before = other.clone();
        settle(&mut other, [none, none], [1, 2], &run);
        assert_eq!(other, before, "nothing can be told");
    }

    #[test]
    fn threads_are_doubled_where_there_are_cores_and_connections() {
        let threads = |count, cores, connections| Threads { count, cores, connections }.doubled();
        assert_eq!(threads(1, 2, 50), Some(2));
        assert_eq!(threads(2, 2, 50), None);
        assert_eq!(threads(1, 8, 1), None);
        assert_eq!(threads(u32::MAX, 8, 50), None);
    }
}
