//! Scenarios over connections that close, fail, time out, or serve once: slots continue, and every account adds up.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::support::scenario::{get, in_turn, post, script, visit, with_capture, with_scenarios};
use crate::support::tls::{Authority, TlsServer};
use crate::support::witness::Witness;
use crate::support::{
    Done, MS, SECOND, closed, count, finish, lasting, limit, open, reply, run, secure, server, tcp,
};
use engine::{StopLevel, TlsTrust};
use load::{Load, Stop};
use record::{Outcome, Sampled};
use target::scripted::{self, Script, Step};
use wire::http1::CaptureSource;

fn steps(count: usize) -> wire::http1::Http1 {
    script((0..count).map(|number| get(&format!("/{number}"))).collect())
}

fn planned(done: &Done) -> Vec<u64> {
    done.steps.iter().map(|tally| tally.counts.planned).collect()
}

/// Returns the requests of one slot, in the order in which they began.
fn of_slot(done: &Done, slot: u32) -> Vec<(u16, Sampled)> {
    let mut all: Vec<(u16, Sampled)> =
        done.logged.iter().filter(|(_, request)| request.connection == slot).copied().collect();
    all.sort_by_key(|(_, request)| (request.finish.sent_ns, request.finish.finished_ns));
    all
}

/// Asserts that each slot finished a request and its pause before it began the next one. In an open load, a pause is shortened by
/// the send delay before it.
#[track_caller]
fn assert_pauses(done: &Done, is_open: bool, slots: u32, pauses_ns: &[u64]) {
    for slot in 0..slots {
        for pair in of_slot(done, slot).windows(2) {
            let [(step, before), (next, after)] = pair else { unreachable!("windows of two") };
            let is_ok = before.finish.outcome == Outcome::Ok;
            let late_ns =
                if is_open && is_ok { before.finish.sent_ns - before.finish.intended_ns } else { 0 };
            let over_ns = before.finish.finished_ns + pauses_ns[usize::from(*step)];
            let earliest_ns = (over_ns - late_ns).max(before.finish.finished_ns);
            assert!(after.finish.sent_ns >= earliest_ns, "slot {slot}: step {next} too early: {pair:?}");
            let is_next = is_ok && usize::from(*step) + 1 < pauses_ns.len();
            assert_eq!(*next, if is_next { step + 1 } else { 0 }, "slot {slot}: {pair:?}");
            if is_next {
                let intended_ns = after.finish.intended_ns;
                assert!((over_ns - late_ns..=over_ns).contains(&intended_ns), "slot {slot}: {pair:?}");
            }
        }
    }
}

#[test]
fn connection_closed_between_steps_is_replaced() {
    let once = |reply: Vec<u8>| vec![Step::ReadRequest, Step::Send(reply), Step::CloseGracefully];
    let close = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok".to_vec();
    // An unannounced close is noticed during the pause; an announced one needs no pause.
    for (reply, pause_ns) in [(reply(200, "ok"), 100 * MS), (close, 0)] {
        let server = server(once(reply));
        let visits = vec![visit(0, pause_ns), visit(1, pause_ns), visit(2, pause_ns)];
        let users = with_scenarios(closed(tcp(server.address()), 2, count(20)), in_turn(visits.clone()));
        let done = run(users, steps(3));
        done.assert_all_ok(20);
        assert_eq!((done.tally.connections, server.connections()), (20, 20));
        assert_pauses(&done, false, 2, &[pause_ns; 3]);
        let arrivals = with_scenarios(open(tcp(server.address()), 20.0, 500 * MS, 10), in_turn(visits));
        let done = run(arrivals, steps(3));
        done.assert_all_ok(done.tally.counts.planned);
        assert_eq!(done.steps[0].counts.planned, 10);
        assert_pauses(&done, true, 10, &[pause_ns; 3]);
        server.stop();
    }
}

#[test]
fn iterations_span_connections_that_serve_once() {
    for is_open in [false, true] {
        let witness = Witness::start(Duration::ZERO);
        let peer = tcp(witness.address);
        let job = if is_open { open(peer, 50.0, 500 * MS, 10) } else { closed(peer, 3, count(60)) };
        let mut job = with_scenarios(job, in_turn(vec![visit(0, 5 * MS), visit(1, 0), visit(2, 0)]));
        (job.peers[0].keep_alive, job.threads) = (false, 2);
        let done = run(job, steps(3));
        done.assert_all_ok(witness.seen().len() as u64);
        assert_eq!(done.tally.connections, done.tally.counts.sent);
        assert_pauses(&done, is_open, 10, &[5 * MS, 0, 0]);
    }
}

#[test]
fn pause_longer_than_the_deadline_does_not_time_out() {
    let witness = Witness::start(Duration::from_millis(5));
    for is_open in [false, true] {
        let peer = tcp(witness.address);
        let job = if is_open { open(peer, 10.0, SECOND, 10) } else { closed(peer, 4, lasting(SECOND)) };
        let mut job = with_scenarios(job, in_turn(vec![visit(0, 250 * MS), visit(1, 150 * MS)]));
        (job.timeout_ns, job.connect_timeout_ns) = (100 * MS, 100 * MS);
        let done = run(job, steps(2));
        done.assert_all_ok(done.tally.counts.planned);
        assert!(done.steps[1].counts.ok >= 6, "{:?}", planned(&done));
        assert_pauses(&done, is_open, 10, &[250 * MS, 150 * MS]);
    }
}

/// Starts a server whose first `bad` connections answer once and then reset. Later ones answer everything.
fn bad_at_first(bad: usize) -> scripted::Scripted {
    scripted::start(move |connection| {
        let one = vec![Step::ReadRequest, Step::Send(reply(200, "ok"))];
        Script(if connection < bad {
            [one, vec![Step::ReadRequest, Step::Reset]].concat()
        } else {
            vec![Step::Loop(Box::new(Script(one)))]
        })
    })
    .expect("a scripted server")
}

#[test]
fn failure_within_iteration_keeps_the_slot_working() {
    for is_open in [false, true] {
        let server = bad_at_first(12);
        let peer = tcp(server.address());
        let job =
            if is_open { open(peer, 40.0, 2 * SECOND, 6) } else { closed(peer, 6, lasting(2 * SECOND)) };
        let done = run(with_scenarios(job, in_turn(vec![visit(0, 10 * MS), visit(1, 30 * MS)])), steps(2));
        let [first, second] = &done.steps[..] else { panic!("two steps: {:?}", planned(&done)) };
        assert_eq!((first.counts.failed, second.counts.failed), (0, 12), "{:?}", done.classes());
        assert_eq!(second.counts.planned, second.counts.sent);
        if is_open {
            assert_eq!((first.counts.planned, first.counts.not_sent), (80, 0));
            assert!(second.counts.planned >= 78, "{:?}", planned(&done));
        }
        assert_pauses(&done, is_open, 6, &[10 * MS, 30 * MS]);
        let late = done.logged.iter().filter(|(_, request)| request.finish.intended_ns > 1_500 * MS);
        let slots: BTreeSet<u32> = late.map(|(_, request)| request.connection).collect();
        assert_eq!(slots.len(), 6, "every slot still serves: {slots:?}");
        server.stop();
    }
}

#[test]
fn timed_out_step_ends_iteration_and_late_reply_is_ignored() {
    for is_open in [false, true] {
        let server = scripted::start(|connection| {
            let one = vec![Step::ReadRequest, Step::Send(reply(200, "ok"))];
            Script(if connection < 4 {
                [one.clone(), vec![Step::ReadRequest, Step::Wait(Duration::from_millis(150))], one].concat()
            } else {
                vec![Step::Loop(Box::new(Script(one)))]
            })
        })
        .expect("a scripted server");
        let peer = tcp(server.address());
        let job = if is_open { open(peer, 20.0, SECOND, 4) } else { closed(peer, 4, lasting(SECOND)) };
        let mut job = with_scenarios(job, in_turn(vec![visit(0, 0), visit(1, 20 * MS)]));
        job.timeout_ns = 100 * MS;
        let done = run(job, steps(2));
        assert_eq!((done.steps[0].counts.timed_out, done.steps[1].counts.timed_out), (0, 4));
        assert_eq!(done.errors("timeout_first_byte"), 4, "{:?}", done.classes());
        assert_eq!(done.tally.counts.ok + 4, done.tally.counts.planned, "{:?}", done.classes());
        assert_pauses(&done, is_open, 4, &[0, 20 * MS]);
        server.stop();
    }
}

#[test]
fn every_step_adds_up_when_load_ends_within_iterations() {
    for (level, threads) in [(StopLevel::Drain, 1), (StopLevel::Abort, 2)] {
        for is_open in [false, true] {
            let witness = Witness::start(Duration::from_millis(60));
            let peer = tcp(witness.address);
            let job = if is_open {
                open(peer, 100.0, 30 * SECOND, 8)
            } else {
                closed(peer, 8, lasting(30 * SECOND))
            };
            let visits = vec![visit(0, 0), visit(1, 50 * MS), visit(2, 0)];
            let mut job = with_scenarios(job, in_turn(visits));
            (job.threads, job.warm_up_ns) = (threads, 200 * MS);
            let limit = limit(&job);
            let running = engine::start(job, steps(3)).expect("threads");
            std::thread::sleep(Duration::from_millis(550));
            running.stop(level);
            let done = finish(running, limit);
            let (warm_up, counts) = (done.warm_up.counts, done.tally.counts);
            assert!(done.took < Duration::from_secs(3), "{:?}", done.took);
            assert!(warm_up.sent + counts.sent > 20, "{counts:?}");
            let unfinished = warm_up.unfinished + counts.unfinished;
            assert!(unfinished <= 8 && (level == StopLevel::Abort) == (unfinished > 0), "{counts:?}");
            for later in done.steps.iter().skip(1) {
                assert_eq!(later.counts.not_sent, 0, "a later step is planned when it starts");
            }
            if !is_open {
                assert_eq!(counts.not_sent + warm_up.not_sent, 0);
            }
        }
    }
}

#[test]
fn iteration_across_warm_up_end_is_counted_per_request() {
    for is_open in [false, true] {
        let witness = Witness::start(Duration::from_millis(3));
        let peer = tcp(witness.address);
        let job = if is_open { open(peer, 100.0, 800 * MS, 30) } else { closed(peer, 5, lasting(800 * MS)) };
        let mut job = with_scenarios(job, in_turn(vec![visit(0, 50 * MS), visit(1, 20 * MS), visit(2, 0)]));
        (job.warm_up_ns, job.threads) = (300 * MS, 2);
        let done = run(job, steps(3));
        let measured = |step: u16| {
            let of_step = done.logged.iter().filter(|(number, _)| *number == step);
            of_step.filter(|(_, request)| request.finish.intended_ns >= 300 * MS).count() as u64
        };
        assert_eq!(planned(&done), [measured(0), measured(1), measured(2)]);
        assert!(planned(&done).iter().all(|planned| *planned > 10), "{:?}", planned(&done));
        assert_eq!(done.warm_up.counts.planned + done.tally.counts.planned, done.logged.len() as u64);
        if is_open {
            assert_eq!(done.steps[0].counts.planned, 50);
        }
    }
}

#[test]
fn request_count_includes_measured_requests_of_all_steps_and_threads() {
    for is_open in [false, true] {
        for (threads, requests) in [(1, 7), (2, 40), (3, 1)] {
            let witness = Witness::start(Duration::from_millis(1));
            let peer = tcp(witness.address);
            let job = if is_open { open(peer, 150.0, 20 * SECOND, 6) } else { closed(peer, 6, count(0)) };
            let mut job = with_scenarios(job, in_turn(vec![visit(0, 3 * MS), visit(1, 0), visit(2, 0)]));
            if let Load::Closed(closed) = &mut job.load {
                closed.pacing_ns = 30 * MS;
            }
            job.stop = Stop { at_ns: Some(20 * SECOND), requests: Some(requests) };
            (job.warm_up_ns, job.threads) = (100 * MS, threads);
            let done = run(job, steps(3));
            done.assert_all_ok(requests);
            assert!(done.warm_up.counts.sent > 10, "{:?}", done.warm_up.counts);
            let seen = witness.seen().len() as u64;
            assert_eq!(done.warm_up.counts.sent + requests, seen, "nothing more was sent");
            assert!(done.took < Duration::from_secs(5), "{:?}", done.took);
        }
    }
}

#[test]
fn steps_run_in_order_over_tls() {
    let authority = Authority::new("ours");
    let trust = TlsTrust::Authorities(authority.path());
    let token = b"HTTP/1.1 200 OK\r\nX-Token: abc\r\nContent-Length: 2\r\n\r\nok".to_vec();
    for (is_open, keep_alive) in [(false, true), (false, false), (true, true), (true, false)] {
        let server = TlsServer::answering(&authority.sign_localhost(), token.clone());
        let peer = secure(server.address(), "localhost", &trust);
        let job = if is_open { open(peer, 20.0, SECOND, 10) } else { closed(peer, 3, count(30)) };
        let mut job = with_scenarios(job, in_turn(vec![visit(0, 0), visit(1, 10 * MS), visit(2, 0)]));
        (job.peers[0].keep_alive, job.threads) = (keep_alive, 2);
        let first = with_capture(get("/0"), 0, CaptureSource::Header("x-token".to_owned()));
        let done = run(job, script(vec![first, get("/1?{a}"), post("/2", "{a}")]));
        done.assert_all_ok(done.tally.counts.planned);
        let connections = if keep_alive { if is_open { 10 } else { 3 } } else { done.tally.counts.sent };
        assert_eq!(done.tally.connections, connections);
        assert_pauses(&done, is_open, 10, &[0, 10 * MS, 0]);
    }
}
