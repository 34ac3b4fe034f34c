//! Connections that a server closes after some time without a request.

use harness::quiet::assert_measured;
use load::{Load, ThinkTime};
use target::scripted::{Script, Step};

use crate::support::{MS, closed, count, get, run, tcp};

fn says(keep_alive: &str) -> Vec<u8> {
    format!("HTTP/1.1 200 OK\r\nKeep-Alive: {keep_alive}\r\nContent-Length: 2\r\n\r\nok").into_bytes()
}

/// Connections that four requests of one user take, who thinks for so long after each reply.
fn connections(keep_alive: &str, think_ms: u64) -> u64 {
    let exchange = vec![Step::ReadRequest, Step::Send(says(keep_alive))];
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
        // 1 s less a margin of half of it.
        assert_eq!(connections("timeout=1", 600), 4);
        assert_eq!(connections("timeout=1, max=100", 100), 1);
        // 2 s less a margin of 1 s.
        assert_eq!(connections("timeout=2", 700), 1);
    });
}

#[test]
fn connection_without_requests_left_is_not_used_again() {
    assert_eq!(connections("timeout=5, max=0", 1), 4);
    assert_eq!(connections("timeout=0", 1), 4);
    assert_eq!(connections("max=1", 1), 1);
}
