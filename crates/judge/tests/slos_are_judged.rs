//! Tests that runs are judged by their conditions, and by the built-in ones.

use crate::stored::{Queue, Stored};
use evidence::{Cause, Distorted, Distortion, GeneratorEffect, Level, Validity, Verdict};
use judge::Condition;
use judge::slo::{SloJudgement, judge};

fn judged(slos: &str, queue: &Queue, ending: &evidence::Ending) -> SloJudgement {
    let stored = Stored::new();
    judge(&stored.run(None, Some(queue), ending), &Condition::parse_list(slos).unwrap()).unwrap()
}

fn names(judgement: &SloJudgement) -> Vec<&str> {
    judgement.failed.iter().map(|failed| failed.condition.as_str()).collect()
}

#[test]
fn run_that_keeps_up_passes() {
    let judgement =
        judged("p99<200ms, errors<0.1%, throughput>900/s", &Queue::default(), &crate::stored::ending());
    assert_eq!(judgement, SloJudgement { passed: true, ..SloJudgement::default() });
}

#[test]
fn failed_limit_is_named_with_its_figures() {
    let judgement = judged("p99<0.4ms, mean<1s", &Queue::default(), &crate::stored::ending());
    assert!(!judgement.passed && !judgement.is_invalid);
    let [failed] = &judgement.failed[..] else { panic!("{judgement:?}") };
    assert_eq!((failed.condition.as_str(), failed.limit), ("p99<0.4ms", 400_000.0));
    assert!((failed.observed.unwrap() / 500_000.0 - 1.0).abs() < 0.01, "{failed:?}");
    assert_eq!(failed.words, "p99 is 500 µs, and must be below 400 µs");
}

#[test]
fn growing_backlog_fails_under_any_limit() {
    // The system answers 900 of the 1,000 requests that arrive each second.
    let behind = Queue { service_ns: 1_111_111, ..Queue::default() };
    let judgement = judged("p99<60s", &behind, &crate::stored::ending());
    assert!(!judgement.passed && !judgement.is_invalid);
    assert_eq!(names(&judgement), ["kept", "backlog"], "{judgement:?}");
    // With a short limit, requests that end late after the load count, too.
    let judgement = judged("p99<10ms", &Queue { measured_s: 30, ..behind }, &crate::stored::ending());
    assert_eq!(names(&judgement), ["p99<10ms", "kept", "backlog", "drain"], "{judgement:?}");
    assert!(judgement.failed.iter().all(|failed| failed.observed.is_some() && !failed.words.is_empty()));
}

#[test]
fn stall_that_is_caught_up_is_no_backlog() {
    // A stall of half a second changes only the percentile.
    let stalled = Queue { stall: Some((6_000_000_000, 500_000_000)), ..Queue::default() };
    assert_eq!(names(&judged("p99<100ms", &stalled, &crate::stored::ending())), ["p99<100ms"]);
    assert!(judged("p99<2s", &stalled, &crate::stored::ending()).passed);
}

#[test]
fn errors_fail_a_run_without_a_condition_on_errors() {
    let failing = Queue { fails_every: 500, ..Queue::default() };
    assert_eq!(names(&judged("p99<1s", &failing, &crate::stored::ending())), ["errors"]);
    assert!(judged("p99<1s, errors<1%", &failing, &crate::stored::ending()).passed);
    assert_eq!(names(&judged("errors<0.15%", &failing, &crate::stored::ending())), ["errors<0.15%"]);
}

#[test]
fn too_few_samples_give_no_result_unless_another_condition_fails() {
    let few = Queue { rate_per_s: 20, ..Queue::default() };
    let judgement = judged("p99.99<1s", &few, &crate::stored::ending());
    assert!(judgement.is_invalid && !judgement.passed);
    assert_eq!(judgement.failed[0].observed, None);
    let judgement = judged("p99.99<1s, mean<1us", &few, &crate::stored::ending());
    assert!(!judgement.is_invalid && !judgement.passed);
    // One run of many needs fewer samples than a single run.
    assert!(judged("p99<1s", &few, &crate::stored::ending()).passed);
}

#[test]
fn invalid_run_has_no_result_and_dead_system_fails() {
    for ending in [crate::stored::invalid(), crate::stored::cut_short()] {
        let judgement = judged("p99<1s", &Queue::default(), &ending);
        assert!(judgement.is_invalid && !judgement.passed);
    }
    let died = judged("p99<1s", &Queue::default(), &crate::stored::died());
    assert!(!died.is_invalid && !died.passed);
    assert_eq!(died.failed[0].words, "the system failed: it ended with signal 11");
    // A system that died before the load gives no result for it.
    let stored = Stored::new();
    let run = stored.run(None, None, &crate::stored::died());
    assert!(judge(&run, &Condition::parse_list("p99<1s").unwrap()).unwrap().is_invalid);
}

#[test]
fn short_and_empty_runs_are_judged_without_a_panic() {
    for (warm_up_s, measured_s, rate_per_s) in [(0, 1, 1), (0, 3, 2), (5, 1, 1), (1, 8, 1)] {
        let queue = Queue { warm_up_s, measured_s, rate_per_s, ..Queue::default() };
        let judgement = judged("mean<1s", &queue, &crate::stored::ending());
        assert!(judgement.passed, "{judgement:?}");
    }
    let stored = Stored::new();
    let run = stored.run(None, None, &crate::stored::ending());
    assert!(judge(&run, &Condition::parse_list("mean<1s").unwrap()).unwrap().is_invalid);
}

#[test]
fn too_few_connections_are_named_first() {
    // One connection to a system that could serve more at once: it carries 900 of the 1,000 requests that arrive each second.
    let bound = Queue { service_ns: 1_111_111, waits_to_be_sent: true, ..Queue::default() };
    let ending = evidence::Ending { spread: Some(crate::stored::connections(1)), ..crate::stored::ending() };
    let judgement = judged("p99<10ms", &bound, &ending);
    assert_eq!(names(&judgement)[0], "connections", "{judgement:?}");
    assert_eq!(judgement.failed[0].limit, 1.0);
    // The system itself takes longer than the limit once a request was sent.
    let slow = Queue { service_ns: 11_111_111, rate_per_s: 100, ..bound };
    assert_eq!(names(&judged("p99<10ms", &slow, &ending))[0], "p99<10ms");
    // With many connections, not all are in use.
    let many = evidence::Ending { spread: Some(crate::stored::connections(9)), ..crate::stored::ending() };
    assert_eq!(names(&judged("p99<10ms", &bound, &many))[0], "p99<10ms");
}

#[test]
fn conditions_apply_to_a_step_or_a_part_of_the_time() {
    let stalled = Queue { stall: Some((6_000_000_000, 500_000_000)), ..Queue::default() };
    let failed = |slo: &str| {
        let judgement = judged(slo, &stalled, &crate::stored::ending());
        judgement.failed.into_iter().find(|failed| failed.condition == slo)
    };
    assert!(failed("max<100ms").is_some());
    assert_eq!(failed("max<100ms from 0s to 5s"), None, "nothing had happened yet");
    assert!(failed("max<100ms from 5s to 8s").is_some());
    assert_eq!(failed("/: max<10s"), None);
    let words = failed("/: max<=100ms").unwrap().words;
    assert!(words.contains("of / is 50") && words.ends_with("must be at most 100 ms"), "{words}");
    assert_eq!(failed("another: max<10s").unwrap().observed, None, "there is no such step");
}

/// Returns the ending of a run that a cause makes invalid: in the given figures, or as a whole.
fn spoiled(code: &str, figures: &[Distorted]) -> evidence::Ending {
    let distorts =
        figures.iter().map(|figure| Distortion::with_unknown_size(*figure, Level::Invalid)).collect();
    let cause = Cause { code: code.to_owned(), sentence: String::new(), remedy: String::new(), distorts };
    let validity = Validity { verdict: Level::Invalid, causes: vec![cause], ..Validity::default() };
    evidence::Ending { verdict: Verdict::Invalid, validity, ..crate::stored::ending() }
}

#[test]
fn run_with_late_requests_may_pass_but_never_fails() {
    let times = [Distorted::Mean, Distorted::Tail];
    let late = |slos: &str, queue: &Queue| judged(slos, queue, &spoiled("generator_lag", &times));
    let passed = late("p99<200ms", &Queue::default());
    assert_eq!(passed, SloJudgement { passed: true, is_late: true, ..SloJudgement::default() });
    let failed = late("p99<0.4ms", &Queue::default());
    assert_eq!(failed, SloJudgement { is_invalid: true, ..SloJudgement::default() }, "it says nothing");
    let behind = Queue { service_ns: 1_020_000, ..Queue::default() };
    assert!(late("p99<60s", &behind).is_invalid, "98 % ended in time");
    let other = judged("p99<200ms", &Queue::default(), &spoiled("not_sent", &times));
    assert!(other.is_invalid && !other.is_late, "{other:?}");
}

/// Returns the ending of a run whose generator delayed all requests by `delay_ns` in total, and moved `moved_share` of
/// the answers.
fn delayed(delay_ns: f64, moved_share: f64) -> evidence::Ending {
    let effect = GeneratorEffect { delay_ns, moved_share, ..GeneratorEffect::default() };
    let validity = Validity { verdict: Level::Suspect, effect: Some(effect), ..Validity::default() };
    evidence::Ending { validity, ..crate::stored::ending() }
}

#[test]
fn delay_of_the_generator_can_break_no_limit_that_measured_times_keep() {
    // 12,000 requests of 0.5 ms each.
    let judged = |slos: &str, delay_ns: f64| judged(slos, &Queue::default(), &delayed(delay_ns, 0.0));
    assert!(judged("p99<1ms", 1e12).passed, "the measured times are an upper bound");
    let fails = judged("p99<0.4ms", 0.0);
    assert!(!fails.passed && !fails.is_invalid && names(&fails) == ["p99<0.4ms"], "{fails:?}");
    // 0.1 ms per request more than explains 0.5 ms.
    let open = judged("p99<0.4ms", 12_000.0 * 100_001.0);
    assert!(!open.passed && open.is_invalid, "{open:?}");
    assert!(open.failed[0].words.contains("the generator's own delay"), "{open:?}");
    let little = judged("p99<0.4ms", 1e6);
    assert!(!little.passed && !little.is_invalid, "{little:?}");
}

#[test]
fn answers_moved_out_of_the_time_do_not_fail_the_rate() {
    let behind = Queue { service_ns: 1_020_000, ..Queue::default() };
    let judged = |moved_share| judged("p99<60s", &behind, &delayed(0.0, moved_share));
    assert!(!judged(0.0).is_invalid && names(&judged(0.0)).contains(&"kept"));
}
