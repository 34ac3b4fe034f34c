//! Replies that arrive before their request was sent, and replies to no request: neither counts as OK.

use harness::quiet::assert_measured;
use std::time::Duration;

use crate::support::{MS, closed, count, each_request, exchange, get, open, post, reply, run, server, tcp};
use target::scripted::{Script, Step};
use wire::http1::{Checks, Http1, Request, StatusSet};

/// More bytes than the kernel takes while the server does not read.
const BODY_BYTES: usize = 32 << 20;

/// Reads less than the request, answers, and closes.
fn answering_early(status: u16) -> Vec<Step> {
    let pause = Step::Wait(Duration::from_millis(50));
    vec![Step::ReadBytes(64), Step::Send(reply(status, "")), pause, Step::Reset]
}

#[test]
fn reply_complete_before_the_request_is_not_ok() {
    for status in [200, 204, 302] {
        let server = server(answering_early(status));
        let done = run(closed(tcp(server.address()), 1, count(3)), post("/", BODY_BYTES));
        done.assert_all_failed("early_reply", 3);
        assert!(done.tally.sent_bytes < 3 * BODY_BYTES as u64, "{}", done.tally.sent_bytes);
    }
}

#[test]
fn early_rejection_counts_as_rejected() {
    for status in [413, 417, 503] {
        let server = server(answering_early(status));
        let done = run(closed(tcp(server.address()), 1, count(3)), post("/", BODY_BYTES));
        assert_eq!((done.tally.counts.rejected, done.errors("status")), (3, 3), "{:?}", done.classes());
        assert_eq!(server.connections(), 3, "the rest of the body is not sent as the next request");
    }
}

#[test]
fn expected_early_rejection_is_ok() {
    let server = server(answering_early(413));
    let request = Request {
        method: "POST".to_owned(),
        body: Some(vec![b'x'; BODY_BYTES]),
        ..Request::get("localhost", "/")
    };
    let checks = Checks { status: StatusSet::new([413..=413]), ..Checks::default() };
    let script = Http1::single(&request, checks).expect("a request");
    let done = run(closed(tcp(server.address()), 1, count(3)), script);
    done.assert_all_ok(3);
}

#[test]
fn reply_before_the_first_request_answers_nothing() {
    // The reply arrives as the connection is opened: before the request is sent, or just after, when it seems to be its answer.
    let answers = Step::Loop(Box::new(Script(vec![Step::ReadRequest, Step::Send(reply(200, "answer"))])));
    let (done, _) = exchange(vec![Step::Send(reply(200, "unasked")), answers], 20);
    assert!(done.errors("unsolicited_reply") >= 1, "{:?}", done.classes());
    let doubted: u64 = done.ends.iter().map(|end| end.health.doubted_replies).sum();
    assert_eq!(doubted, done.tally.counts.ok, "{:?}", done.classes());
}

#[test]
fn surplus_reply_puts_earlier_replies_in_doubt() {
    // Each request gets a second reply, late enough to be taken for the answer to the next request.
    let late = Step::Wait(Duration::from_millis(10));
    let steps = vec![Step::ReadRequest, Step::Send(reply(200, "a")), late, Step::Send(reply(200, "b"))];
    let (done, _) = exchange(each_request(steps), 10);
    assert!(done.tally.counts.ok > 0, "the wire does not tell them from answers");
    assert!(done.errors("unsolicited_reply") >= 1, "{:?}", done.classes());
    let doubted: u64 = done.ends.iter().map(|end| end.health.doubted_replies).sum();
    assert_eq!(doubted, done.tally.counts.ok, "{:?}", done.classes());
}

#[test]
fn surplus_reply_on_idle_connection_closes_it() {
    let steps = vec![
        Step::ReadRequest,
        Step::Send(reply(200, "hello")),
        Step::Wait(Duration::from_millis(20)),
        Step::Send(reply(200, "surplus")),
        Step::HoldOpen,
    ];
    let server = server(steps);
    let done = run(open(tcp(server.address()), 2.0, 1_600 * MS, 1), get("/"));
    assert_eq!((done.tally.counts.sent, done.tally.counts.ok), (4, 4), "{:?}", done.classes());
    assert_eq!(server.connections(), 4, "each connection serves once");
    assert_eq!((done.errors("unsolicited_reply"), done.idle_excess()), (4, 4), "{:?}", done.classes());
    assert!(done.messages("unsolicited_reply")[0].contains("earlier replies on it are in doubt"));
}

#[test]
fn accepts_408_before_close_of_idle_connection() {
    assert_measured(|| {
        let steps = vec![
            Step::ReadRequest,
            Step::Send(reply(200, "hello")),
            Step::Wait(Duration::from_millis(20)),
            Step::Send(reply(408, "")),
            Step::CloseGracefully,
        ];
        let server = server(steps);
        let done = run(open(tcp(server.address()), 4.0, 700 * MS, 1), get("/"));
        assert_eq!((done.tally.counts.ok, done.errors("unsolicited_reply")), (3, 0), "{:?}", done.classes());
        assert!(done.ends.iter().all(|end| end.health.doubted_replies == 0));
    });
}
