//! Lone pass: a single user runs the steps of a plan on a system that rejected a whole load. This distinguishes an overload from a plan
//! that can never succeed.

use std::collections::BTreeMap;
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use engine::{Message, StopLevel};
use load::{Closed, Load, Order, Scenario, Scenarios, Share, Stop, ThinkTime, Visit};
use plan::{Pin, Plan};
use record::Tally;

use crate::early_end::UnusableReply;
use crate::tools::Tools;

/// Mixed into the seed of the plan, so that these draws differ from those of the load.
const SEED: u64 = 0x6669_7273_7420_7061;
/// Maximum number of passes; further scenarios, and steps of a mix, are not tried.
const PASSES_MAX: usize = 32;
/// Number of attempts: a system may need a moment to recover from a load.
const TRIES: u32 = 3;
const BETWEEN_TRIES: Duration = Duration::from_secs(1);
/// Interval at which stop requests are checked.
const STOP_CHECK_INTERVAL: Duration = Duration::from_millis(50);

/// Answers to each step, if no request of a plan can succeed. `None` if one succeeded, or ended without an unusable reply: a system
/// that closes connections or times out is a result.
pub(crate) fn unusable(tools: &Tools<'_>, plan: &Plan, unusable: UnusableReply) -> Option<String> {
    if plan.tool().is_some() || plan.replay.is_some() {
        // Requests of an external load generator are unknown, and a log has them in the order of its sessions.
        return None;
    }
    let mut lines = None;
    for attempt in 0..TRIES {
        if attempt > 0 {
            tools.clock.sleep(BETWEEN_TRIES);
        }
        if tools.is_stopped() {
            return None;
        }
        let mut all: BTreeMap<u16, Tally> = BTreeMap::new();
        for scenario in passes(&plan.scenarios) {
            for (step, tally) in pass(tools, plan, scenario)? {
                all.entry(step).or_default().merge(&tally);
            }
        }
        let has_open = all.values().any(|tally| tally.counts.ended() < tally.counts.sent);
        if has_open || !unusable.is_all(all.values()) {
            return None;
        }
        lines = Some(all.iter().flat_map(|(step, tally)| words(plan, *step, tally)).collect::<Vec<_>>());
    }
    lines.map(|lines| lines.join("; "))
}

/// First error of a step, as text.
fn words(plan: &Plan, step: u16, tally: &Tally) -> Option<String> {
    let name = plan.steps.get(usize::from(step)).map_or("", |step| step.name.as_str());
    tally.errors.entries().first().map(|entry| format!("step {name:?}: {}", printable(&entry.message)))
}

/// Escapes a server's message, so that it neither moves a cursor nor breaks a line.
pub(crate) fn printable(text: &str) -> String {
    let printable = |character: char| match character {
        '"' | '\'' | '\\' => character.to_string(),
        _ => character.escape_debug().to_string(),
    };
    text.chars().map(printable).collect()
}

/// Passes: every scenario by itself, and every step of a mix, without think times.
fn passes(scenarios: &Scenarios) -> Vec<Scenario> {
    let alone = |visits: &[Visit]| Scenario {
        name: String::new(),
        share: 1.0,
        once: scenarios.once().map(|visit| Visit { think: ThinkTime::None, ..visit.clone() }).collect(),
        order: Order::InTurn(
            visits.iter().map(|visit| Visit { think: ThinkTime::None, ..visit.clone() }).collect(),
        ),
    };
    let of = |scenario: &Scenario| match &scenario.order {
        Order::InTurn(visits) => vec![alone(visits)],
        Order::Mix(visits) => visits.iter().map(|(visit, _)| alone(std::slice::from_ref(visit))).collect(),
    };
    scenarios.list.iter().flat_map(of).take(PASSES_MAX).collect()
}

/// Runs a scenario once with one user, and returns the tally of each step. `None` if it cannot be tried: the load will show why.
fn pass(tools: &Tools<'_>, plan: &Plan, scenario: Scenario) -> Option<BTreeMap<u16, Tally>> {
    let alone = alone(plan, scenario);
    let prepared = tools.generator.prepare(&alone, tools.stopper).ok()?;
    let mut underway = prepared.ready.with_quoted_replies().start(Share::WHOLE).ok()?;
    let mut tallies: BTreeMap<u16, Tally> = BTreeMap::new();
    loop {
        underway.stop(if tools.is_stopped() { StopLevel::Abort } else { StopLevel::Go });
        match underway.next(STOP_CHECK_INTERVAL) {
            // Parts of steps have numbers above the step numbers.
            Ok(Message::Interval { step, interval }) if usize::from(step) < plan.steps.len() => {
                tallies.entry(step).or_default().merge(&interval.tally);
            }
            Ok(Message::Broke(_) | Message::Unrecoverable(_)) => return None,
            Ok(_) | Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    underway.join().ok()?;
    Some(tallies)
}

/// Plan of a single user who runs one scenario once.
fn alone(plan: &Plan, scenario: Scenario) -> Plan {
    let mut alone = plan.clone();
    let requests = (scenario.once.len() + scenario.order.visits().count()) as u64;
    alone.load = Load::Closed(Closed {
        users: 1,
        ramp_up_ns: 0,
        think_time: ThinkTime::None,
        pacing_ns: 0,
        throughput_per_s: None,
        seed: plan.seed ^ SEED,
        schedule: None,
        is_unpaced: false,
    });
    // The load ends when every request has been sent and had its deadline.
    alone.stop = Stop { at_ns: Some(plan.timeout_ns.saturating_mul(requests)), requests: Some(requests) };
    (alone.extend, alone.warm_up_ns, alone.log_per_second) = (0, 0, 0);
    (alone.threads, alone.pin, alone.seed) = (Some(1), Pin::No, plan.seed ^ SEED);
    alone.scenarios = Scenarios { list: vec![scenario] };
    for endpoint in &mut alone.endpoints {
        endpoint.load.make_single_client(alone.seed);
    }
    alone
}
