//! How long the cores of the machine were busy, as single readings tell it.

use std::collections::BTreeSet;

use evidence::{Run, StoredReading};

const HALF_A_SECOND_NS: u128 = 500_000_000;

/// What one reading adds to the time of a core.
pub struct CoreTime {
    /// From 0.
    pub number: u32,
    /// Of it, the time that the core was busy.
    pub busy_s: f64,
    /// The time that the core went through, busy or not.
    pub all_s: f64,
}

impl CoreTime {
    /// `None` if the reading is of something else.
    pub fn of(reading: &StoredReading<'_>) -> Option<Self> {
        let all_s = reading.value;
        let busy_s = match (reading.subject, reading.metric) {
            ("machine", "cpu_user_s" | "cpu_sys_s") => all_s,
            ("machine", "cpu_idle_s" | "iowait_s" | "steal_s") => 0.0,
            _ => return None,
        };
        let number = reading.label.strip_prefix("core")?.parse().ok()?;
        Some(Self { number, busy_s, all_s })
    }
}

/// The numbers in a list of cores such as `0-2,5`; `None` if it is none.
pub(crate) fn core_numbers(list: &str) -> Option<BTreeSet<u32>> {
    let mut numbers = BTreeSet::new();
    for part in list.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
        // More than any machine has: a stored file may say anything.
        if last.checked_sub(first)? > 1 << 16 {
            return None;
        }
        numbers.extend(first..=last);
    }
    Some(numbers)
}

/// Which seconds of a load are looked at.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Seconds<'a> {
    /// All in which requests were measured. A system that drains its queue after the load, or has nothing left to do, is still read,
    /// and says nothing of the load.
    Measured,
    /// The same, and a second that begins before them and of which they are at least half: a slice begins within one.
    MostlyMeasured,
    /// These, counted from the beginning of the load.
    These(&'a BTreeSet<u64>),
}

/// What was read in these seconds, in order of time.
pub(crate) fn read_in<'a>(run: &'a Run, seconds: Seconds<'a>) -> impl Iterator<Item = StoredReading<'a>> {
    let begins_ns = u128::from(run.new.warm_up_ns);
    let ends_ns = run.window().map_or(u128::MAX, |window| begins_ns + u128::from(window.ns));
    run.readings().filter(move |reading| {
        let second_ns = u128::from(reading.second) * 1_000_000_000;
        match seconds {
            Seconds::Measured => (begins_ns..ends_ns).contains(&second_ns),
            Seconds::MostlyMeasured => second_ns < ends_ns && second_ns + HALF_A_SECOND_NS >= begins_ns,
            Seconds::These(seconds) => seconds.contains(&reading.second),
        }
    })
}

/// What was read while requests were measured, in order of time.
pub(crate) fn in_measured_time(run: &Run) -> impl Iterator<Item = StoredReading<'_>> {
    read_in(run, Seconds::Measured)
}
