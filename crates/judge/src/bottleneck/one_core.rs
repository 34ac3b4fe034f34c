//! One core, because the system runs on no more at a time.

use super::cause::{Bottleneck, Refutation, Scope, suspected};
use super::evidence::Evidence;
use super::little::MOVES_AMONG_THREADS;
use super::load::PAUSED;
use super::words::{cores_of, cpu_in_brackets, percent};
use super::{BUSY, Covers, ROOMY, Rule};
use crate::causes::Resource;
use crate::waits::Workers;
use crate::words::decimal;

/// Of a database or of threads at work, what must not sleep where one core is said to be the limit.
const SLEEPING: f64 = 0.3;
/// Cores of a system that may use only one, and what is off by chance.
const MORE_THAN_ONE: f64 = 1.1;
/// Cores of a system whose threads run in turns: one, and what runs next to them.
const IN_TURNS: std::ops::RangeInclusive<f64> = 0.9..=1.15;
/// Threads of them that run, at most.
const IN_TURNS_RUN: f64 = 1.15;

/// Of the requests in flight, those whose threads wait for their turn at one futex.
const WAIT_FOR_THEIR_TURN: f64 = 0.5;
/// The cores that one thread needs that computes all the time, with what runs next to it.
const ONE_AT_A_TIME: std::ops::RangeInclusive<f64> = 0.9..=1.3;
/// Of all that the system uses, the part of one thread that computes alone; and what it uses at least.
const MOST_OF_ALL: f64 = 0.75;
const ALONE: f64 = 0.15;

impl Resource {
    /// One core.
    pub const ONE_CORE: Self = Self::new("one_core", "one core")
        .next("run more workers or processes, or let the system use more than one thread");
}

/// Threads that sleep for something are not kept from running by another thread that runs.
const ITS_THREADS_SLEPT: Refutation = Refutation {
    when: "30 % of its requests in flight slept for a disk, a peer, or something inside the database",
    is_read: |evidence| evidence.asleep().max(evidence.asleep_in_database()) >= SLEEPING,
};

/// Who may use only one core uses no more.
const MORE_THAN_ONE_WAS_USED: Refutation = Refutation {
    when: "the system used 1.1 cores or more",
    is_read: |evidence| {
        evidence.cores().and_then(|cores| cores.system).is_some_and(|used| used >= MORE_THAN_ONE)
    },
};

/// A system that could use two cores, and is kept from one by others, is limited by them.
const MORE_THAN_ONE_WAS_WANTED: Refutation = Refutation {
    when: "as sampled, more than 1.5 threads of it were on a CPU or ready for one, and did not take turns",
    is_read: |evidence| {
        let wanted = evidence.computing();
        let is_alone = evidence.signal(|signals| signals.cores_allowed).is_some_and(|allowed| allowed < 1.5);
        wanted > 1.5 && !takes_turns(evidence) && !is_alone
    },
};

/// Who runs in turns has a thread that runs at any time, and the others wait for their turn, not for a core.
const MORE_OR_FEWER_RAN: Refutation = Refutation {
    when: "as sampled, fewer than 0.8 or more than 1.5 of its threads were on a CPU, or more than 2.5 there or ready for one, or more than 1.8 \
           where no threads look for their turn",
    is_read: |evidence| {
        let busiest = evidence.busiest_process().map(|(name, _)| name);
        let workers = evidence.workers();
        let of_busiest = busiest.and_then(|name| workers.get(&name));
        of_busiest.is_some_and(|workers| {
            let ran = workers.in_state("on_cpu");
            let wanted_to = ran + workers.in_state("runnable");
            let most = if takes_turns(evidence) { 2.5 } else { 1.8 };
            workers.all() > 0.0 && (!(0.8..=1.5).contains(&ran) || wanted_to > most)
        })
    },
};

pub(super) const ONE_THREAD: Rule = Rule {
    finds: &[Resource::ONE_CORE],
    when: "the busiest thread of the system ran 90 % of the time; or it used three quarters of what the system used, and threads of the \
           system ran or were ready for 0.9 to 1.3 cores",
    why: "more threads or processes could use other cores, that one cannot. Others may take the core from it",
    refuted_by: &[],
    covers: Covers::Any,
    find: one_thread,
};

fn one_thread(evidence: &Evidence<'_>) -> Option<Bottleneck> {
    let ran = evidence.signal(|signals| signals.busiest_thread)?;
    let because = match ready_all_the_time(evidence, ran) {
        _ if ran >= BUSY => format!("one of its threads ran {} of the time", percent(ran.min(1.0))),
        Some(ready) => format!(
            "one of its threads ran {} of the time, and was ready for a core {} of it",
            percent(ran),
            percent(ready.min(1.0))
        ),
        None => return None,
    };
    let because = format!("{because}{}", cpu_in_brackets(evidence));
    // Others may share the rest of the cores with it: more of them would not help one thread.
    Some(suspected(Resource::ONE_CORE, Scope::Thread, because).direct(Some(evidence.not_asleep())))
}

/// How long the only thread that computes was ready for a core, if others took it from that thread.
fn ready_all_the_time(evidence: &Evidence<'_>, ran: f64) -> Option<f64> {
    let used = evidence.cores()?.system?;
    let wanted = evidence.computing();
    let is_alone = ran >= MOST_OF_ALL * used && ran >= ALONE && ONE_AT_A_TIME.contains(&wanted);
    is_alone.then_some((wanted - ran).max(0.0))
}

/// Requests in flight of which one computes at a time, at least.
const SEVERAL: f64 = 4.0;
/// Threads that run or are ready where one computes at a time, and cores that they use of it.
const WANT_ONE: std::ops::RangeInclusive<f64> = 0.9..=1.15;
const USED_OF_IT: f64 = 0.5;
/// The same where threads take turns, and requests that are computed at once by the pace.
const TURNS_WANT: std::ops::RangeInclusive<f64> = 0.85..=1.6;
const IN_TURNS_AT_ONCE: std::ops::RangeInclusive<f64> = 0.5..=1.35;
/// Of the requests in flight, those that wait at one futex, at least; and those that compute or are ready to, at most.
const LOOK_FOR_IT: f64 = 0.35;
/// Of the threads there, those with a time-out.
const TIMED: f64 = 0.5;
/// Of what one core would explain.
const CHANCE: f64 = 0.5;

pub(super) const ONE_WANTED: Rule = Rule {
    finds: &[Resource::ONE_CORE],
    when: "four requests in flight or more, and threads of the system ran or were ready for 0.9 to 1.15 cores in all, and ran for half a core; \
           or for 0.85 to 1.6 cores, if a thread or more of the same process waited for another, no thread used 60 % of the CPU time, and \
           throughput × the fastest answer is 0.5 to 1.35; or for 0.85 or more, if one ran, and 35 % of the requests in flight and two at least \
           waited at one futex, mostly with a time-out, while fewer computed",
    why: "if more threads could compute, as many would be ready as requests wait. Others may take that core from them. Threads that wait for \
          their turn are ready for a moment when they look whether it has come",
    refuted_by: &[ITS_THREADS_SLEPT],
    covers: Covers::Runs,
    find: one_wanted,
};

fn one_wanted(evidence: &Evidence<'_>) -> Option<Bottleneck> {
    let in_flight = evidence.in_flight().filter(|in_flight| *in_flight >= SEVERAL)?;
    let all = evidence.workers();
    let wanted = evidence.computing();
    let ran: f64 = all.values().map(|workers| workers.in_state("on_cpu")).sum();
    let is_multicore = evidence.cores().is_some_and(|cores| cores.all > 1);
    let is_in_turns = computes_in_turns(evidence);
    if !is_multicore || !WANT_ONE.contains(&wanted) && !is_in_turns || ran < USED_OF_IT {
        return None;
    }
    let because = format!(
        "its threads ran or were ready for {} cores, while {} requests were in flight: as if one computed at a time{}",
        decimal(wanted, 2),
        decimal(in_flight, 1),
        cpu_in_brackets(evidence)
    );
    // Two that take a part of a core each look the same. Where cores are idle, a lock explains turns as well.
    let is_busy = evidence.signal(|signals| signals.busy).is_some_and(|busy| busy >= ROOMY);
    let share = if is_in_turns && is_busy { 1.0 } else { CHANCE } * evidence.not_asleep();
    Some(suspected(Resource::ONE_CORE, Scope::System, because).indirect(Some(share)))
}

/// Whether threads of the process that computes most take turns, where others may take the core from them as well.
fn computes_in_turns(evidence: &Evidence<'_>) -> bool {
    let all = evidence.workers();
    let wanted = evidence.computing();
    let most = all.values().max_by(|one, other| one.computing().total_cmp(&other.computing()));
    most.is_some_and(|workers| {
        one_goes_on(evidence, workers, wanted) || looks_for_its_turn(evidence, workers, wanted)
    })
}

/// Whether one request at a time is computed, in changing threads, others of which wait. Who shares the cores with others answers fewer
/// requests than the fastest answer suggests.
fn one_goes_on(evidence: &Evidence<'_>, workers: &Workers, wanted: f64) -> bool {
    let longest = evidence.signal(|signals| signals.busiest_thread).zip(evidence.ran_and_waited());
    let changes = longest.is_some_and(|(longest, [ran, _])| longest < MOVES_AMONG_THREADS * ran);
    TURNS_WANT.contains(&wanted)
        && workers.in_state("futex") >= 1.0
        && changes
        && evidence.at_once().is_some_and(|at_once| IN_TURNS_AT_ONCE.contains(&at_once))
}

/// Whether threads with requests wait at one futex with a time-out, and one runs: they look again and again whether it is their turn.
fn looks_for_its_turn(evidence: &Evidence<'_>, workers: &Workers, wanted: f64) -> bool {
    let waiting = workers.same_futex;
    let is_timed = workers.timed_futex.is_some_and(|timed| timed >= TIMED * waiting);
    let runs_alone = (USED_OF_IT..=IN_TURNS_RUN).contains(&workers.in_state("on_cpu"));
    let of_requests = |threads: f64| evidence.of_in_flight(threads).unwrap_or(0.0);
    waiting >= 2.0
        && is_timed
        && runs_alone
        && *TURNS_WANT.start() <= wanted
        && of_requests(waiting) >= LOOK_FOR_IT
        && of_requests(wanted) < LOOK_FOR_IT
}

pub(super) const ONE_ALLOWED: Rule = Rule {
    finds: &[Resource::ONE_CORE],
    when: "the processes of the system may run on one core of several, and used 0.75 of it or more, or its threads wanted to all the time",
    why: "`pin`, `taskset`, and a cpuset leave it no other, whoever else uses that one",
    refuted_by: &[],
    covers: Covers::Any,
    find: one_allowed,
};

fn one_allowed(evidence: &Evidence<'_>) -> Option<Bottleneck> {
    evidence.signal(|signals| signals.cores_allowed).filter(|allowed| *allowed < 1.5)?;
    let cores = evidence.cores().filter(|cores| cores.all > 1)?;
    let [ran, waited] = evidence.ran_and_waited().or_else(|| Some([cores.system?, 0.0]))?;
    if ran < ROOMY && ran + waited < BUSY {
        return None;
    }
    let because = format!(
        "it may run on 1 of {} (`pin` in the plan, its affinity, or a cpuset), and used {} of it, while {} of its threads were ready",
        cores_of(cores.all),
        decimal(ran, 2),
        decimal(waited, 1)
    );
    let cause = suspected(Resource::ONE_CORE, Scope::System, because).direct(Some(evidence.not_asleep()));
    let next =
        "let it run on more cores: remove `pin` from the plan, or raise its cpuset (`cores` in `resources`)";
    Some(cause.next(next))
}

pub(super) const ONE_CORE: Rule = Rule {
    finds: &[Resource::ONE_CORE],
    when: "one core was 90 % busy, and the system used 0.75 cores or more",
    why: "it may use that core alone, or does",
    refuted_by: &[MORE_THAN_ONE_WAS_USED, MORE_THAN_ONE_WAS_WANTED],
    covers: Covers::Runs,
    find: one_core,
};

/// Several threads on one core: the only one that they may use.
fn one_core(evidence: &Evidence<'_>) -> Option<Bottleneck> {
    let (name, busy) = evidence.busiest_core().filter(|(_, busy)| *busy >= BUSY)?;
    let cores = evidence.cores()?;
    let used = cores.system.filter(|used| *used >= ROOMY)?;
    let because = format!(
        "{name} was {} busy, and the system used {} of {}",
        percent(busy),
        decimal(used, 2),
        cores_of(cores.all)
    );
    Some(suspected(Resource::ONE_CORE, Scope::System, because).indirect(Some(evidence.not_asleep())))
}

pub(super) const ONE_CORE_IN_TURNS: Rule = Rule {
    finds: &[Resource::ONE_CORE],
    when: "a process of the system, its children included, used 0.9 to 1.15 cores of several",
    why: "as if one thread or worker ran at a time, as under an interpreter's lock. Chance can look like it",
    refuted_by: &[ITS_THREADS_SLEPT, MORE_OR_FEWER_RAN],
    covers: Covers::Runs,
    find: one_core_in_turns,
};

/// Whether a process uses about one core while threads of it wait for another thread, as for an interpreter's lock.
pub(super) fn takes_turns(evidence: &Evidence<'_>) -> bool {
    let busiest = evidence.busiest_process().filter(|(_, used)| IN_TURNS.contains(used));
    let all = evidence.workers();
    let workers = busiest.and_then(|(name, _)| all.get(&name));
    // Who waits for an interpreter's lock looks again after some time. Idle threads of other runtimes wait without a time-out.
    let is_turn = |workers: &Workers| workers.timed_futex.is_some_and(|timed| timed >= 1.0);
    let is_timed =
        workers.is_some_and(|workers| is_turn(workers) && workers.in_state("on_cpu") <= IN_TURNS_RUN);
    is_timed || computes_in_turns(evidence)
}

/// Threads that run in turns use one core together, and wander over all of them.
fn one_core_in_turns(evidence: &Evidence<'_>) -> Option<Bottleneck> {
    let is_waited_for = evidence.users().is_none_or(|[users, waiting]| waiting >= PAUSED * users);
    let cores = evidence.cores().filter(|cores| cores.all > 1 && is_waited_for)?;
    let (name, used) = evidence.busiest_process().filter(|(_, used)| IN_TURNS.contains(used))?;
    let because = format!(
        "its process {name} used {} of {}, as if only one of its threads or workers could run at a time",
        decimal(used, 2),
        cores_of(cores.all)
    );
    let workers = evidence.workers();
    let waiting = workers.get(&name).map_or(0.0, |workers| workers.same_futex);
    let is_turn = evidence.of_in_flight(waiting).is_some_and(|share| share >= WAIT_FOR_THEIR_TURN);
    let cause = suspected(Resource::ONE_CORE, Scope::Process(name), because);
    let share = Some(evidence.not_asleep());
    Some(if is_turn {
        cause.direct(share).and([format!(
            "{} threads waited for the same futex, as for an interpreter's lock",
            decimal(waiting, 1)
        )])
    } else {
        cause.indirect(share)
    })
}
