//! How long the cores of the machine were busy, as single readings tell it.

use store::{Run, StoredReading};

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

/// What was read while requests were measured, in order of time.
pub(crate) fn in_measured_time(run: &Run) -> impl Iterator<Item = StoredReading<'_>> {
    let warm_up_ns = u128::from(run.new.warm_up_ns);
    run.readings().filter(move |reading| u128::from(reading.second) * 1_000_000_000 >= warm_up_ns)
}
