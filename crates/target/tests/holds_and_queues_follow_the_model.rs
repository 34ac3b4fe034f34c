//! Holds take the reported time, slots limit concurrency, and the queue rejects exactly what does not fit.

use crate::client::{Client, TIMEOUT, until};
use std::time::{Duration, Instant};
use target::{Settings, start};

#[test]
fn hold_takes_at_least_the_drawn_time_and_is_logged() {
    let target = start(Settings { log_service: true, ..Settings::default() }).expect("a target");
    let mut client = Client::connect(target.address());
    let mut reported = Vec::new();
    for dist in
        ["dist=constant&mean_us=300", "dist=exp&mean_us=300", "dist=lognormal&median_us=200&sigma=0.8"]
    {
        for _ in 0..50 {
            let reply = client.get(&format!("/hold?{dist}"));
            assert!(reply.number("x-service-us") >= reply.number("x-drawn-us"));
            reported.push(reply.number("x-service-us"));
        }
    }
    assert_eq!(target.take_service_log(), reported);
    assert!(target.take_service_log().is_empty(), "taken once");
}

#[test]
fn draws_depend_on_the_seed() {
    let drawn = |seed| {
        let target = start(Settings { seed, ..Settings::default() }).expect("a target");
        let mut client = Client::connect(target.address());
        (0..20).map(|_| client.get("/hold?dist=exp&mean_us=200").number("x-drawn-us")).collect::<Vec<_>>()
    };
    assert_eq!(drawn(5), drawn(5));
    assert_ne!(drawn(5), drawn(6));
}

#[test]
fn unlimited_holds_run_concurrently() {
    let target = start(Settings::default()).expect("a target");
    let mut clients: Vec<_> = (0..200).map(|_| Client::connect(target.address())).collect();
    let begun = Instant::now();
    for client in &mut clients {
        client.send("GET", "/hold?mean_us=100000", b"");
    }
    for client in &mut clients {
        assert!(client.reply().number("x-service-us") >= 100_000);
    }
    // Sequential holds would take 20 seconds.
    assert!(begun.elapsed() < TIMEOUT / 2);
}

#[test]
fn requests_beyond_slots_and_queue_are_rejected_exactly() {
    let settings = Settings { threads: 2, queue: Some(3), ..Settings::default() };
    let target = start(settings).expect("a target");
    let mut holding: Vec<_> = (0..5).map(|_| Client::connect(target.address())).collect();
    for client in &mut holding {
        client.send("GET", "/hold?mean_us=800000", b"");
    }
    until("five requests are inside", || target.counters().requests == 5);
    // Cheap requests need a slot too, so none bypasses the queue.
    let mut client = Client::connect(target.address());
    for path in ["/status", "/hold?mean_us=1", "/fibonacci?n=1", "/insert?email=a@b.c"] {
        let reply = client.get(path);
        assert_eq!((reply.status, reply.text()), (503, "queue full\n"));
    }
    assert_eq!(target.counters().queue_rejected, 4);
    for client in &mut holding {
        assert_eq!(client.reply().status, 200);
    }
    assert_eq!(client.get("/status").status, 200);
    assert_eq!(target.counters().queue_rejected, 4);
}

#[test]
fn queued_requests_start_in_fifo_order() {
    let target = start(Settings { threads: 1, log_service: true, ..Settings::default() }).expect("a target");
    let mut clients: Vec<_> = (0..8).map(|_| Client::connect(target.address())).collect();
    let begun = Instant::now();
    for (sent, client) in clients.iter_mut().enumerate() {
        client.send("GET", "/hold?dist=exp&mean_us=20000", b"");
        until("the request has arrived", || target.counters().requests == sent as u64 + 1);
    }
    let services: Vec<u64> = clients.iter_mut().map(|client| client.reply().number("x-service-us")).collect();
    // One slot executes one hold at a time: none overlap, and they end in order of arrival.
    assert!(begun.elapsed() >= Duration::from_micros(services.iter().sum()));
    assert_eq!(target.take_service_log(), services);
}

#[test]
fn cpu_work_and_holds_share_the_slots() {
    let target = start(Settings { threads: 2, ..Settings::default() }).expect("a target");
    let mut clients: Vec<_> = (0..30).map(|_| Client::connect(target.address())).collect();
    for (number, client) in clients.iter_mut().enumerate() {
        let path = ["/hold?mean_us=2000", "/spin?us=1000", "/status", "/insert?email=", "/fibonacci?n=500"]
            [number % 5];
        let path = if path.ends_with('=') { format!("{path}a{number}@b.c") } else { path.to_owned() };
        client.send("GET", &path, b"");
    }
    for client in &mut clients {
        assert!(matches!(client.reply().status, 200 | 201));
    }
    let counters = target.counters();
    assert_eq!((counters.requests, counters.replies.iter().sum::<u64>(), counters.inserts), (30, 30, 6));
}

#[test]
fn connections_are_spread_evenly_over_workers() {
    // Eight holds on four workers with one slot each: two per worker, so each waits for at most one other hold.
    let target =
        start(Settings { workers: 4, threads: 1, queue: Some(1), ..Settings::default() }).expect("a target");
    let mut clients: Vec<_> = (0..8).map(|_| Client::connect(target.address())).collect();
    for client in &mut clients {
        client.send("GET", "/hold?mean_us=200000", b"");
    }
    for client in &mut clients {
        assert_eq!(client.reply().status, 200);
    }
    assert_eq!(target.counters().queue_rejected, 0);
}
