//! The course of a load in short windows, bounded however long it lasts.

use alloc::vec::Vec;

use crate::asked::AskedParts;

/// Whether anybody was answered in a window, and who asked. Times in nanoseconds since the load began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Presence {
    /// The first ok answer that was read in the window.
    pub first_ok_ns: Option<u64>,
    /// The last one.
    pub last_ok_ns: Option<u64>,
    /// The earliest instant at which a request was open before the first ok answer, or in a window without one.
    pub asked_ns: Option<u64>,
    /// The earliest instant at which a request was open after the last ok answer.
    pub asked_again_ns: Option<u64>,
    /// In which parts of the window somebody wanted a reply: from the intended start of a request to its end, and while a request
    /// that is due waits for a connection or for the end of a back-off. Think time and pauses are no such time.
    pub asked: AskedParts,
    /// How long the worker itself was away: nobody can say what the system did then.
    pub stalled_ns: u64,
}

/// What one window saw: of one worker as it reports it, of several where they were added up. Warm-up and the measured time alike.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pulse {
    /// When the window began, in nanoseconds since the load did: a multiple of its length.
    pub at_ns: u64,
    /// How much of it was lived through, summed over workers: less than its length where the load ended within it.
    pub lasting_ns: u64,
    /// Requests that ended in it, in any way but *unfinished*.
    pub ended: u64,
    /// The sum of their response times.
    pub response_sum_ns: u64,
    /// Requests that ended ok in it.
    pub ok: u64,
    /// The sum of their response times.
    pub ok_response_sum_ns: u64,
    /// Requests in flight × time: divided by the length of the window it is their mean number. A request is in flight from *sent*
    /// to *finished*.
    pub in_flight_ns: u64,
    /// CPU time of the workers' threads.
    pub cpu_ns: u64,
    /// How long these threads were ready to run and had no core; 0 where the kernel does not tell.
    pub run_queue_wait_ns: u64,
    /// Answers and open requests; of a single worker only. [`crate::Gaps`] adds them up.
    pub presence: Presence,
}

impl Pulse {
    /// Workers tell windows of this length: a quarter of a second.
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

/// The windows of a load from its beginning on, of one worker or added up over several. When there would be more than
/// [`Pulses::WINDOWS_MAX`] of them, each two become one, and windows are twice as long from then on.
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
    /// So many windows are kept at most: 8 minutes and 32 seconds of a quarter of a second each.
    pub const WINDOWS_MAX: usize = 2048;

    /// Adds what a worker told to the window that it falls into.
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

    /// The windows in order, without gaps; one in which nothing happened is there as well.
    pub fn windows(&self) -> &[Pulse] {
        &self.windows
    }

    /// The length of a window: [`Pulse::WINDOW_NS`], or that times a power of two.
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
    fn a_long_load_has_longer_windows_and_loses_nothing() {
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
    fn windows_that_nobody_told_of_are_there_and_empty() {
        let mut pulses = Pulses::default();
        pulses.note(&pulse(3));
        pulses.note(&pulse(1));
        assert_eq!(pulses.windows().iter().map(|window| window.ended).collect::<Vec<_>>(), [0, 1, 0, 3]);
        pulses.note(&pulse(u64::from(u32::MAX)));
        assert!(pulses.windows().len() <= Pulses::WINDOWS_MAX);
        assert_eq!(sum(&pulses, |window| window.ended), 4 + u64::from(u32::MAX));
        // The last instant there is.
        pulses.note(&Pulse { at_ns: u64::MAX, ended: 1, ..Pulse::default() });
        assert!(pulses.windows().len() <= Pulses::WINDOWS_MAX);
    }
}
