//! The throughput of a fixed pool is limited to threads ÷ hold time; a growing pool scales up to its limit.

use crate::client::{Client, until};
use std::time::{Duration, Instant};
use target::{Running, Settings, StartError, ThreadPool, start};

const HOLD: Duration = Duration::from_millis(200);

fn target(threads: usize, thread_pool: ThreadPool, queue: Option<usize>) -> Running {
    start(Settings { threads, thread_pool, queue, ..Settings::default() }).expect("a target")
}

/// Starts `count` holds at once. Returns their connections.
fn hold(target: &Running, count: usize) -> Vec<Client> {
    let mut clients: Vec<_> = (0..count).map(|_| Client::connect(target.address())).collect();
    for client in &mut clients {
        client.send("GET", &format!("/hold?mean_us={}", HOLD.as_micros()), b"");
    }
    clients
}

fn statuses(clients: &mut [Client]) -> Vec<u16> {
    clients.iter_mut().map(|client| client.reply().status).collect()
}

#[test]
fn fixed_pool_runs_holds_in_batches() {
    let target = target(2, ThreadPool::Fixed, None);
    let begun = Instant::now();
    let mut clients = hold(&target, 10);
    assert_eq!(statuses(&mut clients), [200; 10]);
    assert!(begun.elapsed() >= HOLD * 5, "{:?}", begun.elapsed());
}

#[test]
fn growing_pool_runs_all_holds_at_once() {
    let target = target(2, ThreadPool::Growing { limit: 100 }, Some(0));
    let begun = Instant::now();
    let mut clients = hold(&target, 100);
    // There is no queue, so replies to all requests mean that all were in execution at once.
    assert_eq!(statuses(&mut clients), [200; 100]);
    // A fixed pool would need fifty hold times.
    assert!(begun.elapsed() < HOLD * 25, "{:?}", begun.elapsed());
}

#[test]
fn pool_grows_to_its_limit_only() {
    let target = target(1, ThreadPool::Growing { limit: 3 }, Some(2));
    let begun = Instant::now();
    let mut clients = hold(&target, 5);
    until("five are inside", || target.counters().requests == 5);
    let refused = Client::connect(target.address()).get("/hold?mean_us=1");
    assert_eq!((refused.status, refused.text()), (503, "queue full\n"));
    assert_eq!(statuses(&mut clients), [200; 5]);
    assert!(begun.elapsed() >= HOLD * 2, "two had to wait: {:?}", begun.elapsed());
    assert_eq!(target.counters().queue_rejected, 1);
}

#[test]
fn cpu_work_does_not_grow_the_pool() {
    let target = target(1, ThreadPool::Growing { limit: 100 }, None);
    let begun = Instant::now();
    let mut clients: Vec<_> = (0..5).map(|_| Client::connect(target.address())).collect();
    for client in &mut clients {
        client.send("GET", "/spin?us=40000", b"");
    }
    assert_eq!(statuses(&mut clients), [200; 5]);
    assert!(begun.elapsed() >= Duration::from_millis(200), "they ran side by side: {:?}", begun.elapsed());
}

#[test]
fn blocked_and_running_requests_all_finish() {
    let target = target(2, ThreadPool::Growing { limit: 8 }, None);
    let mut clients: Vec<_> = (0..40).map(|_| Client::connect(target.address())).collect();
    for (number, client) in clients.iter_mut().enumerate() {
        match number % 4 {
            0 => client.send("GET", "/hold?mean_us=3000", b""),
            1 => client.send("GET", "/spin?us=1000", b""),
            2 => client.send("POST", &format!("/insert?email=a{number}@b.c"), b""),
            _ => client.send("GET", "/status", b""),
        }
    }
    assert!(statuses(&mut clients).iter().all(|status| matches!(status, 200 | 201)));
    // All slots are free again, so the same number of requests is accepted.
    assert_eq!(statuses(&mut hold(&target, 8)), [200; 8]);
}

#[test]
fn invalid_growth_limits_are_rejected() {
    for (threads, limit) in [(0, 10), (4, 3), (4, 65_537)] {
        let settings =
            Settings { threads, thread_pool: ThreadPool::Growing { limit }, ..Settings::default() };
        let refused = start(settings);
        assert!(matches!(&refused, Err(StartError::Faults(faults)) if faults[0].setting == "thread_pool"));
    }
}
