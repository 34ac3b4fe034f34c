//! Rehearsal: starts and stops each system of a study once, without a load.

use std::borrow::Cow;
use std::path::Path;
use std::time::Duration;

use lab::probes::LookTimes;
use plan::{Plan, Study};
use progress::Stream;

use crate::cores::Cores;
use crate::database_check::NotReady;
use crate::early_end::UnusableReply;
use crate::lone_pass;
use crate::prepare::Refusal;
use crate::run_error::RunError;
use crate::stage::Stage;
use crate::tools::Tools;

/// Observation time, long enough for every probe to read once.
const OBSERVATION_TIME: Duration = Duration::from_millis(250);

/// Failure of a version command. A run continues without a version.
const SILENT: &str =
    "the version command failed, printed nothing, or did not end within 20 s: run it by hand";

/// Result of starting one variant.
#[derive(Clone, Debug)]
pub struct RehearsalResult {
    /// System and variant.
    pub name: String,
    /// Output of the version command. `None` if there is none.
    pub version: Option<String>,
    /// Time from the start to the first connection of the load. `None` for a system that was not started.
    pub ready_after: Option<Duration>,
    /// Time that the stop took. `None` for a system that was not started.
    pub stopped_after: Option<Duration>,
    /// Failures as text.
    pub failures: Vec<String>,
    /// Last output of the processes, unescaped; empty without a failure.
    pub outputs: Vec<lab::Output>,
    /// Names of probes that are not available, each with the reason.
    pub not_available: Vec<(String, String)>,
}

/// Connects once to every variant, and reports each when it is done. Systems that are not running are started and stopped if
/// `starts`, and skipped otherwise.
pub fn rehearse(
    study: &Study,
    starts: bool,
    tenbin: &Path,
    tools: &Tools<'_>,
    mut tell: impl FnMut(&RehearsalResult),
) -> Result<(), RunError> {
    let allowed = tools.generator.machine().cores;
    let cores = Cores::choose(&study.pin, &allowed).map_err(|fault| RunError::Plan(vec![fault]))?;
    for number in 0..study.variants.len() {
        if tools.is_stopped() {
            return Ok(());
        }
        if !starts && study.systems[study.variants[number].system].is_started() {
            continue;
        }
        let (plan, stage) = Stage::set(tools.lab, study, number, 0, None, tenbin, &cores)?;
        let version = stage.version(tools.lab, &|| tools.is_stopped());
        let is_silent = version.is_none() && stage.launch.version.is_some();
        let mut rehearsed = RehearsalResult {
            name: stage.name(),
            version,
            ready_after: None,
            stopped_after: None,
            failures: is_silent.then(|| SILENT.to_owned()).into_iter().collect(),
            outputs: Vec::new(),
            not_available: Vec::new(),
        };
        if !stage.starts_processes() {
            rehearsed.failures.extend(check_running(tools, &plan, &stage));
            if tools.is_stopped() {
                return Ok(());
            }
        } else {
            start_and_stop(tools, &plan, &stage, &mut rehearsed);
        }
        tell(&rehearsed);
    }
    Ok(())
}

/// Reason why a started system cannot be used: its tables cannot be created, or it rejects the load. `None` if it can.
fn check_started(tools: &Tools<'_>, plan: &Plan, stage: &Stage) -> Option<String> {
    if let Err(failure) = stage.fill(tools, plan, &Stream::default()) {
        return Some(failure.what);
    }
    let mut plan = Cow::Borrowed(plan);
    let mut set_up = match tools.generator.set_up(&plan, tools.stopper) {
        Ok(set_up) => set_up,
        Err(Refusal::Stopped) => return None,
        Err(refusal) => return Some(refusal.to_string()),
    };
    if let Some(set_up) = &mut set_up {
        set_up.pass_values(&mut plan);
    }
    match tools.generator.prepare(&plan, tools.stopper) {
        Ok(_) => {}
        Err(Refusal::Stopped) => return None,
        Err(refusal) => return Some(refusal.to_string()),
    }
    let rejected = lone_pass::unusable(tools, &plan, UnusableReply::Rejected);
    let rejected = rejected.map(|answers| format!("every request was rejected: {answers}"));
    let left = set_up.and_then(|set_up| set_up.tear_down(tools.stopper).err());
    rejected.or(left)
}

/// Reason why a running system cannot be used. `None` if it can. Nothing is changed there, so tables that a run would create may be
/// missing.
fn check_running(tools: &Tools<'_>, plan: &Plan, stage: &Stage) -> Option<String> {
    match tools.generator.prepare(plan, tools.stopper) {
        Err(Refusal::NotReady(
            NotReady::Tables { .. }
            | NotReady::Empty { .. }
            | NotReady::Unfinished { .. }
            | NotReady::Missing { .. }
            | NotReady::File(_),
        )) if stage.launch.tables.is_some() => None,
        Ok(_) | Err(Refusal::Stopped) => None,
        Err(refusal) => Some(refusal.to_string()),
    }
}

fn start_and_stop(tools: &Tools<'_>, plan: &Plan, stage: &Stage, rehearsed: &mut RehearsalResult) {
    let begun = tools.clock.now();
    let system = match tools.lab.start(stage.recipe(), &|| tools.is_stopped()) {
        Ok(system) => system,
        Err(failure) => {
            rehearsed.failures.push(failure.to_string());
            rehearsed.outputs = failure.outputs;
            return;
        }
    };
    rehearsed.failures.extend(check_started(tools, plan, stage));
    rehearsed.ready_after = Some(tools.clock.now() - begun);
    let times = LookTimes::every_second(tools.clock.now());
    let watch = tools.lab.watch(stage.subject(&*system), times);
    tools.clock.sleep(OBSERVATION_TIME);
    let (_, not_available) = watch.end();
    rehearsed.not_available = not_available.into_iter().map(|probe| (probe.probe, probe.because)).collect();
    let stopping = tools.clock.now();
    let stopped = system.stop();
    rehearsed.stopped_after = Some(tools.clock.now() - stopping);
    rehearsed.failures.extend(stopped.failures.iter().map(ToString::to_string));
    if !rehearsed.failures.is_empty() {
        rehearsed.outputs = stopped.outputs;
    }
}
