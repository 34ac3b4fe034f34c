//! Lock with the most waiting threads in a run, from samples of the system's threads.

use std::collections::BTreeMap;

use evidence::Run;

use crate::core_time::{Seconds, readings_in};

/// Lock for which most threads of a run waited. Names come from outside: escape them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HeldLock {
    /// Process of the plan.
    pub process: String,
    /// Kind and place, such as `mutex app+0x4060`.
    pub name: String,
    /// Mean number of threads waiting for the lock.
    pub waiters: f64,
    /// Mean number of threads that held the lock while others waited, at most 1 for a mutex.
    pub holders: f64,
    /// Number of samples that found a holder.
    pub looks: f64,
    /// Number of these samples by the work of the holder.
    pub works: BTreeMap<String, f64>,
}

impl HeldLock {
    /// Returns the lock with the most waiters in the given seconds; `None` if no thread waited for one.
    pub(crate) fn during(run: &Run, seconds: Seconds<'_>) -> Option<Self> {
        // Waiters are summed over seconds first.
        let mut locks: BTreeMap<(&str, &str), Self> = BTreeMap::new();
        // Number of seconds with samples, and number of samples.
        let mut sampled: BTreeMap<&str, [f64; 2]> = BTreeMap::new();
        for reading in readings_in(run, seconds).filter(|reading| reading.value.is_finite()) {
            let (process, label, value) = (reading.subject, reading.label, reading.value);
            match reading.metric {
                "thread_samples" => {
                    let [seconds, samples] = sampled.entry(process).or_default();
                    (*seconds, *samples) = (*seconds + 1.0, *samples + value);
                }
                "lock_waiters" => locks.entry((process, label)).or_default().waiters += value,
                "lock_looks" => locks.entry((process, label)).or_default().looks += value,
                "lock_holder_looks" => {
                    if let Some((work, lock)) = label.split_once(' ') {
                        let works = &mut locks.entry((process, lock)).or_default().works;
                        *works.entry(work.to_owned()).or_default() += value;
                    }
                }
                _ => {}
            }
        }
        let ((process, name), lock) =
            locks.into_iter().max_by(|(_, one), (_, other)| one.waiters.total_cmp(&other.waiters))?;
        let [seconds, samples] = sampled.get(process).filter(|[_, samples]| *samples > 0.0)?;
        let (waiters, holders) = (lock.waiters / seconds, lock.looks / samples);
        Some(Self { process: process.to_owned(), name: name.to_owned(), waiters, holders, ..lock })
    }
}
