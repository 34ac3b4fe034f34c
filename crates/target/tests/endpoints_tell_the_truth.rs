//! Endpoints reply as documented, for any split of the request bytes.

use crate::client::Client;
use std::io::{Read, Write};
use target::{Settings, endpoints, start};

#[test]
fn help_page_lists_endpoints_and_settings() {
    let target = start(Settings { seed: 77, ..Settings::default() }).expect("a target");
    let page = Client::connect(target.address()).get("/");
    for endpoint in endpoints() {
        assert!(page.text().contains(endpoint.sentence) && page.text().contains(endpoint.example));
    }
    assert!(page.text().contains("seed: 77") && page.text().contains(&target.address().to_string()));
}

#[test]
fn every_status_is_returned_as_requested() {
    let target = start(Settings::default()).expect("a target");
    let mut client = Client::connect(target.address());
    for code in 200..600 {
        let reply = client.get(&format!("/status?code={code}"));
        let bare = matches!(code, 204 | 205 | 304);
        assert_eq!((reply.status, reply.text()), (code, if bare { "" } else { "hello, world\n" }));
    }
    let counters = target.counters();
    assert_eq!(counters.replies, [0, 100, 100, 100, 100]);
    assert_eq!((counters.requests, counters.accepted), (400, 1));
}

#[test]
fn bodies_have_the_requested_length_and_known_content() {
    let target = start(Settings::default()).expect("a target");
    let mut client = Client::connect(target.address());
    for n in [0, 1, 26, 16_384, 16_385, 65_519, 65_520, 65_521, 1_000_000, 8_000_003] {
        let reply = client.get(&format!("/bytes?n={n}"));
        assert_eq!(reply.body.len(), n);
        let wrong = reply.body.iter().enumerate().position(|(at, &byte)| byte != b'a' + (at % 26) as u8);
        assert_eq!(wrong, None, "of {n} bytes");
    }
    assert_eq!(client.get("/status").status, 200);
}

#[test]
fn fibonacci_numbers_and_spins_are_real_work() {
    for threads in [0, 2] {
        let target = start(Settings { threads, ..Settings::default() }).expect("a target");
        let mut client = Client::connect(target.address());
        assert_eq!(client.get("/fibonacci?n=100").text(), "354224848179261915075\n");
        assert_eq!(client.get("/fibonacci?n=20000").body.len(), 4181);
        assert!(client.get("/spin?us=2000").number("x-spin-us") >= 2000);
    }
}

#[test]
fn body_is_echoed_with_either_framing() {
    let target = start(Settings::default()).expect("a target");
    let mut client = Client::connect(target.address());
    let body: Vec<u8> = (0..1_048_576u32).map(|at| (at % 251) as u8).collect();
    assert_eq!(client.post("/echo", &body).body, body);
    client.write(b"POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n");
    assert_eq!(client.reply().text(), "abcde");
    client.write(b"POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n");
    assert_eq!(client.head().status, 100);
    client.write(b"ok");
    assert_eq!(client.reply().text(), "ok");
}

#[test]
fn single_bytes_form_equal_requests() {
    let target = start(Settings::default()).expect("a target");
    let mut client = Client::connect(target.address());
    let requests = b"POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello\
        GET /status?code=404 HTTP/1.1\r\nHost: a\r\n\r\n";
    for byte in requests {
        client.write(&[*byte]);
    }
    assert_eq!(client.reply().text(), "hello");
    assert_eq!(client.reply().status, 404);
}

#[test]
fn pipelined_requests_are_answered_in_order() {
    for threads in [0, 1] {
        let target = start(Settings { threads, ..Settings::default() }).expect("a target");
        let mut client = Client::connect(target.address());
        let mut requests = String::new();
        for round in 0..300 {
            // Mixes slow and fast requests: a fast reply must not overtake a slow one.
            let targets = [
                "/hold?mean_us=200".into(),
                format!("/status?code={}", 200 + round),
                "/fibonacci?n=10".into(),
            ];
            for target in targets {
                requests.push_str(&format!("GET {target} HTTP/1.1\r\nHost: a\r\n\r\n"));
            }
        }
        client.write(requests.as_bytes());
        for round in 0..300 {
            assert_eq!(client.reply().text(), "held\n");
            assert_eq!(client.reply().status, 200 + round);
            assert_eq!(client.reply().text(), "55\n");
        }
    }
}

#[test]
fn head_request_gets_no_body_and_keeps_the_connection_in_sync() {
    let target = start(Settings::default()).expect("a target");
    let mut client = Client::connect(target.address());
    for path in ["/bytes?n=60000000", "/status", "/hold?mean_us=10", "/"] {
        client.send("HEAD", path, b"");
        let head = client.head();
        assert_eq!(head.status, 200);
        assert!(head.number("content-length") > 0);
    }
    assert_eq!(client.get("/status").text(), "hello, world\n");
}

#[test]
fn connection_is_kept_or_closed_as_requested() {
    let target = start(Settings::default()).expect("a target");
    let mut client = Client::connect(target.address());
    client.write(b"GET /status HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    let reply = client.reply();
    assert_eq!(reply.header("connection"), Some("close"));
    assert_eq!(client.rest(), b"");
    let mut client = Client::connect(target.address());
    client.write(b"GET /status HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    assert_eq!(client.reply().header("connection"), Some("keep-alive"));
    client.write(b"GET /status HTTP/1.0\r\n\r\n");
    assert_eq!(client.reply().header("connection"), Some("close"));
    assert_eq!(client.rest(), b"");
}

#[test]
fn half_closed_peer_still_gets_its_replies() {
    let target = start(Settings { threads: 1, ..Settings::default() }).expect("a target");
    let mut client = Client::connect(target.address());
    client.send("GET", "/hold?mean_us=20000", b"");
    client.send("GET", "/bytes?n=3000000", b"");
    client.socket().shutdown(std::net::Shutdown::Write).expect("half closed");
    assert_eq!(client.reply().text(), "held\n");
    assert_eq!(client.reply().body.len(), 3_000_000);
    assert_eq!(client.rest(), b"");
}

#[test]
fn unix_socket_serves_and_is_removed() {
    let path = std::env::temp_dir().join(format!("tenbin-target-test-{}.sock", std::process::id()));
    let target = start(Settings { unix: Some(path.clone()), ..Settings::default() }).expect("a target");
    let mut socket = std::os::unix::net::UnixStream::connect(&path).expect("a connection");
    socket.write_all(b"GET /status HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").expect("sent");
    let mut reply = String::new();
    socket.read_to_string(&mut reply).expect("a reply");
    assert!(reply.ends_with("hello, world\n"));
    target.stop();
    assert!(!path.exists());
}

#[test]
fn counter_requests_are_neither_counted_nor_limited() {
    let rate_limit = Some(target::RateLimit { per_s: 0.001, burst: 1 });
    let target =
        start(Settings { workers: 2, threads: 1, rate_limit, ..Settings::default() }).expect("a target");
    let mut clients = [(); 2].map(|()| Client::connect(target.address()));
    assert_eq!(clients.each_mut().map(|client| client.get("/status").status), [200, 429]);
    for client in &mut clients {
        let text = client.get("/counters").text().to_owned();
        assert!(text.contains("\"requests\":2") && text.contains("\"rate_limited\":1"), "{text}");
    }
    assert_eq!((target.counters().requests, target.counters().replies), (2, [0, 1, 0, 1, 0]));
}
