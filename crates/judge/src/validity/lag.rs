//! Rules for delays of the generator itself, which it then measures as response time.

use evidence::{Distorted, Distortion, Level};
use record::Percentile;

use super::distortion::{DELAY_SUSPECT_NS, OwnDelay, SHARE_SUSPECT, cap_levels, of_throughput, of_time};
use super::evidence::Evidence;
use super::words::{Finding, found, own_core, percent};
use crate::causes::{Doubt, MEASURED_ITSELF};
use crate::words::duration;

/// Delay of wake-ups (p99), in nanoseconds, above which the tail is dominated by the generator, if it also exceeds a
/// tenth of that tail.
const WAKE_LAG_MAX_NS: u64 = 1_000_000;
/// Min number of requests that are examined as a whole if there are too few for a tail.
const FEW_MIN: u64 = 20;
/// Min mean delay in nanoseconds that is not noise with so few requests.
const FEW_LAG_NS: f64 = 10_000_000.0;

impl Doubt {
    /// Timers woke the threads of an open load late.
    pub const WAKE_LAG: Self = Self {
        code: "wake_lag",
        words: MEASURED_ITSELF,
        suspect: "p99 later than 1 ms and a tenth of p99 response time",
        invalid: "never",
        looks_at: "open load: how late timers woke the threads",
        distorts: &[Distorted::Mean, Distorted::Tail],
        is_limit: false,
        is_lateness: true,
    };

    /// The slowest response times consisted of the generator's own delay.
    pub const GENERATOR_LAG: Self = Self {
        code: "generator_lag",
        words: MEASURED_ITSELF,
        suspect: "share > 5 % and ≥ 0.3 ms each",
        invalid: "never",
        looks_at: "of the slowest 1 % of response times, the generator's own delay: late although a connection was free, or back late to read a reply. With fewer than 1,000 requests: of all of them, at least 20, and 10 ms each",
        distorts: &Distorted::ALL,
        is_limit: false,
        is_lateness: true,
    };
}

/// Reports late wake-ups of the threads of an open load.
pub(super) fn wake_lag(evidence: &Evidence<'_>) -> Option<Finding> {
    let lag_ns = evidence.wake_lag.printable_at(Percentile::P99)?;
    let response_ns = evidence.tally.response.all().printable_at(Percentile::P99)?;
    if !evidence.planned.is_open() || lag_ns <= WAKE_LAG_MAX_NS.max(response_ns / 10) {
        return None;
    }
    let sentence = format!(
        "the generator woke up {} late (p99), against a p99 response time of {}",
        duration(lag_ns as f64),
        duration(response_ns as f64)
    );
    let tail = of_time(Distorted::Tail, lag_ns as f64, Some(response_ns as f64));
    let mean_ns = evidence.wake_lag.mean_ns().unwrap_or_default();
    let mean = of_time(Distorted::Mean, mean_ns, evidence.tally.response.all().mean_ns());
    let distorts = vec![mean, Distortion { level: Level::Suspect, ..tail }];
    Some(found(Level::Suspect, sentence, own_core(evidence.planned)).distorting(distorts))
}

/// Reports the generator's own delay in the slowest response times.
pub(super) fn share_of_tail(evidence: &Evidence<'_>) -> Option<Finding> {
    let (slowest, which) = evidence.slowest();
    let share = slowest.lag_share()?;
    let lag_ns = slowest.lag_ns as f64 / slowest.count.max(1) as f64;
    let is_tail = Percentile::P99.is_printable(evidence.tail.all().count);
    let is_enough = |lag_min_ns: f64| {
        if is_tail { lag_ns >= lag_min_ns } else { slowest.count >= FEW_MIN && lag_ns >= FEW_LAG_NS }
    };
    if share <= SHARE_SUSPECT || !is_enough(DELAY_SUSPECT_NS) {
        return None;
    }
    let level = Level::Suspect;
    let sentence = format!(
        "{} {which} was the generator's own delay, {} of {} on average: it was late although a connection was free, or read \
         replies late",
        percent(share),
        duration(lag_ns),
        duration(slowest.response_ns as f64 / slowest.count.max(1) as f64)
    );
    let tail = of_time(Distorted::Tail, lag_ns, evidence.slowest_mean_ns());
    let all = evidence.tail.all();
    let own = OwnDelay { mean_ns: all.lag_ns as f64 / all.count.max(1) as f64, tail_ns: lag_ns };
    let [mean, _] = own.of_times(evidence);
    let throughput = own.of_users(evidence).map(of_throughput);
    let distorts = throughput.into_iter().chain([mean, Distortion { level, ..tail }]);
    Some(found(level, sentence, own_core(evidence.planned)).distorting(cap_levels(distorts.collect(), level)))
}
