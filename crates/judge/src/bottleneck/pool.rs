//! A pool: workers, connections, or places, all taken while requests wait for one.

use super::cause::{Bottleneck, Refutation, Scope, suspected};
use super::evidence::Evidence;
use super::unknown::disturbance;
use super::words::cpu_in_brackets;
use super::{Covers, ROOMY, Rule};
use crate::causes::Resource;
use crate::waits::Workers;
use crate::words::{counted, decimal, duration, many};

/// Of the places of a pool, those that are taken where requests wait for one.
const TAKEN: f64 = 0.9;
/// The same of connections, which are also given back and taken.
const CONNECTIONS_TAKEN: f64 = 0.8;
/// Requests in flight for each place, at least, and so many more.
const WAITING: [f64; 2] = [1.25, 0.5];
/// Of the requests in flight, those that no thread of the process holds, at least.
const HELD_BY_NONE: f64 = 0.2;
/// So near to a whole number is no chance, up to so many.
const WHOLE: f64 = 0.12;
const WHOLE_MAX: f64 = 4.0;
/// The same of answers that take about equally long, p90 − p10 of p50: as those of one queue do.
const NEARLY_WHOLE: f64 = 0.25;
const NEARLY_EVEN: f64 = 1.0;
/// So even are only answers of one queue, where they take longer than the fastest.
const EVEN: f64 = 0.3;
/// What a pool of one does at once. A single thread that sleeps may also have nothing to do with requests.
const ONE: std::ops::RangeInclusive<f64> = 0.6..=1.15;
/// The same where the fastest answer was one of the first: a system that begins cold takes longer for it.
const ONE_AND_COLD: std::ops::RangeInclusive<f64> = 0.6..=1.35;
/// Places that are free for a moment while others wait for one, as a share.
const FREE_FOR_A_MOMENT: f64 = 0.1;
/// Of the requests that have no place, those that wait to be accepted.
const QUEUED: f64 = 0.7;
/// Beyond, the next whole number is so near that every figure looks whole.
const COUNTED_MAX: f64 = 8.0;
/// Of a whole number of connections, how far throughput × the fastest answer may be off.
const NEAR: f64 = 0.15;
/// So many times as long the fastest answer may take, where it was the first of a system that begins cold.
const FASTEST_IS_COLD: f64 = 1.75;
/// The same where answers are even, so that the fastest waited in the queue, too.
const FASTEST_IS_QUEUED: f64 = 2.5;
/// So many times as many requests in flight are a queue, whatever the fastest answer was.
const MANY: f64 = 2.5;
/// Cores that each place may use, where a request in it sleeps.
const COMPUTES: f64 = 0.3;
/// A part of something that is no chance.
const SOME: f64 = 0.25;
/// Most of something.
const MOST: f64 = 0.5;
/// Of fewer requests in flight, a connection that waits to be accepted is chance.
const QUEUE_MIN: f64 = 2.0;

impl Resource {
    /// A fixed number of workers or connections.
    pub const POOL: Self = Self::new("pool", "pool of workers or connections of the system")
        .next("raise the limit on workers or connections, and see what is short next");
}

/// Then no request waited for a place.
pub(super) const NOBODY_QUEUED: Refutation = Refutation {
    when: "the fastest answer took 85 % of the mean or more, and the first answers were not slower, so requests did not wait for each other",
    is_read: |evidence| evidence.is_uncontended(),
};

pub(super) const POOL: Rule = Rule {
    finds: &[Resource::POOL],
    when: "more requests were in flight than a process has connections to one address, which were all busy; or than a whole number of its \
           threads, which slept nearly all the time; or than a whole number up to 4, which throughput × the fastest answer amounts to (to 0.3 or 15 % \
           if p90 − p10 of the answers is at most 30 % of p50, which then may be above 4, if 2.5 times as many were in flight); or 2.5 times as \
           many as an event loop has connections to one address, 1 to 4, of which that is 0.85 to 1.75 times as many (2.5 if answers are even); or half of them waited to be \
           accepted, in a queue with room, while threads of the system wanted less than 0.75 cores",
    why: "by Little's law a pool of n works on n requests at once, and the others wait. A thread of a runtime that sleeps by itself \
          looks like a pool of one: throughput × the fastest answer must be one, too",
    refuted_by: &[NOBODY_QUEUED],
    covers: Covers::Runs,
    find: pool,
};

/// What is seen in connections and threads comes before what throughput suggests.
fn pool(evidence: &Evidence<'_>) -> Option<Bottleneck> {
    let sure = of_connections(evidence).or_else(|| of_threads(evidence)).or_else(|| of_queue(evidence));
    sure.or_else(|| of_connections_of_a_loop(evidence)).or_else(|| of_pace(evidence))
}

/// Whether a queue of connections is nearly full, or connections were dropped: that is a limit of its own.
fn overflows(evidence: &Evidence<'_>) -> bool {
    evidence.listen_queue().is_some_and(|[waiting, limit]| waiting >= MOST * limit)
        || evidence.sum(|signals| signals.listen_overflows).is_some_and(|dropped| dropped >= 1.0)
}

/// Workers that take no connection although cores are idle are all taken.
fn of_queue(evidence: &Evidence<'_>) -> Option<Bottleneck> {
    let (port, queued) = evidence.longest_queue()?;
    let in_flight = evidence.in_flight()?;
    let [ran, waited] = evidence.ran_and_waited()?;
    let is_full = overflows(evidence);
    let is_short = ran + waited >= ROOMY || evidence.is_exhausted() || evidence.slept_elsewhere() >= MOST;
    let is_of_the_load = in_flight >= QUEUE_MIN && (MOST * in_flight..=in_flight + 1.0).contains(&queued);
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

/// The share of the response time that is the wait for one of so many places.
fn waiting(evidence: &Evidence<'_>, places: f64) -> Option<f64> {
    let in_flight = evidence.in_flight()?;
    (in_flight >= WAITING[0] * places + WAITING[1]).then(|| 1.0 - places / in_flight)
}

fn of_connections(evidence: &Evidence<'_>) -> Option<Bottleneck> {
    let all = evidence.workers();
    let pools = all.iter().flat_map(|(name, workers)| {
        workers.connections.iter().map(move |(address, open)| (name, workers, address, *open))
    });
    let is_taken = |workers: &Workers, address: &str, places: f64| {
        let reads = workers.dependencies.get(address).copied().unwrap_or(0.0);
        let active = evidence.signal(|signals| Some(signals.inside.as_ref()?.active));
        let is_active = active.is_some_and(|active| {
            (CONNECTIONS_TAKEN * places..=places * (1.0 + NEAR) + 0.5).contains(&active)
        });
        let is_near = |at_once: f64| places <= COUNTED_MAX && (at_once - places).abs() <= NEAR * places;
        reads >= CONNECTIONS_TAKEN * places || is_active || evidence.at_once().is_some_and(is_near)
    };
    let full = pools.filter(|(_, workers, address, open)| {
        let places = open.round();
        places >= 1.0 && (open - places).abs() <= 0.05 * places + 0.05 && is_taken(workers, address, places)
    });
    let waiting = |(name, _, address, open): (_, _, _, f64)| {
        Some((name, address, open.round(), waiting(evidence, open.round())?))
    };
    let (name, address, places, share) = full.filter_map(waiting).max_by(|a, b| a.3.total_cmp(&b.3))?;
    let because = format!(
        "{name} has {} connections to {address}, all busy, while {} {} were in flight on average{}",
        decimal(places, 0),
        decimal(evidence.in_flight()?, 1),
        many(evidence.together.unit),
        cpu_in_brackets(evidence)
    );
    let cause = suspected(Resource::POOL, Scope::Process(name.clone()), because).direct(Some(share));
    Some(cause.and(pace_for(evidence, places)).next(more_connections(name, places, address)))
}

fn more_connections(name: &str, places: f64, address: &str) -> String {
    let places = decimal(places, 0);
    format!(
        "let {name} open more than {places} connections to {address}, and see whether it serves them as fast"
    )
}

/// An event loop has no thread at a connection that would tell that it is busy.
fn of_connections_of_a_loop(evidence: &Evidence<'_>) -> Option<Bottleneck> {
    let (at_once, in_flight, all) = (evidence.at_once()?, evidence.in_flight()?, evidence.workers());
    let loops =
        all.iter().filter(|(_, workers)| workers.in_state("poll") >= MOST && workers.at_work() < MOST);
    let pools = loops.flat_map(|(name, workers)| {
        workers.connections.iter().map(move |(address, open)| (name, address, *open, open.round()))
    });
    // The fastest answer took longer than an answer of the pool.
    let is_even = evidence.spread().is_some_and(|spread| spread <= EVEN);
    let most = if is_even { FASTEST_IS_QUEUED } else { FASTEST_IS_COLD };
    let fits = |places: f64| (places * (1.0 - NEAR)..=places * most).contains(&at_once);
    let full = pools.filter(|(_, _, open, places)| {
        let is_whole = (1.0..=WHOLE_MAX).contains(places) && (open - places).abs() <= 0.05 * places;
        is_whole
            && fits(*places)
            && in_flight >= MANY * places
            && evidence.slept_elsewhere() < MOST
            && !evidence.is_exhausted()
    });
    let full = full
        .filter_map(|(name, address, _, places)| Some((name, address, places, waiting(evidence, places)?)));
    let (name, address, places, share) = full.max_by(|one, other| one.3.total_cmp(&other.3))?;
    let because = format!(
        "{name} waited for events, and has {} connections to {address}, while {} {} were in flight on average{}",
        decimal(places, 0),
        decimal(in_flight, 1),
        many(evidence.together.unit),
        cpu_in_brackets(evidence)
    );
    let cause = suspected(Resource::POOL, Scope::Process(name.clone()), because).indirect(Some(share));
    Some(cause.and(pace_for(evidence, places)).next(more_connections(name, places, address)))
}

fn of_threads(evidence: &Evidence<'_>) -> Option<Bottleneck> {
    let in_flight = evidence.in_flight()?;
    let all = evidence.workers();
    let full = all.iter().filter_map(|(name, workers)| {
        let queued = evidence.queued();
        let is_queued = |places: f64| queued >= 1.0 && queued >= QUEUED * (in_flight - places);
        let places_of = |asleep| places_of(workers, asleep, is_queued);
        let sleeps = places_of(workers.asleep());
        let connections: f64 = workers.connections.values().sum();
        // Requests may also be on their way to a peer while threads wait for work, or held by threads that wait for a lock.
        let elsewhere = connections.max(workers.in_state("futex"));
        let timed = || workers.timed_futex.filter(|_| elsewhere < MOST * in_flight);
        let by_time = || places_of(workers.asleep() + timed()?);
        let (places, asleep) = match sleeps {
            Some(places) => (places, workers.asleep()),
            None => (by_time()?, workers.asleep() + workers.timed_futex.unwrap_or(0.0)),
        };
        // Those in other calls may wait for a lock of a file, or for a child.
        let held = asleep + workers.computing() + workers.in_state("other");
        let is_held_by_none = in_flight - held >= HELD_BY_NONE * in_flight;
        // One that sleeps while all others wait for it holds a lock.
        let is_lock = places <= 1.0 && workers.same_futex >= MOST * in_flight;
        let one = if evidence.began_slowly() { ONE_AND_COLD } else { ONE };
        let is_one = places > 1.0
            || workers.computing() < MOST && evidence.at_once().is_some_and(|at_once| one.contains(&at_once));
        let share = waiting(evidence, places)?;
        let full = Full { name, workers, places, asleep, share, is_sure: sleeps.is_some() };
        (is_held_by_none && !is_lock && is_one).then_some(full)
    });
    let Full { name, workers, places, asleep, share, is_sure } =
        full.max_by(|a, b| a.share.total_cmp(&b.share))?;
    let because = format!(
        "{} of {} threads of {name} were at work at any time, {} of them asleep, while {} {} were in flight on average{}",
        decimal(places, 0),
        decimal(workers.all(), 1),
        decimal(asleep, 1),
        decimal(in_flight, 1),
        many(evidence.together.unit),
        cpu_in_brackets(evidence)
    );
    let cause = suspected(Resource::POOL, Scope::Process(name.clone()), because);
    let is_whole = places <= COUNTED_MAX
        || evidence.at_once().is_some_and(|at_once| (at_once - places).abs() <= NEAR * places);
    let cause = match is_sure && is_whole {
        _ if places <= 1.0 && evidence.moves_among_threads() => cause.indirect(Some(MOST * share)),
        true => cause.direct(Some(share)),
        false => cause.indirect(Some(share)),
    };
    Some(
        cause
            .and(pace_for(evidence, places))
            .next(format!("give {name} more than {} workers or threads for requests", decimal(places, 0))),
    )
}

/// Threads of a process that were all taken.
struct Full<'a> {
    name: &'a String,
    workers: &'a Workers,
    places: f64,
    asleep: f64,
    share: f64,
    /// Whether they slept for something that only a request needs.
    is_sure: bool,
}

/// How many threads of a process hold requests, if it is a whole number, and none of them had nothing to do. Where connections wait to
/// be accepted, one that has nothing to do is about to accept one.
fn places_of(workers: &Workers, asleep: f64, is_queued: impl Fn(f64) -> bool) -> Option<f64> {
    let places = (asleep - 0.05).ceil();
    let free = if is_queued(places) { FREE_FOR_A_MOMENT } else { 0.02 };
    let is_full = places >= 1.0
        && asleep >= TAKEN * places
        && asleep + workers.computing() >= places - (free * places).max(0.1);
    // What they sleep for is short, and not they.
    let is_other = [workers.in_state("disk"), workers.in_state("pipe_write"), workers.in_state("connect")]
        .iter()
        .any(|asleep_in| *asleep_in >= SOME * asleep);
    (is_full && !is_other).then_some(places)
}

/// Whether a figure is a whole number that is no chance.
fn is_whole_number(at_once: f64) -> bool {
    (1.0..=WHOLE_MAX).contains(&at_once.round()) && (at_once - at_once.round()).abs() <= WHOLE
}

/// How many requests went on at once where others disturb a run: by Little's law on the tenth of the answers that they held up least,
/// if half of all answers took about as long.
fn at_once_undisturbed(evidence: &Evidence<'_>) -> Option<f64> {
    disturbance(evidence)?;
    let [low, middle] = [0, 1].map(|place| evidence.pace(move |pace| Some(pace.ok_ns?[place])));
    let low = low.filter(|low| middle.is_some_and(|middle| *low >= (1.0 - NEAR) * middle))?;
    let at_once = evidence.in_flight()? * evidence.pace(|pace| pace.fastest_ns)? / low;
    Some(at_once).filter(|at_once| *at_once > 1.5 && is_whole_number(*at_once) && !evidence.began_slowly())
}

fn of_pace(evidence: &Evidence<'_>) -> Option<Bottleneck> {
    let by_all = evidence.at_once()?;
    let undisturbed = at_once_undisturbed(evidence).filter(|_| !is_whole_number(by_all));
    let at_once = undisturbed.unwrap_or(by_all);
    let places = at_once.round();
    let share = waiting(evidence, places)?;
    let computes = evidence.ran_and_waited().map(|[ran, waited]| ran + waited)?;
    let off = (at_once - places).abs();
    let is_whole = is_whole_number(at_once);
    let spread = evidence.spread().unwrap_or(f64::INFINITY);
    // Who waits in one queue waits about as long as others. Then the number need not be met: the fastest answer was disturbed.
    let is_one_queue = places >= 1.0
        && (spread <= EVEN && off <= (NEAR * places).max(2.0 * NEAR)
            || spread <= NEARLY_EVEN && off <= NEARLY_WHOLE && places > 1.0)
        && at_once <= WHOLE_MAX + MOST
        && !overflows(evidence);
    // A lock lets one through at a time, too.
    let slept = match places <= 1.0 {
        true => at_locks(evidence).max(evidence.slept_elsewhere()),
        false if is_whole => evidence.asleep_in_database(),
        false => evidence.slept_elsewhere(),
    };
    let is_pool = is_whole || is_one_queue || is_long_queue(evidence, at_once, spread, computes);
    if !is_pool || computes > COMPUTES * places || slept >= MOST || evidence.is_exhausted() {
        return None;
    }
    // Requests that hold each other up in changing threads are rather at a lock.
    let share = if places <= 1.0 && evidence.moves_among_threads() { MOST * share } else { share };
    // A fastest answer that was held up, too, makes the number too large.
    let is_counted = is_whole && (!evidence.began_slowly() || many_are_fastest(evidence));
    let (pace, through) = match is_counted {
        true if undisturbed.is_some() => (
            format!(
                "{}, by the tenth of the answers that others held up least",
                pace_without_number(evidence)?
            ),
            counted(places as u64, evidence.together.unit),
        ),
        true => (pace_of(evidence)?, counted(places as u64, evidence.together.unit)),
        false => (pace_without_number(evidence)?, format!("only a few {}", many(evidence.together.unit))),
    };
    let because = format!("{pace}{}", cpu_in_brackets(evidence));
    let cause = suspected(Resource::POOL, Scope::System, because).indirect(Some(share));
    Some(cause.next(format!(
        "find what lets {through} through at a time (workers, connections, a semaphore), and raise it"
    )))
}

/// Whether answers wait in one queue for more places than can be counted by the pace, though hardly anything computes.
fn is_long_queue(evidence: &Evidence<'_>, at_once: f64, spread: f64, computes: f64) -> bool {
    let is_long = evidence.in_flight().is_some_and(|in_flight| in_flight >= MANY * at_once);
    let is_sent_slowly = evidence.transfer().is_some_and(|share| share >= MOST);
    at_once > WHOLE_MAX
        && is_long
        && spread <= EVEN
        && computes < ROOMY
        && !is_sent_slowly
        && !overflows(evidence)
}

/// Whether so many answers took about as long as the fastest that it was not held up.
fn many_are_fastest(evidence: &Evidence<'_>) -> bool {
    let fastest_ns = evidence.pace(|pace| pace.fastest_ns);
    evidence
        .pace(|pace| pace.quick_ns)
        .zip(fastest_ns)
        .is_some_and(|(quick, fastest)| quick <= (1.0 + NEAR) * fastest)
}

/// The same where the fastest answer may have been held up.
fn pace_without_number(evidence: &Evidence<'_>) -> Option<String> {
    let (fastest_ns, ok_ns) = (evidence.pace(|pace| pace.fastest_ns)?, evidence.together.ok_ns?);
    Some(format!(
        "the fastest answer took {}, the mean one {}, as in one queue: fewer {} went on at once than the {} in flight",
        duration(fastest_ns),
        duration(ok_ns),
        many(evidence.together.unit),
        decimal(evidence.in_flight()?, 1)
    ))
}

/// How fast it was answered, if that tells the same number of places.
fn pace_for(evidence: &Evidence<'_>, places: f64) -> Option<String> {
    let is_near = |at_once: &f64| (at_once - places).abs() <= (NEAR * places).max(NEARLY_WHOLE);
    evidence.at_once().filter(is_near).and_then(|_| pace_of(evidence))
}

/// Of the requests in flight, those whose threads may wait for a lock.
fn at_locks(evidence: &Evidence<'_>) -> f64 {
    let of_locks = |workers: &Workers| workers.in_state("futex") + workers.in_state("other");
    let waiting = evidence.workers().values().map(of_locks).sum();
    evidence.of_in_flight(waiting).unwrap_or(0.0)
}

fn pace_of(evidence: &Evidence<'_>) -> Option<String> {
    let (at_once, fastest_ns) = (evidence.at_once()?, evidence.pace(|pace| pace.fastest_ns)?);
    Some(format!(
        "the fastest answer took {}, so that {} at once are enough for this throughput, while {} were in flight on average",
        duration(fastest_ns),
        decimal(at_once, 1),
        decimal(evidence.in_flight()?, 1)
    ))
}
