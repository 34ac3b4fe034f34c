//! For any input, the target replies or closes the connection, and continues to serve other peers.

use crate::client::{Client, until};
use std::io::Write;
use std::net::TcpStream;
use target::{Running, Settings, start};

/// Sends `input` on a new connection. Returns the status of the reply, or `None` without a reply.
fn answer_to(target: &Running, input: &[u8]) -> Option<u16> {
    let mut client = Client::connect(target.address());
    client.write(input);
    client.socket().shutdown(std::net::Shutdown::Write).expect("half closed");
    let answer = String::from_utf8_lossy(&client.rest()).into_owned();
    answer.split(' ').nth(1).map(|status| status.parse().expect("a status"))
}

#[test]
fn bad_requests_are_rejected_with_their_status() {
    let target = start(Settings::default()).expect("a target");
    let many_fields = format!("GET / HTTP/1.1\r\nHost: a\r\n{}\r\n", "x: y\r\n".repeat(100));
    let long_field = format!("GET / HTTP/1.1\r\nHost: a\r\nx: {}\r\n\r\n", "y".repeat(20_000));
    let post = "POST /echo HTTP/1.1\r\nHost: a\r\n";
    let cases: [(Vec<u8>, Option<u16>); 14] = [
        (b"\0\x01\x02 garbage\r\n\r\n".to_vec(), Some(400)),
        (vec![0xff; 100_000], Some(400)),
        (b"GET /status HTTP/1.1\r\n\r\n".to_vec(), Some(400)),
        (b"GET /status HTTP/3.0\r\nHost: a\r\n\r\n".to_vec(), Some(505)),
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec(), Some(505)),
        (b"GET /nothing HTTP/1.1\r\nHost: a\r\n\r\n".to_vec(), Some(404)),
        (b"TRACE /status HTTP/1.1\r\nHost: a\r\n\r\n".to_vec(), Some(405)),
        (many_fields.into_bytes(), Some(431)),
        (long_field.into_bytes(), Some(431)),
        (
            format!("{post}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\nhello").into_bytes(),
            Some(400),
        ),
        (format!("{post}Content-Length: 2000000\r\n\r\n").into_bytes(), Some(413)),
        (format!("{post}Transfer-Encoding: chunked\r\n\r\nnope\r\n").into_bytes(), Some(400)),
        (format!("{post}Content-Length: 5\r\n\r\nhel").into_bytes(), None),
        (Vec::new(), None),
    ];
    for (input, status) in &cases {
        let shown = String::from_utf8_lossy(&input[..input.len().min(60)]).into_owned();
        assert_eq!(answer_to(&target, input), *status, "{shown:?}");
    }
    assert_eq!(Client::connect(target.address()).get("/status").status, 200);
    until("all connections are closed but none", || target.counters().open == 0);
}

#[test]
fn endless_input_is_cut_off() {
    let target = start(Settings::default()).expect("a target");
    let endless: [(&[u8], &[u8]); 4] = [
        (b"GET / HTTP/1.1\r\n", b"x: y\r\n"),
        (b"", b"\r\n"),
        (b"POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n", b"8\r\n12345678\r\n"),
        (b"POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", b"trailer: x\r\n"),
    ];
    for (begin, more) in endless {
        let mut client = Client::connect(target.address());
        client.write(begin);
        let piece = more.repeat(1000);
        let mut socket: &TcpStream = client.socket();
        let mut cut_off = false;
        for _ in 0..100_000 {
            cut_off = socket.write_all(&piece).is_err();
            if cut_off {
                break;
            }
        }
        assert!(cut_off, "{:?} for ever", String::from_utf8_lossy(more));
    }
    assert_eq!(Client::connect(target.address()).get("/status").status, 200);
}

#[test]
fn random_bytes_and_broken_requests_do_not_crash_the_target() {
    let target = start(Settings { threads: 2, queue: Some(2), ..Settings::default() }).expect("a target");
    let request =
        b"POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nabcd\r\n0\r\n\r\n";
    let mut state = 1u64;
    let mut random = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize
    };
    for _ in 0..300 {
        let mut input = request.to_vec();
        for _ in 0..1 + random() % 4 {
            let at = random() % input.len();
            input[at] = random() as u8;
        }
        let mut socket = TcpStream::connect(target.address()).expect("a connection");
        // The peer disconnects without reading; a reset may come first.
        let _ = socket.write_all(&input[..1 + random() % input.len()]);
    }
    until("all connections are closed", || target.counters().open == 0);
    assert_eq!(Client::connect(target.address()).get("/status").status, 200);
}

#[test]
fn early_disconnect_frees_the_slot() {
    let target = start(Settings { threads: 1, queue: Some(4), ..Settings::default() }).expect("a target");
    for path in ["/hold?mean_us=5000", "/spin?us=5000", "/bytes?n=60000000", "/insert?email=a@b.c"] {
        let mut client = Client::connect(target.address());
        client.send("GET", path, b"");
        drop(client);
        until("the slot is free again", || Client::connect(target.address()).get("/status").status == 200);
    }
    until("all connections are closed", || target.counters().open == 0);
}

#[test]
fn slow_reader_does_not_delay_others() {
    let target = start(Settings::default()).expect("a target");
    let mut deaf = Client::connect(target.address());
    for _ in 0..20 {
        deaf.send("GET", "/bytes?n=60000000", b"");
    }
    let mut client = Client::connect(target.address());
    for _ in 0..100 {
        assert_eq!(client.get("/status").status, 200);
    }
    assert!(target.counters().requests < 110, "unread replies hold back the requests behind them");
}
