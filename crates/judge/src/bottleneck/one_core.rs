//! One core, because the system never uses more than one at a time.

use super::cause::{Bottleneck, Refutation, Scope, suspected};
use super::evidence::Evidence;
use super::load::WAITING_USERS_MAX_SHARE;
use super::pool;
use super::words::{cores_of, cpu_in_brackets, percent};
use super::{Coverage, Rule, Rung, SATURATED_MIN_SHARE, UNSATURATED_MAX_SHARE};
use crate::causes::Resource;
use crate::waits::Workers;
use crate::words::decimal;

/// Min share of requests in flight that sleep for something else at which one core is not the limit.
const SLEEPING_MIN_SHARE: f64 = 0.3;
/// Max number of cores in use by a system limited to one core, including measurement error.
const ONE_CORE_MAX: f64 = 1.1;
/// Range of cores in use by a process whose threads take turns: one, plus concurrent threads.
const TURN_TAKING_CORES: std::ops::RangeInclusive<f64> = 0.9..=1.15;
/// Max number of the process's threads on a CPU if they take turns.
const TURN_TAKING_RUNNING_MAX: f64 = 1.15;

/// Max share of the system's CPU time used by its busiest thread, if threads take turns.
const BUSIEST_THREAD_MAX_SHARE: f64 = 0.6;
/// Range of cores in use if one thread always computes, including concurrent threads.
const SINGLE_THREAD_CORES: std::ops::RangeInclusive<f64> = 0.9..=1.3;
/// Min share of the system's CPU time used by a thread that computes alone.
const LONE_THREAD_MIN_SHARE: f64 = 0.75;
/// Min running share of a thread that computes alone.
const LONE_THREAD_MIN_RUNNING: f64 = 0.15;

impl Resource {
    /// One core.
    pub const ONE_CORE: Self = Self::new("one_core", "one core")
        .next("run more workers or processes, or let the system use more than one thread");
}

/// A thread that computes without requests does something else: a report, a poll, a loop.
const RAN_BEFORE_THE_LOAD: Refutation = Refutation {
    when: "a thread of it ran or was ready before the load for 80 % or more of the time that the busiest one ran under load",
    is_read: |evidence| evidence.ran_before_the_load() > 0.0,
};

/// If threads sleep for something else, another thread does not keep them from running.
const THREADS_SLEPT: Refutation = Refutation {
    when: "30 % of its requests in flight slept for a disk, a peer, or something inside the database",
    is_read: |evidence| evidence.asleep().max(evidence.database_sleep_share()) >= SLEEPING_MIN_SHARE,
};

/// A system limited to one core uses no more than one.
const SEVERAL_CORES_USED: Refutation = Refutation {
    when: "the system used 1.1 cores or more",
    is_read: |evidence| {
        evidence.cores().and_then(|cores| cores.system).is_some_and(|used| used >= ONE_CORE_MAX)
    },
};

/// Other processes are the limit of a system that could use two cores but loses one to them.
const SEVERAL_CORES_WANTED: Refutation = Refutation {
    when: "as sampled, more than 1.5 threads of it were on a CPU or ready for one, and did not take turns",
    is_read: |evidence| {
        let wanted = evidence.computing();
        let is_alone = evidence.signal(|signals| signals.cores_allowed).is_some_and(|allowed| allowed < 1.5);
        wanted > 1.5 && !has_turn_taking_process(evidence) && !is_alone
    },
};

/// If threads take turns, exactly one runs at any time. The others wait for their turn, not for a core.
const NOT_EXACTLY_ONE_RAN: Refutation = Refutation {
    when: "as sampled, fewer than 0.8 or more than 1.5 of its threads were on a CPU, or more than 2.5 there or ready for one, or more than 1.8 \
           where no threads look for their turn",
    is_read: |evidence| {
        let busiest = evidence.busiest_process().map(|(name, _)| name);
        let workers = evidence.workers();
        let of_busiest = busiest.and_then(|name| workers.get(&name));
        of_busiest.is_some_and(|workers| {
            let ran = workers.in_state("on_cpu");
            let wanted_to = ran + workers.in_state("runnable");
            let most = if has_turn_taking_process(evidence) { 2.5 } else { 1.8 };
            workers.all() > 0.0 && (!(0.8..=1.5).contains(&ran) || wanted_to > most)
        })
    },
};

pub(super) const ONE_THREAD: Rule = Rule {
    finds: &[Resource::ONE_CORE],
    when: "the busiest thread of the system ran 90 % of the time; or it used three quarters of what the system used, and threads of the \
           system ran or were ready for 0.9 to 1.3 cores. A pool of sleeping threads that is taken in full speaks against it",
    why: "more threads or processes could use other cores, that one cannot. Others may take the core from it",
    refuted_by: &[RAN_BEFORE_THE_LOAD],
    rung: Rung::Kernel,
    covers: Coverage::Any,
    find: one_thread,
};

fn one_thread(evidence: &Evidence<'_>) -> Option<Bottleneck> {
    let ran = evidence.signal(|signals| signals.busiest_thread)?;
    let because = match ready_all_the_time(evidence, ran) {
        _ if ran >= SATURATED_MIN_SHARE => format!("one of its threads ran {} of the time", percent(ran)),
        Some(ready) => format!(
            "one of its threads ran {} of the time, and was ready for a core {} of it",
            percent(ran),
            percent(ready)
        ),
        None => return None,
    };
    let because = format!("{because}{}", cpu_in_brackets(evidence));
    // Other processes may use the remaining cores, but more cores would not help one thread.
    let cause = suspected(Resource::ONE_CORE, Scope::Thread, because);
    let share = Some(evidence.awake_share());
    Some(match pool::sleepers_in_full_use(evidence) {
        Some(sleepers) => cause.indirect(share).without_share().against([sleepers]),
        None => cause.direct(share),
    })
}

/// Returns the share of time for which the only computing thread was runnable without a core; `None` if it is not the
/// only one.
fn ready_all_the_time(evidence: &Evidence<'_>, ran: f64) -> Option<f64> {
    let used = evidence.cores()?.system?;
    let wanted = evidence.computing();
    let is_alone = ran >= LONE_THREAD_MIN_SHARE * used
        && ran >= LONE_THREAD_MIN_RUNNING
        && SINGLE_THREAD_CORES.contains(&wanted);
    // One thread cannot be running or runnable for more than all of the time.
    is_alone.then(|| (wanted - ran).clamp(0.0, (1.0 - ran).max(0.0)))
}

/// Min number of threads on a CPU if one computes at a time.
const RUNNING_THREADS_MIN: f64 = 0.5;
/// Min number of running or runnable threads if threads take turns.
const TURNS_WANT_MIN: f64 = 0.85;
/// Min share of requests in flight that wait at one futex. Also the max share that is running or runnable.
const FUTEX_WAIT_SHARE: f64 = 0.35;
/// Min share of threads at that futex whose wait has a time-out.
const TIMED_WAITS_MIN_SHARE: f64 = 0.5;

pub(super) const ONE_THREAD_AT_A_TIME: Rule = Rule {
    finds: &[Resource::ONE_CORE],
    when: "threads of the system ran or were ready for 0.85 cores or more, one of them ran, and 35 % of the requests in flight and two at \
           least waited at one futex, mostly with a time-out, while fewer computed",
    why: "threads that wait for an interpreter's lock look again and again whether their turn has come. Others may take that core from them",
    refuted_by: &[THREADS_SLEPT],
    rung: Rung::Kernel,
    covers: Coverage::Runs,
    find: one_at_a_time,
};

fn one_at_a_time(evidence: &Evidence<'_>) -> Option<Bottleneck> {
    let cores = evidence.cores().filter(|cores| cores.all > 1)?;
    let all = evidence.workers();
    let (name, workers) =
        all.iter().max_by(|(_, one), (_, other)| one.computing().total_cmp(&other.computing()))?;
    if !waits_for_its_turn(evidence, workers, evidence.computing()) {
        return None;
    }
    let because = format!(
        "one thread of {name} computed at a time, while {} waited at one futex for their turn, as for an interpreter's lock, on {}{}",
        decimal(workers.same_futex, 1),
        cores_of(cores.all),
        cpu_in_brackets(evidence)
    );
    let cause = suspected(Resource::ONE_CORE, Scope::Process(name.clone()), because);
    Some(cause.direct(Some(evidence.awake_share())))
}

/// Returns whether threads of the process that computes most take turns, even if other processes take cores from it.
fn computes_in_turns(evidence: &Evidence<'_>) -> bool {
    let all = evidence.workers();
    let most = all.values().max_by(|one, other| one.computing().total_cmp(&other.computing()));
    most.is_some_and(|workers| waits_for_its_turn(evidence, workers, evidence.computing()))
}

/// Returns whether threads with requests wait at one futex with a time-out while one runs, that is, poll for their
/// turn.
fn waits_for_its_turn(evidence: &Evidence<'_>, workers: &Workers, wanted: f64) -> bool {
    let waiting = workers.same_futex;
    let is_timed = workers.timed_futex.is_some_and(|timed| timed >= TIMED_WAITS_MIN_SHARE * waiting);
    let runs_alone = (RUNNING_THREADS_MIN..=TURN_TAKING_RUNNING_MAX).contains(&workers.in_state("on_cpu"));
    let of_requests = |threads: f64| evidence.in_flight_share(threads).unwrap_or(0.0);
    waiting >= 2.0
        && is_timed
        && runs_alone
        && TURNS_WANT_MIN <= wanted
        && of_requests(waiting) >= FUTEX_WAIT_SHARE
        && of_requests(wanted) < FUTEX_WAIT_SHARE
}

pub(super) const ONE_CORE_ALLOWED: Rule = Rule {
    finds: &[Resource::ONE_CORE],
    when: "the processes of the system may run on one core of several, and used 0.75 of it or more, or its threads wanted to all the time",
    why: "`pin`, `taskset`, and a cpuset leave it no other, whoever else uses that one",
    refuted_by: &[],
    rung: Rung::Kernel,
    covers: Coverage::Any,
    find: one_core_allowed,
};

fn one_core_allowed(evidence: &Evidence<'_>) -> Option<Bottleneck> {
    evidence.signal(|signals| signals.cores_allowed).filter(|allowed| *allowed < 1.5)?;
    let cores = evidence.cores().filter(|cores| cores.all > 1)?;
    let [ran, waited] = evidence.ran_and_waited().or_else(|| Some([cores.system?, 0.0]))?;
    if ran < UNSATURATED_MAX_SHARE && ran + waited < SATURATED_MIN_SHARE {
        return None;
    }
    let because = format!(
        "it may run on 1 of {} (`pin` in the plan, its affinity, or a cpuset), and used {} of it, while {} of its threads were ready",
        cores_of(cores.all),
        decimal(ran, 2),
        decimal(waited, 1)
    );
    let cause = suspected(Resource::ONE_CORE, Scope::System, because).direct(Some(evidence.awake_share()));
    let next =
        "let it run on more cores: remove `pin` from the plan, or raise its cpuset (`cores` in `resources`)";
    Some(cause.next(next))
}

pub(super) const ONE_CORE: Rule = Rule {
    finds: &[Resource::ONE_CORE],
    when: "one core was 90 % busy, and the system used 0.75 cores or more",
    why: "it may use that core alone, or does",
    refuted_by: &[SEVERAL_CORES_USED, SEVERAL_CORES_WANTED, RAN_BEFORE_THE_LOAD],
    rung: Rung::Kernel,
    covers: Coverage::Runs,
    find: one_core,
};

/// Reports several threads that share the only core that they may use.
fn one_core(evidence: &Evidence<'_>) -> Option<Bottleneck> {
    let (name, busy) = evidence.busiest_core().filter(|(_, busy)| *busy >= SATURATED_MIN_SHARE)?;
    let cores = evidence.cores()?;
    let used = cores.system.filter(|used| *used >= UNSATURATED_MAX_SHARE)?;
    let because = format!(
        "{name} was {} busy, and the system used {} of {}",
        percent(busy),
        decimal(used, 2),
        cores_of(cores.all)
    );
    Some(suspected(Resource::ONE_CORE, Scope::System, because).indirect(Some(evidence.awake_share())))
}

pub(super) const ONE_CORE_IN_TURNS: Rule = Rule {
    finds: &[Resource::ONE_CORE],
    when: "a process of the system used 0.9 to 1.15 cores of several, no thread of it 60 % of that, and as sampled, one of its threads ran at \
           a time, while another or more waited at a futex",
    why: "several threads had work, and one of them at a time ran, as under an interpreter's lock",
    refuted_by: &[THREADS_SLEPT, NOT_EXACTLY_ONE_RAN],
    rung: Rung::Kernel,
    covers: Coverage::Runs,
    find: one_core_in_turns,
};

/// Returns whether a process uses about one core while its threads wait for another thread, as for an interpreter lock.
pub(super) fn has_turn_taking_process(evidence: &Evidence<'_>) -> bool {
    let busiest = evidence.busiest_process().filter(|(_, used)| TURN_TAKING_CORES.contains(used));
    let all = evidence.workers();
    let workers = busiest.and_then(|(name, _)| all.get(&name));
    // A thread that waits for an interpreter lock polls with a time-out. Idle threads of other runtimes wait without
    // one.
    let is_turn = |workers: &Workers| workers.timed_futex.is_some_and(|timed| timed >= 1.0);
    let is_timed = workers
        .is_some_and(|workers| is_turn(workers) && workers.in_state("on_cpu") <= TURN_TAKING_RUNNING_MAX);
    is_timed || computes_in_turns(evidence)
}

/// Reports threads that take turns: together they use one core, spread over all of them.
fn one_core_in_turns(evidence: &Evidence<'_>) -> Option<Bottleneck> {
    let is_waited_for =
        evidence.users().is_none_or(|[users, waiting]| waiting >= WAITING_USERS_MAX_SHARE * users);
    let cores = evidence.cores().filter(|cores| cores.all > 1 && is_waited_for)?;
    let (name, used) = evidence.busiest_process().filter(|(_, used)| TURN_TAKING_CORES.contains(used))?;
    let longest = evidence.signal(|signals| signals.busiest_thread)?;
    let all = evidence.workers();
    let waiting = all.get(&name)?.in_state("futex");
    if waiting < 1.0 || longest >= BUSIEST_THREAD_MAX_SHARE * used {
        return None;
    }
    let because = format!(
        "its process {name} used {} of {}: one of its threads ran at a time, the busiest {} of the time, while {} waited at a futex",
        decimal(used, 2),
        cores_of(cores.all),
        percent(longest),
        decimal(waiting, 1)
    );
    let cause = suspected(Resource::ONE_CORE, Scope::Process(name), because);
    Some(cause.indirect(Some(evidence.awake_share())))
}
