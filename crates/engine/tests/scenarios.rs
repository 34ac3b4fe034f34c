//! Scenarios in closed loads from end to end: steps in order and by weight, values, pauses, and events that end an iteration.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::support::scenario::{
    data, get, in_turn, mix, post, scenarios, script, visit, with_capture, with_scenarios,
};
use crate::support::witness::{Seen, Witness};
use crate::support::{
    Done, MS, SECOND, closed, count, each_request, finish, lasting, limit, reply, run, server, tcp,
};
use engine::{Job, StopLevel};
use load::values::Source;
use load::{Closed, Load, Order, Stop, ThinkTime, Visit};
use record::{Outcome, Sampled};
use target::scripted::Step;
use wire::http1::{BodyCheck, CaptureSource, JsonPath};

const AT_ONCE: Duration = Duration::ZERO;

fn shape(job: &mut Job, change: impl FnOnce(&mut Closed)) {
    let Load::Closed(closed) = &mut job.load else { panic!("the load is closed") };
    change(closed);
}

fn users(witness: &Witness, users: u32, stop: Stop) -> Job {
    closed(tcp(witness.address), users, stop)
}

/// Returns the requests of one user, in order.
fn of_user(done: &Done, user: u32) -> Vec<(u16, Sampled)> {
    let mut all: Vec<(u16, Sampled)> =
        done.logged.iter().filter(|(_, request)| request.connection == user).copied().collect();
    all.sort_by_key(|(_, request)| request.finish.sent_ns);
    all
}

fn planned(done: &Done) -> Vec<u64> {
    done.steps.iter().map(|tally| tally.counts.planned).collect()
}

#[test]
fn steps_run_in_order_on_one_connection_and_pass_values() {
    for threads in [1, 2] {
        let witness = Witness::start(AT_ONCE);
        let mut job = with_scenarios(
            users(&witness, 3, count(90)),
            in_turn(vec![visit(0, 0), visit(1, 0), visit(2, 0)]),
        );
        job.threads = threads;
        let steps = vec![
            with_capture(get("/first"), 0, CaptureSource::Header("x-token".to_owned())),
            with_capture(get("/second?of={a}"), 1, CaptureSource::Json(JsonPath::read("/token").unwrap())),
            post("/third", "{a}+{b}"),
        ];
        let done = run(job, script(steps));
        done.assert_all_ok(90);
        assert_eq!(done.tally.connections, 3, "a user keeps its connection");
        let connections = witness.by_connection();
        assert_eq!(connections.iter().map(Vec::len).sum::<usize>(), 90);
        for seen in connections {
            for iteration in seen.chunks(3) {
                let [first, rest @ ..] = iteration else { unreachable!("chunks are not empty") };
                assert_eq!(first.target, "/first");
                if let Some(second) = rest.first() {
                    assert_eq!(second.target, format!("/second?of={}", first.token));
                }
                if let Some(Seen { target, body, .. }) = rest.get(1) {
                    assert_eq!(
                        (target.as_str(), body),
                        ("/third", &format!("{}+{}", first.token, rest[0].token))
                    );
                }
            }
        }
        let planned = planned(&done);
        assert!(planned.iter().all(|planned| planned.abs_diff(30) <= 3), "{planned:?}");
    }
}

#[test]
fn weights_and_shares_are_kept() {
    let witness = Witness::start(AT_ONCE);
    let buy = Order::InTurn(vec![visit(2, 0), visit(3, 0)]);
    let mut job = with_scenarios(
        users(&witness, 4, count(6_000)),
        scenarios(vec![(80.0, mix(&[3.0, 1.0])), (20.0, buy)]),
    );
    job.threads = 2;
    let done = run(job, script(vec![get("/0"), get("/1"), get("/2"), get("/3")]));
    done.assert_all_ok(6_000);
    // 4 of 5 iterations have one request and 1 has two: about 5,000 iterations.
    let planned = planned(&done);
    let iterations = (planned[0] + planned[1] + planned[2]) as f64;
    for (step, share) in [(0, 0.6), (1, 0.2), (2, 0.2)] {
        let deviation = (iterations * share * (1.0 - share)).sqrt();
        let off = (planned[step] as f64 - iterations * share).abs();
        assert!(off < 5.0 * deviation, "step {step}: {planned:?}");
    }
    assert!(planned[2] - planned[3] <= 4, "{planned:?}");
}

#[test]
fn sequence_is_unique_over_all_users_and_threads() {
    for threads in 1..=3 {
        let witness = Witness::start(AT_ONCE);
        let mut job = with_scenarios(users(&witness, 6, count(300)), in_turn(vec![visit(0, 0)]));
        (job.threads, job.data) = (threads, vec![data(1, Source::Sequence { from: 1, until: None, by: 1 })]);
        run(job, script(vec![post("/", "{b}")])).assert_all_ok(300);
        let mut given: Vec<u64> =
            witness.seen().iter().map(|seen| seen.body.parse().expect("a number")).collect();
        given.sort_unstable();
        assert_eq!(given, (1..=300).collect::<Vec<_>>());
    }
}

#[test]
fn values_are_drawn_once_per_iteration_if_needed() {
    let witness = Witness::start(AT_ONCE);
    let buy = Order::InTurn(vec![visit(1, 0), visit(2, 0)]);
    let mut job =
        with_scenarios(users(&witness, 1, count(200)), scenarios(vec![(1.0, mix(&[1.0])), (1.0, buy)]));
    job.data = vec![data(0, Source::Sequence { from: 1, until: None, by: 1 })];
    run(job, script(vec![get("/browse"), get("/buy/{a}"), post("/pay", "{a}")])).assert_all_ok(200);
    let seen = witness.seen();
    let of = |prefix: &str| -> Vec<String> {
        let found =
            seen.iter().filter_map(|seen| seen.target.strip_prefix(prefix).map(|rest| (rest, &seen.body)));
        found.map(|(rest, body)| format!("{rest}{body}")).collect()
    };
    let bought = of("/buy/");
    assert_eq!(bought, (1..=bought.len()).map(|number| number.to_string()).collect::<Vec<_>>());
    let paid = of("/pay");
    assert!(bought.len() > 20 && paid[..] == bought[..paid.len()], "{paid:?}");
}

#[test]
fn draws_of_a_user_do_not_depend_on_the_thread() {
    let drawn = |seed, threads| -> BTreeSet<Vec<String>> {
        let witness = Witness::start(AT_ONCE);
        let mut job = with_scenarios(users(&witness, 2, lasting(300 * MS)), in_turn(vec![visit(0, 0)]));
        (job.threads, job.seed) = (threads, seed);
        job.data = vec![data(0, Source::Uniform { min: 1, max: 1_000_000 })];
        run(job, script(vec![post("/", "{a}")]));
        let connections = witness.by_connection();
        assert!(connections.iter().all(|seen| seen.len() >= 10), "{connections:?}");
        connections.iter().map(|seen| seen[..10].iter().map(|seen| seen.body.clone()).collect()).collect()
    };
    let first = drawn(7, 1);
    assert_eq!(drawn(7, 2), first);
    assert!(drawn(8, 1).is_disjoint(&first));
}

#[test]
fn draws_of_a_user_do_not_depend_on_outcomes() {
    let drawn = |second: &str| -> Vec<String> {
        let witness = Witness::start(AT_ONCE);
        let think = ThinkTime::Uniform { min_ns: 0, max_ns: MS };
        let visits = (0..3).map(|step| Visit::of(step, think)).collect();
        let mut job = with_scenarios(users(&witness, 1, count(60)), in_turn(visits));
        job.data = vec![data(0, Source::Uniform { min: 1, max: 1_000_000 })];
        run(job, script(vec![get("/first/{a}"), get(second), get("/third")]));
        let firsts = witness.seen().into_iter().map(|seen| seen.target);
        firsts.filter(|target| target.starts_with("/first")).take(15).collect()
    };
    let all_well = drawn("/second");
    assert_eq!(all_well.len(), 15);
    assert_eq!(drawn("/no"), all_well);
}

#[test]
fn pauses_count_from_the_reply_and_think_time_follows_the_iteration() {
    let witness = Witness::start(Duration::from_millis(5));
    let mut job = with_scenarios(
        users(&witness, 3, lasting(SECOND)),
        in_turn(vec![visit(0, 50 * MS), visit(1, 20 * MS)]),
    );
    shape(&mut job, |closed| closed.think_time = ThinkTime::Constant { ns: 30 * MS });
    let done = run(job, script(vec![get("/0"), get("/1")]));
    done.assert_all_ok(done.tally.counts.sent);
    for user in 0..3 {
        let requests = of_user(&done, user);
        assert!(requests.len() >= 8, "{}", requests.len());
        for (number, pair) in requests.windows(2).enumerate() {
            let [(step, before), (next_step, after)] = pair else { unreachable!("windows of two") };
            let pause_ns = after.finish.intended_ns - before.finish.finished_ns;
            let expected = if number % 2 == 0 { (0, 1, 50 * MS) } else { (1, 0, 50 * MS) };
            assert_eq!((*step, *next_step, pause_ns), expected);
        }
    }
    // The pauses take 100 ms of each iteration, so no user completes more than ten.
    assert!(done.steps[0].counts.planned <= 30, "{:?}", planned(&done));
}

/// Time that this program needs to search a reply and to fill values into a request must not count as service time.
#[test]
fn searching_a_reply_counts_as_send_delay_and_not_service_time() {
    let body = format!("{{\"pad\": [{}0], \"token\": \"x\"}}", "0,".repeat(500_000));
    let server = server(each_request(vec![Step::ReadRequest, Step::Send(reply(200, &body))]));
    let saved = with_capture(get("/0"), 0, CaptureSource::Json(JsonPath::read("/token").unwrap()));
    let mut checked = get("/");
    checked.checks.bodies = vec![BodyCheck::Contains(b"token".to_vec()); 50];
    for (visits, steps) in
        [(vec![visit(0, 0), visit(1, 0)], vec![saved, get("/{a}")]), (vec![visit(0, 0)], vec![checked])]
    {
        let later = visits.len() as u16 - 1;
        let mut job = with_scenarios(closed(tcp(server.address()), 1, count(6)), in_turn(visits));
        job.timeout_ns = 20 * SECOND;
        let done = run(job, script(steps));
        done.assert_all_ok(6);
        for pair in of_user(&done, 0).windows(2).filter(|pair| pair[1].0 == later) {
            let (before, after) = (pair[0].1.finish, pair[1].1.finish);
            assert_eq!(after.intended_ns, before.finished_ns);
            // Searching a megabyte of JSON, or fifty plain replies, takes longer than that.
            assert!(after.sent_ns - after.intended_ns > MS / 10, "{after:?}");
        }
    }
}

#[test]
fn pacing_runs_from_iteration_to_iteration() {
    let witness = Witness::start(AT_ONCE);
    let mut job =
        with_scenarios(users(&witness, 2, lasting(SECOND)), in_turn(vec![visit(0, 10 * MS), visit(1, 0)]));
    shape(&mut job, |closed| closed.pacing_ns = 100 * MS);
    let done = run(job, script(vec![get("/0"), get("/1")]));
    for user in 0..2 {
        let requests = of_user(&done, user);
        let begun: Vec<u64> = requests
            .iter()
            .filter(|(step, _)| *step == 0)
            .map(|(_, first)| first.finish.intended_ns)
            .collect();
        assert!((5..=10).contains(&begun.len()), "{begun:?}");
        assert!(begun.windows(2).all(|pair| pair[1] - pair[0] >= 100 * MS), "{begun:?}");
        assert!(requests.len() + 1 >= 2 * begun.len(), "every iteration has both steps, but for the last");
    }
}

#[test]
fn failed_step_ends_the_iteration() {
    let witness = Witness::start(AT_ONCE);
    let three = || in_turn(vec![visit(0, 0), visit(1, 10 * MS), visit(2, 0)]);
    let done = run(
        with_scenarios(users(&witness, 2, count(40)), three()),
        script(vec![get("/yes"), get("/no"), get("/never")]),
    );
    assert_eq!(planned(&done), [20, 20]);
    assert_eq!((done.steps[0].counts.ok, done.steps[1].counts.rejected), (20, 20));
    assert!(witness.seen().iter().all(|seen| seen.target != "/never"));
    // The pause after a failed step is kept, so that errors do not make users flood the system.
    let requests = of_user(&done, 0);
    for pair in requests.windows(2).filter(|pair| pair[0].0 == 1) {
        assert!(pair[1].1.finish.intended_ns - pair[0].1.finish.finished_ns >= 10 * MS);
        assert_eq!((pair[0].1.finish.outcome, pair[1].0), (Outcome::Rejected, 0));
    }

    let missing = with_capture(get("/yes"), 0, CaptureSource::Header("Location".to_owned()));
    let done = run(
        with_scenarios(users(&witness, 2, count(10)), three()),
        script(vec![missing, get("/{a}"), get("/")]),
    );
    assert_eq!((planned(&done), done.tally.counts.rejected), (vec![10], 10));
    assert_eq!(done.messages("capture"), ["header Location, to be saved, is missing"]);
}

#[test]
fn end_of_load_cuts_iterations_short() {
    let witness = Witness::start(AT_ONCE);
    let steps = || script(vec![get("/0"), get("/1"), get("/2")]);
    let pauses = |ns| in_turn(vec![visit(0, ns), visit(1, ns), visit(2, ns)]);
    // Stop by time: the third step would begin at 400 ms.
    let mut job = with_scenarios(users(&witness, 5, lasting(300 * MS)), pauses(200 * MS));
    job.threads = 2;
    let done = run(job, steps());
    assert_eq!(planned(&done), [5, 5]);
    done.assert_all_ok(10);
    assert!(done.took < Duration::from_secs(2), "{:?}", done.took);
    // Stop by count: the limit is exact, even within an iteration.
    for threads in 1..=3 {
        let mut job = with_scenarios(users(&witness, 3, count(7)), pauses(0));
        job.threads = threads;
        run(job, steps()).assert_all_ok(7);
    }
    let done = run(with_scenarios(users(&witness, 1, count(1)), pauses(20 * SECOND)), steps());
    assert!(done.took < Duration::from_secs(2), "nobody waits for a pause: {:?}", done.took);
    // Stop by a signal, while all users pause.
    let job = with_scenarios(users(&witness, 3, lasting(30 * SECOND)), pauses(20 * SECOND));
    let limit = limit(&job);
    let running = engine::start(job, steps()).expect("threads");
    std::thread::sleep(Duration::from_millis(300));
    running.stop(StopLevel::Drain);
    let done = finish(running, limit);
    done.assert_all_ok(3);
    assert!(done.took < Duration::from_secs(3), "{:?}", done.took);
}

#[test]
fn every_step_separates_warm_up_and_result() {
    let witness = Witness::start(Duration::from_millis(2));
    let mut job =
        with_scenarios(users(&witness, 3, lasting(600 * MS)), in_turn(vec![visit(0, 0), visit(1, 0)]));
    (job.warm_up_ns, job.threads) = (300 * MS, 3);
    let done = run(job, script(vec![get("/0"), get("/1")]));
    assert_eq!(done.warm_up.counts.sent + done.tally.counts.sent, witness.seen().len() as u64);
    assert!(
        done.warm_up.counts.sent > 20 && done.steps.iter().all(|tally| tally.counts.sent > 10),
        "{done:?}"
    );
    let served: u64 = done.ends.iter().flat_map(|end| &end.connections).map(|totals| totals.requests).sum();
    assert_eq!(served, done.tally.counts.ok, "what a connection served counts all steps");
}
