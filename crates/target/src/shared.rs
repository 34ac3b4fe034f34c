//! State shared by the threads of one target.

use crate::database::Database;
use crate::limiter::Limiter;
use crate::settings::Settings;
use crate::stalls::Stalls;
use crate::stop::Stop;
use crate::tally::{Counters, Tally};
use crate::trouble::Troubles;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

/// Maximum number of logged service times.
const SERVICE_TIMES_MAX: usize = 10_000_000;

/// Shared state of one target.
pub(crate) struct Shared {
    pub(crate) settings: Settings,
    /// Time of the first request. Scheduled changes count from it, so that a slow start does not shift them.
    pub(crate) first_request: OnceLock<Instant>,
    /// Random ID of this instance, which distinguishes its counters from those of other instances.
    pub(crate) instance: u64,
    pub(crate) help: String,
    pub(crate) stop: Stop,
    pub(crate) stalls: Stalls,
    pub(crate) troubles: Troubles,
    pub(crate) limiter: Option<Limiter>,
    pub(crate) database: Database,
    pub(crate) service_log: ServiceLog,
    /// Tallies by worker.
    pub(crate) tallies: Vec<Arc<Tally>>,
}

impl Shared {
    /// Returns the time since the first request. If there was none, `now` becomes its time.
    pub(crate) fn age(&self, now: Instant) -> Duration {
        now.saturating_duration_since(*self.first_request.get_or_init(|| now))
    }

    /// Sleeps until the current stall ends, if there is one. Records the pause of `worker`.
    pub(crate) fn sleep_through_stall(&self, worker: Option<usize>) {
        if let Some(first_request) = self.first_request.get() {
            self.stalls.sleep_through(*first_request, worker, &self.stop);
        }
    }

    /// Returns the start of the next stall after `now`. `None` if there is none, or before the first request.
    pub(crate) fn next_stall(&self, now: Instant) -> Option<Instant> {
        self.stalls.next_begin(*self.first_request.get()?, now)
    }

    /// Returns the current counters over all workers.
    pub(crate) fn counters(&self) -> Counters {
        let mut sum = Counters { inserts: self.database.created(), ..Counters::default() };
        self.tallies.iter().for_each(|tally| tally.add_to(&mut sum));
        sum
    }
}

/// Bounded log of service times of holds, in microseconds.
#[derive(Default)]
pub(crate) struct ServiceLog(Mutex<Vec<u64>>);

impl ServiceLog {
    /// Logs a service time. Returns false if the log is full.
    pub(crate) fn note(&self, service_us: u64) -> bool {
        let mut log = self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let room = log.len() < SERVICE_TIMES_MAX;
        if room {
            log.push(service_us);
        }
        room
    }

    pub(crate) fn take(&self) -> Vec<u64> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner()))
    }
}
