//! Timing quality and resource use of a worker thread.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;

use record::{Health, Histogram, Pulse};

use crate::clock;
use crate::signals::{LoadTotals, Signals};

/// Measurements of the calling thread.
pub(crate) struct ThreadMonitor {
    used: ThreadUsage,
    /// Usage at the end of the last reported window.
    reported: ThreadUsage,
    /// Usage at the end of the load. `None` while the load runs.
    ended: Option<ThreadUsage>,
    schedstat: Option<File>,
    involuntary_switches: Option<u64>,
    wake_lag: Histogram,
    /// Estimate of the usual wake-up lag, on the low side.
    pub(crate) usual_lag_ns: u64,
}

/// CPU time and run queue wait of the thread so far.
#[derive(Clone, Copy)]
struct ThreadUsage {
    cpu_ns: u64,
    run_queue_wait_ns: Option<u64>,
}

/// Max correction of a wake-up time. The thread spins from an early wake-up to the due time, so larger corrections would waste CPU
/// time.
const USUAL_LAG_MAX_NS: u64 = 40_000;

impl ThreadMonitor {
    pub(crate) fn begin() -> Self {
        let schedstat = File::open("/proc/thread-self/schedstat").ok();
        let used = ThreadUsage::now(schedstat.as_ref());
        let involuntary_switches = involuntary_switches();
        Self {
            used,
            reported: used,
            ended: None,
            schedstat,
            involuntary_switches,
            wake_lag: Histogram::new(),
            usual_lag_ns: 0,
        }
    }

    /// Records how late a timer woke the thread, and updates the estimate: quickly for small lags, slowly for large ones.
    pub(crate) fn note_wake_up(&mut self, lag_ns: u64) {
        self.wake_lag.record(lag_ns);
        let usual_ns = self.usual_lag_ns;
        self.usual_lag_ns = if lag_ns < usual_ns {
            usual_ns - (usual_ns - lag_ns) / 4
        } else {
            (usual_ns + (lag_ns - usual_ns) / 32).min(USUAL_LAG_MAX_NS)
        };
    }

    /// Adds the usage since the last window to `pulse`. CPU time beyond the length of the window was used after its end, and counts
    /// in the next window.
    pub(crate) fn add_to(&mut self, pulse: &mut Pulse) {
        let now = self.now();
        pulse.cpu_ns = now.cpu_ns.saturating_sub(self.reported.cpu_ns).min(pulse.lasting_ns);
        pulse.run_queue_wait_ns = now.waited_since(&self.reported).unwrap_or(0);
        self.reported = ThreadUsage { cpu_ns: self.reported.cpu_ns + pulse.cpu_ns, ..now };
    }

    /// Marks the end of the load: later usage is not part of it. Call this before reading the clock, so that the share of a core
    /// cannot exceed 1.
    pub(crate) fn stop(&mut self) {
        self.ended = Some(self.now());
    }

    fn now(&self) -> ThreadUsage {
        self.ended.unwrap_or_else(|| ThreadUsage::now(self.schedstat.as_ref()))
    }

    pub(crate) fn end(self, wall_ns: u64, signals: Signals) -> Health {
        let now = self.now();
        let switches = involuntary_switches().zip(self.involuntary_switches);
        let LoadTotals {
            heartbeat_max_ns,
            stalled_ns,
            in_flight_ns,
            tail,
            read_delay,
            reply_bytes,
            doubted_replies,
            waits,
        } = signals.end();
        Health {
            wake_lag: self.wake_lag,
            cpu_ns: now.cpu_ns.saturating_sub(self.used.cpu_ns),
            wall_ns,
            run_queue_wait_ns: now.waited_since(&self.used),
            involuntary_switches: switches.map(|(now, before)| now.saturating_sub(before)),
            heartbeat_max_ns,
            stalled_ns,
            in_flight_ns,
            tail,
            read_delay,
            reply_bytes,
            doubted_replies,
            waits,
        }
    }
}

impl ThreadUsage {
    fn now(schedstat: Option<&File>) -> Self {
        Self { cpu_ns: clock::thread_cpu_ns(), run_queue_wait_ns: schedstat.and_then(run_queue_wait_ns) }
    }

    fn waited_since(&self, earlier: &Self) -> Option<u64> {
        Some(self.run_queue_wait_ns?.saturating_sub(earlier.run_queue_wait_ns?))
    }
}

/// Returns the second field of schedstat: nanoseconds on the run queue (Documentation/scheduler/sched-stats.rst). The file stays open
/// because reopening costs a microsecond or two.
fn run_queue_wait_ns(schedstat: &File) -> Option<u64> {
    let mut text = [0; 96];
    let length = schedstat.read_at(&mut text, 0).ok()?;
    std::str::from_utf8(&text[..length]).ok()?.split_ascii_whitespace().nth(1)?.parse().ok()
}

/// Returns the number of involuntary context switches of the calling thread so far (proc_pid_status(5)).
fn involuntary_switches() -> Option<u64> {
    let status = fs::read_to_string("/proc/thread-self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("nonvoluntary_ctxt_switches:"))?;
    line.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_time_of_windows_adds_up_to_total() {
        let mut thread_monitor = ThreadMonitor::begin();
        let window = Pulse { lasting_ns: 5_000_000, ..Pulse::default() };
        let (mut first, mut second) = (window, window);
        let until_ns = clock::thread_cpu_ns() + 2_000_000;
        while clock::thread_cpu_ns() < until_ns {}
        thread_monitor.add_to(&mut first);
        thread_monitor.add_to(&mut second);
        assert!(first.cpu_ns >= 2_000_000, "{first:?}");
        let health = thread_monitor.end(10_000_000, Signals::new(0));
        assert!(health.cpu_ns >= first.cpu_ns + second.cpu_ns, "{health:?}");
        let told_ns = first.run_queue_wait_ns + second.run_queue_wait_ns;
        assert!(health.run_queue_wait_ns.is_none_or(|waited_ns| waited_ns >= told_ns), "{health:?}");
    }

    #[test]
    fn cpu_time_after_window_or_load_is_excluded() {
        let spin = |cpu_ns: u64| {
            let until_ns = clock::thread_cpu_ns() + cpu_ns;
            while clock::thread_cpu_ns() < until_ns {}
        };
        let mut thread_monitor = ThreadMonitor::begin();
        spin(3_000_000);
        let window = Pulse { lasting_ns: 2_000_000, ..Pulse::default() };
        let (mut late, mut next) = (window, window);
        thread_monitor.add_to(&mut late);
        thread_monitor.add_to(&mut next);
        assert_eq!(late.cpu_ns, 2_000_000);
        assert!(next.cpu_ns >= 1_000_000, "{next:?}");
        let used_ns = clock::thread_cpu_ns().saturating_sub(thread_monitor.used.cpu_ns);
        thread_monitor.stop();
        spin(50_000_000);
        let health = thread_monitor.end(10_000_000, Signals::new(0));
        assert!(health.cpu_ns < used_ns + 25_000_000, "{health:?}, {used_ns}");
    }
}
