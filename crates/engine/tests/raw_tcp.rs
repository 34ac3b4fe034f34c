//! Loads over raw TCP: volumes in small writes, replies by length and by delimiter, and peers that send wrong replies.

use std::thread;
use std::time::{Duration, Instant};

use crate::support::{SECOND, closed, count, finish, lasting, run, server, tcp};
use engine::StopLevel;
use target::scripted::Step;
use target::{RawMode, RawServer};
use wire::tcp::{Exchange, Receive, Tcp};

const USERS: u32 = 3;

fn start_server(mode: RawMode) -> RawServer {
    RawServer::start("127.0.0.1:0".parse().expect("an address"), mode).expect("a port")
}

#[test]
fn volume_arrives_complete_with_any_write_size() {
    const VOLUME: usize = 100_000;
    let server = start_server(RawMode::Sink(VOLUME as u64));
    for write_bytes in [Some(1_000), Some(u32::MAX), None] {
        let exchange = Exchange { write_bytes, receive: Receive::Bytes(1) };
        let script = Tcp::single(&vec![b'x'; VOLUME], exchange);
        let done = run(closed(tcp(server.address()), USERS, count(30)), script);
        done.assert_all_ok(30);
        assert!(done.tally.sent_bytes >= 30 * VOLUME as u64, "{}", done.tally.sent_bytes);
        assert!(done.tally.received_bytes >= 30, "{}", done.tally.received_bytes);
    }
    server.stop();
}

#[test]
fn volume_in_tiny_writes_does_not_delay_the_end() {
    const VOLUME: usize = 32 << 20;
    let server = start_server(RawMode::Sink(VOLUME as u64));
    let exchange = Exchange { write_bytes: Some(1), receive: Receive::Bytes(1) };
    let script = Tcp::single(&vec![b'x'; VOLUME], exchange);
    let running =
        engine::start(closed(tcp(server.address()), 1, lasting(600 * SECOND)), script).expect("threads");
    thread::sleep(Duration::from_millis(300));
    let asked = Instant::now();
    running.stop(StopLevel::Abort);
    let done = finish(running, Duration::from_secs(20));
    assert_eq!((done.tally.counts.sent, done.tally.counts.unfinished), (1, 1), "{:?}", done.classes());
    // All writes together would take half a minute.
    assert!(asked.elapsed() < Duration::from_secs(5), "{:?}", asked.elapsed());
    assert_eq!(done.ends[0].health.stalled_ns, 0, "{:?}", done.ends);
    server.stop();
}

#[test]
fn replies_end_by_length_and_by_delimiter() {
    let server = start_server(RawMode::Source(70_000));
    for receive in [Receive::Bytes(70_000), Receive::Until(b"x\n".to_vec())] {
        let script = Tcp::single(b"more\n", Exchange { write_bytes: None, receive });
        let done = run(closed(tcp(server.address()), USERS, count(30)), script);
        done.assert_all_ok(30);
        assert!(done.tally.received_bytes >= 30 * 70_000);
    }
    server.stop();
}

#[test]
fn short_and_excess_replies_have_their_own_error_classes() {
    for (sends, class) in [(&b"PO"[..], "incomplete"), (b"PONG\nmore", "excess_bytes")] {
        let server = server(vec![Step::ReadBytes(5), Step::Send(sends.to_vec()), Step::CloseGracefully]);
        let script = Tcp::single(b"PING\n", Exchange::default());
        let done = run(closed(tcp(server.address()), 1, count(2)), script);
        assert_eq!(done.tally.counts.ok, 0, "{class}: {:?}", done.classes());
        assert!(done.errors(class) > 0, "{class}: {:?}", done.classes());
    }
}
