//! Per-thread recorder: sorts events into phases and seconds, and hands over each full second.

use alloc::boxed::Box;

use crate::finish::Finish;
use crate::interval::{Interval, Phase};
use crate::sample::{Reservoir, Sampled};
use crate::tally::Tally;

/// Recorder of one thread. It takes no locks, and does not allocate after the first second.
#[derive(Debug)]
pub struct Recorder {
    measured_from_ns: u64,
    measured_to_ns: u64,
    second: u64,
    /// Tallies by phase, in the order of [`Phase::ALL`].
    tallies: [Box<Tally>; 2],
    reservoirs: [Reservoir; 2],
}

const SECOND_NS: u64 = 1_000_000_000;

impl Recorder {
    /// Creates a recorder. The measured phase has the requests scheduled for `measured_from_ns` or later, and the measured window
    /// lasts until `measured_to_ns`. Keeps up to `log_per_second` individual requests of each second.
    pub fn new((measured_from_ns, measured_to_ns): (u64, u64), log_per_second: usize) -> Self {
        let reservoirs = [1, 2].map(|seed| Reservoir::new(log_per_second, seed));
        Self {
            measured_from_ns,
            measured_to_ns,
            second: 0,
            tallies: [Box::default(), Box::default()],
            reservoirs,
        }
    }

    /// Returns whether individual requests are kept. If so, pass each one to [`Recorder::sample`].
    #[inline]
    pub fn logs(&self) -> bool {
        self.reservoirs[0].is_enabled()
    }

    /// Offers a finished request to the request log.
    pub fn sample(&mut self, request: Sampled) {
        self.reservoirs[self.phase(request.finish.intended_ns) as usize].offer(request);
    }

    /// Returns the phase of a request scheduled for `intended_ns`.
    #[inline]
    pub fn phase(&self, intended_ns: u64) -> Phase {
        if intended_ns >= self.measured_from_ns { Phase::Measured } else { Phase::WarmUp }
    }

    /// Returns the tally of a request scheduled for `intended_ns`.
    #[inline]
    pub fn tally(&mut self, intended_ns: u64) -> &mut Tally {
        &mut self.tallies[self.phase(intended_ns) as usize]
    }

    /// Ends the measured window early, at `at_ns`.
    pub fn end_window(&mut self, at_ns: u64) {
        self.measured_to_ns = at_ns;
    }

    /// Counts the end of a request.
    #[inline]
    pub fn finished(&mut self, finish: &Finish) {
        let (from_ns, to_ns) = (self.measured_from_ns, self.measured_to_ns);
        let tally = self.tally(finish.intended_ns);
        tally.note_finished(finish);
        if finish.finished_ns >= from_ns {
            tally.window.note(finish.outcome, finish.finished_ns > to_ns);
        }
    }

    /// Returns the end of the current second.
    pub fn boundary_ns(&self) -> u64 {
        (self.second + 1) * SECOND_NS
    }

    /// Hands over the current second if it is full. Call it once per turn of the event loop with the time of the turn.
    #[inline]
    pub fn turn(&mut self, now_ns: u64, mut hand_over: impl FnMut(Interval)) {
        if now_ns >= self.boundary_ns() {
            self.close(&mut hand_over);
            self.second = now_ns / SECOND_NS;
        }
    }

    /// Hands over the current second, even if it is not full.
    #[cold]
    pub fn close(&mut self, hand_over: &mut dyn FnMut(Interval)) {
        for phase in Phase::ALL {
            let (tally, reservoir) =
                (&mut self.tallies[phase as usize], &mut self.reservoirs[phase as usize]);
            if !tally.is_empty() {
                let (tally_of_second, sampled) = (Tally::clone(tally), reservoir.take());
                tally.clear();
                hand_over(Interval { second: self.second, phase, tally: tally_of_second, sampled });
            }
        }
    }
}
