//! Times of the looks at a load, chosen so that none covers both warm-up and measurement, or both load and rest.

use std::time::{Duration, Instant};

const BETWEEN_LOOKS: Duration = Duration::from_secs(1);
/// Time between the last look and the end of the load. A thread that wakes up slightly late still reads a system under load.
const END_MARGIN: Duration = Duration::from_millis(20);

/// Times of looks, at intervals of one second. One look is at the end of the warm-up, and one just before the end of the load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LookTimes {
    /// End of the warm-up.
    measured_from: Instant,
    /// Planned end of the load. `None` without one.
    load_ends: Option<Instant>,
}

impl LookTimes {
    /// Times for a load that begins at `origin`. `load` is its planned length, warm-up included. `None` if the load has no planned
    /// length.
    pub fn of_load(origin: Instant, warm_up: Duration, load: Option<Duration>) -> Self {
        let after = |time: Duration| origin.checked_add(time);
        Self { measured_from: after(warm_up).unwrap_or(origin), load_ends: load.and_then(after) }
    }

    /// Looks at whole seconds from `origin`.
    pub fn every_second(origin: Instant) -> Self {
        Self { measured_from: origin, load_ends: None }
    }

    /// First look after `last`.
    pub(crate) fn after(&self, last: Instant) -> Instant {
        let regular = match last.checked_duration_since(self.measured_from) {
            Some(since) => self.measured_from + BETWEEN_LOOKS * (whole_seconds(since) + 1),
            None => {
                let left = self.measured_from - last;
                let whole = whole_seconds(left.saturating_sub(Duration::from_nanos(1)));
                self.measured_from - BETWEEN_LOOKS * whole
            }
        };
        let at_end = self.load_ends.and_then(|end| end.checked_sub(END_MARGIN)).filter(|at| *at > last);
        at_end.map_or(regular, |at| at.min(regular))
    }
}

fn whole_seconds(time: Duration) -> u32 {
    u32::try_from(time.as_secs()).unwrap_or(u32::MAX - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Milliseconds of the looks at a load, until `end_ms`.
    fn looks(warm_up_ms: u64, load_ms: Option<u64>, end_ms: u64) -> Vec<u128> {
        let origin = Instant::now();
        let ms = Duration::from_millis;
        let times = LookTimes::of_load(origin, ms(warm_up_ms), load_ms.map(ms));
        let next = |last: &Instant| Some(times.after(*last));
        let looks = std::iter::successors(Some(origin), next).skip(1);
        looks.map(|at| (at - origin).as_millis()).take_while(|at| *at <= end_ms.into()).collect()
    }

    #[test]
    fn look_falls_on_the_end_of_the_warm_up() {
        assert_eq!(looks(0, None, 3_000), [1_000, 2_000, 3_000]);
        assert_eq!(looks(2_000, None, 3_000), [1_000, 2_000, 3_000]);
        assert_eq!(looks(250, None, 3_000), [250, 1_250, 2_250]);
        assert_eq!(looks(1_700, None, 3_000), [700, 1_700, 2_700]);
    }

    #[test]
    fn last_look_at_a_load_precedes_its_end() {
        assert_eq!(looks(250, Some(1_250), 2_500), [250, 1_230, 1_250, 2_250]);
        assert_eq!(looks(1_000, Some(3_000), 3_000), [1_000, 2_000, 2_980, 3_000]);
        assert_eq!(looks(0, Some(400), 1_000), [380, 1_000]);
        assert_eq!(looks(0, Some(10), 1_000), [1_000], "too short for a margin");
    }

    #[test]
    fn missed_looks_are_skipped() {
        let begun = Instant::now();
        let ms = Duration::from_millis;
        let times = LookTimes::every_second(begun);
        for (last_ms, next_s) in [(0, 1), (1, 1), (999, 1), (1_000, 2), (1_003, 2), (4_999, 5), (5_200, 6)] {
            assert_eq!(times.after(begun + ms(last_ms)), begun + ms(next_s * 1_000), "{last_ms}");
        }
    }
}
