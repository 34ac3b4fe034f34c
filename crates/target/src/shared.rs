//! What the threads of one target have in common.

use crate::database::Database;
use crate::limiter::Limiter;
use crate::settings::Settings;
use crate::stalls::Stalls;
use crate::stop::Stop;
use crate::tally::{Counters, Tally};
use crate::trouble::Troubles;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

/// Most service times kept until they are taken.
const LOGGED: usize = 10_000_000;

/// One per target.
pub(crate) struct Shared {
    pub(crate) settings: Settings,
    /// When the first request came: what changes with time counts from it, so that a slow start shifts nothing.
    pub(crate) first_request: OnceLock<Instant>,
    /// A random number of this start, by which counts of another start are known.
    pub(crate) instance: u64,
    pub(crate) help: String,
    pub(crate) stop: Stop,
    pub(crate) stalls: Stalls,
    pub(crate) troubles: Troubles,
    pub(crate) limiter: Option<Limiter>,
    pub(crate) database: Database,
    pub(crate) service_log: ServiceLog,
    /// One for each worker.
    pub(crate) tallies: Vec<Arc<Tally>>,
}

impl Shared {
    /// How long ago the first request came; `now` is its time if none came before.
    pub(crate) fn age(&self, now: Instant) -> Duration {
        now.saturating_duration_since(*self.first_request.get_or_init(|| now))
    }

    /// If a stall is on, sleeps through the rest of it; `worker` has the pause recorded.
    pub(crate) fn sit_out_stall(&self, worker: Option<usize>) {
        if let Some(first_request) = self.first_request.get() {
            self.stalls.sit_out(*first_request, worker, &self.stop);
        }
    }

    /// When the next stall begins that has not begun at `now`; unknown before the first request.
    pub(crate) fn next_stall(&self, now: Instant) -> Option<Instant> {
        self.stalls.next_begin(*self.first_request.get()?, now)
    }

    /// What happened so far, over all workers.
    pub(crate) fn counters(&self) -> Counters {
        let mut sum = Counters { inserts: self.database.created(), ..Counters::default() };
        self.tallies.iter().for_each(|tally| tally.add_to(&mut sum));
        sum
    }
}

/// Service times of holds in microseconds, bounded.
#[derive(Default)]
pub(crate) struct ServiceLog(Mutex<Vec<u64>>);

impl ServiceLog {
    /// False when the log is full.
    pub(crate) fn note(&self, service_us: u64) -> bool {
        let mut log = self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let room = log.len() < LOGGED;
        if room {
            log.push(service_us);
        }
        room
    }

    pub(crate) fn take(&self) -> Vec<u64> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner()))
    }
}
