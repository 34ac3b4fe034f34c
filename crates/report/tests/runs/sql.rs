//! Stored runs of SQL transactions.

use evidence::{Model, NewRun, Run, StepPart, Unit};
use record::{ErrorClass, Finish, Interval, Outcome, Phase, Tally};

use super::{Draws, Kept, MS, SECOND, ending, new_run, second};

/// Statements of the first script, and the minimum duration of each in nanoseconds.
const STATEMENTS: [(&str, u64); 7] = [
    ("BEGIN;", 40_000),
    ("UPDATE pgbench_accounts SET abalance = abalance + :delta WHERE aid = :aid;", 120_000),
    ("SELECT abalance FROM pgbench_accounts WHERE aid = :aid;", 60_000),
    ("UPDATE pgbench_tellers SET tbalance = tbalance + :delta WHERE tid = :tid;", 110_000),
    ("UPDATE pgbench_branches SET bbalance = bbalance + :delta WHERE bid = :bid;", 150_000),
    (
        "INSERT INTO pgbench_history (tid, bid, aid, delta, mtime) VALUES (:tid, :bid, :aid, :delta, CURRENT_TIMESTAMP);",
        60_000,
    ),
    ("END;", 90_000),
];
/// Index of the statement that other transactions wait for.
const BRANCHES: u16 = 4;
const END: u16 = 6;

pub(crate) fn parts() -> Vec<StepPart> {
    STATEMENTS.iter().map(|(name, _)| StepPart { name: (*name).to_owned(), of: 0 }).collect()
}

pub(crate) fn new_sql_run() -> NewRun {
    NewRun {
        title: "postgres://127.0.0.1:5432/bench".to_owned(),
        plan_text: "16 clients: tpcb-like, select-only".to_owned(),
        load_words: "16 users, closed".to_owned(),
        model: Model::Closed,
        users: Some(16),
        steps: vec!["tpcb-like".to_owned(), "select-only".to_owned()],
        units: vec![Unit::Transactions; 2],
        parts: parts(),
        latency_limit_ns: Some(2 * MS),
        system_version: Some("PostgreSQL 15.8".to_owned()),
        ..new_run()
    }
}

/// Run of two scripts. One of them has statements that are measured separately. Some transactions were retried, some were finally rejected,
/// and a few may or may not have taken effect.
pub(crate) fn transactions() -> Run {
    let mut ending = ending();
    ending.spread.as_mut().unwrap().connections = 16;
    Kept::load(&new_sql_run(), &seconds(5, outcome_of), Some(&ending)).through_store("20261121-142549-yz34")
}

/// Run without errors, in which every transaction opened a connection.
pub(crate) fn connected_each_time() -> Run {
    let mut new = new_sql_run();
    (new.connects_each, new.latency_limit_ns) = (true, None);
    new.title = "mysql://127.0.0.1:3306/bench".to_owned();
    (new.steps, new.units) = (vec!["select-only".to_owned()], vec![Unit::Transactions]);
    new.parts.clear();
    let mut draws = Draws(9);
    let each = (0..4).map(|number| {
        let mut one = second(number, 2_000, &mut draws, 0, |_| (Outcome::Ok, 1));
        one.tally.connect = record::Histogram::new();
        one.tally.connections = 2_000;
        (0..2_000).for_each(|_| one.tally.connect.record(1_500_000 + draws.below(500_000)));
        (0, one)
    });
    let mut ending = ending();
    ending.spread.as_mut().unwrap().connections = 16;
    Kept::load(&new, &each.collect::<Vec<_>>(), Some(&ending)).through_store("20261121-142555-ab56")
}

/// A load of requests and transactions.
pub(crate) fn of_both() -> Run {
    let mut new = new_run();
    new.steps.push("stock".to_owned());
    new.units.push(Unit::Transactions);
    let mut draws = Draws(10);
    let each = (0..4).flat_map(|number| {
        let page = second(number, 500, &mut draws, 0, super::always_ok);
        let stock = second(number, 500, &mut draws, 0, |place| (Outcome::Ok, if place == 7 { 4 } else { 1 }));
        [(0, page), (1, stock)]
    });
    Kept::load(&new, &each.collect::<Vec<_>>(), Some(&ending())).through_store("20261121-142601-cd78")
}

fn outcome_of(place: u64) -> (Outcome, u16) {
    match place % 1_000 {
        0 => (Outcome::Failed, 0),
        500 => (Outcome::TimedOut, 0),
        10 | 20 | 30 => (Outcome::Rejected, 3),
        n if n % 25 == 1 => (Outcome::Ok, 2),
        n if n % 250 == 2 => (Outcome::Ok, 3),
        _ => (Outcome::Ok, 1),
    }
}

/// One second of the first script alone, followed by its statements.
pub(crate) fn transaction(number: u64, per_s: u64, draws: &mut Draws) -> Vec<(u16, Interval)> {
    let mut whole = second(number, per_s, draws, 0, outcome_of);
    note_errors(&mut whole.tally);
    let parts = (0..).zip(STATEMENTS);
    let parts =
        parts.map(|(part, (_, least_ns))| (1 + part, statement(number, part, per_s, least_ns, draws)));
    [(0, whole)].into_iter().chain(parts).collect()
}

/// One second of warm-up and three measured ones, each with the number of its step or part.
pub(crate) fn seconds(seed: u64, outcome_of: fn(u64) -> (Outcome, u16)) -> Vec<(u16, Interval)> {
    let mut draws = Draws(seed);
    let mut seconds = Vec::new();
    for number in 0..4 {
        let mut transactions = second(number, 1_000, &mut draws, 0, outcome_of);
        note_errors(&mut transactions.tally);
        seconds.push((0, transactions));
        let mut reads = second(number, 600, &mut draws, 0, |_| (Outcome::Ok, 1));
        reads.tally.connections = 0;
        reads.tally.connect = record::Histogram::new();
        seconds.push((1, reads));
        for (part, (_, least_ns)) in (0..).zip(STATEMENTS) {
            seconds.push((2 + part, statement(number, part, 1_000, least_ns, &mut draws)));
        }
    }
    seconds
}

fn note_errors(tally: &mut Tally) {
    let counts = tally.counts;
    let errors = &mut tally.errors;
    let deadlock = || "40P01: deadlock detected \u{1b}[31m".to_owned();
    (0..counts.rejected).for_each(|_| errors.note(ErrorClass::Deadlock, 6_838_849, deadlock));
    let lost = || "the peer closed the connection".to_owned();
    (0..counts.failed).for_each(|_| errors.note(ErrorClass::CommitUnknown, 0, lost));
    let waited = || "no answer to COMMIT within 900 ms".to_owned();
    (0..counts.timed_out).for_each(|_| errors.note(ErrorClass::TimeoutInCommit, 0, waited));
}

fn statement(number: u64, part: u16, per_s: u64, least_ns: u64, draws: &mut Draws) -> Interval {
    let phase = if number == 0 { Phase::WarmUp } else { Phase::Measured };
    let mut tally = Tally::default();
    for place in 0..per_s {
        let sent_ns = number * SECOND + place * SECOND / per_s;
        let outcome = match (part, place) {
            (BRANCHES, 10 | 20 | 30) => Outcome::Rejected,
            (END, 0) => Outcome::Failed,
            (END, 500) => Outcome::TimedOut,
            _ => Outcome::Ok,
        };
        let service_ns = if outcome == Outcome::TimedOut { 900 * MS } else { draws.service_ns(least_ns) };
        let finished_ns = sent_ns + service_ns;
        tally.note_sent(sent_ns);
        let first_byte_ns = Some(finished_ns);
        let intended_ns = sent_ns;
        tally.note_finished(&Finish { intended_ns, sent_ns, first_byte_ns, finished_ns, outcome, status: 0 });
        if outcome == Outcome::Rejected {
            tally
                .errors
                .note(ErrorClass::Deadlock, 6_838_849, || "40P01: deadlock detected \u{1b}[31m".to_owned());
        }
    }
    Interval { second: number, phase, tally, sampled: Vec::new() }
}
