//! Connections that a server closes after some idle time.

use engine::Peer;
use harness::quiet::assert_measured;
use load::{Load, ThinkTime};
use record::Sampled;
use target::scripted::{Script, Step};
use wire::http1::Http1;

use crate::support::{Done, MS, closed, count, get, lasting, post, reply, run, server, tcp};

/// Runs a load on a server that closes each connection right after its third reply, without announcing it.
fn racing(script: Http1, retries: bool) -> Done {
    let steps = (0..3).flat_map(|_| [Step::ReadRequest, Step::Send(reply(200, "ok"))]);
    let server = server(steps.collect());
    let peer = Peer { retry_stale: retries, ..tcp(server.address()) };
    let mut job = closed(peer, 4, lasting(600 * MS));
    job.log_per_second = 1_000_000;
    run(job, script)
}

#[test]
fn idempotent_request_on_stale_connection_is_retried_and_counted() {
    assert_measured(|| {
        let done = racing(get("/"), true);
        let counts = done.tally.counts;
        let in_doubt = done.errors("reset_before_reply") + done.errors("closed_before_reply");
        assert!(done.errors("stale_retried") > 0, "{:?}", done.classes());
        assert_eq!(done.errors("stale_reuse"), 0, "{:?}", done.classes());
        assert_eq!(counts.ok + in_doubt, counts.sent, "{:?}", done.classes());
        // The time of a request counts from its first attempt to the end of its second.
        let is_in_order = |sampled: &Sampled| sampled.finish.sent_ns - sampled.finish.intended_ns < 20 * MS;
        assert!(done.sampled.iter().all(is_in_order));
    });
}

#[test]
fn stale_request_is_not_retried_unless_idempotent_and_enabled() {
    assert_measured(|| {
        for done in [racing(get("/"), false), racing(post("/", 2), true)] {
            assert!(done.errors("stale_reuse") > 0, "{:?}", done.classes());
            assert_eq!(done.errors("stale_retried"), 0);
        }
    });
}

fn keep_alive_reply(keep_alive: &str) -> Vec<u8> {
    format!("HTTP/1.1 200 OK\r\nKeep-Alive: {keep_alive}\r\nContent-Length: 2\r\n\r\nok").into_bytes()
}

/// Returns the number of connections used by four requests of one user, who thinks for `think_ms` after each reply.
fn connections(keep_alive: &str, think_ms: u64) -> u64 {
    let exchange = vec![Step::ReadRequest, Step::Send(keep_alive_reply(keep_alive))];
    let script = Script(vec![Step::Loop(Box::new(Script(exchange)))]);
    let server = target::scripted::start(move |_| script.clone()).expect("a server");
    let mut job = closed(tcp(server.address()), 1, count(4));
    if let Load::Closed(closed) = &mut job.load {
        closed.think_time = ThinkTime::Constant { ns: think_ms * MS };
    }
    let done = run(job, get("/"));
    done.assert_all_ok(4);
    assert_eq!(done.tally.connections, server.connections() as u64);
    done.tally.connections
}

#[test]
fn connection_is_renewed_before_the_server_closes_it() {
    assert_measured(|| {
        // Limit of 1 s, less a margin of half of it.
        assert_eq!(connections("timeout=1", 600), 4);
        assert_eq!(connections("timeout=1, max=100", 100), 1);
        // Limit of 2 s, less a margin of 1 s.
        assert_eq!(connections("timeout=2", 700), 1);
    });
}

#[test]
fn connection_is_not_reused_after_keep_alive_max() {
    assert_eq!(connections("timeout=5, max=0", 1), 4);
    assert_eq!(connections("timeout=0", 1), 4);
    assert_eq!(connections("max=1", 1), 1);
}
