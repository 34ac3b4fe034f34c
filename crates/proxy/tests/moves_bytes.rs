//! Data and ends of streams are forwarded completely, in order, with the delay, and in bounded memory.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::num::NonZeroU64;
use std::os::unix::net::{UnixListener, UnixStream};
use std::thread;
use std::time::{Duration, Instant};

use proxy::{Endpoint, Jitter, ProxyConfig, Settings, Spread};

use crate::support::{TestProxy, any_port, pattern, place, read_all};

/// Writes `bytes` in chunks of many sizes, then closes the sending side.
fn send_in_chunks(mut stream: &TcpStream, bytes: &[u8], seed: usize) {
    let (mut left, mut size) = (bytes, seed);
    while !left.is_empty() {
        size = (size * 7919 + 13) % 40_000;
        let (cut, rest) = left.split_at(left.len().min(size + 1));
        stream.write_all(cut).unwrap();
        left = rest;
    }
    stream.shutdown(Shutdown::Write).unwrap();
}

#[test]
fn data_and_ends_arrive_in_order_in_both_directions() {
    let jitter = Some(Jitter { by: Duration::from_millis(1), spread: Spread::Uniform });
    let plain = Settings::default();
    for settings in [
        plain,
        Settings { delay: Duration::from_millis(2), jitter, ..plain },
        Settings { bandwidth: NonZeroU64::new(20_000_000), ..plain },
    ] {
        let test_proxy = TestProxy::with(settings, |place: &mut ProxyConfig| place.buffer_bytes = 50_000);
        let (up, down) = (pattern(1_000_000), pattern(700_001));
        thread::scope(|scope| {
            for number in 0..3 {
                let (client, server) = test_proxy.ends();
                let (client_2, server_2) = (client.try_clone().unwrap(), server.try_clone().unwrap());
                let (up, down) = (&up, &down);
                scope.spawn(move || send_in_chunks(&client_2, up, number));
                scope.spawn(move || send_in_chunks(&server_2, down, number + 10));
                scope.spawn(move || assert!(read_all(&server).0 == *up, "to the target"));
                scope.spawn(move || assert!(read_all(&client).0 == *down, "to the client"));
            }
        });
        let counters = test_proxy.wait_for(|counters| counters.open == 0);
        assert_eq!((counters.bytes_to_target, counters.bytes_to_clients), (3_000_000, 2_100_003));
        assert_eq!((counters.accepted, counters.resets, counters.peer_resets), (3, 0, 0), "{counters:?}");
    }
}

#[test]
fn round_trip_takes_at_least_twice_the_delay() {
    let delay = Duration::from_millis(30);
    let test_proxy = TestProxy::new(Settings { delay, ..Settings::default() });
    let (mut client, mut server) = test_proxy.ends();
    let begun = Instant::now();
    client.write_all(b"ping").unwrap();
    let mut answer = [0; 4];
    server.read_exact(&mut answer).unwrap();
    assert!(begun.elapsed() >= delay, "{:?}", begun.elapsed());
    server.write_all(&answer).unwrap();
    client.read_exact(&mut answer).unwrap();
    assert!(begun.elapsed() >= 2 * delay, "{:?}", begun.elapsed());
    // The end is delayed like data.
    let begun = Instant::now();
    client.shutdown(Shutdown::Write).unwrap();
    assert_eq!(server.read(&mut answer).unwrap(), 0);
    assert!(begun.elapsed() >= delay, "{:?}", begun.elapsed());
}

#[test]
fn bandwidth_is_not_exceeded() {
    let test_proxy =
        TestProxy::new(Settings { bandwidth: NonZeroU64::new(1_000_000), ..Settings::default() });
    let (client, server) = test_proxy.ends();
    let begun = Instant::now();
    thread::scope(|scope| {
        scope.spawn(|| send_in_chunks(&client, &pattern(300_000), 1));
        assert_eq!(read_all(&server).0.len(), 300_000);
    });
    assert!(begun.elapsed() >= Duration::from_millis(290), "{:?}", begun.elapsed());
}

#[test]
fn either_side_may_end_first_and_still_receive() {
    let test_proxy = TestProxy::new(Settings::default());
    let (mut client, mut server) = test_proxy.ends();
    client.write_all(b"question").unwrap();
    client.shutdown(Shutdown::Write).unwrap();
    assert_eq!(read_all(&server).0, b"question");
    server.write_all(b"answer").unwrap();
    drop(server);
    assert_eq!(read_all(&client).0, b"answer");

    let (mut client, server) = test_proxy.ends();
    server.shutdown(Shutdown::Write).unwrap();
    assert_eq!(read_all(&client).0, b"");
    client.write_all(b"late").unwrap();
    drop(client);
    assert_eq!(read_all(&server).0, b"late");
    test_proxy.wait_for(|counters| counters.open == 0 && counters.peer_resets == 0);
}

/// Closes a socket with unread bytes, which makes the kernel reset the connection.
fn close_with_a_reset(end: TcpStream, mut other: &TcpStream, test_proxy: &TestProxy) {
    let before = test_proxy.proxy.counters();
    other.write_all(b"unread").unwrap();
    test_proxy.wait_for(|now| {
        now.bytes_to_target + now.bytes_to_clients == before.bytes_to_target + before.bytes_to_clients + 6
    });
    // The proxy has passed the bytes to the kernel: they are in the receive queue of this end.
    end.peek(&mut [0; 6]).unwrap();
    drop(end);
}

#[test]
fn reset_of_one_side_resets_the_other() {
    let test_proxy = TestProxy::new(Settings { delay: Duration::from_millis(1), ..Settings::default() });
    for is_client_first in [true, false] {
        let (client, server) = test_proxy.ends();
        let (first, second) = if is_client_first { (client, server) } else { (server, client) };
        close_with_a_reset(first, &second, &test_proxy);
        let (_, ended) = read_all(&second);
        assert_eq!(ended.unwrap_err().kind(), ErrorKind::ConnectionReset, "{is_client_first}");
    }
    test_proxy.wait_for(|counters| counters.open == 0 && counters.peer_resets == 2);
}

#[test]
fn slow_reader_causes_backpressure_and_a_reset_frees_its_slot() {
    let buffer_bytes = 64 * 1024;
    let test_proxy = TestProxy::with(Settings::default(), |place| place.buffer_bytes = buffer_bytes);
    let (mut client, server) = test_proxy.ends();
    client.set_nonblocking(true).unwrap();
    let (mut sent, mut quiet) = (0, 0);
    // Writes until the buffers of the kernel and of the proxy are full.
    while quiet < 20 {
        match client.write(&[7; 65_536]) {
            Ok(count) => (sent, quiet) = (sent + count, 0),
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                quiet += 1;
                thread::sleep(Duration::from_millis(10));
            }
            Err(error) => panic!("{error}"),
        }
        assert!(sent < 200 << 20, "the proxy takes everything");
    }
    let mut answered = &server;
    answered.write_all(b"unread").unwrap();
    client.set_nonblocking(false).unwrap();
    client.peek(&mut [0; 6]).unwrap();
    drop(client);
    test_proxy.wait_for(|counters| counters.open == 0 && counters.peer_resets == 1);
}

#[test]
fn unreachable_target_resets_the_client() {
    let test_proxy = TestProxy::new(Settings::default());
    let address = test_proxy.address();
    drop(test_proxy.listener);
    let client = crate::support::with_timeouts(TcpStream::connect(address).unwrap());
    assert!(read_all(&client).1.is_err());
    let counters = test_proxy.proxy.stop();
    assert_eq!((counters.connect_failed, counters.open), (1, 0));
    assert!(counters.connect_error.unwrap().contains("refused"));
}

#[test]
fn unix_sockets_work_on_either_side_and_the_file_is_removed() {
    let folder = tempfile::tempdir().unwrap();
    let [front, back] = ["front.sock", "back.sock"].map(|name| folder.path().join(name));
    let listener = UnixListener::bind(&back).unwrap();
    let inner = proxy::start(&place(any_port(), Endpoint::Unix(back)), Settings::default()).unwrap();
    let outer = place(Endpoint::Unix(front.clone()), inner.endpoint().clone());
    let outer = proxy::start(&outer, Settings::default()).unwrap();
    let mut client = UnixStream::connect(&front).unwrap();
    let (mut server, _) = listener.accept().unwrap();
    client.write_all(b"question").unwrap();
    client.shutdown(Shutdown::Write).unwrap();
    let mut text = String::new();
    server.read_to_string(&mut text).unwrap();
    server.write_all(b" and answer").unwrap();
    drop(server);
    client.read_to_string(&mut text).unwrap();
    assert_eq!(text, "question and answer");
    assert_eq!(outer.stop().accepted, 1);
    assert!(!front.exists());
    drop(inner);
}
