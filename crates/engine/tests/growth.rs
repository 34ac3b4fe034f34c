//! Open loads that open connections on demand, up to a limit.

use std::time::Duration;

use engine::Job;
use harness::quiet::assert_measured;
use target::scripted::{Script, Step};

use crate::support::{Done, MS, get, open, reply, run, tcp};

/// Runs 200 requests per second for one second on a server that takes `answers_after` for each answer.
fn load(answers_after: Duration, first: Option<u32>, limit: u32) -> Done {
    let exchange = vec![Step::ReadRequest, Step::Wait(answers_after), Step::Send(reply(200, "ok"))];
    let script = Script(vec![Step::Loop(Box::new(Script(exchange)))]);
    let server = target::scripted::start(move |_| script.clone()).expect("a server");
    let job = Job {
        initial_connections: first,
        threads: 2,
        ..open(tcp(server.address()), 200.0, 1_000 * MS, limit)
    };
    run(job, get("/"))
}

fn connections(done: &Done) -> usize {
    done.ends.iter().map(|end| end.connections.len()).sum()
}

#[test]
fn load_on_slow_server_opens_as_many_connections_as_needed() {
    assert_measured(|| {
        let done = load(Duration::from_millis(300), Some(5), 1_000);
        done.assert_all_ok(200);
        let opened = connections(&done);
        assert!((50..=90).contains(&opened), "200/s of 300 ms need 60, opened {opened}");
        assert_eq!(done.tally.connections, opened as u64);
        assert!(done.ends.iter().all(|end| end.limit_reached_ns.is_none()));
        let waited_ns = done.tally.lateness.ok.max_ns().expect("requests");
        assert!(waited_ns < 60 * MS, "requests are due however slow the server is: {waited_ns} ns");
    });
}

#[test]
fn load_on_fast_server_opens_no_further_connections() {
    assert_measured(|| {
        let done = load(Duration::ZERO, Some(20), 1_000);
        done.assert_all_ok(200);
        assert_eq!(connections(&done), 20);
    });
}

#[test]
fn reports_time_when_connection_limit_is_reached() {
    let done = load(Duration::from_millis(300), Some(5), 20);
    assert_eq!(connections(&done), 20);
    let reached: Vec<u64> = done.ends.iter().filter_map(|end| end.limit_reached_ns).collect();
    assert!(!reached.is_empty() && reached.iter().all(|at_ns| *at_ns < 1_000 * MS), "{reached:?}");
    // A load with a fixed number of connections has no limit to reach.
    let done = load(Duration::from_millis(300), None, 20);
    assert!(done.ends.iter().all(|end| end.limit_reached_ns.is_none()));
}
