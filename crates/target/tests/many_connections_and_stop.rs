//! Thousands of open connections are served, and a stop ends everything at once.

use crate::client::{Client, until};
use std::net::TcpStream;
use std::time::{Duration, Instant};
use target::{Settings, start};

#[test]
fn two_thousand_connections_are_served() {
    let target = start(Settings { workers: 2, ..Settings::default() }).expect("a target");
    let mut clients: Vec<_> = (0..2000).map(|_| Client::connect(target.address())).collect();
    for round in 0..2 {
        for client in &mut clients {
            client.send("GET", ["/status", "/hold?mean_us=1000"][round], b"");
        }
        for client in &mut clients {
            assert_eq!(client.reply().status, 200);
        }
    }
    let counters = target.counters();
    assert_eq!((counters.open, counters.requests, counters.replies[1]), (2000, 4000, 4000));
    drop(clients);
    until("all connections are closed", || target.counters().open == 0);
}

#[test]
fn stop_is_prompt_during_any_activity() {
    let stall =
        target::Stall { first: Duration::from_millis(150), lasting: Duration::from_secs(60), every: None };
    for (threads, stall) in [(0, None), (1, None), (2, Some(stall))] {
        let target = start(Settings { threads, stall, workers: 2, ..Settings::default() }).expect("a target");
        let address = target.address();
        let mut clients: Vec<_> = (0..10).map(|_| Client::connect(address)).collect();
        let paths = [
            "/hold?mean_us=60000000",
            "/spin?us=10000000",
            "/bytes?n=60000000",
            "/fibonacci?n=200000",
            "/status",
        ];
        for (number, client) in clients.iter_mut().enumerate() {
            client.send("GET", paths[number % paths.len()], b"");
        }
        std::thread::sleep(Duration::from_millis(200));
        let begun = Instant::now();
        target.stop();
        // The target is a second; a busy machine may need longer.
        assert!(begun.elapsed() < Duration::from_secs(5), "threads {threads}: {:?}", begun.elapsed());
        assert!(TcpStream::connect(address).is_err());
    }
}

#[test]
fn dropping_the_handle_stops_the_target() {
    let address = start(Settings::default()).expect("a target").address();
    assert!(TcpStream::connect(address).is_err());
}
