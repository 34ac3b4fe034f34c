//! Virtual user: its position in the scenario, its variables, and the time of its next request.

use load::ScenarioPosition;
use load::chance::Chance;
use load::xoroshiro::Xoroshiro;
use record::WaitEnd;
use wire::Values;

use crate::exchange::{Exchange, Redirections};
use crate::timers::NEVER;

/// Value of [`User::lane`] for a user without a lane.
pub(crate) const NO_LANE: u32 = u32::MAX;

/// Unit of [`User::waited_units`]: 2 to this power, in nanoseconds. Coarse, because each byte of a user counts.
const WAITED_UNIT_BITS: u32 = 24;

/// User of a closed load. In an open load, a slot that runs the iterations of arrivals, one after the other.
pub(crate) struct User {
    /// Position in the scenario.
    pub(crate) place: ScenarioPosition,
    /// Intended time of the first step of the iteration.
    pub(crate) begun_ns: u64,
    /// Intended time of the next request, once the user is ready for one.
    pub(crate) next_ns: u64,
    /// Time from which the user and its link could send the next request.
    pub(crate) free_ns: u64,
    /// Part of the send delay of the latest request that this program caused: its link was free, and the request was not sent.
    /// Carried over to the next step of the iteration.
    pub(crate) lag_ns: u64,
    /// Whether the user pauses before the step at `place`.
    pub(crate) is_paused: bool,
    /// Ending of the current wait for an OK answer as known so far: [`WaitEnd::Answer`] unless a request of that wait has failed or
    /// timed out.
    pub(crate) wait_end: WaitEnd,
    /// Start of the current wait for an OK answer. [`NEVER`] if the user does not wait.
    pub(crate) asking_since_ns: u64,
    /// Random generator of the user; in an open load that of the arrival.
    pub(crate) chance: Chance,
    /// Random generator for choices of scenarios and steps, if the load gives one per user. `None`: `chance` makes the choices.
    pub(crate) chooser: Option<Box<Xoroshiro>>,
    /// Random generator of the pauses of this iteration. It is separate because the number of pauses depends on replies, which must
    /// not change later iterations.
    pub(crate) pauses: Chance,
    pub(crate) values: Values,
    /// Number of the lane (one link to each peer) that the user has now, or [`NO_LANE`].
    pub(crate) lane: u32,
    /// Time waited since the last OK answer and before `asking_since_ns`, in units of 2^24 ns (16.8 ms).
    pub(crate) waited_units: u16,
    /// Status of the latest reply, if a step checks it.
    pub(crate) status: u16,
    /// Whether the user has completed the steps that run once before its first iteration.
    pub(crate) has_run_once_steps: bool,
    /// Request in flight. `None` between requests.
    pub(crate) exchange: Option<Exchange>,
    /// Redirections of the request in flight.
    pub(crate) redirections: Redirections,
    /// Time of the pending timer that checks the deadline of the user's request. [`NEVER`] if there is none.
    pub(crate) armed_ns: u64,
}

impl User {
    /// Creates a user that has done nothing yet, with its random generators.
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
            has_run_once_steps: true,
            exchange: None,
            redirections: Redirections::default(),
            armed_ns: NEVER,
        }
    }

    /// Returns the time waited since the last OK answer and before `asking_since_ns`.
    #[inline]
    pub(crate) fn waited_ns(&self) -> u64 {
        u64::from(self.waited_units) << WAITED_UNIT_BITS
    }

    /// Adds `wait_ns` to the time waited for an OK answer.
    pub(crate) fn note_waited(&mut self, wait_ns: u64) {
        let units = wait_ns.saturating_add(1 << (WAITED_UNIT_BITS - 1)) >> WAITED_UNIT_BITS;
        self.waited_units = self.waited_units.saturating_add(u16::try_from(units).unwrap_or(u16::MAX));
    }

    /// Returns whether the user is in a pause within its request.
    pub(crate) fn is_in_pause(&self) -> bool {
        self.exchange.is_some_and(|exchange| exchange.pause_until_ns > 0)
    }
}
