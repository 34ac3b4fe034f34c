//! Steps that users run once before their first iteration, and steps that conditions skip.

use std::time::Duration;

use crate::support::scenario::{data, get, in_turn, script, visit, with_capture, with_scenarios};
use crate::support::witness::Witness;
use crate::support::{SECOND, closed, count, open, run, tcp};
use engine::Job;
use load::values::{RowOrder, Rows, Source};
use load::{Condition, Guard, Subject, Test, Visit};
use wire::http1::{CaptureSource, Http1};

/// Builds a job with steps that run once. Two log-ins are rejected and the third succeeds. Then come orders, a request whose condition on
/// the status holds, and a request whose condition on a missing value does not.
fn plan(mut job: Job) -> (Job, Http1) {
    let guarded = |step, subject, test| {
        let condition = Condition { subject, test };
        Visit { guards: vec![Guard { condition, visits: 1 }], ..visit(step, 0) }
    };
    let status_is_200 = Test::Is(Box::from(&b"200"[..]));
    let mut scenarios = in_turn(vec![
        visit(1, 0),
        guarded(2, Subject::Status, status_is_200),
        guarded(3, Subject::Variable(1), Test::Present),
    ]);
    scenarios.list[0].once = vec![visit(0, 0)];
    job = with_scenarios(job, scenarios);
    let targets = ["no", "no", "log-in"].map(|target| vec![Box::<str>::from(target)].into_boxed_slice());
    let rows: Rows = targets.to_vec().into();
    job.data = vec![data(3, Source::Rows { rows, order: RowOrder::InTurn })];
    let log_in = with_capture(get("/{d}"), 0, CaptureSource::Header("X-Token".to_owned()));
    (job, script(vec![log_in, get("/orders/{a}/{d}"), get("/let-through"), get("/never/{b}")]))
}

fn assert_ran_once_steps(witness: &Witness) {
    let targets: Vec<String> = witness.seen().into_iter().map(|seen| seen.target).collect();
    assert_eq!(targets[..3], ["/no", "/no", "/log-in"]);
    for iteration in targets[3..].chunks_exact(2) {
        assert_eq!(iteration, ["/orders/t2/log-in", "/let-through"]);
    }
}

#[test]
fn user_retries_log_in_before_its_first_iteration() {
    let witness = Witness::start(Duration::ZERO);
    let (job, script) = plan(closed(tcp(witness.address), 1, count(13)));
    let done = run(job, script);
    let of = |step: usize| done.steps[step].counts;
    assert_eq!((of(0).rejected, of(0).ok, of(1).ok, of(2).ok), (2, 1, 5, 5));
    assert_ran_once_steps(&witness);
}

#[test]
fn open_load_connections_log_in_before_arrivals() {
    let witness = Witness::start(Duration::ZERO);
    let (job, script) = plan(open(tcp(witness.address), 40.0, SECOND, 1));
    let done = run(job, script);
    let of = |step: usize| done.steps[step].counts;
    assert_eq!((of(0).rejected, of(0).ok), (2, 1));
    assert_eq!((of(1).planned, of(1).ok, of(1).not_sent), (40, 40, 0), "arrivals wait for it");
    assert_ran_once_steps(&witness);
}
