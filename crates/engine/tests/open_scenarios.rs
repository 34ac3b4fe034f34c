//! Scenarios in open loads: the rate counts iterations, and every arrival is planned for its first step.

use std::time::Duration;

use crate::support::scenario::{
    assert_carried, data, get, in_turn, late_ns, mix, post, scenarios, script, visit, with_capture,
    with_scenarios,
};
use crate::support::witness::Witness;
use crate::support::{Done, MS, SECOND, open, run, tcp};
use engine::Job;
use load::open::{Profile, Stage};
use load::values::Source;
use load::{Load, Open, Order, Routes, Scenarios, Schedule, Spacing, Stop, Visit};
use record::Sampled;
use target::{Settings, Stall};
use wire::http1::CaptureSource;

const AT_ONCE: Duration = Duration::ZERO;

fn shape(job: &mut Job, change: impl FnOnce(&mut Open)) {
    let Load::Open(open) = &mut job.load else { panic!("the load is open") };
    change(open);
}

fn arrivals(witness: &Witness, per_s: f64, connections: u32, scenarios: Scenarios) -> Job {
    with_scenarios(open(tcp(witness.address), per_s, SECOND, connections), scenarios)
}

fn planned(done: &Done) -> Vec<u64> {
    done.steps.iter().map(|tally| tally.counts.planned).collect()
}

/// Returns the number of arrivals that begin with each step, among the first `arrivals`, computed without a load.
fn begun_with(job: &Job, arrivals: u64) -> Vec<u64> {
    let routes = Routes::new(&job.scenarios, job.seed);
    let mut begun = vec![0; job.scenarios.steps()];
    for number in 0..arrivals {
        let place = routes.begin(&mut routes.chance(number));
        begun[usize::from(routes.visit(place).step)] += 1;
    }
    begun
}

#[test]
fn rate_counts_iterations_and_later_steps_follow_replies() {
    for threads in [1, 2] {
        let witness = Witness::start(Duration::from_millis(3));
        let mut job = arrivals(&witness, 100.0, 10, in_turn(vec![visit(0, 0), visit(1, 0)]));
        job.threads = threads;
        let first = with_capture(get("/first"), 0, CaptureSource::Header("X-Token".to_owned()));
        let done = run(job, script(vec![first, get("/second?of={a}")]));
        let [first, second] = &done.steps[..] else { panic!("two steps: {:?}", planned(&done)) };
        assert_eq!((first.counts.planned, first.counts.ok, first.counts.not_sent), (100, 100, 0));
        // Only steps that would begin after the end of the load are missing.
        assert!((98..=100).contains(&second.counts.ok), "{:?}", second.counts);
        assert_eq!(second.counts.planned, second.counts.ok);
        assert_carried(&done, &[0, 0]);
        for seen in witness.by_connection() {
            for pair in seen.windows(2).filter(|pair| pair[1].target != "/first") {
                assert_eq!(pair[1].target, format!("/second?of={}", pair[0].token));
            }
        }
    }
}

#[test]
fn steps_of_an_arrival_depend_on_its_number_only() {
    for threads in 1..=3 {
        let witness = Witness::start(AT_ONCE);
        let buy = Order::InTurn(vec![visit(2, 0)]);
        let mut job = arrivals(&witness, 500.0, 9, scenarios(vec![(80.0, mix(&[3.0, 1.0])), (20.0, buy)]));
        (job.threads, job.seed) = (threads, 11);
        let expected = begun_with(&job, 500);
        let done = run(job, script(vec![get("/0"), get("/1"), get("/2")]));
        done.assert_all_ok(500);
        assert_eq!(planned(&done), expected);
        for (seen, share) in expected.iter().zip([300.0f64, 100.0, 100.0]) {
            assert!((*seen as f64 - share).abs() < 50.0, "{expected:?}");
        }
    }
}

#[test]
fn unsent_arrival_is_planned_for_its_first_step() {
    // One connection with holds of 100 ms can take 10 of 300 arrivals per second.
    for (shed_after_ns, at_ns) in [(Some(20 * MS), SECOND), (None, 300 * MS)] {
        let witness = Witness::start(Duration::from_millis(100));
        let second = Order::InTurn(vec![visit(1, 0), visit(2, 0)]);
        let mut job = arrivals(&witness, 300.0, 2, scenarios(vec![(2.0, mix(&[1.0])), (1.0, second)]));
        shape(&mut job, |open| open.shed_after_ns = shed_after_ns);
        (job.stop.at_ns, job.threads) = (Some(at_ns), 2);
        let expected = begun_with(&job, 300 * at_ns / SECOND);
        let done = run(job, script(vec![get("/0"), get("/1"), get("/2")]));
        assert_eq!(planned(&done)[..2], expected[..2]);
        assert!(done.steps[..2].iter().all(|tally| tally.counts.not_sent > 10), "{:?}", done.steps);
        assert!(done.steps.get(2).is_none_or(|tally| tally.counts.not_sent == 0), "it was never due");
        assert_eq!(done.tally.counts.sent, witness.seen().len() as u64);
    }
}

#[test]
fn pause_keeps_connection_until_iteration_ends() {
    for (visits, most) in [(vec![visit(0, 200 * MS)], 14), (vec![visit(0, 100 * MS), visit(1, 100 * MS)], 28)]
    {
        // Each iteration occupies one of two connections for 200 ms, or 170 ms if it was late: ten to twelve iterations, plus the
        // steps that begin in the last of them.
        let witness = Witness::start(AT_ONCE);
        let steps = visits.len();
        let mut job = arrivals(&witness, 40.0, 2, in_turn(visits));
        shape(&mut job, |open| open.shed_after_ns = Some(30 * MS));
        let done = run(job, script(vec![get("/0"), get("/1")]));
        assert_eq!(done.steps[0].counts.planned, 40);
        let sent = done.tally.counts.sent;
        assert!(sent <= most && sent >= most / 2, "{sent} sent in {steps} steps");
        for connection in 0..2 {
            let mut own: Vec<_> =
                done.logged.iter().filter(|(_, request)| request.connection == connection).collect();
            own.sort_by_key(|(_, request)| request.finish.sent_ns);
            // Only the end of the load cuts iterations short.
            own.retain(|(_, request)| request.finish.finished_ns < 900 * MS);
            for pair in own.windows(2) {
                let gap_ns = pair[1].1.finish.sent_ns - pair[0].1.finish.finished_ns;
                // A pause is shortened by the send delay, which can be up to 30 ms.
                assert!(gap_ns + late_ns(&pair[0].1) >= 200 * MS / steps as u64, "{gap_ns}");
                assert!(steps == 1 || pair[0].0 != pair[1].0, "the steps take turns");
            }
        }
        assert_carried(&done, &[100 * MS, 100 * MS]);
    }
}

#[test]
fn iteration_pausing_past_last_arrival_finishes() {
    // The last of 4 arrivals comes at 750 ms, and its second step at 900 ms.
    let witness = Witness::start(AT_ONCE);
    let job = arrivals(&witness, 4.0, 4, in_turn(vec![visit(0, 150 * MS), visit(1, 20 * SECOND)]));
    let done = run(job, script(vec![get("/0"), get("/1")]));
    assert_eq!(planned(&done), [4, 4]);
    done.assert_all_ok(8);
    assert!(done.took < Duration::from_secs(3), "the last pause is nobody's: {:?}", done.took);
}

#[test]
fn request_count_includes_all_steps() {
    for threads in 1..=3 {
        for requests in [1, 10, 61] {
            let witness = Witness::start(AT_ONCE);
            let mut job = arrivals(&witness, 200.0, 6, in_turn(vec![visit(0, 0), visit(1, 5 * MS)]));
            job.stop = Stop { at_ns: Some(20 * SECOND), requests: Some(requests) };
            job.threads = threads;
            let done = run(job, script(vec![get("/0"), get("/1")]));
            done.assert_all_ok(requests);
            assert_eq!((done.tally.counts.planned, witness.seen().len() as u64), (requests, requests));
            assert!(done.took < Duration::from_secs(5), "{:?}", done.took);
        }
    }
}

/// Runs on one connection to a server that stops once, for 400 ms.
fn stalled(visits: Vec<Visit>, per_s: f64) -> Done {
    let stall = Stall { first: Duration::from_millis(300), lasting: Duration::from_millis(400), every: None };
    let target = target::start(Settings { stall: Some(stall), ..Settings::default() }).expect("a target");
    let mut job = with_scenarios(open(tcp(target.address()), per_s, SECOND, 1), in_turn(visits));
    // Every iteration that has begun is finished.
    job.stop.at_ns = Some(1_500 * MS);
    if let Load::Open(open) = &mut job.load {
        let stages = Profile::stages(per_s, &[Stage { to_per_s: per_s, for_ns: SECOND }]);
        open.schedule = Schedule::Rate(stages, Spacing::EVEN);
    }
    let done = run(job, script(vec![get("/status"), get("/status"), get("/status")]));
    done.assert_all_ok(done.tally.counts.planned);
    done
}

#[test]
fn send_delay_of_an_arrival_carries_over_and_server_time_does_not() {
    let done = stalled(vec![visit(0, 0), visit(1, 0), visit(2, 0)], 50.0);
    let pairs = assert_carried(&done, &[0, 0, 0]);
    let of_stall = |request: &Sampled| request.finish.finished_ns - request.finish.sent_ns > 250 * MS;
    assert!(done.logged.iter().any(|(_, request)| of_stall(request)), "one was stopped");
    for pair in pairs.iter().filter(|(_, before, _)| of_stall(before)) {
        let (_, before, later) = pair;
        // The next step followed the reply without delay.
        assert!(later.finish.intended_ns >= before.finish.intended_ns + 250 * MS, "{pair:?}");
    }
    // Arrivals that waited meanwhile for the only connection are late in all their steps.
    let late = pairs.iter().filter(|(_, before, _)| late_ns(before) > 150 * MS && !of_stall(before));
    let late: Vec<_> = late.collect();
    assert!(late.len() > 5, "{}", late.len());
    for pair in &late {
        let (_, before, later) = pair;
        assert!(late_ns(later) > late_ns(before) / 2, "{pair:?}");
    }
}

#[test]
fn pause_makes_up_for_send_delay() {
    // Each iteration occupies the connection for 150 ms, so arrivals during the stall and after it are late.
    let done = stalled(vec![visit(0, 150 * MS), visit(1, 0)], 5.0);
    let pairs = assert_carried(&done, &[150 * MS, 0]);
    let late = pairs.iter().filter(|(_, before, _)| late_ns(before) > 60 * MS);
    let late: Vec<_> = late.collect();
    assert!(!late.is_empty(), "{:?}", done.logged);
    for pair in late {
        let (_, before, later) = pair;
        let paused_ns = later.finish.sent_ns - before.finish.finished_ns;
        let is_punctual = later.finish.sent_ns - later.finish.intended_ns < 5 * MS;
        assert!(paused_ns < 150 * MS || !is_punctual, "{pair:?}");
    }
}

#[test]
fn failed_step_frees_connection_for_next_arrival() {
    let witness = Witness::start(AT_ONCE);
    let job = arrivals(&witness, 50.0, 4, in_turn(vec![visit(0, 0), visit(1, 0)]));
    let done = run(job, script(vec![get("/no"), get("/1")]));
    assert_eq!((planned(&done), done.tally.counts.rejected), (vec![50], 50));
}

#[test]
fn values_are_unique_and_depend_on_the_arrival() {
    let bodies = |threads| -> Vec<(u64, u64)> {
        let witness = Witness::start(AT_ONCE);
        let mut job = arrivals(&witness, 300.0, 6, in_turn(vec![visit(0, 0)]));
        job.threads = threads;
        job.data = vec![
            data(0, Source::Sequence { from: 0, until: None, by: 1 }),
            data(1, Source::Uniform { min: 1, max: 1_000_000_000 }),
        ];
        run(job, script(vec![post("/", "{a} {b}")])).assert_all_ok(300);
        let number = |text: &str| text.parse::<u64>().expect("a number");
        let seen = witness.seen();
        let mut all: Vec<_> = seen
            .iter()
            .filter_map(|seen| seen.body.split_once(' '))
            .map(|(unique, random)| (number(unique), number(random)))
            .collect();
        all.sort_unstable();
        all
    };
    let one = bodies(1);
    assert!(one.iter().map(|(unique, _)| *unique).eq(0..300));
    assert_eq!(bodies(3), one, "the n-th arrival has the n-th number, and draws the same");
}
