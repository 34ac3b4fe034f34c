//! Time series of a load in short windows, in bounded memory.

use alloc::vec::Vec;

use crate::asked::OpenParts;

/// First and last ok reply in a window, and the times with open requests. Times are nanoseconds since the load began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Presence {
    /// Time of the first ok reply that was read in the window. `None` if there was none.
    pub first_ok_ns: Option<u64>,
    /// Time of the last ok reply that was read in the window. `None` if there was none.
    pub last_ok_ns: Option<u64>,
    /// Earliest time at which a request was open before the first ok reply, or in a window without one.
    pub asked_ns: Option<u64>,
    /// Earliest time at which a request was open after the last ok reply.
    pub asked_again_ns: Option<u64>,
    /// Parts of the window with open requests. A request is open from its scheduled time to its end, also while it waits for a
    /// connection or for the end of a back-off.
    pub asked: OpenParts,
    /// Time in which the worker itself was stalled, so that the state of the system is unknown.
    pub stalled_ns: u64,
}

/// Data of one window, of a single worker or summed over several. Includes the warm-up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pulse {
    /// Start of the window, in nanoseconds since the load began: a multiple of its length.
    pub at_ns: u64,
    /// Duration that the load covered of the window, summed over workers: less than its length if the load ended within it.
    pub lasting_ns: u64,
    /// Requests that ended in the window with any outcome but *unfinished*.
    pub ended: u64,
    /// Sum of the response times of requests that ended.
    pub response_sum_ns: u64,
    /// Requests that ended ok in the window.
    pub ok: u64,
    /// Sum of the response times of ok requests.
    pub ok_response_sum_ns: u64,
    /// Integral of requests in flight over time. Divided by the length of the window it is their mean number. A request is in
    /// flight from *sent* to *finished*.
    pub in_flight_ns: u64,
    /// CPU time of the workers' threads.
    pub cpu_ns: u64,
    /// Time in which the workers' threads were runnable but had no core. 0 if the kernel does not report it.
    pub run_queue_wait_ns: u64,
    /// Replies and open requests, of a single worker only. [`crate::Gaps`] sums them.
    pub presence: Presence,
}

impl Pulse {
    /// Length of the windows that workers report: a quarter of a second.
    pub const WINDOW_NS: u64 = 250_000_000;

    fn add(&mut self, more: &Self) {
        self.lasting_ns += more.lasting_ns;
        self.ended += more.ended;
        self.response_sum_ns = self.response_sum_ns.saturating_add(more.response_sum_ns);
        self.ok += more.ok;
        self.ok_response_sum_ns = self.ok_response_sum_ns.saturating_add(more.ok_response_sum_ns);
        self.in_flight_ns = self.in_flight_ns.saturating_add(more.in_flight_ns);
        self.cpu_ns += more.cpu_ns;
        self.run_queue_wait_ns += more.run_queue_wait_ns;
    }
}

/// Windows of a load from its beginning, of one worker or summed over several. If there would be more than [`Pulses::WINDOWS_MAX`],
/// pairs of windows are merged, and windows are twice as long from then on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pulses {
    window_ns: u64,
    windows: Vec<Pulse>,
}

impl Default for Pulses {
    fn default() -> Self {
        Self { window_ns: Pulse::WINDOW_NS, windows: Vec::new() }
    }
}

impl Pulses {
    /// Maximum number of windows: 8 minutes and 32 seconds in quarter seconds.
    pub const WINDOWS_MAX: usize = 2048;

    /// Adds a window of a worker.
    pub fn note(&mut self, pulse: &Pulse) {
        while pulse.at_ns / self.window_ns >= Self::WINDOWS_MAX as u64 {
            self.merge_pairs();
        }
        let index = (pulse.at_ns / self.window_ns) as usize;
        for missing in self.windows.len()..=index {
            self.windows.push(Pulse { at_ns: missing as u64 * self.window_ns, ..Pulse::default() });
        }
        self.windows[index].add(pulse);
    }

    /// Returns the windows in order, without gaps. Windows in which nothing happened are included.
    pub fn windows(&self) -> &[Pulse] {
        &self.windows
    }

    /// Returns the length of a window: [`Pulse::WINDOW_NS`] times a power of two.
    pub fn window_ns(&self) -> u64 {
        self.window_ns
    }

    fn merge_pairs(&mut self) {
        self.window_ns *= 2;
        let pairs = self.windows.chunks(2).map(|pair| {
            let mut both = pair[0];
            pair[1..].iter().for_each(|second| both.add(second));
            both
        });
        self.windows = pairs.collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pulse(number: u64) -> Pulse {
        Pulse {
            at_ns: number * Pulse::WINDOW_NS,
            lasting_ns: Pulse::WINDOW_NS,
            ended: number,
            response_sum_ns: 3 * number,
            in_flight_ns: 5 * number,
            cpu_ns: 7,
            run_queue_wait_ns: 11,
            ..Pulse::default()
        }
    }

    fn sum(pulses: &Pulses, what: impl Fn(&Pulse) -> u64) -> u64 {
        pulses.windows().iter().map(what).sum()
    }

    #[test]
    fn long_load_has_longer_windows_without_loss() {
        let mut pulses = Pulses::default();
        // Two hours of two workers.
        let count = 8 * 3600;
        for number in 0..count {
            pulses.note(&pulse(number));
            pulses.note(&pulse(number));
            assert!(pulses.windows().len() <= Pulses::WINDOWS_MAX);
        }
        assert_eq!(pulses.window_ns(), 16 * Pulse::WINDOW_NS);
        assert_eq!(pulses.windows().len() as u64, count / 16);
        let all: u64 = (0..count).sum();
        assert_eq!(sum(&pulses, |window| window.ended), 2 * all);
        assert_eq!(sum(&pulses, |window| window.response_sum_ns), 6 * all);
        assert_eq!(sum(&pulses, |window| window.in_flight_ns), 10 * all);
        assert_eq!(sum(&pulses, |window| window.cpu_ns), 14 * count);
        assert_eq!(sum(&pulses, |window| window.run_queue_wait_ns), 22 * count);
        assert_eq!(sum(&pulses, |window| window.lasting_ns), 2 * count * Pulse::WINDOW_NS);
        for (number, window) in (0..).zip(pulses.windows()) {
            assert_eq!(window.at_ns, number * pulses.window_ns());
            assert_eq!(window.ended, 2 * (16 * number..16 * number + 16).sum::<u64>());
        }
    }

    #[test]
    fn unreported_windows_are_present_and_empty() {
        let mut pulses = Pulses::default();
        pulses.note(&pulse(3));
        pulses.note(&pulse(1));
        assert_eq!(pulses.windows().iter().map(|window| window.ended).collect::<Vec<_>>(), [0, 1, 0, 3]);
        pulses.note(&pulse(u64::from(u32::MAX)));
        assert!(pulses.windows().len() <= Pulses::WINDOWS_MAX);
        assert_eq!(sum(&pulses, |window| window.ended), 4 + u64::from(u32::MAX));
        // The latest possible time.
        pulses.note(&Pulse { at_ns: u64::MAX, ended: 1, ..Pulse::default() });
        assert!(pulses.windows().len() <= Pulses::WINDOWS_MAX);
    }
}
