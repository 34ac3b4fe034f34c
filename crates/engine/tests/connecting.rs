//! Peers that cannot be connected to: error classes, deadlines, and back-off.

use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::thread;
use std::time::Duration;

use crate::support::{MS, SECOND, closed, count, finish, get, lasting, limit, open, reply, run, server, tcp};
use engine::{Endpoint, Peer};
use record::Percentile;
use rustix::net::{
    AddressFamily, SocketAddrUnix, SocketFlags, SocketType, bind, connect, listen, socket_with,
};
use target::Settings;
use target::scripted::{Step, blackhole, closed_port};

fn unix(path: &Path) -> Peer {
    Peer::of(Endpoint::Unix(path.to_owned()), None)
}

#[test]
fn closed_port_refuses_every_request() {
    let port = closed_port().expect("a port");
    let done = run(closed(tcp(port.address()), 2, count(6)), get("/"));
    done.assert_all_failed("connect_refused", 6);
    let (failures, why) = done.ends[0].opening_failures.as_ref().expect("failures before the load");
    assert_eq!(*failures, 2);
    assert!(why.contains("refused"), "{why}");
}

#[test]
fn unanswered_connect_ends_at_connect_deadline() {
    let hole = blackhole().expect("a full queue");
    let mut job = closed(tcp(hole.address()), 3, count(3));
    (job.connect_timeout_ns, job.timeout_ns) = (200 * MS, 5 * SECOND);
    let done = run(job, get("/"));
    done.assert_all_timed_out("timeout_connect", 3);
    let median_ns = done.tally.response.other.value_at(Percentile::P50).expect("samples");
    assert!((200 * MS..450 * MS).contains(&median_ns), "{median_ns} ns");
    assert_eq!(done.ends[0].opening_failures.as_ref().map(|(count, _)| *count), Some(3));
}

#[test]
fn run_ends_in_time_when_target_goes_away() {
    for is_open in [false, true] {
        let target = target::start(Settings::default()).expect("a target");
        let peer = tcp(target.address());
        let job =
            if is_open { open(peer, 200.0, 1_500 * MS, 10) } else { closed(peer, 10, lasting(1_500 * MS)) };
        let limit = limit(&job);
        let running = engine::start(job, get("/hold?mean_us=5000")).expect("threads");
        thread::sleep(Duration::from_millis(500));
        target.stop();
        let done = finish(running, limit);
        let counts = done.tally.counts;
        assert!(counts.ok > 50, "{counts:?}");
        assert!(done.errors("connect_refused") > 0, "{:?}", done.classes());
        assert_eq!(counts.ok + counts.failed, counts.sent, "{:?}", done.classes());
        let known =
            ["connect_refused", "connect_reset", "reset_before_reply", "stale_reuse", "closed_before_reply"];
        for (class, _) in done.classes() {
            assert!(known.contains(&class.as_str()), "{class}");
        }
    }
}

#[test]
fn reconnects_when_target_comes_back() {
    let first = target::start(Settings::default()).expect("a target");
    let address = first.address();
    let running = engine::start(closed(tcp(address), 4, lasting(2_500 * MS)), get("/hold?mean_us=2000"));
    let running = running.expect("threads");
    thread::sleep(Duration::from_millis(300));
    first.stop();
    thread::sleep(Duration::from_millis(200));
    let second = target::start(Settings { address, ..Settings::default() }).expect("the same port");
    let done = finish(running, Duration::from_secs(10));
    assert!(done.errors("connect_refused") > 0, "{:?}", done.classes());
    assert!(second.counters().requests > 100, "{:?}", second.counters());
}

#[test]
fn missing_unix_socket_has_its_own_error_class() {
    let folder = tempfile::tempdir().expect("a folder");
    let done = run(closed(unix(&folder.path().join("none")), 2, count(4)), get("/"));
    done.assert_all_failed("connect_no_socket", 4);
}

#[test]
fn unix_socket_without_listener_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("dead");
    drop(UnixListener::bind(&path).expect("a socket"));
    run(closed(unix(&path), 2, count(4)), get("/")).assert_all_failed("connect_refused", 4);
}

#[test]
fn full_unix_backlog_fails_without_waiting() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("full");
    let address = SocketAddrUnix::new(&path).expect("a short path");
    let plain = SocketFlags::CLOEXEC;
    let listener = socket_with(AddressFamily::UNIX, SocketType::STREAM, plain, None).expect("a socket");
    bind(&listener, &address).expect("bound");
    listen(&listener, 0).expect("listening");
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let fillers: Vec<_> = (0..16)
        .map(|_| socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None).expect("a socket"))
        .take_while(|filler| connect(filler, &address).is_ok())
        .collect();
    assert!(fillers.len() < 16, "the queue was never full");
    let done = run(closed(unix(&path), 2, count(4)), get("/"));
    done.assert_all_failed("connect_backlog_full", 4);
}

#[test]
fn unix_socket_carries_load() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("target");
    let target =
        target::start(Settings { unix: Some(path.clone()), ..Settings::default() }).expect("a target");
    let mut job = closed(unix(&path), 8, count(2_000));
    job.threads = 2;
    run(job, get("/status")).assert_all_ok(2_000);
    assert_eq!(target.counters().requests, 2_000);
    assert!(UnixStream::connect(&path).is_ok(), "and it still answers");
}

/// Returns the max number of requests that one slot can start within `for_ns` if each fails immediately. After the k-th consecutive
/// failure, the slot waits 10 ms × 2^(k − 1), up to 1 s, less a random part of up to half.
fn attempts_at_most(for_ns: u64) -> u64 {
    let (mut at_ns, mut attempts) = (0, 0);
    while at_ns < for_ns {
        attempts += 1;
        at_ns += ((10 * MS) << (attempts - 1)).min(SECOND) / 2;
    }
    attempts
}

const STORM_USERS: u32 = 50;

#[test]
fn closed_load_backs_off_on_refused_connections() {
    let most = u64::from(STORM_USERS) * attempts_at_most(2 * SECOND);
    assert_eq!(most, 500);
    let port = closed_port().expect("a port");
    let (resetting, closing) = (server(vec![Step::Reset]), server(vec![]));
    thread::scope(|scope| {
        for address in [port.address(), resetting.address(), closing.address()] {
            scope.spawn(move || {
                let done = run(closed(tcp(address), STORM_USERS, lasting(2 * SECOND)), get("/"));
                let counts = done.tally.counts;
                assert_eq!((counts.ok, counts.failed), (0, counts.sent), "{:?}", done.classes());
                assert!((u64::from(STORM_USERS)..=most).contains(&counts.sent), "{counts:?}");
            });
        }
    });
    for scripted in [resetting, closing] {
        // Each connection was tried once before the load.
        assert!(scripted.connections() as u64 <= most + u64::from(STORM_USERS), "{}", scripted.connections());
    }
}

#[test]
fn open_load_backs_off_on_refused_connections() {
    let port = closed_port().expect("a port");
    let done = run(open(tcp(port.address()), 2_000.0, SECOND, STORM_USERS), get("/"));
    // Due requests may be sent late for two more seconds.
    let most = u64::from(STORM_USERS) * attempts_at_most(3 * SECOND);
    assert!(done.tally.counts.sent <= most, "{:?}", done.tally.counts);
    assert_eq!(done.tally.counts.planned, 2_000);
}

#[test]
fn reset_after_each_reply_causes_no_back_off() {
    let server =
        server(vec![Step::ReadRequest, Step::Send(reply(200, "ok")), Step::ReadRequest, Step::Reset]);
    let done = run(closed(tcp(server.address()), 1, count(100)), get("/"));
    assert_eq!((done.tally.counts.ok, done.errors("reset_before_reply")), (50, 50));
    assert!(done.took < Duration::from_secs(2), "{:?}", done.took);
}
