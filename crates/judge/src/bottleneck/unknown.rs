//! No rule explains it: what was read highest, and that it is not known.

use super::cause::{Bottleneck, Certainty, Reading, Scope, suspected};
use super::evidence::Evidence;
use super::threads::what_they_did;
use super::words::{cpu_in_brackets, percent};
use crate::causes::Resource;
use crate::words::decimal;

/// How many readings are named.
const READINGS: usize = 3;

pub(super) fn unknown(evidence: &Evidence<'_>) -> Bottleneck {
    let read = highest(evidence);
    let because = match read.len() {
        0 => "no resource was read during the run".to_owned(),
        _ => format!("no reading explains it{}", cpu_in_brackets(evidence)),
    };
    let text = |reading: &Reading| format!("{} {}", reading.words, percent(reading.share));
    let texts: Vec<String> = read.iter().map(text).collect();
    let with_highest = match texts.len() {
        0 => because.clone(),
        _ => format!("{because}; highest: {}", texts.join(", ")),
    };
    let did = what_they_did(&evidence.workers());
    let next = match did {
        Some(_) => "profile the system, or add users and see whether throughput grows",
        None if evidence.is_system_read() => "add users and see whether throughput grows",
        None => "let Tenbin start the system, so that it can read its processes",
    };
    let cause = suspected(Resource::UNKNOWN, Scope::System, because).next(next).and(did);
    Bottleneck { because: with_highest, certainty: Certainty::Unknown, highest: read, ..cause }
}

/// Readings by how near each is to its end, nearest first.
fn highest(evidence: &Evidence<'_>) -> Vec<Reading> {
    let of = |share: Option<f64>, words: &str| Some((share?, words.to_owned()));
    let queue = evidence.listen_queue().map(|[waiting, limit]| waiting / limit);
    let thread = evidence.waiting_most();
    let wait = evidence.database_waits().into_iter().next();
    let read = [
        of(evidence.signal(|signals| signals.busy), "all cores busy"),
        of(evidence.signal(|signals| signals.busiest_thread), "busiest thread of the system"),
        of(evidence.signal(|signals| signals.disk_busy), "busiest disk"),
        of(evidence.signal(|signals| signals.disk_pressure), "time in which something waited for disks"),
        of(evidence.signal(|signals| signals.memory_pressure), "time in which something waited for memory"),
        of(evidence.signal(|signals| signals.cpu_pressure), "time in which something waited for a core"),
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
    read.truncate(READINGS);
    read
}
