//! Users who share connections, users who choose as pgbench does, and cancel requests.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::support::acts::{Act, Acts, acts, greeting};
use crate::support::lines::{Answer, Lines};
use crate::support::scenario::{in_turn, mix, scenarios, visit};
use crate::support::{MS, SECOND, closed, count, finish, lasting, run, tcp};
use engine::{Endpoint, Job, Peer, StopLevel};
use load::xoroshiro::Xoroshiro;
use load::{Load, ThinkTime};

fn slow(_: usize, _: &str) -> Answer {
    Answer::Later(Duration::from_millis(20), "ok\n")
}

#[test]
fn wait_for_connection_is_response_time_and_not_service_time() {
    let server = Lines::start(slow);
    let job = Job { pool: Some(2), threads: 2, ..closed(tcp(server.address), 8, count(40)) };
    assert_eq!(job.connections(), 2);
    let done = run(job, acts(&[Act::Say("a", None)]));
    done.assert_all_ok(40);
    assert_eq!((done.tally.connections, done.tally.counts.planned), (2, 40));
    let [response, service, lateness] =
        [&done.tally.response, &done.tally.service, &done.tally.lateness].map(|split| split.ok.sum_ns());
    assert_eq!(response, service + lateness);
    // Three of four users wait, for 60 ms each on average.
    assert!(lateness > 28 * 40 * u128::from(MS), "{lateness}");
    assert!(done.tally.service.ok.min_ns().is_some_and(|min_ns| min_ns >= 19 * MS));
    let users = server.received_lines().iter().filter(|lines| !lines.is_empty()).count();
    assert_eq!(users, 2);
}

#[test]
fn all_users_are_served_with_more_threads_than_connections() {
    let server = Lines::start(slow);
    let job = Job { pool: Some(1), threads: 4, ..closed(tcp(server.address), 6, count(12)) };
    let running = engine::start(job, acts(&[Act::Say("a", None)])).unwrap();
    assert_eq!(running.workers, 1);
    finish(running, Duration::from_secs(10)).assert_all_ok(12);
}

#[test]
fn users_waiting_at_the_end_are_served_for_two_seconds() {
    let server = Lines::start(|_, _| Answer::Later(Duration::from_millis(150), "ok\n"));
    let job = Job { pool: Some(1), ..closed(tcp(server.address), 3, lasting(200 * MS)) };
    let counts = run(job.clone(), acts(&[Act::Say("a", None)])).tally.counts;
    assert_eq!((counts.planned, counts.ok, counts.not_sent), (4, 4, 0), "{counts:?}");

    let slower = Lines::start(|_, _| Answer::Later(Duration::from_millis(1200), "ok\n"));
    let job = Job { peers: vec![tcp(slower.address)], timeout_ns: 5 * SECOND, ..job };
    let counts = run(job.clone(), acts(&[Act::Say("a", None)])).tally.counts;
    assert_eq!((counts.planned, counts.ok, counts.not_sent), (3, 2, 1), "{counts:?}");

    // A load that is stopped does not wait for them.
    let job = Job { stop: lasting(60 * SECOND), ..job };
    let running = engine::start(job, acts(&[Act::Say("a", None)])).unwrap();
    std::thread::sleep(Duration::from_millis(50));
    running.stop(StopLevel::Drain);
    let counts = finish(running, Duration::from_secs(4)).tally.counts;
    assert_eq!((counts.planned, counts.ok, counts.not_sent), (3, 1, 2), "{counts:?}");
}

#[test]
fn connection_is_kept_within_iteration_and_freed_after_it() {
    let server = Lines::start(|_, _| Answer::Say("ok\n"));
    let script = Acts {
        steps: vec![vec![Act::Say("first", None)], vec![Act::Say("second", None)]],
        ..Acts::default()
    };
    let mut job = Job { pool: Some(2), ..closed(tcp(server.address), 10, count(200)) };
    job.scenarios = in_turn(vec![visit(0, 2 * MS), visit(1, 0)]);
    if let Load::Closed(closed) = &mut job.load {
        closed.think_time = ThinkTime::Constant { ns: 10 * MS };
    }
    let done = run(job, script);
    assert_eq!(done.tally.counts.ok, 200);
    for lines in server.received_lines().iter().filter(|lines| !lines.is_empty()) {
        assert_eq!(lines[0], "first");
        // Only the end of the load cuts iterations short.
        assert!(lines.windows(2).all(|pair| pair != ["second", "second"]), "{lines:?}");
        let whole = &lines[..lines.len().saturating_sub(20)];
        assert!(whole.windows(2).all(|pair| pair[0] != pair[1]), "{lines:?}");
    }
}

#[test]
fn pool_without_server_ends_in_time_and_backs_off() {
    let server = Lines::start(|_, _| Answer::Close);
    let job = Job { pool: Some(2), ..closed(tcp(server.address), 6, lasting(300 * MS)) };
    let done = run(job, greeting(&[Act::Say("a", None)]));
    assert_eq!((done.tally.counts.ok, done.tally.counts.sent), (0, done.tally.counts.failed));
    // Back-offs of 10 ms, 20 ms, 40 ms, and so on, halved at most: a dozen attempts per connection, and those before the load.
    let attempts = server.received_lines().iter().filter(|lines| !lines.is_empty()).count();
    assert!((2..40).contains(&attempts), "{attempts}");
}

#[test]
fn large_pool_without_server_ends_like_load_without_pool() {
    let folder = tempfile::tempdir().unwrap();
    let peer = Peer::of(Endpoint::Unix(folder.path().join("nobody")), None);
    // A user whose connection is refused immediately takes the next free one, for thousands of connections in a row.
    let job = Job { pool: Some(20_000), ..closed(peer, 20_001, lasting(100 * MS)) };
    let counts = run(job, acts(&[Act::Say("a", None)])).tally.counts;
    assert_eq!(counts.planned, counts.failed + counts.not_sent, "{counts:?}");
    assert!(counts.failed > 0, "{counts:?}");
}

#[test]
fn users_choose_with_their_own_generators() {
    let words = ["zero", "one", "two"];
    let script = Acts {
        steps: words.iter().map(|word| vec![Act::Say(word, None)]).collect(),
        greets: true,
        ..Acts::default()
    };
    let server =
        Lines::start(|_, line| Answer::Say(if line.starts_with("hello") { "welcome\n" } else { "ok\n" }));
    let choosers: Vec<Xoroshiro> = (0..4).map(|user| Xoroshiro::seed(100 + user)).collect();
    let mut job = closed(tcp(server.address), 4, count(200));
    (job.threads, job.choosers) = (2, choosers.clone());
    job.scenarios = scenarios(vec![(1.0, mix(&[5.0, 3.0, 2.0]))]);
    assert_eq!(run(job, script).tally.counts.ok, 200);
    let mut users = BTreeSet::new();
    for lines in server.received_lines().iter().filter(|lines| !lines.is_empty()) {
        let user: usize = lines[0]["hello ".len()..].parse().unwrap();
        users.insert(user);
        let mut chooser = choosers[user];
        for line in &lines[1..] {
            let step = match chooser.range(0, 9) {
                0..=4 => 0,
                5..=7 => 1,
                _ => 2,
            };
            assert_eq!(line, words[step]);
        }
    }
    assert_eq!(users.len(), 4);
}

#[test]
fn timed_out_request_is_canceled_on_a_separate_connection() {
    let server = Lines::start(|_, line| if line == "a" { Answer::Silence } else { Answer::Close });
    let script = Acts { cancel: Some(*b"stop it please!\n"), ..acts(&[Act::Say("a", None)]) };
    let job =
        Job { timeout_ns: 50 * MS, connect_timeout_ns: 50 * MS, ..closed(tcp(server.address), 1, count(2)) };
    let done = run(job, script);
    done.assert_all_timed_out("timeout_first_byte", 2);
    assert_eq!(done.errors("not_canceled"), 0, "{:?}", done.classes());
    // The cancel request is sent on a separate connection, so it may take a while.
    for _ in 0..100 {
        if server.lines().iter().filter(|lines| **lines == ["stop it please!"]).count() == 2 {
            return;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    panic!("{:?}", server.lines());
}

#[test]
fn cancel_requests_of_loads_do_not_wait_for_each_other() {
    let silent = Lines::start(|_, _| Answer::Silence);
    let closing = Lines::start(|_, line| if line == "a" { Answer::Silence } else { Answer::Close });
    let load = |server: &Lines, users: u32| {
        let script = Acts { cancel: Some(*b"stop it please!\n"), ..acts(&[Act::Say("a", None)]) };
        run(Job { timeout_ns: 200 * MS, ..closed(tcp(server.address), users, count(users.into())) }, script)
    };
    // The silent server receives one cancel request per second, and the load waits for two seconds.
    let users = 8;
    assert_eq!(load(&silent, users).errors("not_canceled"), u64::from(users));
    let done = load(&closing, 1);
    done.assert_all_timed_out("timeout_first_byte", 1);
    assert_eq!(done.errors("not_canceled"), 0, "{:?}", done.classes());
}

#[test]
fn failed_cancel_request_is_counted_without_delaying_the_load() {
    let server = Lines::start(|_, _| Answer::Silence);
    let script = Acts { cancel: Some(*b"stop it please!\n"), ..acts(&[Act::Say("a", None)]) };
    // One cancel request is pending, some are queued, and there is no room for the rest.
    let users = 80;
    let job = Job {
        timeout_ns: 200 * MS,
        connect_timeout_ns: 200 * MS,
        ..closed(tcp(server.address), users, count(u64::from(users)))
    };
    let done = run(job, script);
    done.assert_all_timed_out("timeout_first_byte", users.into());
    assert_eq!(done.errors("not_canceled"), u64::from(users), "{:?}", done.classes());
}
