//! Schedule of request or iteration starts: by a rate over time, or as recorded.

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;
use core::ops::Range;

use crate::chance::Chance;
use crate::open::{EVEN, POISSON, Places, Process, Profile};
use crate::recording::Recording;
use crate::share::Share;

/// Send times of a whole load, or of each of its users.
#[derive(Clone, Debug, PartialEq)]
pub enum Schedule {
    /// Rate over time, and the spacing of its send times.
    Rate(Profile, Spacing),
    /// Recorded arrivals, exactly, up to the last one.
    Recorded(Recording),
    /// Recorded send times of each user, which are read while the load runs.
    Streamed(Streamed),
}

/// Send times of users that are not kept in memory.
pub trait UserTimes: fmt::Debug + Send + Sync {
    /// Returns the send times of a user, in nanoseconds since the load began, in ascending order.
    fn times_for(&self, user: u64) -> Box<dyn Iterator<Item = u64> + Send>;

    /// Returns the largest number of send times of all users in any second.
    fn peak_per_s(&self) -> f64;
}

/// Source of the send times of users. Clones share it.
#[derive(Clone, Debug)]
pub struct Streamed(pub Arc<dyn UserTimes>);

impl PartialEq for Streamed {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Schedule {
    /// Returns the send times of one worker: every `share.of`-th of all send times. None of a streamed schedule, whose users have their
    /// own.
    pub fn arrivals(&self, share: Share) -> Arrivals {
        match self {
            Self::Rate(profile, spacing) => {
                let mut places = (spacing.process.places)(spacing.seed);
                for _ in 0..share.index {
                    places();
                }
                Arrivals(Source::Rate { profile: profile.clone(), places, step: share.of })
            }
            Self::Recorded(recording) => Arrivals(Source::Recorded {
                recording: recording.clone(),
                next: share.index as usize,
                step: share.of as usize,
            }),
            Self::Streamed(_) => Arrivals::none(),
        }
    }

    /// Returns the send times of each of these users, which are numbered over the whole load. A rate applies to each user, with its own
    /// random stream. From a recording, each user gets the arrivals of the session with its number.
    pub fn of_users(&self, users: Range<u64>) -> Vec<Arrivals> {
        let own = |user: u64, profile: &Profile, spacing: &Spacing| {
            let seed = Chance::stream(spacing.seed, user).bits() as u64;
            Self::Rate(profile.clone(), Spacing { seed, ..*spacing }).arrivals(Share::WHOLE)
        };
        match self {
            Self::Rate(profile, spacing) => users.map(|user| own(user, profile, spacing)).collect(),
            Self::Recorded(recording) => {
                recording.by_user(users).map(|own| Arrivals(Source::Own(own))).collect()
            }
            Self::Streamed(times) => {
                users.map(|user| Arrivals(Source::Streamed(times.0.times_for(user)))).collect()
            }
        }
    }

    /// Returns the highest rate; for a recording, the largest number of arrivals in any second.
    pub fn peak_per_s(&self) -> f64 {
        match self {
            Self::Rate(profile, _) => profile.peak_per_s(),
            Self::Recorded(recording) => recording.peak_per_s(),
            Self::Streamed(times) => times.0.peak_per_s(),
        }
    }

    /// Returns whether the rate never changes. Always false for a recording.
    pub fn is_constant(&self) -> bool {
        matches!(self, Self::Rate(profile, _) if profile.is_constant())
    }

    /// Returns the memory of recorded arrivals, in bytes, independent of the number of workers. User schedules take half as much again.
    pub fn kept_bytes(&self) -> u64 {
        match self {
            Self::Rate(..) | Self::Streamed(_) => 0,
            Self::Recorded(recording) => recording.kept_bytes(),
        }
    }
}

/// Spacing of the send times of a load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spacing {
    /// Arrival process.
    pub process: &'static Process,
    /// Seed. Equal seeds give equal send times, for any number of workers.
    pub seed: u64,
}

impl Spacing {
    /// Equal distances, if the rate is constant.
    pub const EVEN: Self = Self { process: &EVEN, seed: 0 };

    /// Creates exponential gaps drawn from a seed, as of independent users.
    pub const fn poisson(seed: u64) -> Self {
        Self { process: &POISSON, seed }
    }
}

/// Scheduled send times of a load, in ascending order.
pub struct Arrivals(Source);

enum Source {
    Rate {
        profile: Profile,
        places: Places,
        step: u32,
    },
    /// Every `step`-th arrival, from `next` on.
    Recorded {
        recording: Recording,
        next: usize,
        step: usize,
    },
    /// Send times of one user.
    Own(vec::IntoIter<u64>),
    /// Send times of one user, which are read while the load runs.
    Streamed(Box<dyn Iterator<Item = u64> + Send>),
}

impl Arrivals {
    /// Creates an empty schedule.
    pub fn none() -> Self {
        Self(Source::Own(Vec::new().into_iter()))
    }
}

impl fmt::Debug for Arrivals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Arrivals").finish_non_exhaustive()
    }
}

impl Iterator for Arrivals {
    /// Nanoseconds since the load began.
    type Item = u64;

    #[inline]
    fn next(&mut self) -> Option<u64> {
        match &mut self.0 {
            Source::Rate { profile, places, step } => {
                let place = places();
                for _ in 1..*step {
                    places();
                }
                profile.time_of(place)
            }
            Source::Recorded { recording, next, step } => {
                let arrival = recording.arrivals().get(*next)?;
                *next += *step;
                Some(arrival.at_ns)
            }
            Source::Own(instants) => instants.next(),
            Source::Streamed(instants) => instants.next(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::Arrival;

    fn recorded(count: u64) -> (Schedule, Vec<u64>) {
        let instants: Vec<u64> = (0..count).map(|number| number * number % 1_000 + number * 7).collect();
        let arrivals = instants.iter().enumerate();
        let arrivals = arrivals.map(|(at, at_ns)| Arrival { at_ns: *at_ns, session: Some(at as u32 % 5) });
        let mut sorted = instants.clone();
        sorted.sort_unstable();
        (Schedule::Recorded(Recording::new(arrivals.collect())), sorted)
    }

    #[test]
    fn recorded_arrivals_are_replayed_exactly() {
        let (schedule, instants) = recorded(100);
        assert_eq!(schedule.arrivals(Share::WHOLE).collect::<Vec<_>>(), instants);
    }

    #[test]
    fn shares_partition_a_recording() {
        let (schedule, instants) = recorded(101);
        for of in 1..=7 {
            let shares = (0..of).flat_map(|index| schedule.arrivals(Share { index, of }));
            let mut merged: Vec<u64> = shares.collect();
            merged.sort_unstable();
            assert_eq!(merged, instants, "{of}");
        }
    }

    #[test]
    fn users_partition_a_recording_by_session() {
        let (schedule, instants) = recorded(50);
        let mut merged: Vec<u64> =
            [0..2, 2..5].into_iter().flat_map(|users| schedule.of_users(users)).flatten().collect();
        merged.sort_unstable();
        assert_eq!(merged, instants);
    }

    #[test]
    fn each_user_of_a_rate_has_draws_of_its_own() {
        let rate = Schedule::Rate(Profile::constant(10.0), Spacing::poisson(3));
        let firsts = |users: Range<u64>| -> Vec<u64> {
            rate.of_users(users).into_iter().filter_map(|mut arrivals| arrivals.next()).collect()
        };
        let all = firsts(0..4);
        assert!(all[0] != all[1] && all[1] != all[2], "{all:?}");
        assert_eq!(firsts(2..4), all[2..]);
    }
}
