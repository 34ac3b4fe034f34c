//! Results of a simulated run, with the figures of a real run.

use record::{Interval, Percentile, Phase, Tally};
use stats::Window;

/// Length of a window, equal to that of the pulses of a real run.
pub const WINDOW_NS: u64 = 250_000_000;

/// Maximum number of windows. Requests that end later are not counted in windows.
const WINDOWS_MAX: usize = 2_048;

/// Counters of a window.
#[derive(Clone, Copy, Debug, Default)]
struct Busy {
    ended: u64,
    response_sum_ns: u64,
    /// Integral of requests in flight over the window.
    in_flight_ns: u64,
}

/// Results of a simulated run.
#[derive(Clone, Debug)]
pub struct Played {
    /// Counts of requests scheduled after the warm-up.
    pub tally: Tally,
    /// Counts of requests scheduled in the warm-up.
    pub warm_up: Tally,
    /// Time from the stop of the load to the last reply.
    pub drain_ns: u64,
    /// Requests that ended between the end of the warm-up and the stop, regardless of when they were scheduled.
    pub answers: u64,
    /// Requests of the warm-up that had not ended when it was over.
    pub backlog: u64,
    windows: Vec<Busy>,
    warm_up_ns: u64,
    stop_ns: u64,
    in_flight_ns: u128,
}

impl Played {
    pub(crate) fn new(warm_up_ns: u64, stop_ns: u64) -> Self {
        let windows = usize::try_from(stop_ns.div_ceil(WINDOW_NS)).unwrap_or(WINDOWS_MAX).min(WINDOWS_MAX);
        Self {
            tally: Tally::default(),
            warm_up: Tally::default(),
            windows: vec![Busy::default(); windows],
            drain_ns: 0,
            answers: 0,
            backlog: 0,
            warm_up_ns,
            stop_ns,
            in_flight_ns: 0,
        }
    }

    /// Returns the mean response time of measured requests, in seconds. `None` if there are none.
    pub fn mean_response_s(&self) -> Option<f64> {
        self.tally.response.ok.mean_ns().map(|mean_ns| mean_ns / 1e9)
    }

    /// Returns a percentile of the response times of measured requests, in seconds. `None` if there are too few samples to judge
    /// it.
    pub fn response_s(&self, percentile: Percentile) -> Option<f64> {
        let response = &self.tally.response.ok;
        if !percentile.is_judgeable(response.count()) {
            return None;
        }
        response.value_at(percentile).map(|value_ns| value_ns as f64 / 1e9)
    }

    /// Returns the requests per second that ended between the end of the warm-up and the stop. `None` if this period is empty.
    pub fn throughput_per_s(&self) -> Option<f64> {
        let window_ns = self.stop_ns.checked_sub(self.warm_up_ns).filter(|window_ns| *window_ns > 0)?;
        Some(self.answers as f64 * 1e9 / window_ns as f64)
    }

    /// Returns the mean number of requests in flight between the end of the warm-up and the stop.
    pub fn mean_in_flight(&self) -> f64 {
        self.in_flight_ns as f64 / self.stop_ns.saturating_sub(self.warm_up_ns).max(1) as f64
    }

    /// Returns the share of planned measured requests that had ended when the load stopped.
    pub fn completed_share(&self) -> f64 {
        let measured_from = (self.warm_up_ns / WINDOW_NS) as usize;
        let ended: u64 = self.windows.iter().skip(measured_from).map(|window| window.ended).sum();
        ended as f64 / self.tally.counts.planned.max(1) as f64
    }

    /// Returns the time series of the run including the warm-up, in complete windows of [`WINDOW_NS`].
    pub fn series(&self) -> Vec<Window> {
        let whole = (self.stop_ns / WINDOW_NS) as usize;
        let window = |busy: &Busy| Window {
            ended: busy.ended,
            response_sum_ns: busy.response_sum_ns,
            in_flight: busy.in_flight_ns as f64 / WINDOW_NS as f64,
        };
        self.windows.iter().take(whole).map(window).collect()
    }

    #[inline]
    pub(crate) fn note(&mut self, intended_ns: u64, sent_ns: u64, finished_ns: u64) {
        self.drain_ns = self.drain_ns.max(finished_ns.saturating_sub(self.stop_ns));
        self.answers += u64::from((self.warm_up_ns..=self.stop_ns).contains(&finished_ns));
        self.backlog += u64::from(intended_ns < self.warm_up_ns && finished_ns >= self.warm_up_ns);
        let (from_ns, to_ns) = (sent_ns.max(self.warm_up_ns), finished_ns.min(self.stop_ns));
        self.in_flight_ns += u128::from(to_ns.saturating_sub(from_ns));
        let (first, last) = ((sent_ns / WINDOW_NS) as usize, (finished_ns / WINDOW_NS) as usize);
        if let Some(window) = self.windows.get_mut(last) {
            window.ended += 1;
            window.response_sum_ns += finished_ns - intended_ns;
        }
        for index in first..=last {
            let Some(window) = self.windows.get_mut(index) else { break };
            let begin_ns = index as u64 * WINDOW_NS;
            window.in_flight_ns += finished_ns.min(begin_ns + WINDOW_NS) - sent_ns.max(begin_ns);
        }
    }

    pub(crate) fn absorb(&mut self, interval: Interval) {
        match interval.phase {
            Phase::Measured => self.tally.merge(&interval.tally),
            Phase::WarmUp => self.warm_up.merge(&interval.tally),
        }
    }
}
