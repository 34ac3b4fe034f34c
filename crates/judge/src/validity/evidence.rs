//! Input of the rules: the accounts of a load, its workers' own signals, and its environment.

use evidence::Generator;
use record::{Counts, Health, Histogram, Percentile, Tail, TailSum, Tally};

use super::environment::Environment;
use crate::planned::Planned;

/// Min length of a load for which the sharing of cores can be judged, in nanoseconds.
pub(super) const SHORTEST_NS: u64 = 2_000_000_000;

/// Facts about one run that may cast doubt on it.
pub struct Evidence<'a> {
    /// Plan of the load.
    pub planned: &'a Planned,
    /// Tally of the measured phase.
    pub tally: &'a Tally,
    /// Counts of the warm-up.
    pub warm_up: Counts,
    /// Length of the measured window in nanoseconds; `None` if there was none.
    pub window_ns: Option<u64>,
    /// Requests that ended in the measured window.
    pub ended: u64,
    /// Mean number of requests in flight over the window; `None` if it is too short.
    pub mean_in_flight: Option<f64>,
    /// Whether outages took so much of the window that requests could not be sent because the system was unavailable.
    pub was_unavailable: bool,
    /// Whether a user, or the end of the system, stopped the load.
    pub was_stopped: bool,
    /// Whether the load ended at a planned end because it was steady.
    pub is_settled: bool,
    /// Errors of this program or its machine, in words.
    pub broke: &'a [String],
    /// Reasons why the load itself could not continue, in words.
    pub hopeless: &'a [String],
    /// Share of a core that the busiest worker used over its busiest ten seconds.
    pub busiest_10s_share: Option<f64>,
    /// Name of the other load generator that made the load; `None` for Tenbin itself.
    pub tool: Option<&'a str>,
    /// Environment of the load.
    pub environment: &'a Environment,
    /// Health of each worker: delays of its sends and reads.
    pub workers: &'a [Health],
    /// Delays of timer wake-ups, over all workers.
    pub wake_lag: Histogram,
    /// Slowest requests, over all workers.
    pub tail: Tail,
    /// Delay of reading replies, over all workers.
    pub read_delay: Histogram,
}

impl<'a> Evidence<'a> {
    /// Builds the evidence of a load from its accounts, its workers' signals, and its environment alone. All other
    /// facts have default values.
    pub fn of(
        planned: &'a Planned,
        tally: &'a Tally,
        workers: &'a [Health],
        environment: &'a Environment,
    ) -> Self {
        let (mut wake_lag, mut tail, mut read_delay) = (Histogram::new(), Tail::default(), Histogram::new());
        for worker in workers {
            wake_lag.merge(&worker.wake_lag);
            tail.merge(&worker.tail);
            read_delay.merge(&worker.read_delay);
        }
        Self {
            planned,
            tally,
            warm_up: Counts::default(),
            window_ns: planned.ends_at_ns.map(|ns| ns.saturating_sub(planned.warm_up_ns)),
            ended: tally.response.all().count(),
            mean_in_flight: None,
            was_unavailable: false,
            was_stopped: false,
            is_settled: false,
            broke: &[],
            hopeless: &[],
            busiest_10s_share: None,
            tool: None,
            environment,
            workers,
            wake_lag,
            tail,
            read_delay,
        }
    }

    /// Returns the signals in their stored form. Fields that do not come from the workers keep their defaults.
    pub fn generator(&self) -> Generator {
        let us = |ns: u64| ns as f64 / 1e3;
        Generator {
            wake_lag_p99_us: self.wake_lag.printable_at(Percentile::P99).map(us),
            wake_lag_max_us: self.wake_lag.max_ns().map(us),
            thread_cpu_share_max: self.busiest_share(),
            busiest_10s_share: self.busiest_10s_share,
            run_queue_wait_share: self.run_queue_wait_share(),
            heartbeat_max_us: self.heartbeat_max_ns().map(us),
            involuntary_per_s: self.involuntary_per_s(),
            steal_share: self.environment.steal_share,
            throttled_s: self.environment.throttled_s,
            client_share_of_tail: self.share_of_tail(),
            read_delay_mean_us: self.read_delay.mean_ns().map(|ns| ns / 1e3),
            read_delay_p99_us: self.read_delay.printable_at(Percentile::P99).map(us),
            mean_in_flight: self.mean_in_flight(),
            little_ratio: self.little_ratio(),
            ceiling_per_s: self.environment.ceiling_per_s,
            ..Generator::default()
        }
    }

    /// Returns the share of the generator's own delay in the slowest 1 %; `None` with too few requests.
    fn share_of_tail(&self) -> Option<f64> {
        let is_told = Percentile::P99.is_printable(self.tail.all().count);
        is_told.then(|| self.tail.slowest(Percentile::P99).lag_share())?
    }

    /// Returns the duration of the load in nanoseconds, warm-up included.
    pub(super) fn wall_ns(&self) -> u64 {
        let of_tool = || self.window_ns.filter(|_| self.tool.is_some());
        self.workers.iter().map(|worker| worker.wall_ns).max().or_else(of_tool).unwrap_or(0)
    }

    /// Returns whether the load was long enough to judge how cores were shared.
    pub(super) fn is_long(&self) -> bool {
        self.wall_ns() >= SHORTEST_NS
    }

    /// Returns the share of a core that the busiest thread used.
    pub(super) fn busiest_share(&self) -> Option<f64> {
        self.workers.iter().filter_map(|worker| worker.cpu_share()).max_by(f64::total_cmp)
    }

    /// Returns the largest share of time for which a thread was runnable without a core.
    pub(super) fn run_queue_wait_share(&self) -> Option<f64> {
        let shares = self.workers.iter().filter_map(|worker| {
            let wait_ns = worker.run_queue_wait_ns?;
            (worker.wall_ns > 0).then(|| wait_ns as f64 / worker.wall_ns as f64)
        });
        shares.max_by(f64::total_cmp)
    }

    /// Returns the share of all threads' time for which they were runnable without a core.
    pub(super) fn mean_run_queue_wait_share(&self) -> Option<f64> {
        let wait_ns: u64 = self.workers.iter().filter_map(|worker| worker.run_queue_wait_ns).sum();
        let wall_ns: u64 = self.workers.iter().map(|worker| worker.wall_ns).sum();
        (wall_ns > 0).then(|| wait_ns as f64 / wall_ns as f64)
    }

    /// Returns the involuntary context switches per second of the most disturbed thread.
    pub(super) fn involuntary_per_s(&self) -> Option<f64> {
        let rates = self.workers.iter().filter_map(|worker| {
            let switches = worker.involuntary_switches?;
            (worker.wall_ns > 0).then(|| switches as f64 * 1e9 / worker.wall_ns as f64)
        });
        rates.max_by(f64::total_cmp)
    }

    /// Returns the largest share of the measured time for which a worker was stalled for long.
    pub(super) fn stalled_share(&self) -> Option<f64> {
        let shares = self.workers.iter().filter_map(|worker| {
            let measured_ns = worker.wall_ns.saturating_sub(self.planned.warm_up_ns);
            (measured_ns > 0).then(|| worker.stalled_ns as f64 / measured_ns as f64)
        });
        shares.max_by(f64::total_cmp)
    }

    /// Returns the longest stall of any worker, in nanoseconds.
    pub(super) fn heartbeat_max_ns(&self) -> Option<u64> {
        self.workers.iter().map(|worker| worker.heartbeat_max_ns).max()
    }

    /// Returns the requests in flight × time, as counted by the workers.
    pub(super) fn in_flight_ns(&self) -> u64 {
        self.workers.iter().fold(0, |sum, worker| sum.saturating_add(worker.in_flight_ns))
    }

    /// Returns the mean number of requests in flight over the measured window. In a short window, the figure includes
    /// the drain after it.
    pub(super) fn mean_in_flight(&self) -> Option<f64> {
        let rough = || Some(self.in_flight_ns() as f64 / self.window_ns? as f64);
        self.mean_in_flight.or_else(rough).filter(|_| self.tool.is_none())
    }

    /// Returns requests in flight × time ÷ sum of service times: 1 by Little's law, for every load. `None` if requests
    /// were left unfinished, because these have no service time.
    pub(super) fn little_ratio(&self) -> Option<f64> {
        let service_ns = self.tally.service.all().sum_ns();
        let is_told = service_ns > 0 && self.tally.counts.unfinished == 0 && self.in_flight_ns() > 0;
        is_told.then(|| self.in_flight_ns() as f64 / service_ns as f64)
    }

    /// Returns the requests that ended per second of the measured window.
    pub(super) fn reached_per_s(&self) -> Option<f64> {
        Some(self.ended as f64 * 1e9 / self.window_ns? as f64)
    }

    /// Returns the bytes of replies, as counted by the protocol implementations.
    pub(super) fn reply_bytes(&self) -> u64 {
        self.workers.iter().fold(0, |sum, worker| sum.saturating_add(worker.reply_bytes))
    }

    /// Returns the mean response time of the slowest requests.
    pub(super) fn slowest_mean_ns(&self) -> Option<f64> {
        let (slowest, _) = self.slowest();
        (slowest.count > 0).then(|| slowest.response_ns as f64 / slowest.count as f64)
    }

    /// Returns the slowest 1 % of the requests, if there are enough to report p99; otherwise all requests. Includes
    /// words for a sentence.
    pub(super) fn slowest(&self) -> (TailSum, &'static str) {
        let all = self.tail.all();
        if Percentile::P99.is_printable(all.count) {
            (self.tail.slowest(Percentile::P99), "of the slowest 1 % of the response times")
        } else {
            (all, "of the response times")
        }
    }
}
