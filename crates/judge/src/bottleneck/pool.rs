//! Pool of workers, connections, or other slots that are all in use while requests wait for one.

use std::collections::BTreeMap;

use super::cause::{Bottleneck, Refutation, Scope, suspected};
use super::cpu::COMPUTES_ON_ALL_CORES;
use super::evidence::Evidence;
use super::held_lock;
use super::words::cpu_in_brackets;
use super::{Coverage, Rule, Rung, UNSATURATED_MAX_SHARE};
use crate::causes::Resource;
use crate::databases;
use crate::waits::Workers;
use crate::words::{decimal, duration, many};

/// Share of pool slots in use, above which waiting requests point to the pool.
const SLOTS_BUSY_MIN_SHARE: f64 = 0.9;
/// Share of pooled connections in use, above which waiting requests point to their pool. Lower than for threads,
/// because connections also idle while they are handed from one request to the next.
const CONNECTIONS_BUSY_MIN_SHARE: f64 = 0.8;
/// Min number of requests in flight at which some wait for a slot: a factor per slot, and a constant.
const WAITING_MIN: [f64; 2] = [1.25, 0.5];
/// Min share of requests in flight that no thread of the process holds, if requests wait for threads.
const UNHELD_MIN_SHARE: f64 = 0.2;
/// Max mean number of threads of a process that counts as single-threaded.
const LONE_THREAD_MAX: f64 = 1.25;
/// Max share of slots that are briefly free while connections wait to be accepted.
const SLOTS_FREE_MAX_SHARE: f64 = 0.1;
/// Min share of requests without a slot that wait to be accepted, if idle slots are about to accept one.
const QUEUED_MIN_SHARE: f64 = 0.7;
/// Max number of slots that throughput × fastest answer can distinguish from the next number.
const COUNTED_MAX: f64 = 8.0;
/// Max relative distance between throughput × fastest answer and a number of slots that it confirms.
const PACE_MAX_OFF_SHARE: f64 = 0.15;
/// Max distance between throughput × fastest answer and a small number of slots that it confirms, in slots.
const PACE_MAX_OFF: f64 = 0.25;
/// Min share of sleeping threads that sleep for a disk, a pipe, or a connect, at which that resource is short.
const OTHER_SLEEP_MIN_SHARE: f64 = 0.25;
/// Share of a whole that counts as most of it.
const MAJORITY_SHARE: f64 = 0.5;
/// Max difference between requests in flight and the threads that hold them.
const COUNT_MAX_OFF: f64 = 0.25;
/// Max mean number of threads that wait for events or requests, and may hold requests that no other thread holds.
const RECEIVING_MAX: f64 = 0.5;
/// Min mean number of threads at one futex that may be idle threads of a pool.
const SHARED_FUTEX_MIN: f64 = 2.0;
/// Min share of requests in flight that belong to typical answers, by Little's law, if others wait for a thread.
const TYPICAL_MIN_SHARE: f64 = 0.5;
/// Min number of connections to a process that are busy if as many of its threads are.
const PLACES_OF_CALLEE_MIN: f64 = 2.0;
/// Number of threads in timers that may hold no request.
const ONE_TIMER: f64 = 1.0;
/// Min number of requests in flight at which a connection in the accept queue is not noise.
const QUEUE_MIN: f64 = 2.0;

impl Resource {
    /// A fixed number of workers or connections.
    pub const POOL: Self = Self::new("pool", "pool of workers or connections of the system")
        .next("raise the limit on workers or connections, and see what is short next");
}

/// If no request waited for another one, none waited for a slot.
pub(super) const NO_REQUEST_QUEUED: Refutation = Refutation {
    when: "the fastest answer took 85 % of the mean or more, and the first answers were not slower, so requests did not wait for each other",
    is_read: |evidence| evidence.is_uncontended(),
};

pub(super) const POOL: Rule = Rule {
    finds: &[Resource::POOL, Resource::LOCK],
    when: "more requests were in flight than a process has connections to one address, which were all busy; or than a whole number of its \
           threads, which slept nearly all the time; or all of them were held by threads that waited for a whole number of others, which is \
           `lock` if it is one that holds a request itself; or half of them waited to be accepted, in a queue with room, while threads of the \
           system wanted less than 0.75 cores. Threads are no pool where answers per second × p50 is less than half of the requests in flight",
    why: "all slots are taken while requests wait. A thread of a runtime that sleeps by itself looks like a pool of one, which is named \
          only if the process has no other thread, or if connections wait to be accepted. Where a few long requests are most of those in flight, \
          as with long polls, their threads wait by design",
    refuted_by: &[NO_REQUEST_QUEUED, COMPUTES_ON_ALL_CORES],
    rung: Rung::Kernel,
    covers: Coverage::Runs,
    find: pool,
};

/// Identifies a pool by its connections, its threads, or a queue in front of it. Throughput and response times alone do
/// not identify one, because many other resources let a few requests proceed at a time.
fn pool(evidence: &Evidence<'_>) -> Option<Bottleneck> {
    pool_by_connections(evidence).or_else(|| pool_by_threads(evidence)).or_else(|| pool_by_queue(evidence))
}

/// Returns whether an accept queue is at least half full, or connections were dropped. A full queue is a limit of its
/// own.
fn overflows(evidence: &Evidence<'_>) -> bool {
    evidence.listen_queue().is_some_and(|[waiting, limit]| waiting >= MAJORITY_SHARE * limit)
        || evidence.sum(|signals| signals.listen_overflows).is_some_and(|dropped| dropped >= 1.0)
}

/// Reports a queue in front of the system: workers that accept no connection although cores are idle are all in use.
fn pool_by_queue(evidence: &Evidence<'_>) -> Option<Bottleneck> {
    let (port, queued) = evidence.longest_queue()?;
    let in_flight = evidence.in_flight()?;
    let [ran, waited] = evidence.ran_and_waited()?;
    let is_full = overflows(evidence);
    let is_short = ran + waited >= UNSATURATED_MAX_SHARE
        || evidence.is_exhausted()
        || evidence.other_sleep_share() >= MAJORITY_SHARE;
    let is_of_the_load =
        in_flight >= QUEUE_MIN && (MAJORITY_SHARE * in_flight..=in_flight + 1.0).contains(&queued);
    if !is_of_the_load || is_full || is_short {
        return None;
    }
    let because = format!(
        "{} connections waited to be accepted at {port} on average, of {} {} in flight, though its workers hardly computed{}",
        decimal(queued, 0),
        decimal(in_flight, 1),
        many(evidence.together.unit),
        cpu_in_brackets(evidence)
    );
    let cause = suspected(Resource::POOL, Scope::System, because).indirect(Some(queued / in_flight));
    Some(cause.next(format!("give the process that listens at {port} more workers or threads")))
}

/// Returns the share of the response time spent waiting for one of `places` slots; `None` if too few requests are in
/// flight.
fn waiting(evidence: &Evidence<'_>, places: f64) -> Option<f64> {
    let in_flight = evidence.in_flight()?;
    (in_flight >= WAITING_MIN[0] * places + WAITING_MIN[1]).then(|| 1.0 - places / in_flight)
}

fn pool_by_connections(evidence: &Evidence<'_>) -> Option<Bottleneck> {
    let all = evidence.workers();
    let pools = all.iter().flat_map(|(name, workers)| {
        workers.connections.iter().map(move |(address, open)| (name, workers, address, *open))
    });
    let is_taken = |name: &str, workers: &Workers, address: &str, places: f64| {
        let reads = workers.dependencies.get(address).copied().unwrap_or(0.0);
        let busy =
            [busy_in_callee(evidence, &all, name, address, places), active_at(evidence, &all, name, address)];
        let range = CONNECTIONS_BUSY_MIN_SHARE * places..=places * (1.0 + PACE_MAX_OFF_SHARE) + 0.5;
        reads >= CONNECTIONS_BUSY_MIN_SHARE * places
            || busy.into_iter().flatten().any(|busy| range.contains(&busy))
    };
    let full = pools.filter(|(name, workers, address, open)| {
        let places = open.round();
        places >= 1.0
            && (open - places).abs() <= 0.05 * places + 0.05
            && is_taken(name, workers, address, places)
    });
    let waiting = |(name, _, address, open): (_, _, _, f64)| {
        Some((name, address, open.round(), waiting(evidence, open.round())?))
    };
    let (name, address, places, share) = full.filter_map(waiting).max_by(|a, b| a.3.total_cmp(&b.3))?;
    let because = format!(
        "{name} has {} to {address}, {} busy, while {} {} were in flight on average{}",
        connections(places),
        if places == 1.0 { "always" } else { "all" },
        decimal(evidence.in_flight()?, 1),
        many(evidence.together.unit),
        cpu_in_brackets(evidence)
    );
    let cause = suspected(Resource::POOL, Scope::Process(name.clone()), because).direct(Some(share));
    Some(cause.and(confirming_pace(evidence, places)).next(more_connections(name, places, address)))
}

fn more_connections(name: &str, places: f64, address: &str) -> String {
    let open = connections(places);
    format!("let {name} open more than {open} to {address}, and see whether it serves them as fast")
}

fn connections(number: f64) -> String {
    format!("{} {}", decimal(number, 0), if number == 1.0 { "connection" } else { "connections" })
}

/// Returns the number of threads at work in a callee that is a process of the plan; `None` if they may serve one
/// connection together. The kernel does not see replies within a tick, but it sees these threads.
fn busy_in_callee(
    evidence: &Evidence<'_>,
    all: &BTreeMap<String, Workers>,
    caller: &str,
    address: &str,
    places: f64,
) -> Option<f64> {
    let callee = all.get(&evidence.callee(caller, address)?).filter(|_| places >= PLACES_OF_CALLEE_MIN)?;
    let timers = callee.in_state("timer");
    // A single thread in a timer may be one of the runtime. Several are part of the work.
    let idle = if timers <= ONE_TIMER { timers } else { 0.0 };
    Some(callee.asleep() - idle + callee.computing())
}

/// Returns the number of active sessions of the database that is read from inside, if it listens at `address`: if the
/// program there is a known database, or if no other address is called.
fn active_at(
    evidence: &Evidence<'_>,
    all: &BTreeMap<String, Workers>,
    caller: &str,
    address: &str,
) -> Option<f64> {
    let program = evidence.callee(caller, address);
    let is_known = program.is_some_and(|program| databases::scheme_of_program(&program).is_some());
    let is_only =
        || all.values().flat_map(|workers| workers.connections.keys()).all(|called| called == address);
    let active = evidence.signal(|signals| Some(signals.inside.as_ref()?.active));
    active.filter(|_| is_known || is_only())
}

fn pool_by_threads(evidence: &Evidence<'_>) -> Option<Bottleneck> {
    let FullPool { name, threads, places, asleep, share, is_sure, turns } = full_threads(evidence)?;
    if let Some(Turns { waiting, .. }) = turns.filter(|turns| turns.holds_one && places == 1.0) {
        return one_request_at_a_time(evidence, name, threads, waiting);
    }
    let because = format!(
        "{} of {} threads of {name} were at work at any time, {} of them asleep, while {} {} were in flight on average{}",
        decimal(places, 0),
        decimal(threads, 1),
        decimal(asleep, 1),
        decimal(evidence.in_flight()?, 1),
        many(evidence.together.unit),
        cpu_in_brackets(evidence)
    );
    let waited = turns.map(|turns| {
        let waiting = decimal(turns.waiting, 1);
        format!(
            "{waiting} threads waited for another thread, and nothing else could hold the requests in flight"
        )
    });
    let next = format!("give {name} more than {} workers or threads for requests", decimal(places, 0));
    let cause = suspected(Resource::POOL, Scope::Process(name), because);
    let is_whole = places <= COUNTED_MAX
        || evidence
            .concurrency()
            .is_some_and(|concurrency| (concurrency - places).abs() <= PACE_MAX_OFF_SHARE * places);
    let cause = if is_sure && is_whole { cause.direct(Some(share)) } else { cause.indirect(Some(share)) };
    Some(
        cause
            .and(waited)
            .and(confirming_pace(evidence, places))
            .against(contradicting_pace(evidence, places))
            .next(next),
    )
}

/// Reports threads that take turns: one works on its request, and the threads of all others wait for another thread.
fn one_request_at_a_time(
    evidence: &Evidence<'_>,
    name: String,
    threads: f64,
    waiting: f64,
) -> Option<Bottleneck> {
    let in_flight = evidence.in_flight()?;
    let because = format!(
        "{} of {} threads of {name} waited for another thread, and one at a time was at work, while {} {} were in flight{}",
        decimal(waiting, 1),
        decimal(threads, 1),
        decimal(in_flight, 1),
        many(evidence.together.unit),
        cpu_in_brackets(evidence)
    );
    let cause = suspected(Resource::LOCK, Scope::Process(name), because).indirect(Some(waiting / in_flight));
    let cause = cause.and(confirming_pace(evidence, 1.0)).against(contradicting_pace(evidence, 1.0));
    Some(Bottleneck {
        what: "a lock between threads of the system, or a pool of one",
        ..cause.next(FIND_OWNER)
    })
}

/// Runtimes whose locks the kernel does not show.
const FIND_OWNER: &str = "see what its threads wait for (py-spy dump --pid PID, jstack PID, rbspy, gdb -p PID -batch -ex 'thread apply all bt'), \
                          then hold it for less time or split it";

/// Returns a sentence about threads that always sleep for requests, several at once and as many as the pace of answers
/// confirms, while further requests wait. Those requests do not wait for another thread that always computes.
pub(super) fn sleepers_in_full_use(evidence: &Evidence<'_>) -> Option<String> {
    let full = full_threads(evidence).filter(|full| full.is_sure && full.places > 1.0)?;
    confirming_pace(evidence, full.places)?;
    Some(format!(
        "{} threads of {} slept all the time, and answers came as fast as these alone let them, so requests waited for these",
        decimal(full.places, 0),
        full.name
    ))
}

/// Min factor between throughput × fastest answer and a number of slots at which they contradict each other.
const PACE_CONTRADICTS_FACTOR: f64 = 2.0;

/// Returns a sentence about a pace of answers that rules out a pool of `places` slots. The fastest answer of a cold
/// system is unknown.
fn contradicting_pace(evidence: &Evidence<'_>, places: f64) -> Option<String> {
    let concurrency = evidence.concurrency().filter(|_| !evidence.is_cold_start())?;
    let is_off =
        concurrency * PACE_CONTRADICTS_FACTOR < places || concurrency > places * PACE_CONTRADICTS_FACTOR;
    is_off.then(|| {
        format!(
            "contradiction: throughput × the fastest answer is {}, as if {} were worked on at once, not {}",
            decimal(concurrency, 1),
            decimal(concurrency, 1),
            decimal(places, 0)
        )
    })
}

/// A process whose threads were all in use.
struct FullPool {
    name: String,
    /// Number of the process's threads.
    threads: f64,
    /// Number of threads that hold requests.
    places: f64,
    /// Number of sleeping threads that hold requests.
    asleep: f64,
    /// Share of the response time spent waiting for a thread.
    share: f64,
    /// Whether the threads slept for something that only a request needs.
    is_sure: bool,
    /// Threads that hold the other requests; `None` if these are not known.
    turns: Option<Turns>,
}

/// Threads of a process that hold all requests in flight and wait for each other.
#[derive(Clone, Copy)]
struct Turns {
    /// Number of threads that waited for another thread without a time limit.
    waiting: f64,
    /// Whether the thread at work holds one of the requests itself, as that which holds a lock does.
    holds_one: bool,
}

impl Turns {
    /// Accounts for all requests in flight: threads that wait for another one hold all of them, or all but those of the
    /// `places` threads at work. `None` if they do not, or if another thread may receive requests and hold them.
    fn of(evidence: &Evidence<'_>, workers: &Workers, places: f64) -> Option<Self> {
        let in_flight = evidence.in_flight()?;
        let waiting = workers.in_state("futex") - workers.timed_futex?;
        let read = workers.in_state("socket_read") - workers.dependencies.values().sum::<f64>();
        let receives = workers.in_state("poll") + read.max(0.0);
        let is_near = |held: f64| (in_flight - held).abs() <= COUNT_MAX_OFF;
        let holds_one = is_near(waiting + places);
        // Runtimes that queue waiting threads wake each at an address of its own. Idle threads of a pool often share one.
        let is_queued = workers.same_futex < SHARED_FUTEX_MIN;
        let is_counted = is_queued && waiting >= MAJORITY_SHARE * in_flight && receives < RECEIVING_MAX;
        (is_counted && (holds_one || is_near(waiting))).then_some(Self { waiting, holds_one })
    }
}

/// Returns whether typical answers (p50) account for half of the requests in flight. Otherwise most requests in flight are a
/// few long ones, whose threads may wait by design, as those of long polls do.
fn is_typical(evidence: &Evidence<'_>, in_flight: f64) -> bool {
    let typical_ns = evidence.pace(|pace| Some(pace.ok_ns?[1]));
    let typical = typical_ns.zip(evidence.ended_per_s()).map(|(ns, per_s)| per_s * ns / 1e9);
    typical.is_none_or(|typical| typical >= TYPICAL_MIN_SHARE * in_flight)
}

/// Returns the number of requests that threads work on at a time, if it is a whole number by two counts: requests in flight
/// that no waiting thread holds, and throughput × the fastest answer.
fn in_turn(evidence: &Evidence<'_>, workers: &Workers) -> Option<f64> {
    let waiting = workers.in_state("futex") - workers.timed_futex?;
    let places = (evidence.in_flight()? - waiting).round();
    let is_at_work =
        workers.asleep() + workers.timed_futex? + workers.computing() >= SLOTS_BUSY_MIN_SHARE * places;
    confirming_pace(evidence, places).filter(|_| places >= 1.0 && is_at_work)?;
    Turns::of(evidence, workers, places).filter(|turns| turns.holds_one).map(|_| places)
}

fn full_threads(evidence: &Evidence<'_>) -> Option<FullPool> {
    let in_flight = evidence.in_flight()?;
    let all = evidence.workers();
    let full = all.iter().filter_map(|(name, workers)| {
        let queued = evidence.queued();
        let is_queued = |places: f64| queued >= 1.0 && queued >= QUEUED_MIN_SHARE * (in_flight - places);
        let places_of = |asleep| places_of(workers, asleep, is_queued);
        let sleeps = places_of(workers.asleep());
        let connections: f64 = workers.connections.values().sum();
        // A request may also be at a peer while threads wait for work, or be held by a thread that waits for a lock.
        let elsewhere = connections.max(workers.in_state("futex"));
        let accounts = |places: &f64| Turns::of(evidence, workers, *places).is_some();
        let is_known = elsewhere < MAJORITY_SHARE * in_flight;
        let by_time = || {
            let asleep = workers.asleep() + workers.timed_futex?;
            places_of(asleep).filter(|places| is_known || accounts(places))
        };
        let (places, asleep) = match sleeps {
            Some(places) => (places, workers.asleep()),
            None => {
                let asleep = workers.asleep() + workers.timed_futex.unwrap_or(0.0);
                (by_time().or_else(|| in_turn(evidence, workers))?, asleep)
            }
        };
        // Threads in other system calls may wait for a file lock or for a child.
        let held = asleep + workers.computing() + workers.in_state("other");
        let is_held_by_none = in_flight - held >= UNHELD_MIN_SHARE * in_flight;
        // A single sleeping thread may belong to the runtime, or hold a lock. It holds the requests if the process has
        // no other thread, or if connections wait to be accepted.
        let is_lock = workers.same_futex >= MAJORITY_SHARE * in_flight;
        let is_alone = workers.all() <= LONE_THREAD_MAX || is_queued(places);
        let turns = Turns::of(evidence, workers, places);
        // All other requests may wait for a thread that holds none itself, if answers come as fast as that one lets them.
        let is_turn = |turns: &Turns| turns.holds_one || confirming_pace(evidence, places).is_some();
        let is_of_requests = places > 1.0 || is_alone && !is_lock || turns.as_ref().is_some_and(is_turn);
        // Threads that wait for a held lock do not wait for a slot, even if many others sleep after they held it.
        let is_held_up = held_lock::waiters(evidence, name) >= MAJORITY_SHARE * in_flight;
        let share = waiting(evidence, places).filter(|_| !is_held_up && is_typical(evidence, in_flight))?;
        let full = FullPool {
            name: name.clone(),
            threads: workers.all(),
            places,
            asleep,
            share,
            is_sure: sleeps.is_some(),
            turns,
        };
        (is_held_by_none && is_of_requests).then_some(full)
    });
    full.max_by(|a, b| a.share.total_cmp(&b.share))
}

/// Returns the number of threads of a process that hold requests, if it is a whole number and none was idle. If
/// connections wait to be accepted, an idle thread is about to accept one.
fn places_of(workers: &Workers, asleep: f64, is_queued: impl Fn(f64) -> bool) -> Option<f64> {
    let places = (asleep - 0.05).ceil();
    let free = if is_queued(places) { SLOTS_FREE_MAX_SHARE } else { 0.02 };
    let is_full = places >= 1.0
        && asleep >= SLOTS_BUSY_MIN_SHARE * places
        && asleep + workers.computing() >= places - (free * places).max(0.1);
    // Threads that sleep for a disk, a pipe, or a connect are not the shortage; that resource is.
    let is_other = [workers.in_state("disk"), workers.in_state("pipe_write"), workers.in_state("connect")]
        .iter()
        .any(|asleep_in| *asleep_in >= OTHER_SLEEP_MIN_SHARE * asleep);
    (is_full && !is_other).then_some(places)
}

/// Returns a sentence about the pace of answers, if it confirms the number of slots.
fn confirming_pace(evidence: &Evidence<'_>, places: f64) -> Option<String> {
    let is_near =
        |concurrency: &f64| (concurrency - places).abs() <= (PACE_MAX_OFF_SHARE * places).max(PACE_MAX_OFF);
    evidence.concurrency().filter(is_near).and_then(|_| pace_of(evidence))
}

fn pace_of(evidence: &Evidence<'_>) -> Option<String> {
    let (concurrency, fastest_ns) = (evidence.concurrency()?, evidence.pace(|pace| pace.fastest_ns)?);
    Some(format!(
        "the fastest answer took {}, so that {} at once are enough for this throughput, while {} were in flight on average",
        duration(fastest_ns),
        decimal(concurrency, 1),
        decimal(evidence.in_flight()?, 1)
    ))
}
