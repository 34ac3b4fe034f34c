//! Limits of a key-value store with a single command thread, as counted by the store.

use stats::median;
use units::Share;

use super::cause::{Bottleneck, Refutation, Scope, suspected};
use super::database::largest;
use super::evidence::{Evidence, RunEvidence};
use super::words::percent;
use super::{Coverage, LIMIT_REACHED_MIN_SHARE, REPORTED_ERRORS_MIN_SHARE, Rule, Rung, SATURATED_MIN_SHARE};
use crate::causes::Resource;
use crate::inside::{DatabaseStatistics, SlowCalls};
use crate::words::{decimal, duration};

/// Min share of a core that one command uses at which it is the cause.
const COMMAND_MIN_SHARE: f64 = 0.3;
/// Min mean time of a slow command, in milliseconds. Usual commands take some microseconds.
const SLOW_MIN_MS: f64 = 1.0;
/// Min share of a command's slow calls on one key at which the key is mentioned.
const ONE_KEY_MIN_SHARE: f64 = 0.8;
/// Min ratio of evicted keys to commands.
const EVICTED_MIN_SHARE: f64 = 0.01;
/// Min share of time for which some task waits for a disk.
const DISK_MIN_SHARE: f64 = 0.2;
/// Min share of time for which forks stop the store.
const FORK_MIN_SHARE: f64 = 0.02;
/// Min number of cores used by child processes.
const CHILDREN_MIN_CORES: f64 = 0.3;
/// Redis commands that wait until another client acts: for an element, a stream entry, or replication.
const BLOCKING: [&str; 10] = [
    "BLPOP",
    "BRPOP",
    "BRPOPLPUSH",
    "BLMOVE",
    "BLMPOP",
    "BZPOPMIN",
    "BZPOPMAX",
    "BZMPOP",
    "XREAD",
    "XREADGROUP",
];
/// Min share of requests in flight that wait in blocking commands.
const BLOCKED_MIN_SHARE: f64 = 0.5;
/// Max running share of the busiest thread of a store that is not limited by a thread.
const IDLE_MAX_SHARE: f64 = 0.7;

impl Resource {
    /// A slow command of a store.
    pub const STORE_COMMAND: Self = Self::new("store_command", "a slow command of the store").next(
        "replace the command by one that works on less at a time (SCAN for KEYS, ranges for whole collections), since all others wait for it",
    );
    /// The memory limit of a store.
    pub const STORE_MEMORY: Self = Self::new("store_memory", "the memory limit of the store")
        .next("raise the limit (maxmemory), or store less: shorter values, or keys that expire");
    /// The log of a store on disk.
    pub const STORE_LOG: Self = Self::new("store_log", "the log of the store on disk (AOF)").next(
        "put the log on a faster disk, or, where the last second may be lost, do not wait for it (appendfsync everysec)",
    );
    /// Snapshots of a store, which a forked process writes.
    pub const STORE_FORK: Self = Self::new("store_fork", "snapshots of the store (fork)")
        .next("write snapshots less often (save), on a replica, or leave a core to them");
    /// Blocking commands that wait for an element.
    pub const STORE_BLOCKED: Self = Self::new("store_blocked", "blocking commands that wait for an element")
        .next("add elements at a higher rate; the store itself does not limit these commands");
}

/// Returns a figure from inside the store: the median over all runs.
fn inside(evidence: &Evidence<'_>, figure: impl Fn(&DatabaseStatistics) -> Option<f64>) -> Option<f64> {
    evidence.signal(|signals| figure(signals.inside.as_ref()?))
}

/// Returns the running share of the command thread. `None` if the server does not report it.
fn main_thread(evidence: &Evidence<'_>) -> Option<f64> {
    inside(evidence, |inside| inside.rate("main_thread_s"))
}

/// If the kernel saw no busy thread, the command thread was not busy either.
const NO_THREAD_WAS_BUSY: Refutation = Refutation {
    when: "the busiest thread of the system ran less than 70 % of the time",
    is_read: |evidence| {
        evidence.signal(|signals| signals.busiest_thread).is_some_and(|ran| ran < IDLE_MAX_SHARE)
    },
};

pub(super) const COMMAND_THREAD: Rule = Rule {
    finds: &[Resource::ONE_CORE],
    when: "the main thread of a key-value store used 90 % of a core, as the store reports",
    why: "one thread runs all commands. The store reports its time wherever it runs",
    refuted_by: &[NO_THREAD_WAS_BUSY],
    rung: Rung::Runtime,
    covers: Coverage::Runs,
    find: command_thread,
};

fn command_thread(evidence: &Evidence<'_>) -> Option<Bottleneck> {
    let ran = main_thread(evidence).filter(|ran| *ran >= SATURATED_MIN_SHARE)?;
    let used = percent(Share::of_measured(ran, 1.0)?.get());
    let because = format!("the store reports that its main thread used {used} of a core");
    Some(suspected(Resource::ONE_CORE, Scope::Thread, because).direct(Some(evidence.awake_share())))
}

pub(super) const SLOW_COMMAND: Rule = Rule {
    finds: &[Resource::STORE_COMMAND],
    when: "one command of a key-value store took 30 % of the time of its main thread, at 1 ms or more on average, or its slow log had calls of one \
           command that took as much",
    why: "the store runs one command at a time, so all others wait. Usual commands take some microseconds",
    refuted_by: &[],
    rung: Rung::Runtime,
    covers: Coverage::Runs,
    find: slow_command,
};

fn slow_command(evidence: &Evidence<'_>) -> Option<Bottleneck> {
    main_thread(evidence)?;
    let slow = slow_calls(evidence);
    let times = |inside: &DatabaseStatistics| {
        inside.executed.iter().map(|one| (one.statement.clone(), one.total_s)).collect()
    };
    let of_run = |name: &str, figure: fn(&DatabaseStatistics, &crate::inside::StatementTime) -> f64| {
        let of = |run: &RunEvidence<'_>| {
            let inside = run.signals?.inside.as_ref()?;
            Some(figure(inside, inside.executed.iter().find(|one| one.statement == name)?))
        };
        median(evidence.runs.iter().filter_map(of))
    };
    let counted = largest(evidence, times).and_then(|name| {
        let share =
            of_run(&name, |inside, one| one.total_s / inside.seconds).filter(|share| share.is_finite())?;
        let mean_ms = of_run(&name, |_, one| one.mean_ms())?;
        (share >= COMMAND_MIN_SHARE && mean_ms >= SLOW_MIN_MS).then_some((name, share, mean_ms))
    });
    let Some((name, share, mean_ms)) = counted else {
        let (because, share) = slow.filter(|(_, share)| *share >= COMMAND_MIN_SHARE)?;
        let cause = suspected(Resource::STORE_COMMAND, Scope::System, because);
        return Some(cause.direct(Some(share)).first());
    };
    let because = format!(
        "{name} took {} of the time of its only thread for commands, {} per call",
        percent(Share::of_measured(share, 1.0)?.get()),
        duration(mean_ms * 1e6)
    );
    let cause = suspected(Resource::STORE_COMMAND, Scope::System, because).and(slow.map(|(words, _)| words));
    Some(cause.direct(Some(share)).first())
}

/// Describes the slow calls of the command that took most time in the slow log, with their share of time.
fn slow_calls(evidence: &Evidence<'_>) -> Option<(String, f64)> {
    let times = |inside: &DatabaseStatistics| {
        inside.slow.iter().map(|one| (one.command.clone(), one.share)).collect()
    };
    let name = largest(evidence, times)?;
    let figure = |figure: fn(&SlowCalls) -> f64| {
        inside(evidence, |inside| inside.slow.iter().find(|one| one.command == name).map(figure))
    };
    let share = figure(|slow| slow.share).filter(|share| share.is_finite())?;
    let (calls, mean_ns) = (figure(|slow| slow.calls_per_s)?, figure(SlowCalls::mean_ns)?);
    let on_one = figure(|slow| slow.on_one_key_per_s)?;
    let on_one = Share::of_measured(on_one, calls).filter(|share| share.get() >= ONE_KEY_MIN_SHARE);
    let keys = on_one.map_or(String::new(), |share| format!(", {} of them on one key", percent(share.get())));
    let words = format!(
        "its slow log has {} calls of {name} per second, {} each, {} of the time{keys}",
        decimal(calls, 2),
        duration(mean_ns),
        percent(Share::of_measured(share, 1.0)?.get())
    );
    Some((words, share))
}

pub(super) const EVICTIONS: Rule = Rule {
    finds: &[Resource::STORE_MEMORY],
    when: "a key-value store used 95 % of its memory limit, and evicted a key for every hundredth command, or answered 1 % of the commands \
           with an error without evicting any",
    why: "evictions cost time and lose keys that are asked for later. Without evictions, a full store rejects writes",
    refuted_by: &[],
    rung: Rung::Runtime,
    covers: Coverage::Runs,
    find: evictions,
};

fn evictions(evidence: &Evidence<'_>) -> Option<Bottleneck> {
    let max = inside(evidence, |inside| inside.level("memory_bytes_max")).filter(|max| *max > 0.0)?;
    let full = inside(evidence, |inside| inside.level("memory_bytes"))? / max;
    let commands = inside(evidence, |inside| inside.rate("commands")).filter(|commands| *commands > 0.0)?;
    let evicted = inside(evidence, |inside| inside.rate("keys_evicted"))?;
    if full < LIMIT_REACHED_MIN_SHARE {
        return None;
    }
    let used = format!("it used {} of its memory limit", percent(Share::of_measured(full, 1.0)?.get()));
    let cause = |because| suspected(Resource::STORE_MEMORY, Scope::System, because);
    if evicted / commands >= EVICTED_MIN_SHARE {
        let because = format!("{used}, and evicted {} keys/s", decimal(evicted, 0));
        let hits = inside(evidence, DatabaseStatistics::key_hit_ratio);
        let hits = hits.map(|hits| format!("{} of the keys that were asked for were found", percent(hits)));
        return Some(cause(because).and(hits));
    }
    let errors = inside(evidence, |inside| inside.rate("errors"))?;
    // Rejected commands are not counted as processed.
    let errors_share = errors / (commands + errors);
    if evicted > 0.0 || errors_share < REPORTED_ERRORS_MIN_SHARE {
        return None;
    }
    let because = format!(
        "{used}, evicted nothing, and answered {} of the commands with an error",
        percent(errors_share)
    );
    Some(cause(because).first())
}

pub(super) const LOG_SYNCS: Rule = Rule {
    finds: &[Resource::STORE_LOG],
    when: "a key-value store syncs its log before each answer, and something waited for disks 20 % of the time; or it counted writes that \
           waited for a sync of its log",
    why: "commands wait for the disk, because the thread that runs them writes the log",
    refuted_by: &[],
    rung: Rung::Runtime,
    covers: Coverage::Runs,
    find: log_syncs,
};

fn log_syncs(evidence: &Evidence<'_>) -> Option<Bottleneck> {
    let delayed = inside(evidence, |inside| inside.rate("log_syncs_delayed")).unwrap_or(0.0);
    let cause = |because| suspected(Resource::STORE_LOG, Scope::System, because);
    if delayed > 0.0 {
        let because = format!("{} writes/s of its log waited for a sync", decimal(delayed, 2));
        return Some(cause(because).direct(None));
    }
    let is_each = inside(evidence, |inside| inside.level("log_synced_each")).is_some_and(|each| each > 0.5);
    let pressure = evidence.disk_pressure();
    // One thread serves all requests, so its sleep is not divided by the requests in flight.
    let slept: f64 = evidence.workers().values().map(|workers| workers.in_state("disk")).sum();
    let waited = slept.min(1.0).max(pressure.map_or(0.0, |pressure| pressure.share));
    if !is_each || waited < DISK_MIN_SHARE {
        return None;
    }
    let because = format!(
        "it syncs its log before each answer, and disks were waited for {} of the time",
        percent(waited)
    );
    Some(cause(because).direct(Some(waited)))
}

pub(super) const SNAPSHOT_FORKS: Rule = Rule {
    finds: &[Resource::STORE_FORK],
    when: "forks stopped a key-value store 2 % of the time, or its child processes used 0.3 cores, and it forked during the load",
    why: "a fork stops the thread that runs commands while memory is mapped, and the child takes a core and copies pages",
    refuted_by: &[],
    rung: Rung::Runtime,
    covers: Coverage::Runs,
    find: snapshot_forks,
};

fn snapshot_forks(evidence: &Evidence<'_>) -> Option<Bottleneck> {
    let forks = inside(evidence, |inside| inside.rate("forks")).filter(|forks| *forks > 0.0)?;
    let fork_s = inside(evidence, |inside| inside.level("fork_s"))?;
    let children = inside(evidence, |inside| inside.rate("children_s")).unwrap_or(0.0);
    let stopped = forks * fork_s;
    if stopped < FORK_MIN_SHARE && children < CHILDREN_MIN_CORES {
        return None;
    }
    let because = format!(
        "it forked {} times/s, which stopped it for {} each, and its child processes used {} cores",
        decimal(forks, 2),
        duration(fork_s * 1e9),
        decimal(children, 2)
    );
    Some(
        suspected(Resource::STORE_FORK, Scope::System, because)
            .indirect(Some(stopped.max(children)))
            .without_share(),
    )
}

pub(super) const BLOCKED_CLIENTS: Rule = Rule {
    finds: &[Resource::STORE_BLOCKED],
    when: "half of the requests in flight waited in blocking commands, as a key-value store reports",
    why: "such a command is answered when another client adds an element, however fast the store is",
    refuted_by: &[],
    rung: Rung::Runtime,
    covers: Coverage::Runs,
    find: blocked_clients,
};

fn blocked_clients(evidence: &Evidence<'_>) -> Option<Bottleneck> {
    let blocked = inside(evidence, |inside| inside.level("clients_blocked"))?;
    let share = evidence.in_flight_share(blocked).filter(|share| *share >= BLOCKED_MIN_SHARE)?;
    let names = match blocking_commands(evidence) {
        names if names.is_empty() => String::new(),
        names => format!(" ({})", names.join(", ")),
    };
    let because = format!("{} clients waited in blocking commands{names} on average", decimal(blocked, 1));
    Some(suspected(Resource::STORE_BLOCKED, Scope::System, because).direct(Some(share)).first())
}

/// Returns the blocking commands that clients called, as counted by the store, in the order of `BLOCKING`.
fn blocking_commands(evidence: &Evidence<'_>) -> Vec<&'static str> {
    let inside = || evidence.runs.iter().filter_map(|run| run.signals?.inside.as_ref());
    let is_called = |name: &&str| {
        inside().any(|inside| inside.executed.iter().any(|one| one.statement.eq_ignore_ascii_case(name)))
    };
    BLOCKING.into_iter().filter(is_called).collect()
}
