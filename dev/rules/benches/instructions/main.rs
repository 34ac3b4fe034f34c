//! Counts the instructions of the hot path with Valgrind, and checks them against `bounds.rs`.
//!
//! Counts do not depend on machine load, so a change of a few percent comes from a code change.
#![allow(clippy::print_stdout, reason = "its result is what it prints")]

mod bounds;

use std::env;
use std::hint::black_box;
use std::process::{Command, ExitCode};

use load::open::Profile;
use load::{Arrivals, Schedule, Share, Spacing};
use record::{Finish, Outcome, Recorder};
use sql::script::{Allow, Language, ScriptSet};
use sql::{Engine, Mode, Settings, Sql, TransactionStep};
use wire::http1::{Checks, Http1, HttpConversation, Request};
use wire::sql::Login;
use wire::{Channel, Conversation, Event, Next, Progress, Script, Ticket, Values};

use bounds::{Bound, REPETITIONS};

/// Typical reply of a small HTTP server, 160 bytes.
const REPLY: &[u8] = b"HTTP/1.1 200 OK\r\nServer: an-http-server\r\nDate: Sat, 21 Nov 2026 03:21:00 GMT\r\n\
    Content-Type: text/plain\r\nContent-Length: 14\r\nConnection: keep-alive\r\n\r\nhello, world!\n";

/// Operation whose instructions are counted.
struct Operation {
    name: &'static str,
    bound: Bound,
    /// Sets up the operation, then repeats it this many times.
    repeat: fn(u64),
}

const OPERATIONS: &[Operation] = &[
    Operation { name: "reply_whole", bound: bounds::REPLY_WHOLE, repeat: reply_whole },
    Operation { name: "reply_unlike", bound: bounds::REPLY_UNLIKE, repeat: reply_unlike },
    Operation { name: "reply_in_two", bound: bounds::REPLY_IN_TWO, repeat: reply_in_two },
    Operation { name: "select_prepared", bound: bounds::SELECT_PREPARED, repeat: select_prepared },
    Operation { name: "http_exchange", bound: bounds::HTTP_EXCHANGE, repeat: http_exchange },
    Operation { name: "postgres_exchange", bound: bounds::POSTGRES_EXCHANGE, repeat: postgres_exchange },
    Operation { name: "record_finished", bound: bounds::RECORD, repeat: record_finished },
    Operation { name: "arrivals_even", bound: bounds::ARRIVALS_EVEN, repeat: arrivals_even },
    Operation { name: "arrivals_poisson", bound: bounds::ARRIVALS_POISSON, repeat: arrivals_poisson },
];

/// Argument that makes this program repeat an operation. Its name and the number of repetitions follow.
const REPEAT: &str = "--repeat";

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().collect();
    if let Some(at) = arguments.iter().position(|argument| argument == REPEAT) {
        let operation = OPERATIONS.iter().find(|operation| operation.name == arguments[at + 1]);
        let times = arguments[at + 2].parse().expect("a number of repetitions");
        (operation.expect("the name of an operation").repeat)(times);
        return ExitCode::SUCCESS;
    }
    println!("{:<18} {:>12} {:>12}", "instructions", "counted", "limit");
    let mut is_passed = true;
    for operation in OPERATIONS {
        // The difference excludes program start and setup.
        let counted = instructions(operation, REPETITIONS).saturating_sub(instructions(operation, 0));
        let (limit, is_within) = (operation.bound.limit(), counted <= operation.bound.limit());
        is_passed &= is_within;
        println!(
            "{:<18} {counted:>12} {limit:>12}{}",
            operation.name,
            if is_within { "" } else { "  exceeded" }
        );
    }
    if is_passed { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Counts the instructions of this program with `times` repetitions of an operation.
///
/// # Panics
///
/// If Valgrind is missing, or the operation fails.
fn instructions(operation: &Operation, times: u64) -> u64 {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(env::current_exe().expect("this program has a path"))
        .args([REPEAT, operation.name, &times.to_string()])
        .output()
        .expect("valgrind is installed: apt-get install valgrind libc6-dbg");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {said}", operation.name);
    let counted = said.lines().find_map(|line| line.split_once("Collected : ")?.1.trim().parse().ok());
    counted.unwrap_or_else(|| panic!("callgrind prints what it collected: {said}"))
}

fn conversation() -> HttpConversation {
    let script = Http1::single(&Request::get("localhost", "/"), Checks::default());
    let mut conversation = script.expect("it is a plain request").open(0);
    // Does one-time work of the first reply outside of the count.
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

fn reply_whole(times: u64) {
    let mut conversation = conversation();
    for _ in 0..times {
        exchange(&mut conversation, &[REPLY]);
    }
}

fn reply_unlike(times: u64) {
    let mut conversation = conversation();
    let mut reply = REPLY.to_vec();
    let name = reply.windows(6).position(|bytes| bytes == b"server").expect("it names a server");
    for number in 0..times {
        let letter = |number: u64| b'a' + (number % 26) as u8;
        (reply[name], reply[name + 1]) = (letter(number), letter(number / 26));
        exchange(&mut conversation, &[&reply]);
    }
}

fn reply_in_two(times: u64) {
    let mut conversation = conversation();
    let (head, rest) = REPLY.split_at(100);
    for _ in 0..times {
        exchange(&mut conversation, &[head, rest]);
    }
}

/// Transaction of pgbench's select-only script.
const SELECT: &[u8] =
    b"\\set aid random(1, 100000 * :scale)\nSELECT abalance FROM pgbench_accounts WHERE aid = :aid;\n";
/// AuthenticationOk and ReadyForQuery: the client may send a statement.
const LOGIN_REPLY: &[u8] = b"R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I";
/// Reply to Parse and Describe, sent only for the first execution.
const PREPARED: &[u8] = b"1\0\0\0\x04t\0\0\0\x0a\0\x01\0\0\0\x17T\0\0\0\x21\0\x01abalance\0\0\0\0\0\0\0\0\0\0\x17\0\x04\xff\xff\xff\xff\0\0";
/// Reply to Bind and Execute: one row with one column.
const ROW: &[u8] = b"2\0\0\0\x04D\0\0\0\x0b\0\x01\0\0\0\x010C\0\0\0\x0dSELECT 1\0Z\0\0\0\x05I";

type SelectConversation = sql::SqlConversation;

fn select_conversation() -> SelectConversation {
    let mut conversation = select_only().open(0);
    conversation.greet();
    conversation.greeted(LOGIN_REPLY).expect("it is let in");
    select(&mut conversation, &[PREPARED, ROW].concat());
    conversation
}

fn select_only() -> Sql {
    let mut all_scripts = ScriptSet::new();
    let script =
        all_scripts.add("select-only", SELECT, Language::Pgbench, Allow::default()).expect("it is a script");
    let steps = vec![TransactionStep { name: "select-only".to_owned(), script, expects: None }];
    let settings = Settings { mode: Mode::Prepared, ..Settings::default() };
    let script = sql::on_server(
        Engine::PostgreSql,
        all_scripts,
        &steps,
        settings,
        Login::default().into(),
        false,
        [0; 18],
    );
    script.expect("they are a program")
}

fn select(conversation: &mut SelectConversation, answer: &[u8]) {
    conversation.begin(0);
    black_box(conversation.outgoing());
    match conversation.received(black_box(answer)) {
        Ok(Progress::Replied { reply, .. }) => assert!(black_box(reply).rejection.is_none()),
        other => panic!("{other:?}"),
    }
}

fn select_prepared(times: u64) {
    let mut conversation = select_conversation();
    for _ in 0..times {
        select(&mut conversation, ROW);
    }
}

fn http_channel() -> Box<dyn Channel> {
    let script = Http1::single(&Request::get("localhost", "/"), Checks::default());
    let mut channel = wire::Channels::open(&script.expect("it is a plain request"), 0, 0);
    exchange_over_channel(&mut *channel, REPLY);
    channel
}

fn postgres_channel() -> Box<dyn Channel> {
    let mut channel = wire::Channels::open(&select_only(), 0, 0);
    channel.greet();
    channel.greeted(LOGIN_REPLY).expect("it is let in");
    exchange_over_channel(&mut *channel, &[PREPARED, ROW].concat());
    channel
}

/// Sends a request and receives its reply, as the engine does.
fn exchange_over_channel(channel: &mut dyn Channel, reply: &[u8]) {
    let next = channel.begin(Ticket(7), 0, &Values::default());
    assert!(matches!(next, Next::Send));
    let sent_bytes = black_box(channel.outgoing()).len();
    channel.sent(sent_bytes);
    match channel.received(black_box(reply)) {
        Ok(Some((_, Event::Replied { reply, .. }))) => {
            assert!(black_box(reply).rejection.is_none());
            black_box(channel.content(Ticket(7)));
        }
        other => panic!("{other:?}"),
    }
}

fn http_exchange(times: u64) {
    let mut channel = http_channel();
    for _ in 0..times {
        exchange_over_channel(&mut *channel, REPLY);
    }
}

fn postgres_exchange(times: u64) {
    let mut channel = postgres_channel();
    for _ in 0..times {
        exchange_over_channel(&mut *channel, ROW);
    }
}

fn recorder() -> Recorder {
    let mut recorder = Recorder::new((0, u64::MAX), 0);
    (0..REPETITIONS).for_each(|number| recorder.finished(&finish(number)));
    recorder
}

fn finish(number: u64) -> Finish {
    let intended_ns = number * 10_000;
    let sent_ns = intended_ns + 1_000 + number % 7;
    let finished_ns = sent_ns + 200_000 + (number * 7_919) % 100_000;
    let first_byte_ns = Some(finished_ns);
    Finish { intended_ns, sent_ns, first_byte_ns, finished_ns, outcome: Outcome::Ok, status: 200 }
}

fn record_finished(times: u64) {
    let mut recorder = recorder();
    for number in 0..times {
        recorder.tally(number).note_sent(number);
        recorder.finished(&black_box(finish(number)));
    }
    black_box(recorder);
}

fn arrivals(spacing: Spacing) -> Arrivals {
    let profile = Profile::constant(10_000.0);
    Schedule::Rate(profile, spacing).arrivals(Share::WHOLE)
}

fn arrivals_even(times: u64) {
    let arrivals = arrivals(Spacing::EVEN);
    black_box(arrivals.take(times as usize).fold(0, |last, at_ns| last ^ black_box(at_ns)));
}

fn arrivals_poisson(times: u64) {
    let arrivals = arrivals(Spacing::poisson(1));
    black_box(arrivals.take(times as usize).fold(0, |last, at_ns| last ^ black_box(at_ns)));
}
