//! One virtual user: where it is in its scenario, its variables, and when its next request is intended.

use load::ScenarioPosition;
use load::chance::Chance;
use load::xoroshiro::Xoroshiro;
use record::WaitEnd;
use wire::Values;

use crate::exchange::Exchange;
use crate::timers::NEVER;

/// No lane.
pub(crate) const NO_LANE: u32 = u32::MAX;

/// Waits before a pause are kept in units of two to this power, in nanoseconds: each byte of a user counts.
const WAITED_UNIT_BITS: u32 = 24;

/// A user of a closed load. In an open load, whoever goes through the iteration of an arrival, one after the other.
pub(crate) struct User {
    /// Where it is in its scenario.
    pub(crate) place: ScenarioPosition,
    /// When the first step of its iteration was intended.
    pub(crate) begun_ns: u64,
    /// When its next request is intended, once it is ready for one.
    pub(crate) next_ns: u64,
    /// Since when it could make the next request, as far as it and its link are concerned.
    pub(crate) free_ns: u64,
    /// What of the send delay of its latest request was ours (a link was free, and it was not sent), and may be carried on to the
    /// next step.
    pub(crate) lag_ns: u64,
    /// Whether it pauses before the step at `place`.
    pub(crate) is_paused: bool,
    /// How the time will have ended in which it waits for an ok answer, as far as it is over.
    pub(crate) wait_end: WaitEnd,
    /// Since when it waits for an ok answer; [`NEVER`]: it does not.
    pub(crate) asking_since_ns: u64,
    /// Its draws; in an open load those of the arrival.
    pub(crate) chance: Chance,
    /// What it chooses with instead, if the load says so.
    pub(crate) chooser: Option<Box<Xoroshiro>>,
    /// Draws the pauses of this iteration. How many there are hangs on replies, which must not change later iterations.
    pub(crate) pauses: Chance,
    pub(crate) values: Values,
    /// Which of the links to each peer are its own, for as long as they are.
    pub(crate) lane: u32,
    /// How long it has waited for an ok answer before `asking_since_ns`, since the last one, in units of 2^24 ns (16.8 ms).
    pub(crate) waited_units: u16,
    /// The status of the latest reply, where a step asks for it.
    pub(crate) status: u16,
    /// Whether it has done what comes before its first iteration.
    pub(crate) is_entered: bool,
    /// Its request in flight.
    pub(crate) exchange: Option<Exchange>,
    /// When the timer that watches the deadline of its requests comes up.
    pub(crate) armed_ns: u64,
}

impl User {
    /// A user with these draws, who has done nothing yet.
    pub(crate) fn new(chance: Chance, chooser: Option<Xoroshiro>) -> Self {
        Self {
            place: ScenarioPosition::default(),
            begun_ns: 0,
            next_ns: 0,
            free_ns: 0,
            lag_ns: 0,
            is_paused: false,
            wait_end: WaitEnd::Answer,
            asking_since_ns: NEVER,
            pauses: chance.clone(),
            chance,
            chooser: chooser.map(Box::new),
            values: Values::default(),
            lane: NO_LANE,
            waited_units: 0,
            status: 0,
            is_entered: true,
            exchange: None,
            armed_ns: NEVER,
        }
    }

    /// How long it has waited for an ok answer before `asking_since_ns`.
    #[inline]
    pub(crate) fn waited_ns(&self) -> u64 {
        u64::from(self.waited_units) << WAITED_UNIT_BITS
    }

    /// It has waited for an ok answer for so long, in vain.
    pub(crate) fn note_waited(&mut self, wait_ns: u64) {
        let units = wait_ns.saturating_add(1 << (WAITED_UNIT_BITS - 1)) >> WAITED_UNIT_BITS;
        self.waited_units = self.waited_units.saturating_add(u16::try_from(units).unwrap_or(u16::MAX));
    }

    /// Whether it is in a pause within its request.
    pub(crate) fn is_in_pause(&self) -> bool {
        self.exchange.is_some_and(|exchange| exchange.pause_until_ns > 0)
    }
}
