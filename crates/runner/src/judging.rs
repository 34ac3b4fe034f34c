//! Closes the accounts of a finished load, and passes them to crate `judge`.

use std::time::Duration;

use engine::WorkerEnd;
use evidence::{Ending, Generator, SameBody, StepContents};
use judge::{Accounts, Environment, Findings, Offered, Planned, Stopped};
use load::{Load, Schedule};
use plan::{Pin, Plan};
use record::{Backlog, ConnectionTotals, Spread, Tally, Whole};
use store::Store;

use crate::ceiling::{self, Shape};
use crate::collect::Collected;
use crate::contents;
use crate::databases;
use crate::describe::{unit, unix_ms};
use crate::environment::{self, EnvironmentBefore};
use crate::monitor::Monitor;
use crate::run_error::RunError;
use crate::same_body;
use crate::stopper::StopLevel;
use crate::tools::Tools;
use crate::usage::Usage;

/// Context of a load, in addition to its accounts.
pub(crate) struct LoadContext<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) tools: &'a Tools<'a>,
    /// Store of ceilings.
    pub(crate) store: &'a Store,
    pub(crate) threads: u32,
    /// Cores of the generator; empty if it is not pinned.
    pub(crate) cores: &'a [usize],
    /// State before the load.
    pub(crate) before: EnvironmentBefore,
}

/// Environment of a finished load, with the generator's ceiling if the generator was near a limit. The second value notes that
/// generator and system share a machine.
pub(crate) fn environment(
    of: LoadContext<'_>,
    closed: &Closed,
    monitor: &mut dyn Monitor,
) -> (Environment, Option<String>) {
    let LoadContext { plan, tools, store, threads, cores, before } = of;
    let accounts = &closed.accounts;
    let (taken, roots) = (monitor.taken(), monitor.roots());
    let (shared_cores, system_cores) = (before.shared_cores.clone(), before.system_cores.clone());
    let databases = plan.database().map(environment::places_of).unwrap_or_default();
    let mut environment = Environment {
        steal_share: taken.steal_share(),
        throttled_s: taken.throttled_s,
        busiest_proxy: taken.busiest_proxy(),
        connections: taken.connections(),
        tool_share: closed.tool_share(cores),
        ..before.compare(&roots, &databases)
    };
    if accounts.stopped == Stopped::No && accounts.is_near_limit() {
        let (tally, reached_per_s) = (&accounts.tally, accounts.ended_per_s());
        let shape = Shape { plan, tools, threads, cores, system_cores: &system_cores, tally, reached_per_s };
        match ceiling::find(&shape, store) {
            Ok(per_s) => environment.ceiling_per_s = Some(per_s),
            Err(because) => monitor.lacks("ceiling of the generator", because),
        }
    }
    // A study notes this once for all runs of the systems that it starts.
    (environment, shared_cores.filter(|_| roots.is_empty()))
}

/// A finished load: its accounts, and further facts for the store.
pub(crate) struct Closed {
    pub(crate) accounts: Accounts,
    usage: Usage,
    tool: Option<evidence::LoadTool>,
    tool_ran: Option<Duration>,
    notes: Vec<String>,
    same_body: Option<SameBody>,
    resumed_handshakes: u64,
    contents: Vec<StepContents>,
}

impl Closed {
    /// CPU utilization of an external load generator during its load, as a share of `cores`, or of all cores if `cores` is empty.
    fn tool_share(&self, cores: &[usize]) -> Option<f64> {
        let cores = match cores.len() {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            pinned => pinned,
        };
        let may_use_s = self.tool_ran?.as_secs_f64() * cores as f64;
        (may_use_s > 0.0).then(|| (self.usage.cpu_user_s + self.usage.cpu_sys_s) / may_use_s)
    }
}

/// Closes the accounts. `asked` is the stop level that was requested.
pub(crate) fn close(plan: &Plan, mut collected: Collected, asked: StopLevel) -> Result<Closed, RunError> {
    let is_whole = collected.broke.is_empty() && collected.hopeless.is_empty();
    let [before, tally] = merged(std::mem::take(&mut collected.wholes), is_whole)?;
    Backlog::of(&before, &tally)?;
    let mut ended = before.window;
    ended.add(&tally.window);
    let window_ns = (plan.warm_up_ns, window_end_ns(plan, &tally, &collected.ends));
    let Collected {
        ends,
        broke,
        hopeless,
        overran,
        extended,
        settled_at_ns,
        usage,
        tool,
        tool_notes,
        pulses,
        gaps,
        ..
    } = collected;
    let busiest_10s_share = collected.busiest.cpu_share();
    let opening = ends.iter().filter_map(|end| end.opening_failures.as_ref());
    let notes =
        opening.map(|(count, why)| format!("{count} connections could not be opened before the load: {why}"));
    let notes = notes.chain(limit_reached(&ends, plan)).chain(tool_notes).collect();
    let same_body = same_body::of(&ends);
    let resumed_handshakes = ends.iter().map(|end| end.resumed_handshakes).sum();
    let contents = if tool.is_none() { contents::by_step(&ends, plan.steps.len()) } else { Vec::new() };
    let connections: Vec<ConnectionTotals> = ends.iter().flat_map(|end| &end.connections).copied().collect();
    let accounts = Accounts {
        planned: planned_with(plan, connections.len() as u32),
        stopped: match asked {
            StopLevel::Go => Stopped::No,
            StopLevel::Drain => Stopped::Drained,
            StopLevel::Abort => Stopped::Aborted,
        },
        tally,
        warm_up: before.counts,
        window_ns,
        ended,
        // Load tools do not report on their threads.
        workers: ends.into_iter().filter(|_| tool.is_none()).map(|end| end.health).collect(),
        connections,
        pulses,
        gaps,
        broke,
        hopeless,
        overran,
        extended,
        settled_at_ns,
        busiest_10s_share,
        tool: tool.as_ref().map(|tool| tool.name.clone()),
    };
    Ok(Closed {
        accounts,
        usage,
        tool,
        tool_ran: collected.tool_ran,
        notes,
        same_body,
        resumed_handshakes,
        contents,
    })
}

/// Tallies of the warm-up and of the measured phase, over all steps. `is_whole` if the load came to its end.
fn merged(wholes: Vec<[Whole; 2]>, is_whole: bool) -> Result<[Tally; 2], RunError> {
    let mut merged = [Tally::default(), Tally::default()];
    for whole in wholes {
        let settled = whole.map(|whole| if is_whole { whole.settle() } else { whole.cut_short() });
        for (sum, tally) in merged.iter_mut().zip(settled) {
            sum.merge(&tally?);
        }
    }
    Ok(merged)
}

/// End of the window: the end of the load, or the last counted answer if the number of requests ended the load.
fn window_end_ns(plan: &Plan, tally: &Tally, ends: &[WorkerEnd]) -> u64 {
    // A tool measures as long as it reports, and a failed tool has measured nothing.
    let planned_ns = plan.stop.at_ns.filter(|_| plan.tool().is_none());
    let stopped_at_ns = ends.iter().filter_map(|end| end.stopped_at_ns).chain(planned_ns).min();
    let is_counted_out = plan.stop.requests.is_some_and(|requests| tally.counts.planned >= requests);
    match (stopped_at_ns, tally.last_finished_ns) {
        (Some(stopped_at_ns), Some(last_ns)) if is_counted_out => stopped_at_ns.min(last_ns),
        (Some(at_ns), _) | (None, Some(at_ns)) => at_ns,
        (None, None) => plan.warm_up_ns,
    }
}

/// Note on a load that opened its maximum number of connections. `None` if it did not.
fn limit_reached(ends: &[WorkerEnd], plan: &Plan) -> Option<String> {
    let at_ns = ends.iter().filter_map(|end| end.limit_reached_ns).min()?;
    let connections: usize = ends.iter().map(|end| end.connections.len()).sum();
    let at_s = at_ns as f64 / 1e9;
    let is_of_plan = plan.grows_to.is_none_or(|max| connections as u64 >= u64::from(max));
    let room_help = plan.endpoints.iter().find_map(|endpoint| databases::kind_at(endpoint).room_help);
    let help = match room_help {
        _ if is_of_plan => "raise it with -c",
        Some(help) => help,
        None => "this machine has no more open files or local ports: see `tenbin check`",
    };
    Some(format!("the limit of {connections} connections was reached at {at_s:.2} s; {help}"))
}

/// Expectations of the plan, for the number of connections that were opened.
fn planned_with(plan: &Plan, connections: u32) -> Planned {
    let asked = planned(plan);
    match asked.offered {
        Offered::Open { shed_after_ns, .. } if plan.grows_to.is_some() && connections > 0 => {
            Planned { offered: Offered::Open { connections, shed_after_ns }, ..asked }
        }
        _ => asked,
    }
}

/// Expectations of the plan.
pub(crate) fn planned(plan: &Plan) -> Planned {
    Planned {
        offered: match &plan.load {
            Load::Closed(closed) => {
                let pool = plan.pool().unwrap_or(closed.users);
                Offered::Closed { users: closed.users, pool }
            }
            Load::Open(open) => {
                Offered::Open { connections: open.connections, shed_after_ns: open.shed_after_ns }
            }
        },
        pools: pools(plan),
        units: plan.steps.iter().map(unit).collect(),
        warm_up_ns: plan.warm_up_ns,
        settles_from_ns: settles_from_ns(plan),
        ends_at_ns: plan.stop.at_ns,
        latency_limit_ns: plan.latency_limit_ns(),
        is_trial: plan.is_trial,
        is_pinned: plan.pin != Pin::No,
        is_in_process: plan.endpoints.iter().all(plan::Endpoint::is_in_process),
    }
}

/// Endpoints with fewer connections than the load: name, and number of connections.
fn pools(plan: &Plan) -> Vec<(String, u32)> {
    let pooled = plan.endpoints.iter().filter_map(|endpoint| Some((endpoint.name.clone(), endpoint.pool?)));
    pooled.filter(|(_, pool)| *pool < plan.connections()).collect()
}

/// Time from which the load itself is constant. `None` if it never is.
fn settles_from_ns(plan: &Plan) -> Option<u64> {
    match &plan.load {
        Load::Closed(closed) => {
            let is_steady = closed.schedule.as_ref().is_none_or(Schedule::is_constant);
            is_steady.then_some(plan.warm_up_ns.max(closed.ramp_up_ns))
        }
        Load::Open(open) => open.schedule.is_constant().then_some(plan.warm_up_ns),
    }
}

/// Ending of a run whose load has ended.
pub(crate) fn ending(closed: Closed, environment: &Environment, threads: u32) -> Ending {
    let Closed { accounts, usage, tool, notes, same_body, resumed_handshakes, contents, .. } = closed;
    let (spread, planned_left) = (Spread::over(&accounts.connections), accounts.tally.counts.not_sent);
    let Findings { verdict, validity, generator, steadiness, outage, window_ns } =
        accounts.judge(environment);
    Ending {
        ended_at_unix_ms: unix_ms(),
        verdict,
        validity,
        generator: Generator {
            cpu_user_s: usage.cpu_user_s,
            cpu_sys_s: usage.cpu_sys_s,
            rss_peak_bytes: usage.rss_peak_bytes,
            threads,
            tool,
            ..generator
        },
        spread,
        planned_left,
        notes,
        resolved_ns: None,
        tls: None,
        system: None,
        failure: None,
        not_available: Vec::new(),
        steadiness,
        window_ns,
        outage,
        is_system_local: false,
        connections_by_process: environment.connections.clone(),
        steady_start: None,
        same_body,
        resumed_handshakes,
        contents,
    }
}
