//! Waits of the threads that carry requests.

use std::collections::BTreeMap;

use super::cause::{Bottleneck, Scope, suspected};
use super::dependencies::DATABASE_SAYS_WHY;
use super::disks::NOTHING_WAITED;
use super::evidence::Evidence;
use super::load::RESOURCE_SATURATED;
use super::words::{cpu_in_brackets, percent};
use super::{Coverage, LIMIT_REACHED_MIN_SHARE, Rule, Rung};
use crate::causes::Resource;
use crate::waits::Workers;
use crate::words::{decimal, many};

/// Min share of a process's threads, or of requests in flight, that waits for a resource.
const WAITING_MIN_SHARE: f64 = 2.0 / 3.0;
/// Half of the threads at work.
const HALF: f64 = 0.5;
/// Min mean number of threads that is not noise.
const THREADS_MIN: f64 = 0.5;
/// Min mean number of waiting threads if the process has one thread at work, which all requests wait for.
const LONE_WORKER_MIN: f64 = 0.3;
/// Max mean number of threads at work if one thread does all the work.
const ONE_WORKER_MAX: f64 = 1.25;
/// Number of threads in timers that may hold no request.
const ONE_TIMER: f64 = 1.0;
/// Remark against waits between threads: the awaited thread may lack a core.
const EXHAUSTED: &str = "a thread of the system or all cores were busy: what is waited for may lack a core";
/// Max number of states that a sentence mentions.
const STATES_MAX: usize = 3;

impl Resource {
    /// A lock between threads of a process.
    pub const LOCK: Self = Self::new("lock", "lock between threads of the system").next(
        "find the lock (gdb -p PID -batch -ex 'thread apply all bt'), then hold it for less time or split it",
    );
    /// A full pipe with a slow reader, usually of a log.
    pub const LOG_PIPE: Self = Self::new("log_pipe", "a full pipe, as of a log")
        .next("log less, log to a file, or make the reader of the pipe faster");
    /// A service that the system calls as a client.
    pub const DEPENDENCY: Self = Self::new("dependency", "what the system calls")
        .next("measure what it calls by itself, and how long one call takes");
}

pub(super) const DISKS_OF_THREADS: Rule = Rule {
    finds: &[Resource::DISK],
    when: "half of the threads of the system that were at work and had a core slept for a disk, or one that does all the work did for 30 % of the time \
           and half of its work, and something waited for disks 20 % of the time; where waiting is not reported, the threads suffice. One \
           thread in a timer is left out",
    why: "a disk with a limit, or one that has to confirm each write, makes threads wait long before it is busy. Requests that wait for the \
          only thread at work wait for what it sleeps for. A thread in a timer may be one of the runtime, or look again and again whether a \
          lock is free",
    refuted_by: &[NOTHING_WAITED],
    rung: Rung::Kernel,
    covers: Coverage::Any,
    find: disks_of_threads,
};

fn disks_of_threads(evidence: &Evidence<'_>) -> Option<Bottleneck> {
    let pressure = evidence.disk_pressure();
    let workers = evidence.workers();
    let sum = |figure: fn(&Workers) -> f64| workers.values().map(figure).sum::<f64>();
    let asleep = sum(|workers| workers.in_state("disk"));
    let at_work = sum(Workers::at_work) - sum(|workers| workers.in_state("timer")).min(ONE_TIMER);
    // A runnable thread lacks a core, independently of its work.
    let at_work_on_a_core = at_work - sum(|workers| workers.in_state("runnable"));
    let calls_nobody = sum(|workers| workers.connections.values().sum()) < THREADS_MIN;
    let is_only = asleep >= LONE_WORKER_MIN && at_work <= ONE_WORKER_MAX && calls_nobody;
    if asleep < THREADS_MIN && !is_only || asleep < HALF * at_work_on_a_core {
        return None;
    }
    let waited = pressure
        .map_or_else(String::new, |pressure| format!(", and {} of the time", pressure.words("disks")));
    let because = format!(
        "on average {} of its {} threads at work slept for a disk{waited}",
        decimal(asleep, 1),
        decimal(at_work, 1)
    );
    // If one thread does all the work, requests wait for the disk that it sleeps for.
    let of_only = is_only.then(|| (asleep / at_work).min(1.0));
    let share = [evidence.in_flight_share(asleep), of_only].into_iter().flatten().reduce(f64::max);
    Some(suspected(Resource::DISK, Scope::System, because).direct(share))
}

pub(super) const FULL_LOG_PIPE: Rule = Rule {
    finds: &[Resource::LOG_PIPE],
    when: "half of the threads of a process that were at work, without one that slept, were blocked in a write to a pipe",
    why: "a pipe that is full blocks whoever writes into it until its reader has read",
    refuted_by: &[],
    rung: Rung::Kernel,
    covers: Coverage::Any,
    find: full_log_pipe,
};

fn full_log_pipe(evidence: &Evidence<'_>) -> Option<Bottleneck> {
    let all = evidence.workers();
    let blocked = |workers: &Workers| workers.in_state("pipe_write");
    let (name, workers) = all.iter().max_by(|(_, a), (_, b)| blocked(a).total_cmp(&blocked(b)))?;
    // A runtime thread may sleep without a request.
    let at_work = workers.at_work() - workers.in_state("timer").min(ONE_TIMER);
    if blocked(workers) < THREADS_MIN || blocked(workers) < HALF * at_work {
        return None;
    }
    let because = format!(
        "on average {} of the {} threads of {name} at work were blocked in a write to a pipe{}",
        decimal(blocked(workers), 1),
        decimal(workers.at_work(), 1),
        cpu_in_brackets(evidence)
    );
    let share = evidence.in_flight_share(blocked(workers));
    Some(suspected(Resource::LOG_PIPE, Scope::Process(name.clone()), because).direct(share))
}

pub(super) const SLOW_DEPENDENCY: Rule = Rule {
    finds: &[Resource::DEPENDENCY],
    when: "two thirds of the threads of a process, or of its users, waited for a reply on connections that \
           the process had opened to one address",
    why: "its own work is the smaller part of the response time",
    refuted_by: &[DATABASE_SAYS_WHY],
    rung: Rung::Kernel,
    covers: Coverage::Any,
    find: slow_dependency,
};

fn slow_dependency(evidence: &Evidence<'_>) -> Option<Bottleneck> {
    let waiting = evidence.users_at_system().map_or(f64::INFINITY, |[_, waiting]| waiting);
    let all = evidence.workers();
    let reads = all.iter().flat_map(|(name, workers)| {
        workers.dependencies.iter().map(move |(address, reads)| (name, workers, address, *reads))
    });
    let (name, workers, address, reads) = reads.max_by(|a, b| a.3.total_cmp(&b.3))?;
    if reads < THREADS_MIN || reads < WAITING_MIN_SHARE * workers.all().min(waiting) {
        return None;
    }
    let because = format!(
        "on average {} of the {} threads of {name} waited for a reply from {address}{}",
        decimal(reads, 1),
        decimal(workers.all(), 1),
        cpu_in_brackets(evidence)
    );
    let cause = suspected(Resource::DEPENDENCY, Scope::Dependency(address.clone()), because);
    let share = evidence.in_flight_share(reads);
    Some(match evidence.is_exhausted() {
        true => cause.indirect(share).against([EXHAUSTED.to_owned()]),
        false => cause.direct(share),
    })
}

/// Range of an event loop's connections to a peer, per request in flight, if each request awaits a reply on one.
const CONNECTIONS_OF_REQUESTS: std::ops::RangeInclusive<f64> = 0.67..=1.25;
/// Min number of requests in flight. With fewer, an equal number of connections may be a coincidence.
const IN_FLIGHT_MIN: f64 = 2.0;

pub(super) const EVENT_LOOP_DEPENDENCY: Rule = Rule {
    finds: &[Resource::DEPENDENCY],
    when: "two requests in flight or more, and a process whose threads mostly waited for events, for replies, or to connect had 0.67 to 1.25 times as many \
           connections open to one address",
    why: "an event loop waits for the replies of all requests at once, and a connection for each request is closed before its reader is known. \
          A pool of connections that is as large by chance looks like it. At a port of the system itself the cause lies in another of its \
          processes, or in the queue of that port if it is full",
    refuted_by: &[RESOURCE_SATURATED, DATABASE_SAYS_WHY],
    rung: Rung::Kernel,
    covers: Coverage::Any,
    find: event_loop_dependency,
};

fn event_loop_dependency(evidence: &Evidence<'_>) -> Option<Bottleneck> {
    let in_flight = evidence.in_flight().filter(|in_flight| *in_flight >= IN_FLIGHT_MIN)?;
    let all = evidence.workers();
    let loops = all.iter().filter(|(_, workers)| {
        let waiting: f64 =
            ["poll", "socket_read", "connect"].iter().map(|state| workers.in_state(state)).sum();
        let works = workers.at_work() - workers.in_state("connect");
        // Threads at futexes hold their requests themselves.
        let is_held = workers.in_state("futex") >= HALF * in_flight && workers.in_state("futex") > waiting;
        waiting >= THREADS_MIN && works < HALF * in_flight.min(workers.all()) && !is_held
    });
    let of_loops = loops.flat_map(|(name, workers)| {
        workers.connections.iter().map(move |(address, connections)| (name, address, *connections))
    });
    let (name, address, connections) = of_loops
        .filter(|(_, _, connections)| CONNECTIONS_OF_REQUESTS.contains(&(connections / in_flight)))
        .max_by(|one, other| one.2.total_cmp(&other.2))?;
    let because = format!(
        "{name} waited for {}, and had {} connections open to {address} for {} requests in flight{}",
        if all[name].in_state("poll") >= THREADS_MIN { "events" } else { "replies" },
        decimal(connections, 1),
        decimal(in_flight, 1),
        cpu_in_brackets(evidence)
    );
    let cause = suspected(Resource::DEPENDENCY, Scope::Dependency(address.clone()), because);
    let own_queue = evidence.queued_at(address);
    let is_full =
        evidence.listen_queue().is_some_and(|[waiting, limit]| waiting >= LIMIT_REACHED_MIN_SHARE * limit);
    if is_full && own_queue.is_some_and(|queued| queued >= 1.0) {
        return None;
    }
    // If the peer is a process of the system, the cause of that process's own wait is more specific than the wait for
    // it.
    let share = connections / in_flight * if own_queue.is_some() { HALF } else { 1.0 };
    let cause = cause.indirect(Some(share)).without_share();
    Some(match own_queue {
        Some(queued) => as_own_process(cause, &all, name, address, queued),
        None => cause,
    })
}

/// Adds that the callee is a process of the system, so that the cause lies in it.
fn as_own_process(
    cause: Bottleneck,
    all: &BTreeMap<String, Workers>,
    caller: &str,
    address: &str,
    queued: f64,
) -> Bottleneck {
    let mut others = all.iter().filter(|(name, _)| *name != caller);
    let only = others.next().filter(|_| others.next().is_none());
    let who =
        only.map_or_else(|| format!("the processes of the system at {address}"), |(name, _)| name.clone());
    let did = only.and_then(|(name, workers)| describe_process_threads(name, workers));
    let own = format!(
        "{address} is a port of the system itself, where {} connections waited to be accepted",
        decimal(queued, 0)
    );
    let next = format!("see what keeps {who} waiting; if all workers are taken, more of them answer more");
    Bottleneck { what: "another process of the system", ..cause }.and(did).next(next).against([own])
}

pub(super) const PIPED_DEPENDENCY: Rule = Rule {
    finds: &[Resource::DEPENDENCY],
    when: "two requests in flight or more, of which two thirds had a thread of one process that waited to read from a pipe, and fewer than half one \
           that ran, or waited for a disk or a peer",
    why: "who reads from a pipe waits for another process, such as a helper that it asks. Idle helpers wait for questions, too, but then a \
          request has a thread elsewhere",
    refuted_by: &[RESOURCE_SATURATED],
    rung: Rung::Kernel,
    covers: Coverage::Any,
    find: piped_dependency,
};

fn piped_dependency(evidence: &Evidence<'_>) -> Option<Bottleneck> {
    let in_flight = evidence.in_flight().filter(|in_flight| *in_flight >= IN_FLIGHT_MIN)?;
    let all = evidence.workers();
    let reads = |workers: &Workers| workers.in_state("pipe_read");
    let (name, workers) = all.iter().max_by(|(_, a), (_, b)| reads(a).total_cmp(&reads(b)))?;
    let elsewhere = |workers: &Workers| workers.computing() + workers.asleep() - workers.in_state("timer");
    let elsewhere: f64 = all.values().map(elsewhere).sum();
    if reads(workers) < WAITING_MIN_SHARE * in_flight || elsewhere >= HALF * in_flight {
        return None;
    }
    let because = format!(
        "on average {} of the {} threads of {name} waited to read from a pipe, for {} requests in flight{}",
        decimal(reads(workers), 1),
        decimal(workers.all(), 1),
        decimal(in_flight, 1),
        cpu_in_brackets(evidence)
    );
    let cause = suspected(Resource::DEPENDENCY, Scope::Process(name.clone()), because);
    let cause = cause.next(format!(
        "see which process writes to the pipes that {name} reads from, and how long it takes for one answer"
    ));
    Some(cause.indirect(evidence.in_flight_share(reads(workers))))
}

/// Min share of seconds in which the number of a process's processes changes, if it starts some for requests.
const PROCESS_CHANGE_MIN_SHARE: f64 = 0.5;

pub(super) const PROCESS_PER_REQUEST: Rule = Rule {
    finds: &[Resource::DEPENDENCY],
    when: "two requests in flight or more, a process of the plan had more or fewer processes from second to second half of the time, and \
           its threads mostly waited for events, pipes, or other threads; not where a database is read from inside",
    why: "processes that come and go under load are started for requests. Whoever starts one and waits for its end \
          (`execSync`, `system`, `subprocess.run`) waits for a program",
    refuted_by: &[RESOURCE_SATURATED],
    rung: Rung::Kernel,
    covers: Coverage::Any,
    find: process_per_request,
};

fn process_per_request(evidence: &Evidence<'_>) -> Option<Bottleneck> {
    evidence.in_flight().filter(|in_flight| *in_flight >= IN_FLIGHT_MIN)?;
    // A database may have a process for each connection.
    let is_read_inside =
        evidence.runs.iter().any(|run| run.signals.is_some_and(|signals| signals.inside.is_some()));
    let (name, share) = evidence
        .changing_processes()
        .filter(|(_, share)| *share >= PROCESS_CHANGE_MIN_SHARE && !is_read_inside)?;
    let all = evidence.workers();
    let workers = all.get(&name)?;
    if workers.at_work() >= HALF * workers.all() {
        return None;
    }
    let because = format!(
        "{name} started and ended processes while it answered: their number changed in {} of the seconds{}",
        percent(share),
        cpu_in_brackets(evidence)
    );
    let cause = suspected(Resource::DEPENDENCY, Scope::Process(name.clone()), because);
    let next = "start no process for each request: do its work inside, or keep a helper running and do not block the event loop for it";
    // The running time of short-lived processes is not sampled.
    Some(cause.direct(Some(HALF)).without_share().next(next))
}

pub(super) const PROCESS_LOCK: Rule = Rule {
    finds: &[Resource::LOCK],
    when: "two requests in flight or more, of which two thirds had a thread of one process that waited for the lock of a file, or for a semaphore \
           of System V",
    why: "the kernel knows these locks, which processes share",
    refuted_by: &[RESOURCE_SATURATED],
    rung: Rung::Kernel,
    covers: Coverage::Runs,
    find: process_lock,
};

fn process_lock(evidence: &Evidence<'_>) -> Option<Bottleneck> {
    let in_flight = evidence.in_flight().filter(|in_flight| *in_flight >= IN_FLIGHT_MIN)?;
    let all = evidence.workers();
    let blocked = |workers: &Workers| workers.in_state("file_lock");
    let (name, workers) =
        all.iter().max_by(|(_, one), (_, other)| blocked(one).total_cmp(&blocked(other)))?;
    if blocked(workers) < WAITING_MIN_SHARE * in_flight {
        return None;
    }
    let because = format!(
        "on average {} of the {} threads of {name} waited for the lock of a file or for a semaphore, for {} {} in flight{}",
        decimal(blocked(workers), 1),
        decimal(workers.all(), 1),
        decimal(in_flight, 1),
        many(evidence.together.unit),
        cpu_in_brackets(evidence)
    );
    let cause = suspected(Resource::LOCK, Scope::Process(name.clone()), because);
    let cause = Bottleneck { what: "lock of a file, or between processes of the system", ..cause };
    let next = "find the lock (/proc/locks, strace -f -p PID -e trace=flock,fcntl,semop; PHP: the file of a session), then hold it for less time or split it";
    Some(cause.next(next).direct(evidence.in_flight_share(blocked(workers))))
}

/// Returns a sentence about threads that wait at one futex with half of the requests in flight. The kernel does not
/// know whether a thread waits there for a lock or for work. The name comes from outside: escape it.
pub(super) fn waits_at_one_futex(evidence: &Evidence<'_>) -> Option<String> {
    let all = evidence.workers();
    let (name, workers) = all.iter().max_by(|(_, a), (_, b)| a.same_futex.total_cmp(&b.same_futex))?;
    let is_half = evidence.in_flight_share(workers.same_futex).is_some_and(|share| share >= HALF);
    (workers.same_futex >= 2.0 * THREADS_MIN && is_half).then(|| {
        format!(
            "{} of the {} threads of {name} waited at one futex while {} were at work: for a lock, or for work",
            decimal(workers.same_futex, 1),
            decimal(workers.all(), 1),
            decimal(workers.at_work(), 1)
        )
    })
}

/// Returns a sentence such as `of the 8.0 threads of app that ran, 7.0 in futex, 0.9 in timer on average`; `None` if
/// not sampled. May quote names: escape it.
pub(super) fn describe_threads(workers: &BTreeMap<String, Workers>) -> Option<String> {
    let largest = workers.iter().max_by(|(_, a), (_, b)| a.all().total_cmp(&b.all()));
    largest.and_then(|(name, workers)| describe_process_threads(name, workers))
}

fn describe_process_threads(name: &str, workers: &Workers) -> Option<String> {
    if workers.all() < THREADS_MIN {
        return None;
    }
    let mut states: Vec<(&String, f64)> =
        workers.states.iter().map(|(state, threads)| (state, *threads)).collect();
    states.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    let states = states.iter().filter(|(_, threads)| *threads >= 0.05).take(STATES_MAX);
    let states: Vec<String> =
        states.map(|(state, threads)| format!("{} in {state}", decimal(*threads, 1))).collect();
    Some(format!(
        "of the {} threads of {name} that ran, {} on average",
        decimal(workers.all(), 1),
        states.join(", ")
    ))
}
