//! One run, from first to last.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use load::values::Source;
use plan::{Action, Fault, Plan, PlannedStep};
use record::{Counts, IdentityBroken, Phase, WindowBroken};
use store::{
    Cause, Ending, Failure, Generator, Level, Model, NewRun, PartOf, RunId, Store, StoreError, Unit,
    Validity, Verdict,
};

use crate::around::Before;
use crate::beside::{Attended, Beside};
use crate::collect::Collector;
use crate::doubling::{Threads, Twin};
use crate::extension::Extension;
use crate::judging::Surroundings;
use crate::live::Observer;
use crate::prepare::Prepared;
use crate::stopper::{StopLevel, Stopper};
use crate::watchdog::Watchdog;
use crate::{host, judging, recording, usage};

/// How much longer than its duration and its last request's deadline a run may take before it is ended by force.
const GRACE: Duration = Duration::from_secs(5);
/// Exit code of a run ended by force: it could not run.
const FORCED_EXIT_CODE: i32 = 1;

/// What to do about a study whose every request is rejected.
const RESUMABLE: &str = "help: correct the plan, or the system and continue with --resume";

/// A run that came to its end.
#[derive(Clone, Debug, PartialEq)]
pub struct Finished {
    /// Its name in the store.
    pub run: RunId,
    /// How it went.
    pub verdict: Verdict,
}

/// Why a run did not come to its end.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The store failed.
    #[error("{source}")]
    Storage {
        /// How.
        source: Box<StoreError>,
        /// What had been counted by then, if the load had begun.
        counts: Option<Box<Counts>>,
    },
    /// The load's threads could not be started.
    #[error(
        "the threads of the load cannot be started: {0}; use fewer (--threads), or raise the limit of processes"
    )]
    Threads(#[from] std::io::Error),
    /// Requests were lost in the accounting.
    #[error("{0}; this is a fault of Tenbin, and none of the run's figures can be believed")]
    Identity(#[from] IdentityBroken),
    /// More requests ended in the measured window than were offered.
    #[error("{0}; this is a fault of Tenbin, and none of the run's figures can be believed")]
    Window(#[from] WindowBroken),
    /// The seconds in the store do not add up to what was counted.
    #[error(
        "the seconds in the store add up to {kept:?}, and {counted:?} was counted; this is a fault of Tenbin, and none of the run's figures can be believed"
    )]
    Kept {
        /// The sum of the seconds.
        kept: Box<Counts>,
        /// What was counted as they came.
        counted: Box<Counts>,
    },
    /// A run of a study cannot be planned.
    #[error("{}", lines(.0))]
    Plan(Vec<Fault>),
    /// A kept study plans a run that its plan does not have.
    #[error("the plan no longer has a run that this study planned; run it anew")]
    NotInPlan,
    /// A system rejected all of its first load, and a single user afterwards.
    #[error("{name}: every request was rejected, also those of a single user: {answers}\n  {RESUMABLE}")]
    Rejected {
        /// System and variant.
        name: String,
        /// What each step was answered, on one line of printable characters.
        answers: String,
    },
    /// There are no ports for a system.
    #[error("no free ports for the system: {0}")]
    Ports(String),
    /// There is no folder for a system's files.
    #[error(
        "no folder can be made for the files of a system: {0}; see to the space and rights of the folder for temporary files (TMPDIR)"
    )]
    Folder(std::io::Error),
}

fn lines(faults: &[Fault]) -> String {
    faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

impl From<StoreError> for RunError {
    fn from(source: StoreError) -> Self {
        Self::storage(source, None)
    }
}

impl RunError {
    pub(crate) fn storage(source: StoreError, counts: Option<Counts>) -> Self {
        Self::Storage { source: Box::new(source), counts: counts.map(Box::new) }
    }
}

/// Runs a prepared plan and keeps everything in the store.
pub fn run(
    plan: &Plan,
    prepared: Prepared,
    store: &Store,
    stopper: &Stopper,
    observer: &mut dyn Observer,
) -> Result<Finished, RunError> {
    let mut new = describe(plan);
    let how = recording::record(plan, &prepared, &mut new);
    let run = store.begin(&new)?;
    let mut attended = Attended::somebody_elses();
    let threads = Threads::of(plan, &prepared);
    let mut measured = measure(plan, prepared, store, &run, stopper, observer, &mut attended)?;
    Twin { plan, threads, store, stopper }.weigh(&run, &mut measured, observer)?;
    measured.ending.notes.extend(how);
    measured.ending.not_available = attended.not_available();
    let Measured { ending, counts, .. } = &measured;
    store.finish(&run, ending).map_err(|source| RunError::storage(source, Some(*counts)))?;
    Ok(Finished { run, verdict: ending.verdict })
}

/// A load that is over, and not kept to its end yet.
pub(crate) struct Measured {
    pub(crate) ending: Ending,
    /// Of the measured phase.
    pub(crate) counts: Counts,
    /// Whether not one request got another answer than a rejection, warm-up included.
    pub(crate) is_rejected: bool,
    /// Whether it was ended early for that.
    pub(crate) was_given_up: bool,
    /// What is not kept in time, because the store hangs, is ended by force.
    watchdog: Watchdog,
}

impl Measured {
    /// Something else is done before it is kept, in whatever time that takes.
    pub(crate) fn wait(&self) {
        self.watchdog.rearm(None);
    }

    /// From now on it must be kept in time again.
    pub(crate) fn go_on(&self) {
        self.watchdog.rearm(Some(GRACE));
    }
}

/// Puts the load of a run that has begun on its target, and keeps every second. Its ending is not kept yet.
pub(crate) fn measure(
    plan: &Plan,
    prepared: Prepared,
    store: &Store,
    run: &RunId,
    stopper: &Stopper,
    observer: &mut dyn Observer,
    beside: &mut dyn Beside,
) -> Result<Measured, RunError> {
    observer.begins(&plan.load_words(), prepared.memory_bound_bytes());
    let timeout = Duration::from_nanos(plan.timeout_ns);
    let planned = plan.planned_ns().map(Duration::from_nanos);
    let opening = Duration::from_nanos(plan.connect_timeout_ns);
    let watchdog =
        Watchdog::arm(planned.map(|planned| opening + planned + timeout + GRACE), FORCED_EXIT_CODE)?;

    let (before, cores) = (Before::look(&prepared), prepared.cores().to_vec());
    let Prepared { job, script, resolved, probed, learnt: _, gives_up } = prepared;
    let threads = job.threads;
    let running = script.start(job)?;
    let planned_requests = plan.stop.requests;
    let workers = threads as usize;
    let steps = plan.steps.len();
    let mut collector = Collector {
        store,
        run,
        observer,
        stopper,
        beside,
        planned,
        planned_requests,
        timeout,
        threads: workers,
        steps,
        warm_up_ns: plan.warm_up_ns,
        extension: Extension::of(plan, threads),
        gives_up,
    };
    let collected = collector.collect(running);
    observer.ends();
    let collected = collected?;
    let counts = collected.counts(Phase::Measured);
    must_be_kept(store, run, steps, collected.counts(Phase::WarmUp), counts)?;
    let (is_rejected, was_given_up) = (collected.is_rejected(), collected.was_given_up);
    let asked = if collected.is_gone { stopper.level().max(StopLevel::Drain) } else { stopper.level() };
    let closed = judging::close(plan, collected, asked)?;
    let surroundings = Surroundings { plan, store, threads, cores: &cores, before };
    let (environment, sharing) = judging::environment(surroundings, &closed.accounts, beside);
    let mut ending = judging::ending(closed, &environment, threads);
    ending.notes.extend(sharing);
    ending.resolved_ns = resolved.map(|took| took.as_nanos() as u64);
    ending.tls = probed.tls;
    Ok(Measured { ending, counts, is_rejected, was_given_up, watchdog })
}

/// The sum of the seconds in the store must be what was counted.
fn must_be_kept(
    store: &Store,
    run: &RunId,
    steps: usize,
    warm_up: Counts,
    measured: Counts,
) -> Result<(), RunError> {
    let (kept, mut counted) = (store.kept_counts(run, steps)?, measured);
    counted.add(&warm_up);
    if kept == counted {
        Ok(())
    } else {
        Err(RunError::Kept { kept: Box::new(kept), counted: Box::new(counted) })
    }
}

/// The ending of a run whose load never began.
pub(crate) fn without_a_load(verdict: Verdict, failure: Option<Failure>) -> Ending {
    let why =
        failure.as_ref().map_or("the run was stopped before its load began", |_| "the load never began");
    let cause = Cause {
        code: "no_load".to_owned(),
        sentence: why.to_owned(),
        remedy: "there are no figures to believe or not".to_owned(),
    };
    Ending {
        ended_at_unix_ms: unix_ms(),
        verdict,
        validity: Validity { verdict: Level::Suspect, causes: vec![cause] },
        generator: Generator {
            cpu_user_s: 0.0,
            cpu_sys_s: 0.0,
            rss_peak_bytes: usage::rss_peak_bytes(),
            threads: 0,
            wake_lag_p99_us: None,
            thread_cpu_share_max: None,
            ..Generator::default()
        },
        spread: None,
        planned_left: 0,
        notes: Vec::new(),
        resolved_ns: None,
        tls: None,
        system: None,
        failure,
        not_available: Vec::new(),
        steadiness: None,
        window_ns: None,
        outage: None,
    }
}

pub(crate) fn describe(plan: &Plan) -> NewRun {
    let plan_json = plan.to_json();
    let mut hash = ring::digest::Context::new(&ring::digest::SHA256);
    // Two runs that only draw other values are of one plan.
    let mut of_plan = plan_json.clone();
    of_plan.as_object_mut().map(|of_plan| of_plan.remove("seed"));
    // Requests are hashed below as they are sent; earlier versions kept no path.
    for step in of_plan["steps"].as_array_mut().into_iter().flatten() {
        step.as_object_mut().map(|step| step.remove("path"));
    }
    hash.update(of_plan.to_string().as_bytes());
    for request in plan.steps.iter().filter_map(PlannedStep::request) {
        hash.update(&request.request.encode().unwrap_or_default());
    }
    // Of scripts the plan has the names only.
    for text in plan.sql.iter().flat_map(|sql| &sql.texts) {
        hash.update(&(text.len() as u64).to_le_bytes());
        hash.update(text);
    }
    // Tables are recorded by their size, and told apart by what is in them.
    let tables = plan.data.iter().filter_map(|data| match &data.source {
        Source::Rows { rows, .. } => Some(rows),
        _ => None,
    });
    for cell in tables.flat_map(|rows| rows.iter()).flatten() {
        hash.update(&(cell.len() as u64).to_le_bytes());
        hash.update(cell.as_bytes());
    }
    let hash = hash.finish();
    NewRun {
        started_at_unix_ms: unix_ms(),
        title: plan.title.clone(),
        plan_text: format!("{}: {}; {}", plan.title, plan.load_words(), plan.stop_words()),
        plan_hash: hash.as_ref()[..8].iter().map(|byte| format!("{byte:02x}")).collect(),
        plan_json,
        tenbin_version: env!("CARGO_PKG_VERSION").to_owned(),
        host: host::describe(),
        load_words: plan.load_words(),
        model: model(plan),
        steps: plan.steps.iter().map(|step| step.name.clone()).collect(),
        units: plan.steps.iter().map(unit).collect(),
        parts: plan.parts().into_iter().map(|part| PartOf { name: part.name, of: part.of }).collect(),
        warm_up_ns: plan.warm_up_ns,
        planned_duration_ns: plan.planned_ns().map(|ns| ns - plan.warm_up_ns),
        latency_limit_ns: plan.sql.as_ref().and_then(|sql| sql.latency_limit_ns),
        connects_each: !plan.keep_alive(),
        stamps: plan.stamps(),
        place: None,
        system_version: None,
    }
}

pub(crate) fn model(plan: &Plan) -> Model {
    match plan.load {
        load::Load::Closed(_) => Model::Closed,
        load::Load::Open(_) => Model::Open,
    }
}

pub(crate) fn unit(step: &PlannedStep) -> Unit {
    match step.action {
        Action::Http(_) => Unit::Requests,
        Action::Sql(_) => Unit::Transactions,
    }
}

pub(crate) fn unix_ms() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as i64)
}
