//! How well a worker itself kept time: the first witness when its numbers are doubted.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;

use record::{Histogram, Pulse, Tail, Waits};

use crate::clock;
use crate::signals::{Noted, Signals};

/// A worker's own signals over the load, warm-up included where nothing else is said.
#[derive(Clone, Debug, Default)]
pub struct Health {
    /// How much later than asked for the worker woke up, whenever a timer and not a socket woke it.
    pub wake_lag: Histogram,
    /// CPU time of its thread, user and system.
    pub cpu_ns: u64,
    /// From the beginning of the load to the worker's end.
    pub wall_ns: u64,
    /// How long its thread was ready to run and had no core; `None` where the kernel does not tell
    /// (`/proc/thread-self/schedstat`).
    pub run_queue_wait_ns: Option<u64>,
    /// How often its thread was taken off its core; `None` where the system does not tell.
    pub involuntary_switches: Option<u64>,
    /// The longest time from one turn of the worker's loop to the next, beyond what it had asked to wait: stopped, without a
    /// core, or busy with one turn. Calls into a system in this process do not count. Turns after the warm-up only. A stop while
    /// the worker waited for sockets alone shows shorter than it was, by 20 ms at most while a request is in flight and by 100 ms
    /// otherwise.
    pub heartbeat_max_ns: u64,
    /// The sum of such times of 50 ms and more: how long it was away, and not merely late.
    pub stalled_ns: u64,
    /// Measured requests in flight × time, from *sent* to *finished*: divided by the measured time it is their mean number. The
    /// worker's own count, made apart from the service times that it must agree with; requests that were left unfinished count
    /// until they were left.
    pub in_flight_ns: u64,
    /// Measured requests that ended, by response time, with what of it was this worker's own lag: what passed between their
    /// intended start and *sent* while a connection was free, and what passed before a reply was read because the worker was
    /// back later than it had asked for. Waiting for a connection is no lag.
    pub tail: Tail,
    /// Bytes of the replies to measured requests, before TLS, as the conversations counted them.
    pub reply_bytes: u64,
    /// Replies on connections over which a reply came later that no request asked for: each may have answered another request
    /// than the one it was counted for.
    pub doubted_replies: u64,
    /// Of connections, how long each went without an ok answer while it was asked for one; within the measured window.
    pub waits: Waits,
}

impl Health {
    /// The share of one core that the thread used, 0 to 1; `None` before any time has passed.
    pub fn cpu_share(&self) -> Option<f64> {
        (self.wall_ns > 0).then(|| self.cpu_ns as f64 / self.wall_ns as f64)
    }
}

/// Watches the calling thread from now on.
pub(crate) struct Watch {
    used: Used,
    /// What was used when the last window ended.
    told: Used,
    schedstat: Option<File>,
    involuntary_switches: Option<u64>,
    wake_lag: Histogram,
    /// By how much the thread usually wakes up late, on the low side.
    pub(crate) usual_lag_ns: u64,
}

/// What the thread has used and waited for so far.
#[derive(Clone, Copy)]
struct Used {
    cpu_ns: u64,
    run_queue_wait_ns: Option<u64>,
}

/// Being woken earlier than this is not asked for: it would be waited out in a loop.
const USUAL_LAG_MAX_NS: u64 = 40_000;

impl Watch {
    pub(crate) fn begin() -> Self {
        let schedstat = File::open("/proc/thread-self/schedstat").ok();
        let used = Used::now(schedstat.as_ref());
        let involuntary_switches = involuntary_switches();
        Self {
            used,
            told: used,
            schedstat,
            involuntary_switches,
            wake_lag: Histogram::new(),
            usual_lag_ns: 0,
        }
    }

    /// Notes how late a timer woke the thread, and learns from it: quickly from small lags, slowly from large ones.
    pub(crate) fn woke(&mut self, lag_ns: u64) {
        self.wake_lag.record(lag_ns);
        let usual_ns = self.usual_lag_ns;
        self.usual_lag_ns = if lag_ns < usual_ns {
            usual_ns - (usual_ns - lag_ns) / 4
        } else {
            (usual_ns + (lag_ns - usual_ns) / 32).min(USUAL_LAG_MAX_NS)
        };
    }

    /// Adds to a window what the thread used since the last one.
    pub(crate) fn tell(&mut self, pulse: &mut Pulse) {
        let now = Used::now(self.schedstat.as_ref());
        pulse.cpu_ns = now.cpu_ns.saturating_sub(self.told.cpu_ns);
        pulse.run_queue_wait_ns = now.waited_since(&self.told).unwrap_or(0);
        self.told = now;
    }

    pub(crate) fn end(self, wall_ns: u64, signals: Signals) -> Health {
        let now = Used::now(self.schedstat.as_ref());
        let switches = involuntary_switches().zip(self.involuntary_switches);
        let Noted { heartbeat_max_ns, stalled_ns, in_flight_ns, tail, reply_bytes, doubted_replies, waits } =
            signals.end();
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
            reply_bytes,
            doubted_replies,
            waits,
        }
    }
}

impl Used {
    fn now(schedstat: Option<&File>) -> Self {
        Self { cpu_ns: clock::thread_cpu_ns(), run_queue_wait_ns: schedstat.and_then(run_queue_wait_ns) }
    }

    fn waited_since(&self, earlier: &Self) -> Option<u64> {
        Some(self.run_queue_wait_ns?.saturating_sub(earlier.run_queue_wait_ns?))
    }
}

/// The second field: nanoseconds on the run queue (Documentation/scheduler/sched-stats.rst). The file stays open: to read it
/// again costs a microsecond or two.
fn run_queue_wait_ns(schedstat: &File) -> Option<u64> {
    let mut text = [0; 96];
    let length = schedstat.read_at(&mut text, 0).ok()?;
    std::str::from_utf8(&text[..length]).ok()?.split_ascii_whitespace().nth(1)?.parse().ok()
}

/// How often the calling thread was taken off its core so far (proc_pid_status(5)).
fn involuntary_switches() -> Option<u64> {
    let status = fs::read_to_string("/proc/thread-self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("nonvoluntary_ctxt_switches:"))?;
    line.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_thread_uses_is_told_in_windows_and_in_all() {
        let mut watch = Watch::begin();
        let (mut first, mut second) = (Pulse::default(), Pulse::default());
        let until_ns = clock::thread_cpu_ns() + 2_000_000;
        while clock::thread_cpu_ns() < until_ns {}
        watch.tell(&mut first);
        watch.tell(&mut second);
        assert!(first.cpu_ns >= 2_000_000, "{first:?}");
        let health = watch.end(10_000_000, Signals::new(0));
        assert!(health.cpu_ns >= first.cpu_ns + second.cpu_ns, "{health:?}");
        let told_ns = first.run_queue_wait_ns + second.run_queue_wait_ns;
        assert!(health.run_queue_wait_ns.is_none_or(|waited_ns| waited_ns >= told_ns), "{health:?}");
    }
}
