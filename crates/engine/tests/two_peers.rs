//! Users who alternate between two peers keep a connection to each, and every account adds up.

use harness::quiet::assert_measured;
use std::io::Write;
use std::time::Duration;

use crate::support::scenario::{
    assert_carried, get, in_turn, late_ns, mix, scenarios, script, visit, with_capture, with_scenarios,
};
use crate::support::tls::{Authority, TlsServer, read_request};
use crate::support::witness::Witness;
use crate::support::{
    Done, MS, SECOND, closed, count, each_request, lasting, open, reply, run, secure, server, tcp,
};
use engine::{Job, TlsTrust};
use load::Scenarios;
use rustls::version::TLS13;
use target::scripted::Step;
use wire::http1::{self, CaptureSource};
use wire::{Mix, PeerStep};

const PLACES: [PeerStep; 4] = [
    PeerStep { peer: 0, step: 0 },
    PeerStep { peer: 1, step: 0 },
    PeerStep { peer: 0, step: 1 },
    PeerStep { peer: 1, step: 1 },
];

/// Returns a script of steps of two peers.
fn mixed(first: Vec<http1::Step>, second: Vec<http1::Step>) -> Mix {
    Mix::new(vec![Box::new(script(first)), Box::new(script(second))], &PLACES)
}

/// Returns a script whose steps 0 and 2 go to the first peer, and 1 and 3 to the second. Replies save values.
fn both() -> Mix {
    let first = vec![with_capture(get("/a"), 0, CaptureSource::Header("X-Id".to_owned())), get("/again-{b}")];
    let second =
        vec![with_capture(get("/b-{a}"), 1, CaptureSource::Header("X-Id".to_owned())), get("/last-{a}-{b}")];
    mixed(first, second)
}

/// Like [`both`], without searching any reply.
fn plain() -> Mix {
    mixed(vec![get("/0"), get("/2")], vec![get("/1"), get("/3")])
}

/// Adds a second peer to a job, and runs all steps in order.
fn with_peer(mut job: Job, peer: engine::Peer) -> Job {
    job.peers.push(peer);
    with_scenarios(job, four(0))
}

/// Creates a scenario of four steps in order, with a pause after each step of the first peer.
fn four(pause_ns: u64) -> Scenarios {
    in_turn(vec![visit(0, pause_ns), visit(1, 0), visit(2, pause_ns), visit(3, 0)])
}

fn with_id(id: &str) -> Vec<u8> {
    format!("HTTP/1.1 200 OK\r\nX-Id: {id}\r\nContent-Length: 2\r\n\r\nok").into_bytes()
}

fn answering(id: &str) -> target::scripted::Scripted {
    server(each_request(vec![Step::ReadRequest, Step::Send(with_id(id))]))
}

/// Returns the number of requests to a peer.
fn sent_to(peer: usize, done: &Done) -> usize {
    done.steps.iter().skip(peer).step_by(2).map(|tally| tally.counts.sent as usize).sum()
}

#[test]
fn each_slot_keeps_one_connection_per_peer() {
    assert_measured(|| {
        for is_open in [false, true] {
            let (one, two) = (answering("1"), answering("2"));
            let job = if is_open {
                open(tcp(one.address()), 200.0, 500 * MS, 3)
            } else {
                closed(tcp(one.address()), 3, count(120))
            };
            let mut job = with_peer(job, tcp(two.address()));
            job.threads = 2;
            let done = run(job, both());
            done.assert_all_ok(done.tally.counts.planned);
            assert_eq!((one.connections(), two.connections()), (3, 3));
            let opened: Vec<u64> = done.steps.iter().map(|tally| tally.connections).collect();
            assert_eq!(
                opened,
                [3, 3, 0, 0],
                "opened before the load, and counted with their peer's first step"
            );
            one.stop();
            two.stop();
        }
    });
}

#[test]
fn send_delay_carries_over_from_one_peer_to_the_other() {
    assert_measured(|| {
        let (one, two) = (Witness::start(Duration::from_millis(15)), Witness::start(Duration::ZERO));
        // Each arrival occupies the slot for 30 ms, at 40 arrivals per second: later ones wait.
        let mut job = with_peer(open(tcp(one.address), 40.0, SECOND, 1), tcp(two.address));
        job.scenarios = four(0);
        let done = run(job, plain());
        assert_eq!(done.tally.counts.ok, done.tally.counts.sent, "{:?}", done.classes());
        let pairs = assert_carried(&done, &[0; 4]);
        let late = pairs.iter().filter(|(_, before, _)| late_ns(before) > 100 * MS);
        let steps: Vec<u16> = late.map(|(step, ..)| *step).collect();
        assert!((0..3).all(|step| steps.iter().filter(|late| **late == step).count() > 2), "{steps:?}");
    });
}

#[test]
fn value_from_one_peer_is_available_at_the_other() {
    assert_measured(|| {
        let (one, two) = (Witness::start(Duration::ZERO), Witness::start(Duration::ZERO));
        let token = || CaptureSource::Header("X-Token".to_owned());
        let first = vec![with_capture(get("/a"), 0, token()), get("/again-{b}")];
        let second = vec![with_capture(get("/b-{a}"), 1, token()), get("/last-{a}-{b}")];
        let job = with_peer(closed(tcp(one.address), 1, count(12)), tcp(two.address));
        let done = run(job, mixed(first, second));
        done.assert_all_ok(12);
        let (one, two) = (one.seen(), two.seen());
        assert_eq!((one.len(), two.len()), (6, 6));
        for (of_one, of_two) in one.chunks(2).zip(two.chunks(2)) {
            let (a, b) = (&of_one[0].token, &of_two[0].token);
            assert_eq!(of_two[0].target, format!("/b-{a}"));
            assert_eq!(of_one[1].target, format!("/again-{b}"));
            assert_eq!(of_two[1].target, format!("/last-{a}-{b}"));
        }
    });
}

#[test]
fn connection_closed_while_unused_is_reopened_without_failures() {
    assert_measured(|| {
        let one = answering("1");
        let pause = Step::Wait(Duration::from_millis(5));
        let once = vec![Step::ReadRequest, Step::Send(with_id("2")), pause, Step::CloseGracefully];
        let two = server(once);
        let mut job = with_peer(closed(tcp(one.address()), 2, count(40)), tcp(two.address()));
        job.scenarios = four(20 * MS);
        let done = run(job, both());
        done.assert_all_ok(40);
        assert_eq!((one.connections(), two.connections()), (2, sent_to(1, &done)));
        one.stop();
        two.stop();
    });
}

#[test]
fn unsolicited_bytes_of_unused_peer_fail_no_request() {
    assert_measured(|| {
        let one = answering("1");
        let chatty = vec![
            Step::ReadRequest,
            Step::Send(with_id("2")),
            Step::Wait(Duration::from_millis(5)),
            Step::Send(reply(200, "unasked")),
            Step::HoldOpen,
        ];
        let two = server(chatty);
        let mut job = with_peer(closed(tcp(one.address()), 1, count(12)), tcp(two.address()));
        job.scenarios = four(30 * MS);
        let done = run(job, both());
        assert_eq!((done.tally.counts.sent, done.tally.counts.ok), (12, 12), "{:?}", done.classes());
        assert_eq!(done.errors("unsolicited_reply"), done.idle_excess(), "{:?}", done.classes());
        assert!(done.idle_excess() >= 5, "{:?}", done.classes());
        one.stop();
        two.stop();
    });
}

#[test]
fn time_out_of_one_peer_keeps_the_connection_to_the_other() {
    assert_measured(|| {
        let one = answering("1");
        let two = server(vec![Step::ReadRequest, Step::HoldOpen]);
        let mut job = with_peer(closed(tcp(one.address()), 2, lasting(500 * MS)), tcp(two.address()));
        job.timeout_ns = 60 * MS;
        let done = run(job, both());
        let counts: Vec<_> = done.steps.iter().map(|tally| tally.counts).collect();
        assert_eq!((counts[0].ok, counts[1].ok), (counts[0].sent, 0));
        assert!(counts[1].timed_out >= 4 && counts[1].timed_out == counts[1].sent, "{counts:?}");
        assert!(counts[2..].iter().all(|counts| counts.planned == 0), "{counts:?}");
        assert_eq!(one.connections(), 2);
        one.stop();
        two.stop();
    });
}

#[test]
fn unreachable_second_peer_fails_only_its_own_steps() {
    assert_measured(|| {
        let one = answering("1");
        let gone = target::scripted::closed_port().expect("a port");
        let mut job = closed(tcp(one.address()), 2, lasting(300 * MS));
        job = with_peer(job, tcp(gone.address()));
        let mixed = scenarios(vec![(1.0, mix(&[1.0, 1.0]))]);
        job.scenarios = mixed;
        let done = run(job, both());
        let counts: Vec<_> = done.steps.iter().map(|tally| tally.counts).collect();
        assert_eq!((counts[0].ok, counts[1].failed), (counts[0].sent, counts[1].sent));
        assert!(counts[0].ok > 0 && counts[1].failed > 0, "{counts:?}");
        assert_eq!(one.connections(), 2);
        one.stop();
    });
}

#[test]
fn each_peer_has_its_own_keep_alive_and_tls() {
    assert_measured(|| {
        let authority = Authority::new("two peers");
        let two = TlsServer::start(&authority.sign_localhost(), &TLS13, 0, |stream| {
            loop {
                read_request(stream)?;
                stream.write_all(&with_id("2"))?;
            }
        });
        let one = answering("1");
        let trust = TlsTrust::Authorities(authority.path());
        let mut job =
            with_peer(closed(tcp(one.address()), 2, count(40)), secure(two.address(), "localhost", &trust));
        job.peers[0].keep_alive = false;
        let done = run(job, both());
        done.assert_all_ok(40);
        assert_eq!(one.connections(), sent_to(0, &done));
        let shaken: Vec<u64> = done.steps.iter().map(|tally| tally.tls.count()).collect();
        assert_eq!(shaken, [0, 2, 0, 0]);
        one.stop();
    });
}

#[test]
fn open_load_opens_as_many_connections_to_each_peer_as_needed() {
    assert_measured(|| {
        let after = |ms: u64| {
            let wait = Step::Wait(Duration::from_millis(ms));
            server(each_request(vec![Step::ReadRequest, wait, Step::Send(with_id("1"))]))
        };
        let [slow, fast] = [150, 0].map(after);
        let job = open(tcp(slow.address()), 100.0, 1_000 * MS, 400);
        let job = Job { initial_connections: Some(5), threads: 2, ..with_peer(job, tcp(fast.address())) };
        let done = run(job, plain());
        // Iterations that the end of the load meets are not finished.
        let counts = done.tally.counts;
        assert!(counts.ok >= 280 && counts.ok == counts.planned, "{counts:?}");
        let opened: usize = done.ends.iter().map(|end| end.connections.len()).sum();
        assert!((25..=60).contains(&opened), "100 iterations of 300 ms a second need 30, opened {opened}");
        assert!([&slow, &fast].iter().all(|server| server.connections() == opened));
        assert!(done.ends.iter().all(|end| end.limit_reached_ns.is_none()));
    });
}
