//! Busy time of the machine's cores, from single readings.

use std::collections::BTreeSet;

use evidence::{Run, StoredReading};

use crate::look_bounds;

const HALF_A_SECOND_NS: u128 = 500_000_000;

/// Time that one reading adds to a core.
pub struct CoreTime {
    /// Number of the core, from 0.
    pub number: u32,
    /// Busy part of `all_s`, in seconds.
    pub busy_s: f64,
    /// Time of the core, busy or idle, in seconds.
    pub all_s: f64,
}

impl CoreTime {
    /// Extracts the core time of a reading; `None` if the reading is about something else.
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

/// Parses a list of cores such as `0-2,5`; `None` if it is invalid.
pub(crate) fn core_numbers(list: &str) -> Option<BTreeSet<u32>> {
    let mut numbers = BTreeSet::new();
    for part in list.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
        // Exceeds the cores of any machine. A stored file may contain any number.
        if last.checked_sub(first)? > 1 << 16 {
            return None;
        }
        numbers.extend(first..=last);
    }
    Some(numbers)
}

/// Selects the seconds of a load whose readings are used.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Seconds<'a> {
    /// Seconds in which requests were measured. Readings during warm-up, drain, or idle time do not describe the load.
    Measured,
    /// Like `Measured`. In runs of earlier versions, includes a first second of which at least half was measured,
    /// because they sampled on whole seconds, and a slice may begin within one.
    MostlyMeasured,
    /// Given seconds, counted from the beginning of the load.
    These(&'a BTreeSet<u64>),
}

/// Returns the readings in the given seconds, in order of time.
pub(crate) fn readings_in<'a>(run: &'a Run, seconds: Seconds<'a>) -> impl Iterator<Item = StoredReading<'a>> {
    let begins_ns = u128::from(run.new.warm_up_ns);
    let ends_ns = run.window().map_or(u128::MAX, |window| begins_ns + u128::from(window.ns));
    let looks = match seconds {
        Seconds::These(_) => None,
        _ => look_bounds::within(run, begins_ns, ends_ns),
    };
    run.readings().filter(move |reading| {
        if let Some(looks) = &looks {
            return looks.contains(&reading.second);
        }
        let second_ns = u128::from(reading.second) * 1_000_000_000;
        match seconds {
            Seconds::Measured => (begins_ns..ends_ns).contains(&second_ns),
            Seconds::MostlyMeasured => second_ns < ends_ns && second_ns + HALF_A_SECOND_NS >= begins_ns,
            Seconds::These(seconds) => seconds.contains(&reading.second),
        }
    })
}

/// Returns the readings in the measured time, in order of time.
pub(crate) fn in_measured_time(run: &Run) -> impl Iterator<Item = StoredReading<'_>> {
    readings_in(run, Seconds::Measured)
}
