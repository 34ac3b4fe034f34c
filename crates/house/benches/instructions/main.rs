//! Instructions of the hot path, counted by Valgrind and held to `bounds.rs`.
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
use load::open::{Arrivals, Profile};
use load::{Open, Share, Spacing};
use record::{Finish, Outcome, Recorder};
use wire::http1::{Checks, Http1, Request, Talk};
use wire::{Conversation, Progress, Script};

use bounds::{Bound, OPERATIONS};

/// 160 bytes, as a small server answers.
const REPLY: &[u8] = b"HTTP/1.1 200 OK\r\nServer: an-http-server\r\nDate: Sat, 21 Nov 2026 03:21:00 GMT\r\n\
    Content-Type: text/plain\r\nContent-Length: 14\r\nConnection: keep-alive\r\n\r\nhello, world!\n";

fn held_to(bound: Bound) -> LibraryBenchmarkConfig {
    let mut config = LibraryBenchmarkConfig::default();
    config.tool(Callgrind::default().hard_limits([(EventKind::Ir, bound.limit())]));
    config
}

fn conversation() -> Talk {
    let script = Http1::single(&Request::get("localhost", "/"), Checks::default());
    let mut talk = script.expect("it is a plain request").open(0);
    // The first reply pays for what all others share.
    exchange(&mut talk, &[REPLY]);
    talk
}

fn exchange(talk: &mut Talk, pieces: &[&[u8]]) {
    talk.begin(0);
    for piece in pieces {
        if let Ok(Progress::Replied { reply, .. }) = talk.received(black_box(piece)) {
            black_box(reply);
        }
    }
}

#[library_benchmark(config = held_to(bounds::REPLY_WHOLE))]
#[bench::of_160_bytes(conversation())]
fn reply_whole(mut talk: Talk) {
    for _ in 0..OPERATIONS {
        exchange(&mut talk, &[REPLY]);
    }
}

#[library_benchmark(config = held_to(bounds::REPLY_IN_TWO))]
#[bench::of_160_bytes(conversation())]
fn reply_in_two(mut talk: Talk) {
    let (head, rest) = REPLY.split_at(100);
    for _ in 0..OPERATIONS {
        exchange(&mut talk, &[head, rest]);
    }
}

fn recorder() -> Recorder {
    let mut recorder = Recorder::new(0, 0);
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
    Open { profile, spacing, connections: 1, shed_after_ns: None }.arrivals(Share::WHOLE)
}

#[library_benchmark(config = held_to(bounds::ARRIVALS_EVEN))]
#[bench::constant_rate(arrivals(Spacing::Even))]
fn arrivals_even(arrivals: Arrivals) -> u64 {
    arrivals.take(OPERATIONS as usize).fold(0, |last, at_ns| last ^ black_box(at_ns))
}

#[library_benchmark(config = held_to(bounds::ARRIVALS_POISSON))]
#[bench::constant_rate(arrivals(Spacing::Poisson { seed: 1 }))]
fn arrivals_poisson(arrivals: Arrivals) -> u64 {
    arrivals.take(OPERATIONS as usize).fold(0, |last, at_ns| last ^ black_box(at_ns))
}

library_benchmark_group!(
    name = hot_path,
    benchmarks = [reply_whole, reply_in_two, record_finished, arrivals_even, arrivals_poisson]
);

main!(library_benchmark_groups = hot_path);
