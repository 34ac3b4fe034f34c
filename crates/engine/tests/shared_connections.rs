//! Peers with a connection pool: each request takes the least busy connection, with any protocol.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

use crate::support::scenario::{get, in_turn, script, visit, with_scenarios};
use crate::support::tagged::{Asked, Tagged, TaggedServer};
use crate::support::{MS, SECOND, closed, count, lasting, open, run, server, tcp};
use engine::{Job, Peer};
use target::scripted::Step;
use target::{Running, Settings};
use wire::{Mix, PeerStep};

fn built_in() -> Running {
    target::start(Settings::default()).expect("a target")
}

fn pooled(peer: Peer, connections: u32) -> Peer {
    Peer { pool: Some(connections), ..peer }
}

#[test]
fn http_users_share_pool_and_wait_counts_as_response_time() {
    for threads in [1, 2, 8] {
        let target = built_in();
        let job = Job { threads, ..closed(pooled(tcp(target.address()), 2), 8, count(80)) };
        let done = run(job, crate::support::get("/hold?mean_us=5000"));
        done.assert_all_ok(80);
        assert_eq!((done.tally.connections, done.ends.len()), (2, threads.min(2) as usize));
        let [response, service, lateness] =
            [&done.tally.response, &done.tally.service, &done.tally.lateness].map(|split| split.ok.sum_ns());
        assert_eq!(response, service + lateness);
        assert!(lateness > service, "three of four users wait: {lateness} {service}");
    }
}

#[test]
fn arrivals_share_a_pool() {
    let target = built_in();
    let done =
        run(open(pooled(tcp(target.address()), 3), 400.0, SECOND / 2, 16), crate::support::get("/status"));
    done.assert_all_ok(200);
    assert_eq!(done.tally.connections, 3);
}

#[test]
fn pool_of_one_connection_per_user_is_not_shared() {
    let target = built_in();
    let done = run(closed(pooled(tcp(target.address()), 9), 4, count(40)), crate::support::get("/status"));
    done.assert_all_ok(40);
    assert_eq!(done.tally.connections, 4);
    assert_eq!(
        done.tally.lateness.ok.sum_ns() + done.tally.service.ok.sum_ns(),
        done.tally.response.ok.sum_ns()
    );
}

#[test]
fn only_one_of_two_peers_has_a_pool() {
    let (one, two) = (built_in(), built_in());
    let places = [PeerStep { peer: 0, step: 0 }, PeerStep { peer: 1, step: 0 }];
    let both = Mix::new(
        vec![Box::new(script(vec![get("/status")])), Box::new(script(vec![get("/status")]))],
        &places,
    );
    let mut job = closed(tcp(one.address()), 6, count(120));
    job.peers.push(pooled(tcp(two.address()), 2));
    let job = with_scenarios(Job { threads: 2, ..job }, in_turn(vec![visit(0, 0), visit(1, 0)]));
    let done = run(job, both);
    done.assert_all_ok(120);
    assert_eq!(done.steps.iter().map(|step| step.connections).collect::<Vec<_>>(), [6, 2]);
    assert_eq!(one.counters().requests + two.counters().requests, 120);
}

#[test]
fn pool_users_keep_their_values() {
    let server = TaggedServer::start("", |_: usize, waiting: &mut Vec<Asked>| {
        let said = |asked: Asked| format!("{} v{}-{}\n", asked.tag, asked.user, asked.step);
        Some(waiting.drain(..).map(said).collect())
    });
    let mut job = closed(pooled(tcp(server.address), 3), 10, count(200));
    job.scenarios = in_turn(vec![visit(0, 0), visit(1, MS)]);
    let done = run(job, Tagged { room: 1, greets: false });
    done.assert_all_ok(200);
    assert_eq!((done.tally.connections, server.most_in_flight.load(Ordering::Acquire) <= 3), (3, true));
    let mut before: BTreeMap<u32, u16> = BTreeMap::new();
    for (_, asked) in server.asked.lock().unwrap().iter() {
        let last = before.insert(asked.user, asked.step);
        assert_eq!(asked.value, last.map_or("-".to_owned(), |step| format!("v{}-{step}", asked.user)));
    }
}

#[test]
fn shared_pool_without_server_ends_in_time_and_backs_off() {
    let server = server(vec![Step::Reset]);
    let done = run(closed(pooled(tcp(server.address()), 2), 6, lasting(300 * MS)), crate::support::get("/"));
    assert_eq!((done.tally.counts.ok, done.tally.counts.sent), (0, done.tally.counts.failed));
    // Back-offs of 10 ms, 20 ms, 40 ms, and so on, halved at most, for each user.
    assert!((2..150).contains(&server.connections()), "{}", server.connections());
}
