//! Memory stays flat, no matter what a peer sends. This is a separate test program because it measures the whole process.

mod support;

use std::time::Duration;

use support::{MS, closed, get, lasting, rss_bytes, run, server, tcp};
use target::scripted::Step;
use wire::http1::{BodyCheck, Checks, Http1, Request};

const GROWTH_MAX: u64 = 16 * 1024 * 1024;

/// Returns a script that must keep its bodies for a while.
fn checked() -> Http1 {
    let checks = Checks { bodies: vec![BodyCheck::Contains(b"never".to_vec())], ..Checks::default() };
    Http1::single(&Request::get("localhost", "/"), checks).expect("a request")
}

#[test]
fn memory_stays_flat_for_any_reply() {
    let endless = |first: &str, more: Vec<u8>, every| {
        vec![
            Step::ReadRequest,
            Step::Send(first.as_bytes().to_vec()),
            Step::SendForever { bytes: more, every },
        ]
    };
    let to_close = "HTTP/1.1 200 OK\r\n\r\n";
    let sized = "HTTP/1.1 200 OK\r\nContent-Length: 9000000000000000000\r\n\r\n";
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    let a_kib_a_ms = Some(Duration::from_millis(1));
    let cases = [
        ("infinite body, sized", endless(sized, vec![b'x'; 65_536], None), get("/")),
        ("infinite body, to the close", endless(to_close, vec![b'x'; 65_536], None), get("/")),
        ("infinite body, chunked", endless(chunked, b"A\r\n0123456789\r\n".repeat(4_000), None), get("/")),
        ("a chunk of 2^62 bytes", endless(chunked, b"4000000000000000\r\n".repeat(4_000), None), get("/")),
        ("infinite body that is looked at", endless(to_close, vec![b'x'; 65_536], None), checked()),
        ("endless header", endless("HTTP/1.1 200 OK\r\nX: ", vec![b'x'; 65_536], None), get("/")),
        ("endless headers", endless("HTTP/1.1 200 OK\r\n", b"A: b\r\n".repeat(10_000), None), get("/")),
        ("endless status line", endless("HTTP/1.1 200 ", vec![b'x'; 65_536], None), get("/")),
        ("endless interim replies", endless("", b"HTTP/1.1 102 P\r\n\r\n".repeat(3_000), None), get("/")),
        ("flood of 1 MiB/s", endless(to_close, vec![b'x'; 1024], a_kib_a_ms), get("/")),
    ];
    // The first run allocates stacks and buffers that stay.
    run_against(endless(sized, vec![b'x'; 65_536], None), get("/"));
    for (what, steps, script) in cases {
        let before_bytes = rss_bytes();
        run_against(steps, script);
        let growth_bytes = rss_bytes().saturating_sub(before_bytes);
        assert!(growth_bytes < GROWTH_MAX, "{what}: {growth_bytes} bytes more");
    }
}

fn run_against(steps: Vec<Step>, script: Http1) {
    let server = server(steps);
    let mut job = closed(tcp(server.address()), 4, lasting(300 * MS));
    job.timeout_ns = 500 * MS;
    let done = run(job, script);
    assert_eq!(done.tally.counts.ok, 0);
    assert!(done.tally.counts.sent >= 4);
}
