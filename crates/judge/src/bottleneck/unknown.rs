//! Result without a reported cause: an unknown bottleneck with the highest readings.

use super::cause::{Bottleneck, Certainty, Reading, Scope, suspected};
use super::errors;
use super::evidence::Evidence;
use super::pressure::Pressure;
use super::threads::{describe_threads, waits_at_one_futex};
use super::words::{cores_of, cpu_in_brackets, percent};
use crate::causes::Resource;
use crate::words::{counted, decimal};

/// Max number of readings that are reported.
const READINGS_MAX: usize = 3;

pub(super) fn unknown(evidence: &Evidence<'_>) -> Bottleneck {
    if let Some(gone) = errors::gone(evidence) {
        return gone;
    }
    let read = highest(evidence);
    let disturbance = disturbance(evidence);
    let because = match (read.len(), &disturbance) {
        (0, _) => "no resource was read during the run".to_owned(),
        (_, None) => match seen(evidence) {
            Some(seen) => format!("{seen}{}", cpu_in_brackets(evidence)),
            None => format!("no reading explains it{}", cpu_in_brackets(evidence)),
        },
        (_, Some(by)) => {
            format!("the run was disturbed: {by}; no reading explains it{}", cpu_in_brackets(evidence))
        }
    };
    let text = |reading: &Reading| format!("{} {}", reading.words, percent(reading.share));
    let texts: Vec<String> = read.iter().map(text).collect();
    let with_highest = match texts.len() {
        0 => because.clone(),
        _ => format!("{because}; highest: {}", texts.join(", ")),
    };
    let did = describe_threads(&evidence.workers());
    let at_futex = waits_at_one_futex(evidence);
    let next = match did {
        _ if disturbance.is_some() => "measure again where nothing else runs",
        _ if at_futex.is_some() => {
            "see what its threads wait for (gdb -p PID -batch -ex 'thread apply all bt', jstack PID, py-spy dump --pid PID)"
        }
        Some(_) => "profile the system, or add users and see whether throughput grows",
        None if evidence.is_system_read() => "add users and see whether throughput grows",
        None => "let Tenbin start the system, so that it can read its processes",
    };
    let cause = suspected(Resource::UNKNOWN, Scope::System, because).next(next).and(at_futex).and(did);
    Bottleneck { because: with_highest, certainty: Certainty::Unknown, highest: read, ..cause }
}

/// Returns a sentence on how requests proceeded. It names no limit.
fn seen(evidence: &Evidence<'_>) -> Option<String> {
    let late =
        errors::late_answers(evidence).map(|late| format!("{late}; what they waited for was not seen"));
    late.or_else(|| few_at_once(evidence)).or_else(|| evenly_spaced(evidence))
}

/// Max p90 − p10, as a share of p50, of answers of one kind. In a mixture, the fastest answer does not represent a
/// typical one.
const ONE_KIND_MAX_SPREAD: f64 = 1.0;
/// Max share of requests in flight that proceed at once, if the others wait.
const FEW_MAX_SHARE: f64 = 0.6;

/// Returns a sentence with the number of requests that proceeded at once, if clearly fewer than in flight: throughput ×
/// fastest answer, by Little's law. It does not identify the limit.
fn few_at_once(evidence: &Evidence<'_>) -> Option<String> {
    evidence.spread().filter(|spread| *spread <= ONE_KIND_MAX_SPREAD)?;
    let (concurrency, in_flight) = (evidence.concurrency()?, evidence.in_flight()?);
    let is_few = concurrency >= 0.5 && concurrency <= FEW_MAX_SHARE * in_flight;
    (is_few && !evidence.is_cold_start() && !evidence.is_exhausted()).then(|| {
        format!(
            "about {} at once were worked on, while {} were in flight; what limits them was not seen",
            counted(concurrency.round().max(1.0) as u64, evidence.together.unit),
            decimal(in_flight, 1),
        )
    })
}

/// Max p90 − p10, as a share of p50, of answers that take equally long.
const EVEN_MAX_SPREAD: f64 = 0.05;
/// Max throughput × fastest answer of a system that was idle between its answers.
const IDLE_MAX_AT_ONCE: f64 = 0.5;
/// Min number of requests in flight; a single one does not queue.
const QUEUED_MIN: f64 = 2.0;

/// Returns a sentence about answers that all waited equally long for a system that works faster. It does not identify
/// the awaited resource.
fn evenly_spaced(evidence: &Evidence<'_>) -> Option<String> {
    even_distance(evidence)
        .map(|even| format!("{even}: as from a rate limit or a timer; what limits them was not seen"))
}

/// Returns a sentence with the interval between answers that all waited equally long, but not for each other's work.
pub(super) fn even_distance(evidence: &Evidence<'_>) -> Option<String> {
    let spread = evidence.spread().filter(|spread| *spread <= EVEN_MAX_SPREAD)?;
    evidence.in_flight().filter(|in_flight| *in_flight >= QUEUED_MIN)?;
    let concurrency = evidence.concurrency()?;
    let per_s = evidence.ended_per_s()?;
    (concurrency <= IDLE_MAX_AT_ONCE && !evidence.is_exhausted()).then(|| {
        format!(
            "answers came {} a second at an even distance, 80 % of them within {} of each other",
            decimal(per_s, 1),
            percent(spread)
        )
    })
}

/// Min number of cores used by other processes that disturbs a run.
const DISTURBING_MIN_CORES: f64 = 0.3;
/// Min share of CPU time taken by other guests of the host that disturbs a run.
const STEAL_MIN_SHARE: f64 = 0.05;

/// Returns a sentence about other processes and guests that disturbed a run, with figures; `None` if none did.
pub(super) fn disturbance(evidence: &Evidence<'_>) -> Option<String> {
    let steal = evidence.signal(|signals| signals.steal).filter(|share| *share >= STEAL_MIN_SHARE);
    let steal =
        steal.map(|share| format!("other guests of the host took {} of its processor time", percent(share)));
    let cores = evidence.cores();
    let others = cores.and_then(|cores| Some((cores.all, cores.system.and(cores.others)?)));
    let others = others.filter(|(_, used)| *used >= DISTURBING_MIN_CORES);
    let others = others.map(|(all, used)| {
        let programs = evidence.named_others();
        format!("other processes used {} of {}{programs}", decimal(used, 2), cores_of(all))
    });
    let waited = evidence
        .ran_and_waited()
        .map(|[_, waited]| waited)
        .filter(|waited| others.is_some() && *waited >= 0.1);
    let waited = waited
        .map(|waited| format!("{} threads of the system waited for one on average", decimal(waited, 1)));
    let all: Vec<String> = [others, waited, steal].into_iter().flatten().collect();
    (!all.is_empty()).then(|| all.join(", "))
}

/// Returns readings as shares of their maximum, highest first.
fn highest(evidence: &Evidence<'_>) -> Vec<Reading> {
    let of = |share: Option<f64>, words: &str| Some((share?, words.to_owned()));
    let waited = |pressure: Option<Pressure>| pressure.map(|pressure| pressure.share);
    let queue = evidence.listen_queue().map(|[waiting, limit]| waiting / limit);
    let thread = evidence.largest_wait();
    let wait = evidence.database_waits().into_iter().next();
    let read = [
        of(evidence.signal(|signals| signals.busy), "all cores busy"),
        of(evidence.signal(|signals| signals.busiest_thread), "busiest thread of the system"),
        of(evidence.signal(|signals| signals.disk_busy), "busiest disk"),
        of(waited(evidence.disk_pressure()), "time in which something waited for disks"),
        of(waited(evidence.memory_pressure()), "time in which something waited for memory"),
        of(waited(evidence.cpu_pressure()), "time in which something waited for a core"),
        of(evidence.most(|signals| signals.open_files_share), "open files of their limit"),
        of(queue, "listen queue"),
        thread.map(|(process, state, threads, share)| {
            (share, format!("threads of {process} in {state} ({})", decimal(threads, 1)))
        }),
        wait.map(|(name, share)| (share, format!("sessions of the database in {name}"))),
    ];
    let read = read.into_iter().flatten().filter(|(share, _)| share.is_finite());
    let mut read: Vec<Reading> =
        read.map(|(share, words)| Reading { words, share: share.clamp(0.0, 1.0) }).collect();
    read.sort_by(|one, other| other.share.total_cmp(&one.share));
    read.truncate(READINGS_MAX);
    read
}
