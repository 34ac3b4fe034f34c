//! Connections that break at every point of a request's life, and the error class of each break.

use std::time::Duration;

use crate::support::{
    Done, MS, SECOND, closed, count, each_request, exchange, get, lasting, open, post, reply, run, server,
    tcp,
};
use target::scripted::{self, Script, Step};

const PAUSE: Duration = Duration::from_millis(10);

#[test]
fn reset_is_classified_by_its_phase() {
    let whole = reply(200, "hello");
    let head_bytes = whole.len() - "hello".len();
    for (what, sent_bytes, class) in [
        ("before", 0, "reset_before_reply"),
        ("in the status line", 5, "reset_in_head"),
        ("in the last byte of the head", head_bytes - 1, "reset_in_head"),
        ("after the head", head_bytes, "reset_in_body"),
        ("before the last byte", whole.len() - 1, "reset_in_body"),
    ] {
        let part = whole[..sent_bytes].to_vec();
        let steps = vec![Step::ReadRequest, Step::Send(part), Step::Wait(PAUSE), Step::Reset];
        let (done, connections) = exchange(steps, 3);
        assert_eq!(done.classes(), [(class.to_owned(), 3)], "{what}");
        done.assert_all_failed(class, 3);
        assert_eq!(connections, 3, "{what}");
    }
}

#[test]
fn reset_at_any_byte_but_the_last_is_a_failure() {
    let whole = reply(200, "hello");
    let (length, head_bytes) = (whole.len() as u64, whole.len() as u64 - 5);
    let server = scripted::start(move |number| {
        let part = whole[..number.min(whole.len())].to_vec();
        Script(vec![Step::ReadRequest, Step::Send(part), Step::Wait(PAUSE), Step::Reset])
    });
    let server = server.expect("a server");
    let done = run(closed(tcp(server.address()), length as u32 + 1, count(length + 1)), get("/"));
    assert_eq!((done.tally.counts.ok, done.tally.counts.failed), (1, length));
    assert_eq!(
        done.classes(),
        [
            ("reset_before_reply".to_owned(), 1),
            ("reset_in_body".to_owned(), 5),
            ("reset_in_head".to_owned(), head_bytes - 1)
        ]
    );
}

#[test]
fn reset_after_the_last_byte_keeps_the_reply() {
    // With a pause, the reset meets an idle connection; without one, it may arrive together with the reply.
    for pause in [PAUSE, Duration::ZERO] {
        let steps = vec![Step::ReadRequest, Step::Send(reply(200, "hello")), Step::Wait(pause), Step::Reset];
        let server = server(steps);
        let done = run(open(tcp(server.address()), 4.0, SECOND, 1), get("/"));
        done.assert_all_ok(4);
        assert_eq!(server.connections(), 4);
    }
}

#[test]
fn close_without_a_reply_has_its_own_error_class() {
    let (done, connections) = exchange(vec![Step::ReadRequest, Step::CloseGracefully], 3);
    done.assert_all_failed("closed_before_reply", 3);
    assert_eq!(connections, 3);
    let late = vec![Step::ReadRequest, Step::Wait(Duration::from_millis(300)), Step::CloseGracefully];
    exchange(late, 2).0.assert_all_failed("closed_before_reply", 2);
}

/// Serves `served` requests per connection, reads the next one, and then runs `last`.
fn closes_after(served: usize, last: Step) -> Vec<Step> {
    let mut steps: Vec<Step> =
        (0..served).flat_map(|_| [Step::ReadRequest, Step::Send(reply(200, "ok"))]).collect();
    steps.extend([Step::ReadRequest, last]);
    steps
}

#[test]
fn received_unanswered_request_on_kept_connection_is_lost() {
    for (last, class) in [(Step::CloseGracefully, "closed_before_reply"), (Step::Reset, "reset_before_reply")]
    {
        // Each connection has four replies and one lost request, and never a sixth request.
        let (done, connections) = exchange(closes_after(4, last), 25);
        let counts = done.tally.counts;
        assert_eq!((counts.sent, counts.ok, counts.failed), (25, 20, 5), "{:?}", done.classes());
        assert_eq!((done.errors(class), done.errors("stale_reuse")), (5, 0), "{:?}", done.classes());
        assert_eq!(connections, 5, "the connection is replaced at once, and only once");
        assert!(done.took < Duration::from_secs(1), "no back-off after a connection that had served");
    }
}

#[test]
fn close_before_receipt_of_next_request_is_stale_reuse() {
    // The server closes right after the third reply, without announcing it, and reads no fourth request.
    let steps = (0..3).flat_map(|_| [Step::ReadRequest, Step::Send(reply(200, "ok"))]);
    let server = server(steps.collect());
    let done = run(closed(tcp(server.address()), 4, lasting(400 * MS)), get("/"));
    let counts = done.tally.counts;
    assert!(counts.ok >= 6, "{counts:?}");
    // A request in the receive buffer of a closing server makes its kernel reset the connection.
    let in_doubt = done.errors("reset_before_reply") + done.errors("closed_before_reply");
    assert_eq!(counts.ok + done.errors("stale_reuse") + in_doubt, counts.sent, "{:?}", done.classes());
}

#[test]
fn closed_idle_connection_is_replaced_without_error() {
    let steps =
        vec![Step::ReadRequest, Step::Send(reply(200, "ok")), Step::Wait(PAUSE), Step::CloseGracefully];
    let server = server(steps);
    let done = run(open(tcp(server.address()), 4.0, SECOND, 1), get("/"));
    done.assert_all_ok(4);
    assert_eq!(server.connections(), 4);
}

#[test]
fn announced_close_is_no_error() {
    let closing = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok".to_vec();
    let old = b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok".to_vec();
    for bytes in [closing, old] {
        let (done, connections) =
            exchange(vec![Step::ReadRequest, Step::Send(bytes), Step::CloseGracefully], 20);
        done.assert_all_ok(20);
        assert_eq!(connections, 20);
    }
}

#[test]
fn without_keep_alive_every_request_has_its_own_connection() {
    let server = server(each_request(vec![Step::ReadRequest, Step::Send(reply(200, "ok"))]));
    let mut job = closed(tcp(server.address()), 3, count(30));
    job.peers[0].keep_alive = false;
    let done = run(job, get("/"));
    done.assert_all_ok(30);
    assert_eq!((server.connections(), done.tally.connections), (30, 30));
}

#[test]
fn rejections_are_replies_and_keep_the_connection() {
    let (done, connections) =
        exchange(each_request(vec![Step::ReadRequest, Step::Send(reply(503, "no"))]), 10);
    let counts = done.tally.counts;
    assert_eq!((counts.rejected, counts.ok, counts.failed), (10, 0, 0));
    assert_eq!(done.classes(), [("status".to_owned(), 10)]);
    assert_eq!(done.messages("status"), ["status 503, expected 200–399"]);
    assert_eq!(done.tally.statuses.iter().collect::<Vec<_>>(), [(503, 10)]);
    assert_eq!(connections, 1);
}

const LARGE: usize = 8 * 1024 * 1024;

fn send_large(steps: Vec<Step>, requests: u64) -> (Done, usize) {
    let server = server(steps);
    let mut job = closed(tcp(server.address()), 1, count(requests));
    job.timeout_ns = 5_000 * MS;
    let done = run(job, post("/", LARGE));
    (done, server.connections())
}

#[test]
fn sends_large_request_in_pieces_to_a_slow_reader() {
    let mut one = vec![Step::ReadBytes(1000), Step::Wait(PAUSE)];
    // The rest of the request is read in pieces, more slowly than it is written.
    let bytes = post("/", LARGE).request_bytes_max(|_| 0) as usize - 1000;
    let pieces = 16;
    for piece in 0..pieces {
        let size = bytes / pieces + if piece == 0 { bytes % pieces } else { 0 };
        one.extend([Step::ReadBytes(size), Step::Wait(Duration::from_millis(5))]);
    }
    one.push(Step::Send(reply(200, "thanks")));
    let (done, connections) = send_large(each_request(one), 3);
    done.assert_all_ok(3);
    assert_eq!(done.tally.sent_bytes, 3 * post("/", LARGE).request_bytes_max(|_| 0));
    assert_eq!(connections, 1);
}

#[test]
fn early_rejection_counts_and_closes_the_connection() {
    let answer = b"HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n".to_vec();
    let early = vec![Step::ReadBytes(1000), Step::Send(answer), Step::Wait(PAUSE), Step::HoldOpen];
    let (done, connections) = send_large(early, 3);
    let counts = done.tally.counts;
    assert_eq!((counts.sent, counts.rejected), (3, 3), "{:?}", done.classes());
    assert_eq!(done.classes(), [("status".to_owned(), 3)]);
    assert_eq!(connections, 3, "the other half must not be read as the next request");
}

#[test]
fn early_rejection_followed_by_close_counts() {
    let answer = b"HTTP/1.1 413 Too Large\r\nConnection: close\r\nContent-Length: 0\r\n\r\n".to_vec();
    let early = vec![Step::ReadBytes(1000), Step::Send(answer), Step::CloseGracefully];
    let (done, _) = send_large(early, 3);
    let counts = done.tally.counts;
    assert_eq!((counts.sent, counts.rejected), (3, 3), "{:?}", done.classes());
}
