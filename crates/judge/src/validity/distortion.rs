//! Bounds for the effect of the generator's own delay on the figures of a run, from its own readings.

use evidence::{Cause, Distorted, Distortion, Level};
use record::Percentile;

use super::evidence::Evidence;
use crate::planned::Offered;
use crate::words;

/// Share of the generator's own delay in response times, above which they are suspect.
pub(super) const SHARE_SUSPECT: f64 = 0.05;
/// Min own delay in the tail, in nanoseconds, that makes it suspect. Shorter delays do not matter at the scale of
/// milliseconds.
pub(super) const DELAY_SUSPECT_NS: f64 = 300_000.0;
/// Max missing share of throughput before it is suspect.
const THROUGHPUT_SUSPECT: f64 = 0.02;
/// Min number of timed reads of replies at which their delay is known.
pub(super) const READS_MIN: u64 = 100;

/// Own delay of the generator in response times: time before requests were sent although a connection was free, and
/// time before replies were read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct OwnDelay {
    /// Mean over all requests, in nanoseconds.
    pub(super) mean_ns: f64,
    /// Upper bound over the slowest requests, in nanoseconds.
    pub(super) tail_ns: f64,
}

impl OwnDelay {
    /// Computes the own delay of a run; `None` if unknown, because the replies of a closed load have no timestamps.
    pub(super) fn of(evidence: &Evidence<'_>) -> Option<Self> {
        let (all, (slowest, _)) = (evidence.tail.all(), evidence.slowest());
        if all.count == 0 {
            return None;
        }
        let [lag_ns, lag_of_slowest_ns] =
            [all, slowest].map(|sum| sum.lag_ns as f64 / sum.count.max(1) as f64);
        let read = &evidence.read_delay;
        let is_read = read.count() >= READS_MIN;
        // Timers wake an open load, so most of its delays are visible without timestamps.
        if !is_read && !evidence.planned.is_open() {
            return None;
        }
        let read_tail_ns = read.printable_at(Percentile::P99).or(read.max_ns());
        let [mean_ns, tail_ns] = match is_read {
            true => [read.mean_ns(), read_tail_ns.map(|ns| ns as f64)].map(Option::unwrap_or_default),
            false => [0.0, 0.0],
        };
        Some(Self { mean_ns: lag_ns + mean_ns, tail_ns: lag_of_slowest_ns + tail_ns })
    }

    /// Returns the possible distortions. `throughput_max` bounds the missing share of a closed load's throughput.
    pub(super) fn distortions(self, evidence: &Evidence<'_>, throughput_max: f64) -> Vec<Distortion> {
        let mut distortions = self.of_times(evidence).to_vec();
        if let Some(share) = self.of_users(evidence) {
            distortions.insert(0, of_throughput(share.min(throughput_max)));
        }
        distortions
    }

    /// Returns the distortions of the mean and of the tail.
    pub(super) fn of_times(self, evidence: &Evidence<'_>) -> [Distortion; 2] {
        let mean = of_time(Distorted::Mean, self.mean_ns, evidence.tally.response.all().mean_ns());
        [mean, of_time(Distorted::Tail, self.tail_ns, evidence.slowest_mean_ns())]
    }

    /// Returns the delay as a share of user time. Without the delay, users would have sent that many more requests, and
    /// the system might have answered them. `None` for an open load, whose sends do not depend on answers.
    pub(super) fn of_users(self, evidence: &Evidence<'_>) -> Option<f64> {
        let Offered::Closed { users, .. } = evidence.planned.offered else { return None };
        let time_ns = f64::from(users) * evidence.window_ns? as f64;
        (time_ns > 0.0).then(|| (self.mean_ns * evidence.ended as f64 / time_ns).min(1.0))
    }
}

/// Creates the distortion of a throughput that may lack `share`.
pub(super) fn of_throughput(share: f64) -> Distortion {
    let share = share.clamp(0.0, 1.0);
    let level = if share > THROUGHPUT_SUSPECT { Level::Suspect } else { Level::Valid };
    Distortion { figure: Distorted::Throughput, level, by_share: Some(-share), by_us: None }
}

/// Creates the distortion of a response time with a delay of `delay_ns`, which cannot exceed the response time.
pub(super) fn of_time(figure: Distorted, delay_ns: f64, response_ns: Option<f64>) -> Distortion {
    let delay_ns = response_ns.map_or(delay_ns, |ns| delay_ns.min(ns)).max(0.0);
    let share = response_ns.filter(|ns| *ns > 0.0).map(|ns| delay_ns / ns);
    // Fractions of a millisecond are noise in a tail, but not in a mean.
    let is_enough = |delay_min_ns: f64| figure == Distorted::Mean || delay_ns >= delay_min_ns;
    let level = match share {
        Some(share) if share > SHARE_SUSPECT && is_enough(DELAY_SUSPECT_NS) => Level::Suspect,
        _ => Level::Valid,
    };
    Distortion { figure, level, by_share: share, by_us: Some(delay_ns / 1e3) }
}

/// Limits the levels of distortions to `level`.
pub(super) fn cap_levels(distortions: Vec<Distortion>, level: Level) -> Vec<Distortion> {
    let capped = |distortion: Distortion| Distortion { level: distortion.level.min(level), ..distortion };
    distortions.into_iter().map(capped).collect()
}

/// Prefixes the sentence of a cause with its distortions, if known: `tail up to +0.4 ms: a generator thread waited …`.
pub fn told(cause: &Cause) -> String {
    said(&cause.distorts, &cause.sentence)
}

/// Prefixes a sentence about several runs with its distortions, if known.
pub fn said(distorts: &[Distortion], sentence: &str) -> String {
    match distorted(distorts) {
        words if words.is_empty() => sentence.to_owned(),
        words => format!("{words}: {sentence}"),
    }
}

/// Describes distortions: `throughput up to −8 %, tail up to +0.4 ms`. Empty if all figures may be distorted by an
/// unknown amount.
pub fn distorted(distortions: &[Distortion]) -> String {
    let is_sized = |of: &Distortion| of.by_us.or(of.by_share).is_some();
    if distortions.len() == Distorted::ALL.len() && !distortions.iter().any(is_sized) {
        return String::new();
    }
    let mut parts: Vec<String> = distortions
        .iter()
        .filter(|of| is_sized(of))
        .map(|of| format!("{} {}", of.figure.name(), by(of)))
        .collect();
    let unsized_: Vec<&str> =
        distortions.iter().filter(|of| !is_sized(of)).map(|of| of.figure.name()).collect();
    if let Some((last, rest)) = unsized_.split_last() {
        let names =
            if rest.is_empty() { (*last).to_owned() } else { format!("{} and {last}", rest.join(", ")) };
        parts.push(format!("{names} by an unknown amount"));
    }
    parts.join(", ")
}

fn by(distortion: &Distortion) -> String {
    let share = distortion.by_share.map(|share| words::percent(share.abs(), 1));
    match (distortion.by_us, share) {
        (Some(us), Some(share)) => format!("up to +{} ({share})", words::duration(us * 1e3)),
        (Some(us), None) => format!("up to +{}", words::duration(us * 1e3)),
        (None, Some(share)) => format!("up to −{share}"),
        (None, None) => String::new(),
    }
}
