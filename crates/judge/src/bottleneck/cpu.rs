//! CPU time of the machine.

use super::cause::{Bottleneck, Refutation, Scope, suspected};
use super::evidence::{Cores, Evidence};
use super::one_core;
use super::words::{cores_of, percent};
use super::{Coverage, Rule, Rung, SATURATED_MIN_SHARE, UNSATURATED_MAX_SHARE};
use crate::causes::Resource;
use crate::words::{decimal, duration};

/// Min share of all cores that the system uses when its own work saturates them.
const OWN_MIN_SHARE: f64 = 0.75;
/// Min ratio of the threads' runnable time to their running time at which other processes compete for cores.
const CORE_WAIT_MIN_RATIO: f64 = 0.25;
/// Min share of the response time in which threads of the system waited for a core.
const CORE_WAIT_MIN_RESPONSE_SHARE: f64 = 0.2;
/// Factor on the share that shared cores explain if the threads of the system take turns.
const TURN_TAKING_FACTOR: f64 = 0.5;
/// Min share of all cores used by others at which the machine's CPU is called shared.
const TAKEN_MIN_SHARE: f64 = 0.1;

impl Resource {
    /// Low priority: other processes get cores first.
    pub const PRIORITY: Self =
        Self::new("priority", "its low priority, next to other processes").of_the_machine().next(
            "raise the priority of the system (nice), stop what else runs, or pin both to cores of their own",
        );

    /// CPU time of the machine.
    pub const MACHINE_CPU: Self = Self::new("machine_cpu", "CPU of the machine")
        .of_the_machine()
        .next("give the system more cores, or profile it and spend less CPU time per request");
}

/// Idle cores rule out a shortage of cores.
const IDLE_CORES_REFUTE: Refutation = Refutation {
    when: "the cores were less than 75 % busy",
    is_read: |evidence| {
        evidence.signal(|signals| signals.busy).is_some_and(|busy| busy < UNSATURATED_MAX_SHARE)
    },
};

/// Min share of all cores that other processes use, and max ratio of the system's use to theirs, at which a shortage of
/// cores shows their need alone.
const OTHERS_MIN_SHARE: f64 = 0.5;
const OWN_MAX_RATIO: f64 = 0.25;

/// A system that hardly computes next to greedy processes waits for a core, but nothing shows that it needs more of them.
const OTHERS_USE_THE_CORES: Refutation = Refutation {
    when: "other processes used half of the cores or more, and the system a quarter of that or less, without a thread that ran before the load",
    is_read: |evidence| {
        let read = evidence.cores().and_then(|cores| Some((cores.all as f64, cores.system?, cores.others?)));
        read.is_some_and(|(all, system, others)| {
            let for_requests = system - evidence.ran_before_the_load();
            others >= OTHERS_MIN_SHARE * all && for_requests <= OWN_MAX_RATIO * others
        })
    },
};

/// Returns the share of all cores that the system used. `None` if that is unknown.
fn system_core_share(evidence: &Evidence<'_>) -> Option<f64> {
    let cores = evidence.cores()?;
    Some(cores.system? / cores.all as f64)
}

/// More slots do not help a system that computes on all cores.
pub(super) const COMPUTES_ON_ALL_CORES: Refutation = Refutation {
    when: "all cores together were 90 % busy or more, and the system used 75 % of them",
    is_read: |evidence| {
        let busy = evidence.signal(|signals| signals.busy);
        busy.is_some_and(|busy| busy >= SATURATED_MIN_SHARE)
            && system_core_share(evidence).is_some_and(|used| used >= OWN_MIN_SHARE)
    },
};

/// Cores kept busy by other processes limit only threads that wait for a core.
const CORES_BUSY_WITH_OTHERS: Refutation = Refutation {
    when: "the system used less than 75 % of the cores, and its threads hardly waited for one, or too few of them wanted one: fewer than half \
           of the requests in flight, and than 90 % of the cores",
    is_read: |evidence| {
        let all = evidence.cores().map_or(0.0, |cores| cores.all as f64);
        let wanted = evidence
            .in_flight()
            .map_or(SATURATED_MIN_SHARE, |in_flight| 0.5 * in_flight)
            .min(SATURATED_MIN_SHARE * all)
            .max(SATURATED_MIN_SHARE);
        let is_kept_waiting =
            |[ran, waited]: [f64; 2]| ran + waited >= wanted && waited >= CORE_WAIT_MIN_RATIO * ran;
        system_core_share(evidence).is_some_and(|used| used < OWN_MIN_SHARE)
            && evidence.ran_and_waited().is_some_and(|read| !is_kept_waiting(read))
    },
};

pub(super) const ALL_CORES: Rule = Rule {
    finds: &[Resource::MACHINE_CPU],
    when: "all cores together were 90 % busy or more",
    why: "the rest lies between two requests. Where the system used less than 75 % of the cores, threads \
          of it must have been running or ready nearly all the time, and without a core for a fourth of the time \
          that they ran. If the system did not use 10 % of the cores or more, \
          the limit is called shared",
    refuted_by: &[IDLE_CORES_REFUTE, CORES_BUSY_WITH_OTHERS, OTHERS_USE_THE_CORES],
    rung: Rung::Kernel,
    covers: Coverage::Any,
    find: all_cores,
};

fn all_cores(evidence: &Evidence<'_>) -> Option<Bottleneck> {
    let busy = evidence.signal(|signals| signals.busy).filter(|busy| *busy >= SATURATED_MIN_SHARE)?;
    let cores = evidence.cores()?;
    // If other processes use the cores, the system must have waited for one. Without that reading, a system with low
    // CPU use is not reported.
    let own = cores.system.map(|system| system + cores.generator.unwrap_or(0.0));
    let is_unread = evidence.ran_and_waited().is_none();
    if own.is_some_and(|own| is_unread && own < 0.5 * cores.all as f64) {
        return None;
    }
    let spinning = spinning_sentence(evidence).map_or_else(String::new, |words| format!("; {words}"));
    let because = format!("{} {} busy: {}{spinning}", all_of(cores.all), percent(busy), core_users(&cores));
    let cause = suspected(Resource::MACHINE_CPU, Scope::Machine, because);
    let not_its_own = cores.others.unwrap_or(0.0) + cores.generator.unwrap_or(0.0);
    if cores.system.is_none() || not_its_own / (cores.all as f64) < TAKEN_MIN_SHARE {
        // Requests that wait for a component of the system also wait for its cores.
        return Some(cause.direct(Some(1.0)).without_share());
    }
    let [others, generator] =
        [cores.others, cores.generator].map(|used| used.filter(|used| *used >= TAKEN_MIN_SHARE));
    let against = [("other processes", others), ("the generator", generator)];
    let against = against.into_iter().filter_map(|(name, used)| Some((name, used?)));
    let programs = |name| if name == "the generator" { String::new() } else { evidence.named_others() };
    let against = against.map(|(name, used)| format!("{name} used {}{}", decimal(used, 2), programs(name)));
    // Threads that take turns would not use more cores even if other processes used none.
    let has_turn_taking_process = one_core::has_turn_taking_process(evidence);
    let share = evidence.awake_share() * if has_turn_taking_process { TURN_TAKING_FACTOR } else { 1.0 };
    let cause = cause.indirect(Some(share)).against(against);
    let (what, next) = shared_with(others.is_some(), generator.is_some());
    Some(Bottleneck { what, ..cause.next(next) })
}

/// Max ratio of p5 of the answers to the mean CPU time of a request at which threads may spin.
const SPINNING_QUICK_MAX: f64 = 0.5;
/// Max ratio of the fastest answer to the mean CPU time of a request at which threads may spin.
const SPINNING_FASTEST_MAX: f64 = 0.3;

/// Returns a sentence about answers that took less time than the CPU time of a request. The cause may be threads that
/// spin while they wait, or requests of different cost.
fn spinning_sentence(evidence: &Evidence<'_>) -> Option<String> {
    let is_one_kind = evidence.runs.iter().all(|run| run.run.new.steps.len() == 1);
    let ran = evidence.workers().values().map(|workers| workers.in_state("on_cpu")).reduce(f64::max)?;
    let cpu_ns = ran / evidence.ended_per_s()? * 1e9;
    evidence.pace(|pace| pace.quick_ns).filter(|ns| *ns <= SPINNING_QUICK_MAX * cpu_ns && is_one_kind)?;
    let fastest_ns =
        evidence.pace(|pace| pace.fastest_ns).filter(|ns| *ns <= SPINNING_FASTEST_MAX * cpu_ns)?;
    Some(format!(
        "a request took {} of CPU time on average, but the fastest was answered in {}: its threads may spin while they wait, or its \
         requests differ",
        duration(cpu_ns),
        duration(fastest_ns)
    ))
}

/// Returns the name for cores that the system shares, and the next step.
fn shared_with(others: bool, generator: bool) -> (&'static str, &'static str) {
    match (others, generator) {
        (false, true) => (
            "CPU of the machine, shared with the generator",
            "load from another machine, or pin system and generator to cores of their own (`pin: auto`)",
        ),
        (true, false) => {
            ("CPU of the machine, shared with other processes", "measure where nothing else runs")
        }
        _ => (
            "CPU of the machine, shared with other processes and the generator",
            "measure where nothing else runs, and load from another machine, or pin system and generator to cores of their own",
        ),
    }
}

fn all_of(cores: usize) -> String {
    match cores {
        1 => "the one core was".to_owned(),
        2 => "both cores were".to_owned(),
        all => format!("all {all} cores were"),
    }
}

/// Min number of cores used by called servers that a sentence mentions.
const CALLED_MIN_CORES: f64 = 0.05;

fn core_users(cores: &Cores) -> String {
    let of = |name: &str, used: Option<f64>| used.map(|used| format!("{name} {}", decimal(used, 2)));
    let (system, others) = match cores.system {
        Some(used) => (Some(format!("the system used {}", decimal(used, 2))), "other processes"),
        None => (None, "all other processes"),
    };
    let called = Some(cores.called).filter(|used| *used >= CALLED_MIN_CORES);
    let called = of("what it calls", called);
    let who = [system, called, of("the generator", cores.generator), of(others, cores.others)];
    who.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// Min share of all cores used by other processes at which a priority has an effect.
const OTHER_CORES_MIN_SHARE: f64 = 0.25;

pub(super) const LOW_PRIORITY: Rule = Rule {
    finds: &[Resource::PRIORITY],
    when: "the process of the system that used most runs at a nice value of 1 or more, other processes used a quarter of the cores or more, \
           and its threads were running or ready nearly all the time, and without a core for a fourth of the time that they ran",
    why: "a process with a nice value gets the time that others leave",
    refuted_by: &[IDLE_CORES_REFUTE, CORES_BUSY_WITH_OTHERS],
    rung: Rung::Kernel,
    covers: Coverage::Any,
    find: low_priority,
};

fn low_priority(evidence: &Evidence<'_>) -> Option<Bottleneck> {
    let (name, nice) = evidence.niceness().filter(|(_, nice)| *nice >= 1.0)?;
    let cores = evidence.cores()?;
    let others = cores.others.filter(|others| *others >= OTHER_CORES_MIN_SHARE * cores.all as f64)?;
    let [ran, waited] = evidence.ran_and_waited()?;
    if ran + waited < SATURATED_MIN_SHARE || waited < CORE_WAIT_MIN_RATIO * ran {
        return None;
    }
    let because = format!(
        "{name} runs at nice {}: its threads ran {} s of each second and were ready without a core for {} s, while other processes used \
         {} of {}",
        decimal(nice, 0),
        decimal(ran, 2),
        decimal(waited, 2),
        decimal(others, 2),
        cores_of(cores.all)
    );
    let share = waited / (ran + waited);
    Some(suspected(Resource::PRIORITY, Scope::Process(name), because).direct(Some(share)).without_share())
}

pub(super) const WAITS_FOR_A_CORE: Rule = Rule {
    finds: &[Resource::MACHINE_CPU],
    when: "cores were 75 % busy or more, and threads of the system waited for one for a fifth of the response time",
    why: "cores were short at times",
    refuted_by: &[IDLE_CORES_REFUTE, OTHERS_USE_THE_CORES],
    rung: Rung::Kernel,
    covers: Coverage::Runs,
    find: waits_for_a_core,
};

fn waits_for_a_core(evidence: &Evidence<'_>) -> Option<Bottleneck> {
    let busy = evidence.signal(|signals| signals.busy).filter(|busy| *busy >= UNSATURATED_MAX_SHARE)?;
    let wait = evidence.core_wait_of_response().filter(|wait| *wait >= CORE_WAIT_MIN_RESPONSE_SHARE)?;
    // Threads without a request wait, too, so this may exceed the response time.
    let waited = match wait {
        wait if wait <= 1.0 => format!("for {} of the response time", percent(wait)),
        _ => format!("{} times as long as the requests took together", decimal(wait, 1)),
    };
    let because = format!(
        "threads of the system waited for a core {waited}, while the cores were {} busy",
        percent(busy)
    );
    Some(suspected(Resource::MACHINE_CPU, Scope::Machine, because).indirect(Some(wait)))
}
