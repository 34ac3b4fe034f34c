//! A lock of glibc with its holder, whose work was sampled while other threads waited; or a lock of Rust, which does
//! not store its holder.

use std::collections::BTreeMap;

use stats::median;

use super::cause::{Bottleneck, Scope, suspected};
use super::evidence::Evidence;
use super::words::percent;
use super::{Coverage, Rule, Rung};
use crate::causes::Resource;
use crate::held_lock::HeldLock;
use crate::words::decimal;

/// Min mean number of waiting threads that is not noise.
const WAITERS_MIN: f64 = 0.5;
/// Label of the holder of a lock that does not store it.
const UNKNOWN: &str = "unknown";
/// Label of a running or runnable holder.
const RUNNING: &str = "running";
/// Min number of samples of a holder at which shares of its work are stated.
const LOOKS_MIN: f64 = 10.0;
/// Min share of samples that a sentence mentions.
const WORK_MIN_SHARE: f64 = 0.05;
/// Min share of samples at which a holder's waits say more than its running time, because a runnable holder counts as
/// running.
const WAIT_MIN_SHARE: f64 = 0.2;
/// Max number of kinds of work that a sentence mentions.
const WORKS_MAX: usize = 3;

pub(super) const HELD_LOCK: Rule = Rule {
    finds: &[Resource::LOCK],
    when: "on average half a thread of a process or more waited for a mutex or read-write lock of glibc, or of Rust's standard library, that \
           another thread held, in ten looks or more",
    why: "glibc stores the owner next to the lock, and the owner's system call says what it does. Idle threads of a pool wait at a \
          condition variable, which has no owner. A lock of Rust stores that it is held and waited for, and not by whom",
    refuted_by: &[],
    rung: Rung::Kernel,
    covers: Coverage::Runs,
    find: held_lock_cause,
};

/// Returns the most contended lock of each run.
fn locks<'a>(evidence: &Evidence<'a>) -> impl Iterator<Item = &'a HeldLock> {
    evidence.runs.iter().filter_map(|run| run.signals?.waits.lock.as_ref())
}

/// Returns the mean number of threads of a process that waited for its most contended lock; 0 if it has none.
pub(super) fn waiters(evidence: &Evidence<'_>, process: &str) -> f64 {
    let of_process = locks(evidence).filter(|lock| lock.process == process);
    median(of_process.map(|lock| lock.waiters)).unwrap_or(0.0)
}

/// Returns whether a thread waited for a lock at any time, on average. More requests would only wait for it, too.
pub(super) fn is_always_awaited(evidence: &Evidence<'_>) -> bool {
    let waiters = median(locks(evidence).map(|lock| lock.waiters));
    waiters.is_some_and(|waiters| waiters >= 1.0) && HELD_LOCK.cause(evidence).is_some()
}

fn held_lock_cause(evidence: &Evidence<'_>) -> Option<Bottleneck> {
    let mut held: Vec<&HeldLock> = locks(evidence).collect();
    held.sort_by(|one, other| other.waiters.total_cmp(&one.waiters));
    let first = held.first()?;
    // The address of a lock differs between runs; its process does not.
    let alike = || held.iter().filter(|lock| lock.process == first.process);
    let waiters = median(alike().map(|lock| lock.waiters)).filter(|waiters| *waiters >= WAITERS_MIN)?;
    let looks: f64 = alike().map(|lock| lock.looks).sum();
    let mut works: BTreeMap<&str, f64> = BTreeMap::new();
    for (work, count) in alike().flat_map(|lock| &lock.works) {
        *works.entry(work).or_default() += count;
    }
    let mut works: Vec<(&str, f64)> = works.into_iter().map(|(work, count)| (work, count / looks)).collect();
    works.sort_by(|(_, one), (_, other)| other.total_cmp(one));
    let most = main_work(&works).filter(|_| looks >= LOOKS_MIN)?;
    let told = works.iter().filter(|(_, share)| *share >= WORK_MIN_SHARE).take(WORKS_MAX);
    let told: Vec<String> =
        told.map(|(work, share)| format!("{} in {}", work_in_words(work), percent(*share))).collect();
    let threads = evidence.workers().get(&first.process).map(|workers| workers.all());
    let of_threads = threads.map_or_else(String::new, |all| format!(" of the {}", decimal(all, 1)));
    let (kind, place) = first.name.split_once(' ').unwrap_or(("lock", &first.name));
    let holder = match most {
        UNKNOWN => "it was held; it does not store by whom".to_owned(),
        _ => format!("its holder was {}", told.join(", ")),
    };
    let because = format!(
        "on average {}{of_threads} threads of {} waited for the {kind} at {place}; in {} looks, {holder}",
        decimal(waiters, 1),
        first.process,
        decimal(looks, 0)
    );
    let cause = suspected(Resource::LOCK, Scope::Process(first.process.clone()), because);
    // The request that holds the lock is delayed by the work under it, as are the requests that wait for it.
    let holders = median(alike().map(|lock| lock.holders)).unwrap_or(0.0);
    let cause = cause.next(next(most)).direct(evidence.in_flight_share(waiters + holders));
    Some(Bottleneck { what: what(most), ..cause })
}

/// Returns the work that explains the hold time of a lock, from works by share, largest first.
fn main_work<'a>(works: &[(&'a str, f64)]) -> Option<&'a str> {
    let waits = works.iter().find(|(work, share)| *work != RUNNING && *share >= WAIT_MIN_SHARE);
    waits.or(works.first()).map(|(work, _)| *work)
}

/// Describes the work of a holder. Addresses come from outside: escape them.
fn work_in_words(work: &str) -> String {
    match work {
        RUNNING => "running or ready to run".to_owned(),
        "disk" => "asleep for a disk".to_owned(),
        "pipe_write" => "blocked in a write to a pipe".to_owned(),
        "pipe_read" => "waiting to read from a pipe".to_owned(),
        "file_write" => "writing to a file".to_owned(),
        "file_read" => "reading from a file".to_owned(),
        "socket_write" => "blocked in a write to a socket".to_owned(),
        "socket_read" => "waiting to read from a socket".to_owned(),
        "connect" => "opening a connection".to_owned(),
        "timer" => "asleep in a timer".to_owned(),
        "futex" => "waiting for another thread".to_owned(),
        "poll" => "waiting for events".to_owned(),
        "wait4" => "waiting for a child process to end".to_owned(),
        "readers" => "one reader or several".to_owned(),
        UNKNOWN => "unknown".to_owned(),
        "other" => "asleep in another call".to_owned(),
        work => match work.strip_prefix("socket_read@") {
            Some(address) => format!("waiting for a reply from {address}"),
            None => format!("in {work}"),
        },
    }
}

/// Returns whether a holder waits for data to reach a disk.
fn is_sync(work: &str) -> bool {
    matches!(work, "fsync" | "fdatasync" | "sync_file_range" | "msync" | "syncfs" | "disk" | "file_write")
}

fn what(work: &str) -> &'static str {
    match work {
        RUNNING => "lock between threads of the system, held while computing",
        "pipe_write" => "lock between threads of the system, held during a write to a full pipe, as of a log",
        work if is_sync(work) => "lock between threads of the system, held while writing to a disk",
        work if work.starts_with("socket_") || work == "connect" => {
            "lock between threads of the system, held during a call of another service"
        }
        "timer" => "lock between threads of the system, held while asleep",
        _ => Resource::LOCK.words,
    }
}

fn next(work: &str) -> String {
    let find = "`gdb -p PID -batch -ex 'thread apply all bt'` shows who takes it";
    let mend = match work {
        RUNNING => "compute outside of the lock, or split it".to_owned(),
        "pipe_write" => {
            "write to the pipe outside of the lock, write less, or make its reader faster".to_owned()
        }
        work if is_sync(work) => {
            "write outside of the lock, or let one sync serve several requests (group commit)".to_owned()
        }
        work if work.starts_with("socket_read@") => {
            format!("call {} outside of the lock", work.trim_start_matches("socket_read@"))
        }
        _ => "hold the lock for less time, or split it".to_owned(),
    };
    format!("{mend}; {find}")
}

#[cfg(test)]
mod tests {
    use evidence::Reading;
    use fixtures::{OwnStore, ending, new_run, reading};

    use super::super::planted::Planted;
    use super::*;
    use crate::core_time::Seconds;

    /// Plants eight users whose threads wait for a lock; `works` are the samples of its holder per second.
    fn locked(waiters: f64, works: &[(&str, f64)]) -> Planted {
        let mut planted = Planted::closed(8, 200.0, 5.0);
        planted.threads(&[("futex", waiters), ("disk", 0.8), ("on_cpu", 0.2)]);
        let looks: f64 = works.iter().map(|(_, looks)| looks).sum();
        let of_second =
            |second| -> (u64, Vec<Reading>) {
                let lock = "mutex app+0x40c0";
                let mut readings = vec![
                    reading("app", "thread_samples", "", 20.0),
                    reading("app", "lock_waiters", lock, waiters),
                    reading("app", "lock_looks", lock, looks),
                    reading("app", "lock_waiters", "mutex 0x7f10", 0.1),
                ];
                readings.extend(works.iter().map(|(work, looks)| {
                    reading("app", "lock_holder_looks", &format!("{work} {lock}"), *looks)
                }));
                (second, readings)
            };
        let seconds: Vec<_> = (0..4).map(of_second).collect();
        let kept = OwnStore::new().kept(&new_run(), &[], &seconds, &ending());
        planted.signals.waits.lock = HeldLock::during(&kept, Seconds::Measured);
        planted
    }

    fn cause(planted: &Planted) -> Bottleneck {
        planted.with_evidence(held_lock_cause).expect("a lock")
    }

    #[test]
    fn work_of_the_holder_is_named_with_its_share() {
        let cause = cause(&locked(6.0, &[("fdatasync", 12.0), ("running", 4.0)]));
        let expected = "on average 6.0 of the 7.0 threads of app waited for the mutex at app+0x40c0; in 64 looks, its holder was in \
                        fdatasync in 75 %, running or ready to run in 25 %";
        assert_eq!(cause.because, expected);
        assert!(cause.what.ends_with("held while writing to a disk"), "{}", cause.what);
        assert!(cause.next.starts_with("write outside of the lock"), "{}", cause.next);
        assert_eq!(cause.share, Some(0.85), "six that wait, and one that holds it in 16 of 20 samples");
    }

    #[test]
    fn wait_of_the_holder_takes_precedence_over_its_running_time() {
        let cause = cause(&locked(6.0, &[("fdatasync", 4.0), ("running", 12.0)]));
        assert!(cause.what.ends_with("held while writing to a disk"), "{}", cause.what);
        let computes = locked(6.0, &[("fdatasync", 2.0), ("running", 14.0)]).with_evidence(held_lock_cause);
        assert!(computes.is_some_and(|cause| cause.what.ends_with("held while computing")));
    }

    #[test]
    fn lock_held_during_a_call_names_the_address() {
        let cause = cause(&locked(6.0, &[("socket_read@127.0.0.1:5432", 16.0)]));
        assert!(
            cause.because.ends_with("waiting for a reply from 127.0.0.1:5432 in 100 %"),
            "{}",
            cause.because
        );
        assert!(cause.next.starts_with("call 127.0.0.1:5432 outside"), "{}", cause.next);
    }

    #[test]
    fn holder_outranks_the_disk_that_it_waits_for() {
        let planted = locked(6.0, &[("fdatasync", 16.0)]);
        assert_eq!(planted.causes()[0].resource, Resource::LOCK);
    }

    #[test]
    fn lock_without_a_stored_owner_is_named_without_its_holder() {
        let cause = cause(&locked(6.0, &[(UNKNOWN, 16.0)]));
        let expected = "on average 6.0 of the 7.0 threads of app waited for the mutex at app+0x40c0; in 64 looks, it was held; it does not \
                        store by whom";
        assert_eq!((cause.because.as_str(), cause.what), (expected, Resource::LOCK.words));
        assert!(cause.next.starts_with("hold the lock for less time"), "{}", cause.next);
    }

    #[test]
    fn few_looks_or_few_waiters_name_no_lock() {
        assert!(locked(6.0, &[("fdatasync", 2.0)]).with_evidence(held_lock_cause).is_none());
        assert!(locked(0.4, &[("fdatasync", 16.0)]).with_evidence(held_lock_cause).is_none());
        assert!(Planted::closed(8, 200.0, 5.0).with_evidence(held_lock_cause).is_none());
    }
}
