//! Short constructors for scenarios.

use engine::Job;
use load::values::{DataSource, Source};
use load::{Order, Scenario, Scenarios, ThinkTime, Visit};
use record::{Outcome, Sampled};
use wire::Secrets;
use wire::http1::{Capture, CaptureSource, Checks, Http1, Request, Step, Template};

use super::{Done, MS, SECOND};

/// Names of the variables of scenarios in tests.
pub(crate) const VARIABLES: [&str; 4] = ["a", "b", "c", "d"];

/// Returns a step that GETs this target, which may contain values in braces.
pub(crate) fn get(target: &str) -> Step {
    step(&Request::get("localhost", target))
}

/// Returns a step that POSTs this body, which may contain values in braces.
pub(crate) fn post(target: &str, body: &str) -> Step {
    step(&Request {
        method: "POST".to_owned(),
        body: Some(body.as_bytes().to_vec()),
        ..Request::get("localhost", target)
    })
}

fn step(request: &Request) -> Step {
    let request =
        Template::compile(request, &VARIABLES.map(str::to_owned), &Secrets::default()).expect("a request");
    Step { request, checks: Checks::default(), captures: Vec::new() }
}

/// Adds a capture to a step.
pub(crate) fn with_capture(mut step: Step, variable: u16, from: CaptureSource) -> Step {
    step.captures.push(Capture { variable, from });
    step
}

/// Returns a script of these steps.
pub(crate) fn script(steps: Vec<Step>) -> Http1 {
    Http1::new(steps, VARIABLES.len() as u16)
}

/// Returns a visit of a step with a pause after it.
pub(crate) fn visit(step: u16, think_ns: u64) -> Visit {
    Visit::of(step, if think_ns == 0 { ThinkTime::None } else { ThinkTime::Constant { ns: think_ns } })
}

/// Creates scenarios with these shares and orders.
pub(crate) fn scenarios(list: Vec<(f64, Order)>) -> Scenarios {
    let named = list.into_iter().map(|(share, order)| Scenario {
        name: String::new(),
        share,
        once: Vec::new(),
        order,
    });
    Scenarios { list: named.collect() }
}

/// Creates one scenario of these visits, in order.
pub(crate) fn in_turn(visits: Vec<Visit>) -> Scenarios {
    scenarios(vec![(1.0, Order::InTurn(visits))])
}

/// Returns a scenario of one step per iteration, with these weights.
pub(crate) fn mix(weights: &[f64]) -> Order {
    Order::Mix((0..).zip(weights).map(|(step, weight)| (visit(step, 0), *weight)).collect())
}

/// Returns a data source that sets one variable.
pub(crate) fn data(variable: u16, source: Source) -> DataSource {
    DataSource { fills: vec![(variable, 0)], source }
}

/// Sets the scenarios of a job, logs every request, and sets a deadline that is never reached.
pub(crate) fn with_scenarios(mut job: Job, scenarios: Scenarios) -> Job {
    (job.scenarios, job.log_per_second, job.timeout_ns) = (scenarios, 100_000, 5 * SECOND);
    job
}

/// Returns the send delay of a request.
pub(crate) fn late_ns(request: &Sampled) -> u64 {
    request.finish.sent_ns - request.finish.intended_ns
}

/// Returns pairs of an OK request and the next request of its iteration, each with the step number of the first request.
pub(crate) fn sequels(done: &Done) -> Vec<(u16, Sampled, Sampled)> {
    let mut all = done.logged.clone();
    all.sort_by_key(|(_, request)| (request.connection, request.finish.sent_ns));
    let pairs = all.windows(2).filter(|pair| {
        let [(step, before), (next, after)] = pair else { return false };
        before.connection == after.connection && *next == step + 1 && before.finish.outcome == Outcome::Ok
    });
    pairs.map(|pair| (pair[0].0, pair[0].1, pair[1].1)).collect()
}

/// Asserts that the send delay of a step does not delay the intended time of the next one, for an open load with one scenario of steps
/// in order. Returns the pairs of requests.
#[track_caller]
pub(crate) fn assert_carried(done: &Done, pauses_ns: &[u64]) -> Vec<(u16, Sampled, Sampled)> {
    let pairs = sequels(done);
    for pair in &pairs {
        let (step, before, after) = pair;
        let (finish, pause_ns) = (before.finish, pauses_ns[usize::from(*step)]);
        // Part of the send delay arises between beginning and sending: opening a connection, and filling in values.
        let carried_ns = if late_ns(before) > 100 * MS { late_ns(before) / 2 } else { 0 };
        let latest_ns = finish.finished_ns + pause_ns;
        let intended_ns = after.finish.intended_ns;
        let bounds = latest_ns - late_ns(before)..=latest_ns - carried_ns;
        assert!(bounds.contains(&intended_ns), "{pair:?}");
    }
    pairs
}
