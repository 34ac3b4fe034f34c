//! Replies whose end is wrong, ambiguous, or missing. None of them may count as OK, and their bytes must not reach the next reply.

use std::time::Duration;

use crate::support::{Done, MS, closed, count, each_request, exchange, get, open, reply, run, server, tcp};
use target::scripted::{self, Script, Step};

const SMUGGLED: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
const OK: &str = "HTTP/1.1 200 OK\r\n";
const CHUNKED: &str = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";

/// Sends three requests. Each is answered with these bytes on a connection that then stays open.
fn answer_each_with(bytes: impl AsRef<[u8]>) -> (Done, usize) {
    let bytes = bytes.as_ref().to_vec();
    exchange(each_request(vec![Step::ReadRequest, Step::Send(bytes)]), 3)
}

/// Asserts that three requests fail with this class, on three connections.
#[track_caller]
fn assert_all_fail(what: &str, bytes: impl AsRef<[u8]>, class: &str) {
    let (done, connections) = answer_each_with(bytes);
    let counts = done.tally.counts;
    assert_eq!((counts.ok, counts.rejected, counts.failed), (0, 0, 3), "{what}: {:?}", done.classes());
    assert_eq!(done.errors(class), 3, "{what}: {:?}", done.classes());
    assert_eq!(connections, 3, "{what}: no connection is used again");
}

#[test]
fn rejects_reply_of_ambiguous_length() {
    for header in [
        "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: chunked\r\nContent-Length: 2\r\n",
        "Content-Length: 2\r\nContent-Length: 4\r\n",
        "Content-Length: +5\r\n",
        "Content-Length: 5,6\r\n",
        "Content-Length: 18446744073709551616\r\n",
        "Content-Length: -1\r\n",
        "Content-Length: 0x2\r\n",
    ] {
        assert_all_fail(header, format!("{OK}{header}\r\nok{SMUGGLED}"), "protocol_error");
    }
}

#[test]
fn rejects_malformed_chunks() {
    for (what, body) in [
        ("no digits", "\r\nok\r\n".to_owned()),
        ("no hexadecimal", "2g\r\nok\r\n0\r\n\r\n".to_owned()),
        ("signed", "-2\r\nok\r\n0\r\n\r\n".to_owned()),
        ("2^64", format!("10000000000000000\r\n{SMUGGLED}")),
        ("longer than it says", format!("2\r\nokay\r\n0\r\n\r\n{SMUGGLED}")),
        ("extension flood", format!("2;{}\r\nok\r\n0\r\n\r\n", "x".repeat(100_000))),
    ] {
        assert_all_fail(what, format!("{CHUNKED}{body}"), "protocol_error");
    }
}

#[test]
fn rejects_and_quotes_replies_that_are_not_http() {
    for (what, bytes) in [
        ("garbage", b"\x01\x02\x03\xff\xfe\r\n\r\n".to_vec()),
        ("TLS", b"\x15\x03\x01\x00\x02\x02\x46".to_vec()),
        ("HTTP/0.9", b"<html>hello</html>".to_vec()),
        ("HTTP/2", b"\x00\x00\x12\x04\x00\x00\x00\x00\x00".to_vec()),
        ("NUL in a header", b"HTTP/1.1 200 OK\r\nX: a\0b\r\nContent-Length: 0\r\n\r\n".to_vec()),
        ("NUL first", vec![0; 100]),
        ("status of four digits", b"HTTP/1.1 2000 OK\r\nContent-Length: 0\r\n\r\n".to_vec()),
        ("upgrade unasked", format!("HTTP/1.1 101 Switching Protocols\r\n\r\n{SMUGGLED}").into_bytes()),
        ("interim flood", format!("{}{SMUGGLED}", "HTTP/1.1 100 Continue\r\n\r\n".repeat(17)).into_bytes()),
    ] {
        assert_all_fail(what, bytes, "protocol_error");
    }
}

#[test]
fn rejects_banner_of_another_protocol() {
    // The banner arrives before the first request.
    let (done, _) = exchange(vec![Step::Send(b"SSH-2.0-OpenSSH_9.2p1\r\n".to_vec()), Step::HoldOpen], 3);
    let counts = done.tally.counts;
    assert_eq!((counts.ok, counts.failed), (0, 3), "{counts:?} {:?}", done.tally.errors);
    for entry in done.tally.errors.entries() {
        assert!(["protocol_error", "excess_bytes"].contains(&entry.class.as_str()), "{entry:?}");
        assert!(entry.message.contains("SSH-2.0-OpenSSH_9.2p1"), "{entry:?}");
    }
}

#[test]
fn rejects_endless_head_at_the_limit() {
    let endless = |first: &str, more: &str| {
        vec![
            Step::ReadRequest,
            Step::Send(first.as_bytes().to_vec()),
            Step::SendForever { bytes: more.repeat(1000).into_bytes(), every: None },
        ]
    };
    for (what, steps, class) in [
        ("10,000 headers", endless(OK, "A: b\r\n"), "header_limit"),
        ("one header of 100 MiB", endless("HTTP/1.1 200 OK\r\nX: ", "x"), "header_limit"),
        ("endless status line", endless("HTTP/1.1 200 ", "x"), "header_limit"),
        ("endless trailer", endless(&format!("{CHUNKED}0\r\n"), "A: b\r\n"), "header_limit"),
        ("endless interim replies", endless("", "HTTP/1.1 102 P\r\n\r\n"), "protocol_error"),
        ("endless zeros of a size", endless(CHUNKED, "0"), "protocol_error"),
        ("endless blank lines", endless("", "\r\n"), "protocol_error"),
    ] {
        let (done, connections) = exchange(steps, 2);
        let counts = done.tally.counts;
        assert_eq!((counts.ok, counts.failed), (0, 2), "{what}: {:?}", done.classes());
        assert_eq!(done.errors(class), 2, "{what}: {:?}", done.classes());
        assert_eq!(connections, 2, "{what}");
    }
}

#[test]
fn accepts_sixteen_interim_replies() {
    let bytes = [b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n".repeat(16), reply(200, "ok")].concat();
    let (done, connections) = answer_each_with(bytes);
    done.assert_all_ok(3);
    assert_eq!(connections, 1);
}

/// Uses one connection per request; the n-th reply is cut after n bytes.
fn cut_at_every_byte(whole: Vec<u8>, last: Step) -> Done {
    let connections = whole.len() as u32 + 1;
    let server = scripted::start(move |number| {
        let cut = whole[..number.min(whole.len())].to_vec();
        Script(vec![Step::ReadRequest, Step::Send(cut), Step::Wait(Duration::from_millis(20)), last.clone()])
    });
    let server = server.expect("a server");
    let done = run(closed(tcp(server.address()), connections, count(u64::from(connections))), get("/"));
    assert_eq!(server.connections(), connections as usize, "one request on each");
    done
}

#[test]
fn reply_cut_at_any_byte_is_incomplete() {
    let sized = reply(200, "hello");
    let chunked = format!("{CHUNKED}5\r\nhello\r\nA\r\n0123456789\r\n0\r\nX: y\r\n\r\n").into_bytes();
    for whole in [sized, chunked] {
        let length = whole.len() as u64;
        let done = cut_at_every_byte(whole, Step::CloseGracefully);
        let counts = done.tally.counts;
        assert_eq!((counts.sent, counts.ok, counts.failed), (length + 1, 1, length));
        assert_eq!(
            done.classes(),
            [("closed_before_reply".to_owned(), 1), ("incomplete".to_owned(), length - 1)]
        );
    }
}

#[test]
fn missing_last_chunk_is_incomplete() {
    let cut = format!("{CHUNKED}5\r\nhello\r\n").into_bytes();
    let (done, connections) = exchange(vec![Step::ReadRequest, Step::Send(cut), Step::CloseGracefully], 3);
    done.assert_all_failed("incomplete", 3);
    assert_eq!(connections, 3);
}

#[test]
fn body_without_length_ends_with_the_connection() {
    let whole = format!("{OK}\r\neverything up to the end").into_bytes();
    let (done, connections) = exchange(vec![Step::ReadRequest, Step::Send(whole), Step::CloseGracefully], 3);
    done.assert_all_ok(3);
    assert_eq!(connections, 3);
}

#[test]
fn excess_bytes_in_the_same_packet_fail_the_reply() {
    let with = |excess: &str| [reply(200, "hello"), excess.as_bytes().to_vec()].concat();
    assert_all_fail("excess", with("more of the body"), "excess_bytes");
    assert_all_fail("a second reply", with(SMUGGLED), "unsolicited_reply");
}

#[test]
fn excess_bytes_on_idle_connection_close_it_without_failing_a_request() {
    let late = [
        Step::ReadRequest,
        Step::Send(reply(200, "hello")),
        Step::Wait(Duration::from_millis(20)),
        Step::Send(b"more of the body".to_vec()),
        Step::HoldOpen,
    ];
    let server = server(late.to_vec());
    // The interval is long enough that the excess arrives before the next request, even if the server is delayed.
    let done = run(open(tcp(server.address()), 2.0, 1_600 * MS, 1), get("/"));
    let counts = done.tally.counts;
    assert_eq!((counts.planned, counts.sent, counts.ok), (4, 4, 4), "{:?}", done.classes());
    assert_eq!(server.connections(), 4, "each connection serves once");
    // The load may end before the last excess is read.
    assert!((3..=4).contains(&done.idle_excess()), "{:?}", done.classes());
    assert!(done.messages("excess_bytes")[0].contains("no request was affected"));
}

#[test]
fn compressed_body_is_counted_and_not_decompressed() {
    // The compressed data is invalid, so decompressing it would fail. Decompressing untrusted data without a limit could exhaust
    // memory.
    let bytes =
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 6\r\n\r\n\x1f\x8b\x08\xff\xff\xff";
    let (done, connections) = answer_each_with(bytes);
    done.assert_all_ok(3);
    assert_eq!((connections, done.tally.received_bytes), (1, 3 * bytes.len() as u64));
}

#[test]
fn counts_every_byte_on_the_wire() {
    let (whole, script) = (reply(200, "hello"), get("/some/path?a=b"));
    let (received, sent) = (whole.len() as u64, script.request_bytes_max(|_| 0));
    let server = server(each_request(vec![Step::ReadBytes(sent as usize), Step::Send(whole)]));
    let done = run(closed(tcp(server.address()), 3, count(100)), script);
    done.assert_all_ok(100);
    assert_eq!((done.tally.received_bytes, done.tally.sent_bytes), (100 * received, 100 * sent));
    let bytes: Vec<_> = done.sampled.iter().map(|request| request.received_bytes).collect();
    assert!(bytes.is_empty(), "nothing is logged unless asked for");
    assert_eq!(done.tally.connections, 3);
}
