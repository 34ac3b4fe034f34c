//! Deliberate effects of a proxy on connections, from the start or changed while it runs.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::num::NonZeroU64;
use std::time::{Duration, Instant};

use proxy::{NewConnections, Reset, ResetAfter, Settings};

use crate::support::{TestProxy, pattern, read_all, with_timeouts};

fn reset(after: ResetAfter, share: f64) -> Settings {
    Settings { reset: Some(Reset { after, share }), ..Settings::default() }
}

#[test]
fn connection_is_reset_after_an_exact_number_of_bytes() {
    let test_proxy = TestProxy::new(reset(ResetAfter::Bytes(100_000), 1.0));
    let (mut client, mut server) = test_proxy.ends();
    server.write_all(&pattern(40_000)).unwrap();
    client.read_exact(&mut vec![0; 40_000]).unwrap();
    // The reset may interrupt the write.
    let _ = client.write_all(&pattern(80_000));
    assert_eq!(read_all(&server).1.unwrap_err().kind(), ErrorKind::ConnectionReset);
    let counters = test_proxy.wait_for(|counters| counters.open == 0);
    assert_eq!((counters.bytes_to_target, counters.bytes_to_clients, counters.resets), (60_000, 40_000, 1));
}

#[test]
fn idle_connection_is_reset_after_a_time() {
    let after = Duration::from_millis(50);
    let test_proxy = TestProxy::new(reset(ResetAfter::Time(after), 1.0));
    let begun = Instant::now();
    let (client, server) = test_proxy.ends();
    for end in [&client, &server] {
        assert_eq!(read_all(end).1.unwrap_err().kind(), ErrorKind::ConnectionReset);
    }
    assert!(begun.elapsed() >= after);
    assert_eq!(test_proxy.wait_for(|counters| counters.open == 0).resets, 1);
}

#[test]
fn share_of_connections_is_reset() {
    let test_proxy = TestProxy::new(reset(ResetAfter::Bytes(1), 0.5));
    let ends: Vec<_> = (0..100).map(|_| test_proxy.ends()).collect();
    for (mut client, _) in ends.iter().map(|(client, server)| (client, server)) {
        client.write_all(b"x").unwrap();
    }
    let counters = test_proxy.wait_for(|counters| counters.bytes_to_target == 100);
    assert!((25..=75).contains(&counters.resets), "{counters:?}");
}

#[test]
fn stall_holds_data_until_it_ends() {
    let test_proxy = TestProxy::new(Settings::default());
    let (mut client, mut server) = test_proxy.ends();
    let begun = Instant::now();
    test_proxy.proxy.stall(Duration::from_millis(100));
    test_proxy.wait_for(|counters| counters.stalls == 1);
    client.write_all(b"held").unwrap();
    let mut held = [0; 4];
    server.read_exact(&mut held).unwrap();
    assert!(begun.elapsed() >= Duration::from_millis(100), "{:?}", begun.elapsed());
}

#[test]
fn cut_holds_data_until_it_ends() {
    let test_proxy = TestProxy::new(Settings::default());
    let (mut client, mut server) = test_proxy.ends();
    client.write_all(b"a").unwrap();
    server.read_exact(&mut [0; 1]).unwrap();
    test_proxy.proxy.change(Settings { is_cut: true, ..Settings::default() });
    // Long enough for the command to take effect. If it takes longer, the test only becomes weaker.
    std::thread::sleep(Duration::from_millis(50));
    client.write_all(b"held").unwrap();
    let mut late = test_proxy.client();
    late.write_all(b"new").unwrap();
    server.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
    let kind = server.read(&mut [0; 1]).unwrap_err().kind();
    assert!([ErrorKind::WouldBlock, ErrorKind::TimedOut].contains(&kind), "{kind:?}");
    assert_eq!(test_proxy.proxy.counters().accepted, 1, "the new one waits");

    test_proxy.proxy.change(Settings::default());
    let mut server = with_timeouts(server);
    let mut held = [0; 4];
    server.read_exact(&mut held).unwrap();
    assert_eq!(&held, b"held");
    let (new, _) = test_proxy.listener.accept().unwrap();
    with_timeouts(new).read_exact(&mut [0; 3]).unwrap();
}

#[test]
fn new_connections_are_closed_or_wait() {
    let settings = |new_connections| Settings { new_connections, ..Settings::default() };
    let test_proxy = TestProxy::new(settings(NewConnections::Close));
    assert_eq!(read_all(&test_proxy.client()).1.unwrap_err().kind(), ErrorKind::ConnectionReset);
    test_proxy.wait_for(|counters| counters.dropped == 1 && counters.accepted == 0);

    test_proxy.proxy.change(settings(NewConnections::Ignore));
    // The command takes effect before the next connection.
    std::thread::sleep(Duration::from_millis(50));
    let mut waiting = test_proxy.client();
    waiting.write_all(b"hello").unwrap();
    waiting.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
    let kind = waiting.read(&mut [0; 1]).unwrap_err().kind();
    assert!([ErrorKind::WouldBlock, ErrorKind::TimedOut].contains(&kind), "{kind:?}");
    assert_eq!(test_proxy.proxy.counters().accepted, 0);

    test_proxy.proxy.change(settings(NewConnections::Accept));
    let (server, _) = test_proxy.listener.accept().unwrap();
    with_timeouts(server).read_exact(&mut [0; 5]).unwrap();
}

#[test]
fn waiting_data_follows_a_new_bandwidth() {
    let slow = Settings { bandwidth: NonZeroU64::new(1), ..Settings::default() };
    let test_proxy = TestProxy::new(slow);
    let (mut client, mut server) = test_proxy.ends();
    client.write_all(&pattern(10_000)).unwrap();
    test_proxy.proxy.change(Settings::default());
    let mut all = vec![0; 10_000];
    server.read_exact(&mut all).unwrap();
    assert_eq!(all, pattern(10_000));
}

#[test]
fn all_open_connections_can_be_reset() {
    let test_proxy = TestProxy::new(Settings::default());
    let ends: Vec<(TcpStream, TcpStream)> = (0..10).map(|_| test_proxy.ends()).collect();
    test_proxy.proxy.reset_all();
    for (client, server) in &ends {
        assert!(read_all(client).1.is_err() && read_all(server).1.is_err());
    }
    assert_eq!(test_proxy.wait_for(|counters| counters.open == 0).resets, 10);
}

#[test]
fn connection_limit_makes_further_clients_wait() {
    let test_proxy = TestProxy::with(Settings::default(), |place| place.connections_max = Some(2));
    let (first, _server) = test_proxy.ends();
    let _second = test_proxy.ends();
    let mut third = test_proxy.client();
    third.write_all(b"third").unwrap();
    assert_eq!(test_proxy.wait_for(|counters| counters.open == 2).accepted, 2);
    drop((first, _server));
    let (server, _) = test_proxy.listener.accept().unwrap();
    with_timeouts(server).read_exact(&mut [0; 5]).unwrap();
    assert_eq!(test_proxy.proxy.counters().open_max, 2);
}

#[test]
fn connection_flood_leaks_no_resources() {
    let test_proxy = TestProxy::new(reset(ResetAfter::Time(Duration::from_secs(3600)), 1.0));
    for _ in 0..2_000 {
        drop(test_proxy.client());
        drop(test_proxy.listener.accept().unwrap());
    }
    let counters = test_proxy.wait_for(|counters| counters.open == 0);
    assert_eq!(counters.accepted, 2_000);
    let (mut client, mut server) = test_proxy.ends();
    client.write_all(b"x").unwrap();
    server.read_exact(&mut [0; 1]).unwrap();
}
