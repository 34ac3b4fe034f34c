//! Requests of several parts: their accounts, pauses between them, and failures between them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::support::lines::{Answer, Lines};
use crate::support::{
    self,
    acts::{Act, Acts, acts},
};
use crate::support::{Done, MS, SECOND, closed, count, finish, finish_with, lasting, limit, open, run, tcp};
use engine::{Job, StopLevel};
use record::{Counts, Sampled, Tally};

/// Begin, a statement, and commit, with the accounts 1, 2, and 3 next to the step's account 0.
const TRANSACTION: [Act; 3] =
    [Act::Say("begin", Some(1)), Act::Say("work", Some(2)), Act::Commit("commit", Some(3))];

fn with_parts(job: Job, parts: u16) -> Job {
    Job { parts, ..job }
}

/// Returns the counts of an account: OK, rejected, failed, timed out, unfinished.
fn ends(tally: &Tally) -> [u64; 5] {
    let Counts { ok, rejected, failed, timed_out, unfinished, .. } = tally.counts;
    [ok, rejected, failed, timed_out, unfinished]
}

fn one_user(answer: impl Fn(usize, &str) -> Answer + Send + Sync + 'static, requests: u64) -> Done {
    let server = Lines::start(answer);
    let job = Job { timeout_ns: 300 * MS, ..closed(tcp(server.address), 1, count(requests)) };
    run(with_parts(job, 3), acts(&TRANSACTION))
}

#[test]
fn accounts_of_parts_add_up_to_requests() {
    let server = Lines::start(|_, line| match line {
        "work" => Answer::Later(Duration::from_millis(20), "ok\n"),
        _ => Answer::Say("ok\n"),
    });
    let job = Job { threads: 2, log_per_second: 100, ..closed(tcp(server.address), 3, count(30)) };
    let done = run(with_parts(job, 3), acts(&TRANSACTION));
    assert_eq!(done.steps.len(), 4);
    let whole = |request: &Sampled| (request.sent_bytes, request.received_bytes) == (18, 9);
    assert!(!done.sampled.is_empty() && done.sampled.iter().all(whole), "{:?}", done.sampled);
    for tally in &done.steps {
        assert_eq!((ends(tally), tally.counts.planned), ([30, 0, 0, 0, 0], 30));
    }
    let sum_ns = |tally: &Tally| tally.service.ok.sum_ns() as f64;
    let [whole_ns, parts_ns] = [sum_ns(&done.steps[0]), done.steps[1..].iter().map(sum_ns).sum::<f64>()];
    // No time passes between parts.
    assert!((parts_ns / whole_ns - 1.0).abs() < 0.02, "{parts_ns} of {whole_ns}");
    assert!(done.steps[2].service.ok.min_ns().is_some_and(|min_ns| min_ns >= 19 * MS));
    assert!(done.steps[2].first_byte.min_ns().is_some_and(|min_ns| min_ns >= 19 * MS));
    assert_eq!((done.steps[1].received_bytes, done.steps[1].connections), (0, 0), "bytes are the step's");
}

#[test]
fn rejected_part_is_explained_in_its_account() {
    let done = one_user(|_, line| Answer::Say(if line == "work" { "no\n" } else { "ok\n" }), 10);
    let [step, begin, work] = done.steps.as_slice() else { panic!("{:?}", done.steps.len()) };
    assert_eq!((ends(step), ends(begin)), ([0, 10, 0, 0, 0], [10, 0, 0, 0, 0]));
    // The account of the commit is empty.
    assert_eq!(ends(work), [0, 10, 0, 0, 0]);
    for tally in [step, work] {
        let [entry] = tally.errors.entries() else { panic!("{:?}", tally.errors) };
        assert_eq!((entry.class.as_str(), entry.count), ("check_body", 10));
        assert_eq!(entry.message, "no, for reason 7");
    }
}

#[test]
fn lost_connection_ends_part_and_request_alike() {
    let done = one_user(|_, line| if line == "work" { Answer::Close } else { Answer::Say("ok\n") }, 4);
    let [step, begin, work] = done.steps.as_slice() else { panic!("{:?}", done.steps.len()) };
    assert_eq!((ends(step), ends(work)), ([0, 0, 4, 0, 0], [0, 0, 4, 0, 0]));
    assert_eq!(ends(begin), [4, 0, 0, 0, 0]);
    for tally in [step, work] {
        let [entry] = tally.errors.entries() else { panic!("{:?}", tally.errors) };
        assert_eq!((entry.class.as_str(), entry.count), ("incomplete", 4), "it is no stale connection");
    }
}

#[test]
fn unanswered_commit_is_in_doubt() {
    let on_commit = |answer: fn() -> Answer| {
        one_user(move |_, line| if line == "commit" { answer() } else { Answer::Say("ok\n") }, 3)
    };
    let class = |done: &Done| done.classes()[0].0.clone();
    for lost in [|| Answer::Close, || Answer::Reset, || Answer::SayAndClose("o")] {
        let done = on_commit(lost);
        assert_eq!(ends(&done.steps[0]), [0, 0, 3, 0, 0]);
        assert_eq!(ends(&done.steps[3]), [0, 0, 3, 0, 0]);
        assert_eq!((done.classes().len(), class(&done)), (1, "commit_unknown".to_owned()));
    }
    let done = on_commit(|| Answer::Silence);
    assert_eq!((ends(&done.steps[0]), ends(&done.steps[3])), ([0, 0, 0, 3, 0], [0, 0, 0, 3, 0]));
    assert_eq!((done.classes().len(), class(&done)), (1, "timeout_in_commit".to_owned()));
}

#[test]
fn accepts_answers_to_several_parts_at_once() {
    let script =
        acts(&[Act::Say("one", Some(1)), Act::Hear(Some(2)), Act::Hear(None), Act::Say("two", Some(3))]);
    let server = Lines::start(|_, line| Answer::Say(if line == "one" { "ok\nok\nok\n" } else { "ok\n" }));
    let done = run(with_parts(closed(tcp(server.address), 2, count(20)), 3), script);
    assert!(done.steps.iter().all(|tally| ends(tally) == [20, 0, 0, 0, 0]), "{:?}", done.steps);
}

#[test]
fn unsolicited_answer_is_not_ok() {
    let server = Lines::start(|_, _| Answer::Say("ok\nok\n"));
    let done = run(closed(tcp(server.address), 1, count(3)), acts(&[Act::Say("a", None)]));
    assert_eq!((done.tally.counts.ok, done.errors("excess_bytes")), (0, 3), "{:?}", done.classes());
}

#[test]
fn pauses_do_not_count_against_the_deadline() {
    let script = acts(&[
        Act::Pause(60 * MS),
        Act::Say("a", None),
        Act::Pause(60 * MS),
        Act::Say("b", None),
        Act::Pause(0),
    ]);
    let server = Lines::start(|_, _| Answer::Say("ok\n"));
    let mut job = closed(tcp(server.address), 2, count(4));
    (job.timeout_ns, job.connect_timeout_ns) = (100 * MS, 100 * MS);
    let done = run(job, script);
    done.assert_all_ok(4);
    assert!(done.tally.service.ok.min_ns().is_some_and(|min_ns| min_ns >= 119 * MS));
}

#[test]
fn close_within_a_pause_has_its_own_error_class() {
    let script = acts(&[Act::Say("a", None), Act::Pause(3_600 * SECOND), Act::Say("b", None)]);
    let server = Lines::start(|_, _| Answer::SayAndClose("ok\n"));
    let done = run(closed(tcp(server.address), 1, count(2)), script);
    done.assert_all_failed("closed_in_pause", 2);
}

#[test]
fn long_pause_does_not_delay_the_end() {
    let script = acts(&[Act::Say("a", None), Act::Pause(3_600 * SECOND), Act::Say("b", None)]);
    let server = Lines::start(|_, _| Answer::Say("ok\n"));
    let job = Job { timeout_ns: 200 * MS, ..closed(tcp(server.address), 2, lasting(300 * MS)) };
    let done = run(job.clone(), script.clone());
    assert_eq!(ends(&done.tally), [0, 0, 0, 0, 2], "{:?}", done.classes());

    // The end is not known in advance here: the load is asked to drain.
    let limit = Duration::from_secs(5);
    let running = engine::start(Job { stop: lasting(3_600 * SECOND), ..job }, script).unwrap();
    std::thread::sleep(Duration::from_millis(100));
    running.stop(StopLevel::Drain);
    assert_eq!(ends(&finish(running, limit).tally), [0, 0, 0, 0, 2]);
}

#[test]
fn requests_without_sends_do_not_accumulate_or_delay_the_end() {
    let server = Lines::start(|_, _| Answer::Say("ok\n"));
    for script in [acts(&[]), acts(&[Act::Pause(0), Act::Pause(0)])] {
        // More slots than timers that are handled between two readings of the clock.
        let done = run(closed(tcp(server.address), 100, lasting(200 * MS)), script);
        let counts = done.tally.counts;
        assert!(counts.ok > 1000 && counts.ok + counts.unfinished == counts.sent, "{counts:?}");
        assert!(done.took < Duration::from_secs(4), "{:?}", done.took);
    }
    let done = run(open(tcp(server.address), 1000.0, 200 * MS, 4), acts(&[]));
    done.assert_all_ok(200);
}

#[test]
fn script_that_cannot_continue_ends_the_load_with_reason() {
    let server = Lines::start(|_, _| Answer::Say("ok\n"));
    for script in [acts(&[Act::Break]), acts(&[Act::Say("a", None), Act::Break])] {
        let job = Job { threads: 2, ..closed(tcp(server.address), 4, lasting(20 * SECOND)) };
        let limit = limit(&job);
        let (done, broke) = finish_with(engine::start(job, script).unwrap(), limit);
        assert_eq!(broke, ["the script makes no sense"]);
        assert_eq!(ends(&done.tally)[..4], [0; 4]);
        assert!(done.took < Duration::from_secs(10));
    }
}

#[test]
fn user_whose_script_stops_leaves_and_others_continue() {
    for pool in [None, Some(2)] {
        let is_first = AtomicBool::new(true);
        let answer = move |_: usize, _: &str| {
            Answer::Say(if is_first.swap(false, Ordering::Relaxed) { "quit\n" } else { "ok\n" })
        };
        let server = Lines::start(answer);
        let job = Job { threads: 1, pool, ..closed(tcp(server.address), 4, count(40)) };
        let done = run(job, acts(&[Act::Say("a", None)]));
        assert_eq!(ends(&done.tally), [39, 1, 0, 0, 0], "{pool:?}: {:?}", done.classes());
        assert_eq!(done.classes(), [("script_stopped".to_owned(), 1)]);
    }
    let server = Lines::start(|_, _| Answer::Say("quit\n"));
    let job = Job { threads: 2, ..closed(tcp(server.address), 4, lasting(20 * SECOND)) };
    let limit = limit(&job);
    let (done, broke) = finish_with(engine::start(job, acts(&[Act::Say("a", None)])).unwrap(), limit);
    assert_eq!((broke, ends(&done.tally)), (vec!["no, for reason 7".to_owned()], [0, 4, 0, 0, 0]));
    assert!(done.took < Duration::from_secs(10));
}

#[test]
fn steps_and_parts_have_separate_accounts_by_phase() {
    let script = Acts {
        steps: vec![vec![Act::Say("a", Some(2))], vec![Act::Say("b", Some(3)), Act::Say("c", Some(3))]],
        ..Acts::default()
    };
    let server = Lines::start(|_, _| Answer::Later(Duration::from_millis(5), "ok\n"));
    let mut job = closed(tcp(server.address), 2, lasting(400 * MS));
    (job.parts, job.warm_up_ns) = (2, 200 * MS);
    job.scenarios =
        support::scenario::in_turn(vec![support::scenario::visit(0, 0), support::scenario::visit(1, 0)]);
    let done = run(job, script);
    let [first, second, of_first, of_second] = done.steps.as_slice() else { panic!("{}", done.steps.len()) };
    // A part counts in the phase of its request, even if it was sent after the boundary.
    assert_eq!(ends(first), ends(of_first));
    assert_eq!(ends(second)[0] * 2, ends(of_second)[0]);
    assert!(first.counts.ok > 0 && second.counts.ok > 0);
}
