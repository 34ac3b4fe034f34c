//! Peak load of worker threads: the highest share of CPU time that a worker used over any ten seconds.

use std::collections::{BTreeMap, VecDeque};

use record::Pulse;

/// Number of windows in ten seconds.
const WINDOWS: usize = (10_000_000_000 / Pulse::WINDOW_NS) as usize;

/// Sliding windows of all workers. Memory per worker is bounded.
#[derive(Debug, Default)]
pub(crate) struct Busiest {
    workers: BTreeMap<u32, Stretch>,
    cpu_share: Option<f64>,
}

#[derive(Debug, Default)]
struct Stretch {
    /// CPU time and wall time of the last windows, in nanoseconds.
    windows: VecDeque<[u64; 2]>,
    sums: [u64; 2],
}

impl Busiest {
    /// Adds the next window of a worker.
    pub(crate) fn note(&mut self, worker: u32, pulse: &Pulse) {
        let stretch = self.workers.entry(worker).or_default();
        let window = [pulse.cpu_ns, pulse.lasting_ns];
        stretch.windows.push_back(window);
        stretch.sums = [0, 1].map(|at| stretch.sums[at] + window[at]);
        if stretch.windows.len() > WINDOWS
            && let Some(old) = stretch.windows.pop_front()
        {
            stretch.sums = [0, 1].map(|at| stretch.sums[at].saturating_sub(old[at]));
        }
        let [cpu_ns, lasting_ns] = stretch.sums;
        if stretch.windows.len() == WINDOWS && lasting_ns > 0 {
            let share = cpu_ns as f64 / lasting_ns as f64;
            self.cpu_share = Some(self.cpu_share.map_or(share, |so_far| so_far.max(share)));
        }
    }

    /// Highest share of a core that a thread used over any ten seconds, from 0 to 1. `None` if the load was shorter.
    pub(crate) fn cpu_share(&self) -> Option<f64> {
        self.cpu_share
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_the_busiest_ten_seconds_of_any_worker() {
        let mut busiest = Busiest::default();
        let window = Pulse::WINDOW_NS;
        let pulse = |cpu_ns| Pulse { cpu_ns, lasting_ns: window, ..Pulse::default() };
        for _ in 0..WINDOWS - 1 {
            busiest.note(0, &pulse(window / 2));
        }
        assert_eq!(busiest.cpu_share(), None, "not ten seconds yet");
        busiest.note(0, &pulse(window / 2));
        assert_eq!(busiest.cpu_share(), Some(0.5));
        for _ in 0..WINDOWS {
            busiest.note(1, &pulse(window / 4));
            busiest.note(0, &pulse(window));
        }
        busiest.note(0, &pulse(0));
        assert_eq!(busiest.cpu_share(), Some(1.0));
        assert!(busiest.workers.values().all(|stretch| stretch.windows.len() == WINDOWS));
    }
}
