//! Scenarios in a few words.

use engine::Job;
use load::values::{DataSource, Source};
use load::{Order, Scenario, Scenarios, ThinkTime, Visit};
use wire::http1::{Capture, CaptureFrom, Checks, Http1, Request, Step, Template};

use super::SECOND;

/// Names of the variables that scenarios in tests have.
const VARIABLES: [&str; 3] = ["a", "b", "c"];

/// A step that GETs this target, which may have values in braces.
pub(crate) fn get(target: &str) -> Step {
    step(&Request::get("localhost", target))
}

/// A step that POSTs this body, which may have values in braces.
pub(crate) fn post(target: &str, body: &str) -> Step {
    step(&Request {
        method: "POST".to_owned(),
        body: Some(body.as_bytes().to_vec()),
        ..Request::get("localhost", target)
    })
}

fn step(request: &Request) -> Step {
    let request = Template::compile(request, &VARIABLES.map(str::to_owned)).expect("a request");
    Step { request, checks: Checks::default(), captures: Vec::new() }
}

/// The step with one capture more.
pub(crate) fn saving(mut step: Step, variable: u16, from: CaptureFrom) -> Step {
    step.captures.push(Capture { variable, from });
    step
}

/// A script of these steps.
pub(crate) fn script(steps: Vec<Step>) -> Http1 {
    Http1::new(steps, VARIABLES.len() as u16)
}

/// A visit with a pause after it.
pub(crate) fn visit(step: u16, think_ns: u64) -> Visit {
    Visit { step, think: if think_ns == 0 { ThinkTime::None } else { ThinkTime::Constant { ns: think_ns } } }
}

/// Scenarios with their shares.
pub(crate) fn scenarios(list: Vec<(f64, Order)>) -> Scenarios {
    let named = list.into_iter().map(|(share, order)| Scenario { name: String::new(), share, order });
    Scenarios { list: named.collect() }
}

/// One scenario of these visits, in turn.
pub(crate) fn in_turn(visits: Vec<Visit>) -> Scenarios {
    scenarios(vec![(1.0, Order::InTurn(visits))])
}

/// One scenario of one step per iteration, with these weights.
pub(crate) fn mix(weights: &[f64]) -> Order {
    Order::Mix((0..).zip(weights).map(|(step, weight)| (visit(step, 0), *weight)).collect())
}

/// A source that fills one variable.
pub(crate) fn data(variable: u16, source: Source) -> DataSource {
    DataSource { fills: vec![(variable, 0)], source }
}

/// The job with these scenarios, a log of everything, and a deadline that does not come into play.
pub(crate) fn following(mut job: Job, scenarios: Scenarios) -> Job {
    (job.scenarios, job.log_per_second, job.timeout_ns) = (scenarios, 100_000, 5 * SECOND);
    job
}
