//! Links that carry many exchanges, are answered in any order, and are lost before the last answer.

use harness::quiet::assert_measured;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::support::scenario::{in_turn, visit};
use crate::support::tagged::{Asked, PONG, Tagged, TaggedServer};
use crate::support::{MS, SECOND, closed, count, lasting, open, run, tcp};
use engine::Job;

const WIDE: Tagged = Tagged { room: 250, greets: false };

/// Answers all waiting requests, the last first.
fn answer_last_first(waiting: &mut Vec<Asked>) -> String {
    waiting.drain(..).rev().map(|asked| format!("{} v{}-{}\n", asked.tag, asked.user, asked.step)).collect()
}

/// Like [`answer_last_first`], once `full` requests wait, or after a while without a new one.
fn answer_when_full(
    full: usize,
) -> impl Fn(usize, &mut Vec<Asked>) -> Option<String> + Send + Sync + 'static {
    move |_, waiting| Some(if waiting.len() < full { String::new() } else { answer_last_first(waiting) })
}

/// Runs a thousand users on four links. Each link is answered only when all of its 250 exchanges have arrived.
#[test]
fn four_links_carry_a_thousand_exchanges_answered_out_of_order() {
    let server = TaggedServer::start("", answer_when_full(250));
    let job =
        Job { pool: Some(4), timeout_ns: 10 * SECOND, ..closed(tcp(server.address), 1_000, count(3_000)) };
    let done = run(job, WIDE);
    done.assert_all_ok(3_000);
    assert_eq!(done.tally.connections, 4);
    assert_eq!(server.most_in_flight.load(Ordering::Acquire), 1_000);
    let asked = server.asked.lock().unwrap();
    let users: BTreeSet<u32> = asked.iter().map(|(_, asked)| asked.user).collect();
    assert_eq!(users.len(), 1_000);
    let mut by_link: BTreeMap<usize, usize> = BTreeMap::new();
    asked.iter().for_each(|(link, _)| *by_link.entry(*link).or_default() += 1);
    // A link that is answered early takes the next 250, so only the first round of each link is fixed.
    assert!(
        by_link.len() == 4 && by_link.values().all(|count| *count >= 250 && count % 250 == 0),
        "{by_link:?}"
    );
}

/// Reads until `lines` lines have arrived. Also returns the number of reads.
fn read_lines(stream: &mut TcpStream, lines: usize) -> Option<(Vec<String>, usize)> {
    let (mut text, mut buffer, mut reads) = (String::new(), [0; 65_536], 0);
    while text.matches('\n').count() < lines {
        let count = stream.read(&mut buffer).ok().filter(|count| *count > 0)?;
        text.push_str(std::str::from_utf8(&buffer[..count]).ok()?);
        reads += 1;
    }
    Some((text.lines().map(str::to_owned).collect(), reads))
}

#[test]
fn requests_after_one_read_are_sent_in_one_write() {
    const USERS: usize = 16;
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    let server = thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a connection");
        let mut reads_of_rounds = Vec::new();
        while let Some((lines, reads)) = read_lines(&mut stream, USERS) {
            reads_of_rounds.push(reads);
            let tags = lines.iter().map(|line| line.split(' ').next().unwrap_or_default());
            let replies: String = tags.map(|tag| format!("{tag} x\n")).collect();
            if stream.write_all(replies.as_bytes()).is_err() {
                break;
            }
        }
        reads_of_rounds
    });
    let job = Job { pool: Some(1), ..closed(tcp(address), USERS as u32, count(20 * USERS as u64)) };
    run(job, WIDE).assert_all_ok(20 * USERS as u64);
    let rounds = server.join().expect("the server");
    // The first requests wait for their connection, and begin one by one.
    assert_eq!(rounds[1..], [1; 19], "reads of each round");
}

#[test]
fn each_user_gets_its_own_answer_for_the_next_step() {
    let server = TaggedServer::start("", |_, waiting: &mut Vec<Asked>| Some(answer_last_first(waiting)));
    let mut job = Job { pool: Some(4), ..closed(tcp(server.address), 200, count(2_000)) };
    job.scenarios = in_turn(vec![visit(0, 0), visit(1, MS)]);
    run(job, WIDE).assert_all_ok(2_000);
    let asked = server.asked.lock().unwrap();
    assert_eq!(asked.len(), 2_000);
    let mut before: BTreeMap<u32, u16> = BTreeMap::new();
    for (_, asked) in asked.iter() {
        let value = match before.insert(asked.user, asked.step) {
            Some(step) => format!("v{}-{step}", asked.user),
            None => "-".to_owned(),
        };
        assert_eq!(asked.value, value);
    }
}

#[test]
fn lost_link_fails_only_its_own_exchanges() {
    let connections = AtomicUsize::new(0);
    // The first four connections are lost with all their exchanges; later ones answer.
    let server = TaggedServer::start("", move |connection: usize, waiting: &mut Vec<Asked>| {
        let is_first = connection < 4;
        if is_first && waiting.len() >= 100 {
            connections.fetch_add(1, Ordering::AcqRel);
            return None;
        }
        Some(if is_first { String::new() } else { answer_last_first(waiting) })
    });
    let job = Job { pool: Some(4), ..closed(tcp(server.address), 400, lasting(500 * MS)) };
    let done = run(Job { log_per_second: 100_000, ..job }, WIDE);
    let counts = done.tally.counts;
    assert_eq!(counts.failed, 400, "{:?}", done.classes());
    assert_eq!(counts.sent, counts.ok + counts.failed);
    assert!(counts.ok > 400, "{counts:?}");
    assert_eq!(server.asked.lock().unwrap().len() as u64, counts.sent);
    for request in &done.sampled {
        let finish = request.finish;
        assert!(finish.intended_ns <= finish.sent_ns && finish.sent_ns <= finish.finished_ns, "{finish:?}");
        assert!(finish.first_byte_ns.is_none_or(|at_ns| at_ns >= finish.sent_ns), "{finish:?}");
    }
}

#[test]
fn time_out_ends_one_exchange_and_keeps_the_link() {
    assert_measured(|| {
        // Requests of user 7 are answered long after their time-out.
        let server = TaggedServer::start("", |_, waiting: &mut Vec<Asked>| {
            let mut late: Vec<Asked> = waiting.iter().filter(|asked| asked.user == 7).cloned().collect();
            waiting.retain(|asked| asked.user != 7);
            let mut said = answer_last_first(waiting);
            if late.len() > 3 {
                said.extend(late.drain(..2).map(|asked| format!("{} late\n", asked.tag)));
            }
            waiting.extend(late);
            Some(said)
        });
        let job = Job {
            pool: Some(1),
            timeout_ns: 50 * MS,
            connect_timeout_ns: 50 * MS,
            ..closed(tcp(server.address), 20, lasting(500 * MS))
        };
        let done = run(job, WIDE);
        let counts = done.tally.counts;
        assert_eq!(done.tally.connections, 1);
        assert_eq!(counts.timed_out, done.errors("timeout_first_byte"), "{:?}", done.classes());
        assert!((5..=11).contains(&counts.timed_out), "{counts:?}");
        assert_eq!((counts.failed, counts.sent), (0, counts.ok + counts.timed_out), "{counts:?}");
    });
}

#[test]
fn exchange_waits_for_room_and_has_send_delay() {
    // The server grants two exchanges per link, fewer than requested.
    let slow = |_: usize, waiting: &mut Vec<Asked>| {
        if !waiting.is_empty() {
            std::thread::sleep(Duration::from_millis(10));
        }
        Some(answer_last_first(waiting))
    };
    let server = TaggedServer::start("2\n", slow);
    let begun = Instant::now();
    let job = Job { pool: Some(2), ..closed(tcp(server.address), 12, count(120)) };
    let done = run(job, Tagged { greets: true, ..WIDE });
    done.assert_all_ok(120);
    assert_eq!(done.tally.connections, 2);
    assert!(server.most_in_flight.load(Ordering::Acquire) <= 4);
    // 30 rounds of four exchanges. Two of three users wait at any time, each for two rounds.
    assert!(begun.elapsed() >= Duration::from_millis(300));
    let lateness_ns = done.tally.lateness.ok.sum_ns();
    assert!(lateness_ns > 10 * 100 * u128::from(MS), "{lateness_ns}");
    let [response, service] = [&done.tally.response, &done.tally.service].map(|split| split.ok.sum_ns());
    assert_eq!(response, service + lateness_ns);
}

#[test]
fn arrivals_share_links() {
    let slow = |_: usize, waiting: &mut Vec<Asked>| {
        std::thread::sleep(Duration::from_millis(20));
        Some(answer_last_first(waiting))
    };
    let server = TaggedServer::start("", slow);
    let done = run(open(tcp(server.address), 1_000.0, 500 * MS, 2), WIDE);
    done.assert_all_ok(500);
    assert_eq!(done.tally.connections, 2);
    assert!(server.most_in_flight.load(Ordering::Acquire) > 4);
}

/// Removes an answer to a ping from the waiting lines. Returns whether there was one.
fn take_pong(waiting: &mut Vec<Asked>) -> bool {
    let place = waiting.iter().position(|asked| asked.tag == PONG);
    place.map(|place| waiting.remove(place)).is_some()
}

#[test]
fn answers_ping_while_all_requests_wait() {
    // Requests are answered only after the ping. A link that sent its pong with the next request would never send it.
    for room in [250, 1] {
        let server = TaggedServer::start("", |_, waiting: &mut Vec<Asked>| {
            let said = if take_pong(waiting) { answer_last_first(waiting) } else { String::new() };
            Some(if waiting.is_empty() { said } else { said + "ping\n" })
        });
        let job = Job { pool: Some(1), ..closed(tcp(server.address), 3, count(30)) };
        run(job, Tagged { room, greets: false }).assert_all_ok(30);
    }
}

#[test]
fn answers_ping_within_the_greeting() {
    let greeted = AtomicUsize::new(0);
    let server = TaggedServer::start("ping\n", move |_: usize, waiting: &mut Vec<Asked>| {
        let is_greeted = take_pong(waiting) && greeted.fetch_add(1, Ordering::AcqRel) < 2;
        Some(if is_greeted { "250\n".to_owned() } else { answer_last_first(waiting) })
    });
    let job = Job { pool: Some(2), ..closed(tcp(server.address), 6, count(30)) };
    run(job, Tagged { greets: true, ..WIDE }).assert_all_ok(30);
}

#[test]
fn reset_stream_fails_only_its_exchange() {
    let server = TaggedServer::start("", |_: usize, waiting: &mut Vec<Asked>| {
        let said = |asked: Asked| {
            let word = if asked.tag % 10 == 3 { "reset" } else { "yes" };
            format!("{} {word}\n", asked.tag)
        };
        Some(waiting.drain(..).map(said).collect())
    });
    let job = Job { pool: Some(2), log_per_second: 10_000, ..closed(tcp(server.address), 40, count(1_000)) };
    let done = run(job, WIDE);
    let counts = done.tally.counts;
    assert_eq!((counts.sent, counts.rejected, counts.failed), (1_000, done.errors("limit_reached"), 0));
    assert!((80..=120).contains(&counts.rejected) && counts.ok == 1_000 - counts.rejected, "{counts:?}");
    assert_eq!(done.tally.connections, 2, "the links go on");
    assert_eq!(done.sampled.len(), 1_000, "each exchange ends once");
}

/// Announces that a connection takes no exchanges after its 50th, and answers those up to it.
fn draining(_: usize, waiting: &mut Vec<Asked>) -> Option<String> {
    let is_last = waiting.iter().any(|asked| asked.tag == 49);
    let mut taken: Vec<Asked> = waiting.drain(..).filter(|asked| asked.tag < 50).collect();
    Some(if is_last { "bye 49\n" } else { "" }.to_owned() + &answer_last_first(&mut taken))
}

#[test]
fn draining_link_finishes_its_exchanges_and_is_replaced() {
    for (links, users) in [(1, 5), (2, 5), (4, 200)] {
        let server = TaggedServer::start("", draining);
        let job = Job { pool: Some(links), ..closed(tcp(server.address), users, count(1_000)) };
        let done = run(Job { log_per_second: 10_000, ..job }, Tagged { room: 10, greets: false });
        let counts = done.tally.counts;
        // Exchanges may be in flight when the server announces that it takes no more.
        assert_eq!(counts.rejected, done.errors("server_shutdown"), "{:?}", done.classes());
        assert_eq!(counts.ok + counts.rejected, 1_000, "{links} {:?}", done.classes());
        assert!(counts.rejected <= 10 * done.tally.connections, "{counts:?}");
        assert!(counts.ok <= 50 * done.tally.connections, "{}", done.tally.connections);
        assert_eq!(done.sampled.len(), 1_000, "each exchange ends once");
    }
}

#[test]
fn exchanges_wait_for_room_on_a_new_link() {
    // Users ramp up, so the first link is opened for requests, and grants fewer exchanges than it is given.
    let server =
        TaggedServer::start("2\n", |_: usize, waiting: &mut Vec<Asked>| Some(answer_last_first(waiting)));
    let mut job = Job { pool: Some(1), ..closed(tcp(server.address), 8, count(80)) };
    if let load::Load::Closed(closed) = &mut job.load {
        closed.ramp_up_ns = 1;
    }
    run(job, Tagged { greets: true, ..WIDE }).assert_all_ok(80);
    assert!(server.most_in_flight.load(Ordering::Acquire) <= 2);
}

#[test]
fn exchanges_fail_if_peer_accepts_none_on_new_links() {
    let server = TaggedServer::start("bye\n", |_: usize, _: &mut Vec<Asked>| Some(String::new()));
    let job = Job { pool: Some(1), ..closed(tcp(server.address), 3, lasting(200 * MS)) };
    let done = run(job, Tagged { greets: true, ..WIDE });
    let counts = done.tally.counts;
    assert!(counts.sent > 3 && counts.failed == counts.sent, "{counts:?}");
    assert_eq!(done.errors("closed_before_reply"), counts.failed);
    assert!(counts.sent < 100, "it is not opened again and again: {counts:?}");
}

/// Runs four links of 250 exchanges each. From the second round on, three links fail: every tenth stream of link 0 is reset, link 1
/// drains after half of its round, and link 2 is lost with its round. Later links answer everything.
#[test]
fn every_exchange_ends_once_despite_resets_drains_and_losses() {
    let is_draining = AtomicBool::new(false);
    let server = TaggedServer::start("", move |connection: usize, waiting: &mut Vec<Asked>| {
        // A round may arrive in several reads.
        let is_second = waiting.iter().any(|asked| asked.tag >= 250);
        match connection {
            1 if is_second || is_draining.load(Ordering::Acquire) => {
                let bye = if is_draining.swap(true, Ordering::AcqRel) { "" } else { "bye 374\n" };
                let mut taken = waiting.drain(..).filter(|asked| asked.tag <= 374).collect();
                Some(bye.to_owned() + &answer_last_first(&mut taken))
            }
            0..4 if waiting.len() < 250 && !is_second => Some(String::new()),
            0 => {
                let said = waiting.drain(..).rev().map(|asked| match asked.tag {
                    250.. if asked.tag % 10 == 0 => format!("{} reset\n", asked.tag),
                    tag => format!("{tag} yes\n"),
                });
                Some(said.collect())
            }
            2 if is_second => None,
            _ => Some(answer_last_first(waiting)),
        }
    });
    let job =
        Job { pool: Some(4), timeout_ns: 10 * SECOND, ..closed(tcp(server.address), 1_000, count(8_000)) };
    let done = run(Job { log_per_second: 100_000, ..job }, WIDE);
    let counts = done.tally.counts;
    assert_eq!(server.most_in_flight.load(Ordering::Acquire), 1_000);
    assert_eq!((counts.planned, counts.sent, counts.not_sent), (8_000, 8_000, 0), "{counts:?}");
    assert_eq!(counts.ok + counts.rejected + counts.failed, 8_000, "{counts:?} {:?}", done.classes());
    let [reset, drained] = ["limit_reached", "server_shutdown"].map(|class| done.errors(class));
    assert_eq!(counts.rejected, reset + drained, "{:?}", done.classes());
    assert!(reset >= 1 && (1..=125).contains(&drained), "{:?}", done.classes());
    assert!((1..=250).contains(&counts.failed), "the lost link ends what it carried: {:?}", done.classes());
    assert_eq!(done.tally.connections, 6, "two of four links are replaced");
    assert_eq!(done.sampled.len(), 8_000, "each exchange ends once");
}
