//! Effects of settings from outside: rate limit, stalls, hangs, idle timeout, requests per connection, accept delay.

use crate::client::{Client, until};
use std::time::{Duration, Instant};
use target::{Drift, Hang, Pace, PaceStep, RateLimit, Settings, SlowStart, Stall, StartError, start};

#[test]
fn rate_limit_rejects_with_retry_after() {
    // Too slow to refill a token during the test.
    let limit = RateLimit { per_s: 0.01, burst: 50 };
    let target =
        start(Settings { rate_limit: Some(limit), workers: 2, ..Settings::default() }).expect("a target");
    let mut clients = [Client::connect(target.address()), Client::connect(target.address())];
    let replies: Vec<_> = (0..80).map(|number| clients[number % 2].get("/status")).collect();
    assert!(replies[..50].iter().all(|reply| reply.status == 200));
    assert!(replies[50..].iter().all(|reply| reply.status == 429 && reply.number("retry-after") >= 1));
    assert_eq!(target.counters().rate_limited, 30);
}

#[test]
fn tokens_are_refilled_at_the_rate() {
    let limit = RateLimit { per_s: 100.0, burst: 1 };
    let target = start(Settings { rate_limit: Some(limit), ..Settings::default() }).expect("a target");
    let mut client = Client::connect(target.address());
    let begun = Instant::now();
    let mut passed = 0u32;
    while passed < 31 {
        passed += u32::from(client.get("/status").status == 200);
        std::thread::sleep(Duration::from_micros(200));
    }
    // The first request is free. Thirty more need thirty intervals of 10 ms.
    assert!(begun.elapsed() >= Duration::from_millis(300));
}

#[test]
fn stall_pauses_at_its_time_and_is_recorded() {
    let ms = Duration::from_millis;
    let stall = Stall { first: ms(300), lasting: ms(200), every: None };
    let target = start(Settings { stall: Some(stall), threads: 1, ..Settings::default() }).expect("a target");
    let mut client = Client::connect(target.address());
    let (mut longest, mut requests) = (Duration::ZERO, 0);
    while target.started().elapsed() < ms(600) {
        let sent = Instant::now();
        assert_eq!(client.get(["/status", "/spin?us=10"][requests % 2]).status, 200);
        longest = longest.max(sent.elapsed());
        requests += 1;
    }
    let pauses = target.stalls();
    assert_eq!(pauses.len(), 1, "{pauses:?}");
    assert!(pauses[0].from >= ms(300) && pauses[0].to >= ms(500), "{pauses:?}");
    assert!(longest + ms(100) >= pauses[0].to - pauses[0].from, "{longest:?} {pauses:?}");
}

#[test]
fn half_of_the_connections_hang_after_a_time() {
    let hang = Hang { after: Duration::from_millis(200), share: 0.5 };
    let target = start(Settings { hang: Some(hang), workers: 2, ..Settings::default() }).expect("a target");
    let mut clients = [(); 4].map(|()| Client::connect(target.address()));
    // The time before the first request does not count.
    std::thread::sleep(hang.after);
    assert_eq!(clients[1].get("/status").status, 200);
    std::thread::sleep(hang.after);
    for client in &mut clients {
        client.send("GET", "/status", b"");
        client.socket().set_read_timeout(Some(Duration::from_millis(300))).expect("a time-out");
    }
    // Every other connection hangs, in order of acceptance.
    assert_eq!([clients[0].reply().status, clients[2].reply().status], [200, 200]);
    assert!(clients[1].rest().is_empty() && clients[3].rest().is_empty());
    // Hanging connections stay open and accept input, and are closed when the peer disconnects.
    clients[1].send("POST", "/echo", &[b'x'; 100_000]);
    assert_eq!((target.counters().requests, target.counters().replies[1]), (5, 3));
    drop(clients);
    until("all are closed", || target.counters().open == 0);
}

#[test]
fn idle_connection_is_closed_and_a_busy_one_is_kept() {
    let settings = Settings { idle: Some(Duration::from_millis(100)), ..Settings::default() };
    let target = start(settings).expect("a target");
    let mut busy = Client::connect(target.address());
    busy.send("GET", "/hold?mean_us=400000", b"");
    let mut silent = Client::connect(target.address());
    let mut halfway = Client::connect(target.address());
    halfway.write(b"GET / HT");
    assert_eq!((silent.rest(), halfway.rest()), (vec![], vec![]));
    assert_eq!(busy.reply().status, 200);
}

#[test]
fn connection_ends_after_its_last_request() {
    let target =
        start(Settings { requests_per_connection: Some(3), ..Settings::default() }).expect("a target");
    let mut client = Client::connect(target.address());
    // Five requests in one write: three replies must arrive completely although two requests are left unread.
    client.write("GET /status HTTP/1.1\r\nHost: test\r\n\r\n".repeat(5).as_bytes());
    assert_eq!(
        [(); 3].map(|()| client.reply().header("connection").map(str::to_owned)),
        [None, None, Some("close".into())]
    );
    assert_eq!(client.rest(), b"");
    assert_eq!(target.counters().requests, 3);
}

#[test]
fn accept_delay_leaves_connections_waiting() {
    let settings = Settings { accept_delay: Duration::from_millis(50), ..Settings::default() };
    let target = start(settings).expect("a target");
    let begun = Instant::now();
    let clients: Vec<_> = (0..5).map(|_| Client::connect(target.address())).collect();
    until("all are accepted", || target.counters().accepted == 5);
    assert!(begun.elapsed() >= Duration::from_millis(200), "four pauses lie between five connections");
    drop(clients);
    until("all are closed", || target.counters().open == 0);
}

#[test]
fn full_accept_queue_leaves_connects_pending() {
    let settings = Settings { accept_delay: Duration::from_secs(10), backlog: 1, ..Settings::default() };
    let target = start(settings).expect("a target");
    let first = Client::connect(target.address());
    until("the first is accepted", || target.counters().accepted == 1);
    // The kernel keeps one more connection than requested.
    let waiting = [Client::connect(target.address()), Client::connect(target.address())];
    let patience = Duration::from_millis(200);
    let error = std::net::TcpStream::connect_timeout(&target.address(), patience).expect_err("a full queue");
    assert_eq!(error.kind(), std::io::ErrorKind::TimedOut);
    assert_eq!(target.counters().accepted, 1);
    drop((first, waiting));
}

#[test]
fn non_loopback_address_is_rejected_with_all_errors() {
    let address = "0.0.0.0:0".parse().expect("an address");
    let Err(error) = start(Settings { address, workers: 0, ..Settings::default() }) else {
        panic!("it started")
    };
    assert!(matches!(&error, StartError::Faults(faults) if faults.len() == 2));
    let text = error.to_string();
    assert!(
        text.contains("not loopback") && text.contains("127.0.0.1") && text.contains("workers"),
        "{text}"
    );
    let address = "[::1]:0".parse().expect("an address");
    if let Ok(target) = start(Settings { address, ..Settings::default() }) {
        assert_eq!(Client::connect(target.address()).get("/status").status, 200);
    }
}

#[test]
fn address_in_use_or_bad_path_is_a_clear_error() {
    let target = start(Settings::default()).expect("a target");
    let taken = start(Settings { address: target.address(), ..Settings::default() });
    assert!(matches!(taken, Err(StartError::Address { .. })));
    let nowhere = std::path::PathBuf::from("/nonexistent/folder/x");
    let unix = start(Settings { unix: Some(nowhere.clone()), ..Settings::default() });
    assert!(matches!(unix, Err(StartError::Unix { .. })));
    let database = start(Settings { database: Some(nowhere), ..Settings::default() });
    assert!(matches!(database, Err(StartError::Database { .. })));
}

#[test]
fn hold_times_change_with_the_age_of_the_target() {
    let day = Duration::from_secs(24 * 60 * 60);
    let drawn_us = |pace| {
        let target = start(Settings { pace, ..Settings::default() }).expect("a target");
        Client::connect(target.address()).get("/hold?mean_us=1000").number("x-drawn-us")
    };
    assert_eq!(drawn_us(Pace::default()), 1_000);
    let slow_start = Some(SlowStart { factor: 3.0, lasting: day });
    assert_eq!(drawn_us(Pace { slow_start, ..Pace::default() }), 3_000);
    let step = Some(PaceStep { after: Duration::ZERO, factor: 1.5 });
    assert_eq!(drawn_us(Pace { slow_start, step, ..Pace::default() }), 4_500);
    let later = Some(PaceStep { after: day, factor: 1.5 });
    assert_eq!(drawn_us(Pace { step: later, ..Pace::default() }), 1_000);

    let drift = Some(Drift { share_per_10_s: 10.0 });
    let pace = Pace { drift, ..Pace::default() };
    let target = start(Settings { pace, ..Settings::default() }).expect("a target");
    let mut client = Client::connect(target.address());
    let mut hold_us = || client.get("/hold?mean_us=1000").number("x-drawn-us");
    let first_us = hold_us();
    // Drift adds to the hold time with every millisecond.
    until("holds have become longer", || hold_us() > first_us + 100);
}
