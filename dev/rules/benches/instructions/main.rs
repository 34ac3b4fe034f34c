//! Counts the instructions of the hot path with Valgrind, and checks them against `bounds.rs`.
//!
//! Counts do not depend on how busy the machine is, so a change of a few percent is a change of the code.
#![allow(
    missing_docs,
    unreachable_pub,
    reason = "the macros of the benchmark make public items without a word"
)]

mod bounds;

use std::hint::black_box;

use gungraun::prelude::*;
use gungraun::{Callgrind, EventKind};
use load::open::Profile;
use load::{Arrivals, Schedule, Share, Spacing};
use record::{Finish, Outcome, Recorder};
use sql::script::{Allow, Language, ScriptSet};
use sql::{Engine, Mode, Settings, Sql, TransactionStep};
use wire::http1::{Checks, Http1, HttpConversation, Request};
use wire::sql::Login;
use wire::{Channel, Conversation, Event, Next, Progress, Script, Ticket, Values};

use bounds::{Bound, OPERATIONS};

/// Reply of a small server, 160 bytes.
const REPLY: &[u8] = b"HTTP/1.1 200 OK\r\nServer: an-http-server\r\nDate: Sat, 21 Nov 2026 03:21:00 GMT\r\n\
    Content-Type: text/plain\r\nContent-Length: 14\r\nConnection: keep-alive\r\n\r\nhello, world!\n";

fn held_to(bound: Bound) -> LibraryBenchmarkConfig {
    let mut config = LibraryBenchmarkConfig::default();
    config.tool(Callgrind::default().hard_limits([(EventKind::Ir, bound.limit())]));
    config
}

fn conversation() -> HttpConversation {
    let script = Http1::single(&Request::get("localhost", "/"), Checks::default());
    let mut conversation = script.expect("it is a plain request").open(0);
    // The first reply pays for work that is done once.
    exchange(&mut conversation, &[REPLY]);
    conversation
}

fn exchange(conversation: &mut HttpConversation, pieces: &[&[u8]]) {
    conversation.begin(0);
    for piece in pieces {
        if let Ok(Progress::Replied { reply, .. }) = conversation.received(black_box(piece)) {
            black_box(reply);
        }
    }
}

#[library_benchmark(config = held_to(bounds::REPLY_WHOLE))]
#[bench::of_160_bytes(conversation())]
fn reply_whole(mut conversation: HttpConversation) {
    for _ in 0..OPERATIONS {
        exchange(&mut conversation, &[REPLY]);
    }
}

#[library_benchmark(config = held_to(bounds::REPLY_IN_TWO))]
#[bench::of_160_bytes(conversation())]
fn reply_in_two(mut conversation: HttpConversation) {
    let (head, rest) = REPLY.split_at(100);
    for _ in 0..OPERATIONS {
        exchange(&mut conversation, &[head, rest]);
    }
}

/// Script of pgbench's select-only, one transaction.
const SELECT: &[u8] =
    b"\\set aid random(1, 100000 * :scale)\nSELECT abalance FROM pgbench_accounts WHERE aid = :aid;\n";
/// Authentication is complete, and a statement may be sent.
const LET_IN: &[u8] = b"R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I";
/// Answer to Parse and Describe, which only the first execution gets.
const PREPARED: &[u8] = b"1\0\0\0\x04t\0\0\0\x0a\0\x01\0\0\0\x17T\0\0\0\x21\0\x01abalance\0\0\0\0\0\0\0\0\0\0\x17\0\x04\xff\xff\xff\xff\0\0";
/// Answer to Bind and Execute: one row of one column.
const ROW: &[u8] = b"2\0\0\0\x04D\0\0\0\x0b\0\x01\0\0\0\x010C\0\0\0\x0dSELECT 1\0Z\0\0\0\x05I";

type Selecting = sql::SqlConversation;

fn selecting() -> Selecting {
    let mut conversation = select_only().open(0);
    conversation.greet();
    conversation.greeted(LET_IN).expect("it is let in");
    select(&mut conversation, &[PREPARED, ROW].concat());
    conversation
}

fn select_only() -> Sql {
    let mut deck = ScriptSet::new();
    let script =
        deck.add("select-only", SELECT, Language::Pgbench, Allow::default()).expect("it is a script");
    let steps = vec![TransactionStep { name: "select-only".to_owned(), script, expects: None }];
    let settings = Settings { mode: Mode::Prepared, ..Settings::default() };
    let script =
        sql::on_server(Engine::PostgreSql, deck, &steps, settings, Login::default().into(), false, [0; 18]);
    script.expect("they are a program")
}

fn select(conversation: &mut Selecting, answer: &[u8]) {
    conversation.begin(0);
    black_box(conversation.outgoing());
    match conversation.received(black_box(answer)) {
        Ok(Progress::Replied { reply, .. }) => assert!(black_box(reply).refusal.is_none()),
        other => panic!("{other:?}"),
    }
}

#[library_benchmark(config = held_to(bounds::SELECT_PREPARED))]
#[bench::of_one_row(selecting())]
fn select_prepared(mut conversation: Selecting) {
    for _ in 0..OPERATIONS {
        select(&mut conversation, ROW);
    }
}

fn http_channel() -> Box<dyn Channel> {
    let script = Http1::single(&Request::get("localhost", "/"), Checks::default());
    let mut channel = wire::Channels::open(&script.expect("it is a plain request"), 0, 0);
    carry(&mut *channel, REPLY);
    channel
}

fn postgres_channel() -> Box<dyn Channel> {
    let mut channel = wire::Channels::open(&select_only(), 0, 0);
    channel.greet();
    channel.greeted(LET_IN).expect("it is let in");
    carry(&mut *channel, &[PREPARED, ROW].concat());
    channel
}

/// Carries one exchange as the engine does.
fn carry(channel: &mut dyn Channel, reply: &[u8]) {
    let next = channel.begin(Ticket(7), 0, &Values::default());
    assert!(matches!(next, Next::Send));
    let sent_bytes = black_box(channel.outgoing()).len();
    channel.sent(sent_bytes);
    match channel.received(black_box(reply)) {
        Ok(Some((_, Event::Replied { reply, .. }))) => {
            assert!(black_box(reply).refusal.is_none());
            black_box(channel.content(Ticket(7)));
        }
        other => panic!("{other:?}"),
    }
}

#[library_benchmark(config = held_to(bounds::HTTP_EXCHANGE))]
#[bench::of_160_bytes(http_channel())]
fn http_exchange(mut channel: Box<dyn Channel>) {
    for _ in 0..OPERATIONS {
        carry(&mut *channel, REPLY);
    }
}

#[library_benchmark(config = held_to(bounds::POSTGRES_EXCHANGE))]
#[bench::of_one_row(postgres_channel())]
fn postgres_exchange(mut channel: Box<dyn Channel>) {
    for _ in 0..OPERATIONS {
        carry(&mut *channel, ROW);
    }
}

fn recorder() -> Recorder {
    let mut recorder = Recorder::new((0, u64::MAX), 0);
    (0..OPERATIONS).for_each(|number| recorder.finished(&finish(number)));
    recorder
}

fn finish(number: u64) -> Finish {
    let intended_ns = number * 10_000;
    let sent_ns = intended_ns + 1_000 + number % 7;
    let finished_ns = sent_ns + 200_000 + (number * 7_919) % 100_000;
    let first_byte_ns = Some(finished_ns);
    Finish { intended_ns, sent_ns, first_byte_ns, finished_ns, outcome: Outcome::Ok, status: 200 }
}

#[library_benchmark(config = held_to(bounds::RECORD))]
#[bench::warm(recorder())]
fn record_finished(mut recorder: Recorder) -> Recorder {
    for number in 0..OPERATIONS {
        recorder.tally(number).note_sent(number);
        recorder.finished(&black_box(finish(number)));
    }
    recorder
}

fn arrivals(spacing: Spacing) -> Arrivals {
    let profile = Profile::constant(10_000.0);
    Schedule::Rate(profile, spacing).arrivals(Share::WHOLE)
}

#[library_benchmark(config = held_to(bounds::ARRIVALS_EVEN))]
#[bench::constant_rate(arrivals(Spacing::EVEN))]
fn arrivals_even(arrivals: Arrivals) -> u64 {
    arrivals.take(OPERATIONS as usize).fold(0, |last, at_ns| last ^ black_box(at_ns))
}

#[library_benchmark(config = held_to(bounds::ARRIVALS_POISSON))]
#[bench::constant_rate(arrivals(Spacing::poisson(1)))]
fn arrivals_poisson(arrivals: Arrivals) -> u64 {
    arrivals.take(OPERATIONS as usize).fold(0, |last, at_ns| last ^ black_box(at_ns))
}

library_benchmark_group!(
    name = hot_path,
    benchmarks = [
        reply_whole,
        reply_in_two,
        select_prepared,
        http_exchange,
        postgres_exchange,
        record_finished,
        arrivals_even,
        arrivals_poisson
    ]
);

main!(library_benchmark_groups = hot_path);
