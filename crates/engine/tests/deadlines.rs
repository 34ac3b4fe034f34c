//! Peers that never finish: the total deadline of every request is enforced.

use std::time::Duration;

use crate::support::{
    Done, MS, SECOND, closed, count, each_request, get, lasting, open, post, reply, run, server, tcp,
};
use load::Stop;
use record::Percentile;
use target::scripted::Step;

const TIMEOUT: u64 = 300 * MS;

/// Runs four users with one request each and a deadline of 300 ms.
fn run_against(steps: Vec<Step>) -> Done {
    let server = server(steps);
    let mut job = closed(tcp(server.address()), 4, count(4));
    (job.timeout_ns, job.connect_timeout_ns) = (TIMEOUT, TIMEOUT);
    run(job, get("/"))
}

/// Asserts that all requests ended with `class`, at their deadline.
#[track_caller]
fn assert_ended_at_the_deadline(what: &str, done: &Done, class: &str) {
    assert_eq!(done.classes(), [(class.to_owned(), 4)], "{what}");
    done.assert_all_timed_out(class, 4);
    let median_ns = done.tally.response.other.value_at(Percentile::P50).expect("samples");
    assert!((TIMEOUT..TIMEOUT + 250 * MS).contains(&median_ns), "{what}: {median_ns} ns");
    assert!(done.took < Duration::from_nanos(TIMEOUT) + Duration::from_secs(2), "{what}: {:?}", done.took);
}

#[test]
fn silent_peer_times_out_at_the_deadline() {
    for (what, steps) in [
        ("reads and is silent", vec![Step::ReadRequest, Step::HoldOpen]),
        ("does not even read", vec![Step::HoldOpen]),
        ("reads for ever", each_request(vec![Step::ReadRequest])),
        (
            "closes too late",
            vec![Step::ReadRequest, Step::Wait(Duration::from_secs(2)), Step::CloseGracefully],
        ),
    ] {
        assert_ended_at_the_deadline(what, &run_against(steps), "timeout_first_byte");
    }
}

#[test]
fn slow_head_does_not_extend_the_deadline() {
    let slowly = Step::SendSlowly {
        bytes: b"HTTP/1.1 200 OK\r\nX: yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy\r\n\r\n".to_vec(),
        every: Duration::from_millis(50),
        chunk: 1,
    };
    let done = run_against(vec![Step::ReadRequest, slowly]);
    assert_ended_at_the_deadline("slow head", &done, "timeout_head");
    let interim = Step::SendForever {
        bytes: b"HTTP/1.1 102 P\r\n\r\n".to_vec(),
        every: Some(Duration::from_millis(50)),
    };
    let done = run_against(vec![Step::ReadRequest, interim]);
    assert_ended_at_the_deadline("slow interim replies", &done, "timeout_head");
}

#[test]
fn endless_body_does_not_extend_the_deadline() {
    let ok = |header: &str| format!("HTTP/1.1 200 OK\r\n{header}\r\n").into_bytes();
    let forever = |bytes: Vec<u8>, every| Step::SendForever { bytes, every };
    let second = Some(Duration::from_secs(1));
    for (what, head, endless) in [
        (
            "at line rate, sized",
            ok("Content-Length: 9000000000000000000\r\n"),
            forever(vec![b'x'; 65_536], None),
        ),
        ("at line rate, to the close", ok(""), forever(vec![b'x'; 65_536], None)),
        (
            "at line rate, chunked",
            ok("Transfer-Encoding: chunked\r\n"),
            forever(b"5\r\nhello\r\n".repeat(1000), None),
        ),
        ("a byte a second, sized", ok("Content-Length: 1000\r\n"), forever(b"x".to_vec(), second)),
        ("a byte a second, to the close", ok(""), forever(b"x".to_vec(), second)),
        (
            "tiny chunks, slowly",
            ok("Transfer-Encoding: chunked\r\n"),
            forever(b"1\r\nx\r\n".to_vec(), Some(Duration::from_millis(20))),
        ),
        ("nothing after the head", ok("Content-Length: 5\r\n"), Step::HoldOpen),
    ] {
        let done = run_against(vec![Step::ReadRequest, Step::Send(head), endless]);
        assert_ended_at_the_deadline(what, &done, "timeout_body");
    }
}

#[test]
fn unread_request_times_out_at_the_deadline() {
    let server = server(vec![Step::HoldOpen]);
    let mut job = closed(tcp(server.address()), 4, count(4));
    job.timeout_ns = TIMEOUT;
    let done = run(job, post("/", 16 * 1024 * 1024));
    assert_ended_at_the_deadline("a large request", &done, "timeout_send");
}

#[test]
fn reply_just_before_the_deadline_is_ok() {
    let steps = vec![Step::ReadRequest, Step::Wait(Duration::from_millis(100)), Step::Send(reply(200, "ok"))];
    let done = run_against(each_request(steps));
    done.assert_all_ok(4);
    assert!(done.tally.response.ok.min_ns().expect("samples") >= 100 * MS);
}

#[test]
fn connection_is_not_reused_after_a_time_out() {
    // The late reply to the first request must not be taken for the reply to the second.
    let late =
        vec![Step::ReadRequest, Step::Wait(Duration::from_millis(400)), Step::Send(reply(200, "late"))];
    let server = server(each_request(late));
    let mut job = closed(tcp(server.address()), 1, count(3));
    job.timeout_ns = TIMEOUT;
    let done = run(job, get("/"));
    done.assert_all_timed_out("timeout_first_byte", 3);
    assert_eq!(server.connections(), 3);
}

#[test]
fn load_on_silent_peer_ends_in_time() {
    let server = server(vec![Step::HoldOpen]);
    for mut job in [
        closed(tcp(server.address()), 20, lasting(500 * MS)),
        open(tcp(server.address()), 100.0, 500 * MS, 20),
        closed(tcp(server.address()), 20, Stop { at_ns: Some(500 * MS), requests: Some(1_000_000) }),
    ] {
        job.timeout_ns = TIMEOUT;
        let done = run(job, get("/"));
        let counts = done.tally.counts;
        assert_eq!(counts.sent, counts.timed_out, "{:?}", done.classes());
        assert!(counts.timed_out >= 20);
        // An open load may send due requests for two seconds after its end.
        assert!(done.took < Duration::from_secs(5), "{:?}", done.took);
    }
}

#[test]
fn counts_thousands_of_timed_out_requests() {
    // An abandoned connection makes room on the server.
    let server = server(each_request(vec![Step::ReadRequest]));
    let mut job = closed(tcp(server.address()), 100, lasting(SECOND));
    (job.timeout_ns, job.threads) = (200 * MS, 2);
    let done = run(job, get("/"));
    let counts = done.tally.counts;
    assert!(counts.timed_out >= 200, "{counts:?}");
    assert_eq!(counts.sent, counts.timed_out, "{:?}", done.classes());
    assert_eq!(done.tally.response.other.count(), counts.timed_out);
}
