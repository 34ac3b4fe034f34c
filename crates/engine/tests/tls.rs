//! Valid and invalid TLS peers: a valid one carries load, an invalid one is rejected with its own error class.

use std::io::{Read, Write};
use std::net::Shutdown;
use std::thread;
use std::time::Duration;

use crate::support::{
    self,
    tls::{Authority, Identity, TlsServer, expired, not_yet_valid, read_request, self_signed},
};
use crate::support::{Done, MS, SECOND, closed, count, get, lasting, open, post, reply, run, secure, server};
use engine::TlsTrust;
use rcgen::{BasicConstraints, CertificateParams, IsCa};
use rustls::version::{TLS12, TLS13};
use target::scripted::Step;
use wire::tcp::{Exchange, Tcp};
use wire::{Channel, Script as _, Serial};

const LARGE: usize = 5 * 1024 * 1024;

/// Creates a trust in this authority only.
fn trust(authority: &Authority) -> TlsTrust {
    TlsTrust::Authorities(authority.path())
}

fn large_reply() -> Vec<u8> {
    let mut bytes = format!("HTTP/1.1 200 OK\r\nContent-Length: {LARGE}\r\n\r\n").into_bytes();
    bytes.resize(bytes.len() + LARGE, b'y');
    bytes
}

fn reply_that_closes() -> Vec<u8> {
    b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok".to_vec()
}

#[test]
fn trusted_peer_carries_load_on_kept_connections() {
    let authority = Authority::new("ours");
    for version in [&TLS12, &TLS13] {
        let identity = authority.sign_localhost();
        let server = TlsServer::start(&identity, version, 0, |stream| {
            loop {
                read_request(stream)?;
                stream.write_all(&reply(200, "hello"))?;
            }
        });
        let mut job = closed(secure(server.address(), "localhost", &trust(&authority)), 4, count(400));
        job.threads = 2;
        let done = run(job, get("/"));
        done.assert_all_ok(400);
        assert_eq!((server.connections(), done.tally.connections), (4, 4));
        assert_eq!((done.tally.tls.count(), done.tally.connect.count()), (4, 4));
    }
}

#[test]
fn connections_resume_sessions_on_request_only() {
    let authority = Authority::new("ours");
    for (version, resumes, resumed) in [(&TLS12, true, 9), (&TLS13, true, 9), (&TLS13, false, 0)] {
        let identity = authority.sign_localhost();
        let server = TlsServer::start(&identity, version, 0, |stream| {
            read_request(stream)?;
            stream.write_all(&reply_that_closes())
        });
        let peer = secure(server.address(), "localhost", &trust(&authority));
        let tls = peer.tls.clone().map(|tls| if resumes { tls.with_resumption() } else { tls });
        let done = run(closed(engine::Peer { tls, ..peer }, 1, count(10)), get("/"));
        done.assert_all_ok(10);
        assert_eq!(done.tally.tls.count(), 10);
        assert_eq!(done.ends[0].resumed_handshakes, resumed, "{version:?}, {resumes}");
    }
}

#[test]
fn offers_application_protocols_by_alpn() {
    let authority = Authority::new("ours");
    let server = TlsServer::with_alpn_protocol(&authority.sign_localhost(), "echo/2", reply(200, "hello"));
    let with_alpn = |names: &[&str]| {
        let peer = secure(server.address(), "localhost", &trust(&authority));
        let tls = peer.tls.clone().map(|tls| tls.with_alpn(names));
        run(closed(engine::Peer { tls, ..peer }, 1, count(3)), get("/"))
    };
    with_alpn(&["echo/3", "echo/2"]).assert_all_ok(3);
    with_alpn(&[]).assert_all_ok(3);
    // The alert may be lost with the connection.
    let refused = with_alpn(&["http/1.1"]);
    assert_eq!((refused.tally.counts.ok, refused.tally.counts.failed), (0, 3));
    assert!(refused.classes().iter().all(|(class, _)| class.starts_with("tls_")), "{:?}", refused.classes());
}

#[test]
fn accepts_certificate_for_ip_address() {
    let authority = Authority::new("ours");
    let server = TlsServer::answering(&authority.sign(&["127.0.0.1"], |_| ()), reply(200, "hello"));
    run(closed(secure(server.address(), "127.0.0.1", &trust(&authority)), 1, count(10)), get("/"))
        .assert_all_ok(10);
}

fn three_requests(identity: &Identity, trust: &TlsTrust) -> Done {
    let server = TlsServer::answering(identity, reply(200, "hello"));
    run(closed(secure(server.address(), "localhost", trust), 1, count(3)), get("/"))
}

#[test]
fn each_bad_certificate_has_its_own_error_class() {
    let (authority, stranger) = (Authority::new("ours"), Authority::new("a stranger"));
    for (class, identity) in [
        ("tls_expired", authority.sign(&["localhost"], expired)),
        ("tls_not_yet_valid", authority.sign(&["localhost"], not_yet_valid)),
        ("tls_wrong_host", authority.sign(&["other.test"], |_| ())),
        ("tls_wrong_host", authority.sign(&["127.0.0.1"], |_| ())),
        ("tls_unknown_issuer", stranger.sign_localhost()),
        ("tls_unknown_issuer", self_signed(|_| ())),
    ] {
        let done = three_requests(&identity, &trust(&authority));
        done.assert_all_failed(class, 3);
        assert_eq!(done.classes(), [(class.to_owned(), 3)]);
        let (failures, why) = done.ends[0].opening_failures.as_ref().expect("a failure before the load");
        assert_eq!(*failures, 1, "{why}");
        three_requests(&identity, &TlsTrust::Anything).assert_all_ok(3);
    }
}

/// Runs four users with one request each and a deadline of 400 ms.
fn run_against(steps: Vec<Step>) -> Done {
    let server = server(steps);
    let mut job = closed(secure(server.address(), "localhost", &TlsTrust::Anything), 4, count(4));
    (job.timeout_ns, job.connect_timeout_ns) = (400 * MS, 400 * MS);
    run(job, get("/"))
}

#[test]
fn broken_handshake_is_a_tls_error() {
    let close_notify = b"\x15\x03\x03\x00\x02\x01\x00".to_vec();
    let alert = b"\x15\x03\x03\x00\x02\x02\x28".to_vec();
    let cases = [
        (
            "close_notify",
            vec![Step::ReadBytes(100), Step::Send(close_notify.clone()), Step::CloseGracefully],
            "tls_closed",
        ),
        ("an alert", vec![Step::ReadBytes(100), Step::Send(alert), Step::HoldOpen], "tls_alert"),
        ("the end", vec![Step::ReadBytes(100), Step::CloseGracefully], "tls_closed"),
        (
            "half a record",
            vec![Step::Send(b"\x16\x03\x03\x00\x50abc".to_vec()), Step::CloseGracefully],
            "tls_closed",
        ),
        ("a reset", vec![Step::ReadBytes(100), Step::Reset], "tls_reset"),
    ];
    for (what, steps, class) in cases {
        let done = run_against(steps);
        assert_eq!(done.classes(), [(class.to_owned(), 4)], "{what}");
        assert_eq!((done.tally.counts.failed, done.tally.counts.sent), (4, 4), "{what}");
        let (failures, why) = done.ends[0].opening_failures.as_ref().expect("failures before the load");
        assert_eq!(*failures, 4, "{what}: {why}");
    }
    // A peer that sends `close_notify` and does not close costs the deadline, and no more.
    let done = run_against(vec![Step::ReadBytes(100), Step::Send(close_notify), Step::HoldOpen]);
    assert_eq!(done.tally.counts.ok, 0);
    assert!(done.took < Duration::from_secs(2), "{:?}", done.took);
}

/// Returns a channel of a protocol without a greeting.
fn silent() -> impl Channel {
    Serial::new(Tcp::single(b"x", Exchange::default()).open(0))
}

#[test]
fn probe_explains_broken_handshake() {
    for (end, class, words) in [
        (Step::HoldOpen, "timeout_tls", "no answer within 300ms"),
        (Step::CloseGracefully, "tls_closed", "closed during the handshake"),
        (Step::Reset, "tls_reset", "the peer reset the connection"),
    ] {
        let server = server(vec![Step::ReadBytes(100), end]);
        let peer = secure(server.address(), "localhost", &TlsTrust::Anything);
        let told = engine::probe(&peer, &mut silent(), Duration::from_millis(300)).unwrap_err().to_string();
        assert!(told.contains(class) && told.contains(words), "{told}");
        assert!(!told.contains("os error"), "{told}");
    }
}

#[test]
fn rejects_peer_without_tls() {
    let record = |kind: u8| [&[kind, 3, 3, 0x40, 0][..], &[0; 0x4000]].concat();
    let endless_message = [b"\x16\x03\x03\x40\x00\x0b\xff\xff\xff".to_vec(), vec![0; 0x3ffc]].concat();
    for (what, first, more) in [
        ("HTTP", reply(400, "plain HTTP"), Vec::new()),
        ("a banner", b"SSH-2.0-OpenSSH_9.2p1\r\n".to_vec(), Vec::new()),
        ("zeros", vec![0; 100_000], vec![0; 65_536]),
        ("records of nothing known", record(0x63), record(0x63)),
        ("a message without end", endless_message, record(0x16)),
        ("encrypted records too early", record(0x17), record(0x17)),
    ] {
        let steps = vec![Step::Send(first), Step::SendForever { bytes: more, every: None }];
        let done = run_against(steps);
        let counts = done.tally.counts;
        assert_eq!((counts.ok, counts.failed), (0, 4), "{what}: {:?}", done.classes());
        for (class, _) in done.classes() {
            assert!(["tls_protocol", "tls_error", "tls_incompatible"].contains(&&*class), "{what}: {class}");
        }
    }
}

#[test]
fn silent_handshake_ends_at_connect_deadline() {
    let server = server(vec![Step::HoldOpen]);
    let mut job = closed(secure(server.address(), "localhost", &TlsTrust::Anything), 3, count(3));
    (job.connect_timeout_ns, job.timeout_ns) = (200 * MS, 20 * SECOND);
    let done = run(job, get("/"));
    done.assert_all_timed_out("timeout_tls", 3);
    assert!(done.took < Duration::from_secs(2), "{:?}", done.took);
}

#[test]
fn reassembles_tls_records_sent_byte_by_byte() {
    let authority = Authority::new("ours");
    for version in [&TLS12, &TLS13] {
        let server = TlsServer::start(&authority.sign_localhost(), version, 1, |stream| {
            loop {
                read_request(stream)?;
                stream.write_all(&reply(200, "hello"))?;
            }
        });
        let mut job = closed(secure(server.address(), "localhost", &trust(&authority)), 2, count(6));
        (job.timeout_ns, job.connect_timeout_ns) = (5 * SECOND, 5 * SECOND);
        let done = run(job, get("/"));
        done.assert_all_ok(6);
        assert_eq!(server.connections(), 2);
    }
}

#[test]
fn large_bodies_are_sent_and_received_completely() {
    let authority = Authority::new("ours");
    let server = TlsServer::answering(&authority.sign_localhost(), large_reply());
    let mut job = closed(secure(server.address(), "localhost", &trust(&authority)), 2, count(4));
    (job.timeout_ns, job.connect_timeout_ns) = (20 * SECOND, 5 * SECOND);
    let done = run(job, post("/", LARGE));
    done.assert_all_ok(4);
    assert!(done.tally.received_bytes > 4 * LARGE as u64);
    assert!(done.tally.sent_bytes > 4 * LARGE as u64);
}

#[test]
fn unread_request_and_missing_answer_time_out_with_different_classes() {
    let authority = Authority::new("ours");
    let deaf = |_: &mut support::tls::Stream| -> std::io::Result<()> {
        thread::sleep(Duration::from_secs(2));
        Ok(())
    };
    // The handshake needs the server to read, so it reads once and then stops.
    let server = TlsServer::start(&authority.sign_localhost(), &TLS13, 0, move |stream| {
        stream.conn.complete_io(&mut stream.sock)?;
        deaf(stream)
    });
    let mut job = closed(secure(server.address(), "localhost", &trust(&authority)), 2, count(2));
    job.timeout_ns = 500 * MS;
    run(job, post("/", 4 * LARGE)).assert_all_timed_out("timeout_send", 2);
}

#[test]
fn early_rejection_over_tls_closes_the_connection() {
    let authority = Authority::new("ours");
    let server = TlsServer::start(&authority.sign_localhost(), &TLS13, 0, |stream| {
        stream.read_exact(&mut [0; 100])?;
        stream.write_all(b"HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n")?;
        thread::sleep(Duration::from_secs(2));
        Ok(())
    });
    let done = run(
        closed(secure(server.address(), "localhost", &trust(&authority)), 1, count(3)),
        post("/", 4 * LARGE),
    );
    assert_eq!(done.tally.counts.rejected, 3, "{:?}", done.classes());
    assert_eq!(server.connections(), 3, "the other half must not be read as the next request");
}

#[test]
fn body_without_length_needs_close_notify() {
    let authority = Authority::new("ours");
    for is_orderly in [true, false] {
        let server = TlsServer::start(&authority.sign_localhost(), &TLS13, 0, move |stream| {
            read_request(stream)?;
            stream.write_all(b"HTTP/1.1 200 OK\r\n\r\npart of a body")?;
            if is_orderly {
                stream.conn.send_close_notify();
            }
            stream.flush()?;
            // Dropping a socket with unread input would reset it.
            stream.sock.shut_down(Shutdown::Write);
            thread::sleep(Duration::from_millis(200));
            Ok(())
        });
        let done =
            run(closed(secure(server.address(), "localhost", &trust(&authority)), 1, count(3)), get("/"));
        if is_orderly {
            done.assert_all_ok(3);
        } else {
            done.assert_all_failed("incomplete", 3);
        }
    }
}

#[test]
fn body_with_length_needs_no_close_notify() {
    let authority = Authority::new("ours");
    let server = TlsServer::start(&authority.sign_localhost(), &TLS13, 0, |stream| {
        read_request(stream)?;
        stream.write_all(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok")?;
        stream.sock.shut_down(Shutdown::Write);
        Ok(())
    });
    run(closed(secure(server.address(), "localhost", &trust(&authority)), 1, count(5)), get("/"))
        .assert_all_ok(5);
}

#[test]
fn kept_connection_closed_by_tls_is_replaced_without_error() {
    let authority = Authority::new("ours");
    let server = TlsServer::start(&authority.sign_localhost(), &TLS13, 0, |stream| {
        read_request(stream)?;
        stream.write_all(&reply(200, "hello"))?;
        thread::sleep(Duration::from_millis(20));
        stream.conn.send_close_notify();
        stream.flush()?;
        thread::sleep(Duration::from_millis(200));
        Ok(())
    });
    let job = open(secure(server.address(), "localhost", &trust(&authority)), 4.0, SECOND, 1);
    run(job, get("/")).assert_all_ok(4);
    assert_eq!(server.connections(), 4);
}

#[test]
fn connection_closed_by_tls_with_the_reply_is_not_reused() {
    let authority = Authority::new("ours");
    let server = TlsServer::start(&authority.sign_localhost(), &TLS13, 0, |stream| {
        read_request(stream)?;
        stream.conn.writer().write_all(&reply(200, "hello"))?;
        stream.conn.send_close_notify();
        let mut records = Vec::new();
        while stream.conn.wants_write() {
            stream.conn.write_tls(&mut records)?;
        }
        stream.sock.write_all(&records)?;
        thread::sleep(Duration::from_millis(100));
        Ok(())
    });
    let job = closed(secure(server.address(), "localhost", &trust(&authority)), 2, count(10));
    run(job, get("/")).assert_all_ok(10);
    assert_eq!(server.connections(), 10);
}

#[test]
fn endless_body_over_tls_ends_at_the_deadline() {
    let authority = Authority::new("ours");
    let server = TlsServer::start(&authority.sign_localhost(), &TLS13, 0, |stream| {
        read_request(stream)?;
        stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n")?;
        loop {
            stream.write_all(&[b'x'; 16_384])?;
        }
    });
    let mut job = closed(secure(server.address(), "localhost", &trust(&authority)), 2, count(2));
    job.timeout_ns = 400 * MS;
    let done = run(job, get("/"));
    done.assert_all_timed_out("timeout_body", 2);
    assert!(done.took < Duration::from_secs(3), "{:?}", done.took);
}

#[test]
fn open_load_over_tls_sends_every_planned_request() {
    let authority = Authority::new("ours");
    let server = TlsServer::answering(&authority.sign_localhost(), reply(200, "hello"));
    let mut job = open(secure(server.address(), "localhost", &trust(&authority)), 100.0, SECOND, 4);
    job.threads = 2;
    run(job, get("/")).assert_all_ok(100);
    let done = run(
        closed(secure(server.address(), "localhost", &trust(&authority)), 2, lasting(200 * MS)),
        get("/"),
    );
    done.assert_all_ok(done.tally.counts.sent);
}

#[test]
fn named_certificate_is_trusted_and_still_checked() {
    let as_authority =
        |params: &mut CertificateParams| params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = Authority::new("unknown");
    for (what, identity) in [
        ("an authority of its own", self_signed(as_authority)),
        ("no authority", self_signed(|_| ())),
        ("signed by an authority that is not named", authority.sign_localhost()),
    ] {
        let file = identity.file();
        let trust = TlsTrust::Authorities(file.path().to_owned());
        let done = three_requests(&identity, &trust);
        assert_eq!(done.tally.counts.ok, 3, "{what}: {:?}", done.tally.errors);
        // Another self-signed certificate is rejected: an attacker could have made it.
        let other = self_signed(as_authority);
        three_requests(&other, &trust).assert_all_failed("tls_certificate", 3);
    }
    for (class, change) in
        [("tls_expired", expired as fn(&mut CertificateParams)), ("tls_not_yet_valid", not_yet_valid)]
    {
        let identity = self_signed(|params| {
            as_authority(params);
            change(params);
        });
        let file = identity.file();
        three_requests(&identity, &TlsTrust::Authorities(file.path().to_owned())).assert_all_failed(class, 3);
    }
    let elsewhere = authority.sign(&["elsewhere"], as_authority);
    let file = elsewhere.file();
    let path = file.path().to_owned();
    let done = three_requests(&elsewhere, &TlsTrust::Authorities(path.clone()));
    done.assert_all_failed("tls_wrong_host", 3);
    assert_eq!(
        done.messages("tls_wrong_host"),
        ["the certificate is not for localhost: it is for elsewhere"]
    );
    three_requests(&elsewhere, &TlsTrust::AnyName(Some(path))).assert_all_ok(3);
}
