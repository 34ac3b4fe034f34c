//! Figures that a run can be asked to hold.

use record::{Percentile, Tally};

/// Samples below which a single run says nothing of a percentile, even where others can outvote it.
const SAMPLES_MIN: u64 = 10;
/// And so many of them, at least, must be expected beyond the percentile.
const BEYOND_MIN: f64 = 0.1;

/// A figure that a run can be asked to hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Figure {
    /// A percentile of the response time, in nanoseconds.
    Percentile(Percentile),
    /// Mean response time, in nanoseconds.
    Mean,
    /// Longest response time, in nanoseconds.
    Max,
    /// Requests that were not ok, or were not sent, as a share of those planned.
    Errors,
    /// Ok replies per second.
    Throughput,
}

impl Figure {
    /// The unit, as the store has it.
    pub const fn unit(self) -> &'static str {
        match self {
            Self::Percentile(_) | Self::Mean | Self::Max => "ns",
            Self::Errors => "share",
            Self::Throughput => "/s",
        }
    }

    /// The figure of what was counted over so many seconds, if there are enough samples for a verdict on it.
    pub fn observe(self, tally: &Tally, over_s: f64) -> Option<f64> {
        let (counts, response) = (tally.counts, tally.response.all());
        match self {
            Self::Percentile(percentile) => {
                let is_judgeable = percentile.is_judgeable(response.count());
                is_judgeable.then(|| response.value_at(percentile)).flatten().map(|ns| ns as f64)
            }
            Self::Mean => response.mean_ns(),
            Self::Max => response.max_ns().map(|ns| ns as f64),
            Self::Errors => {
                // What was not sent was not served either.
                let wrong = counts.refused + counts.failed + counts.timed_out + counts.not_sent;
                let planned = counts.ok + wrong;
                (planned > 0).then(|| wrong as f64 / planned as f64)
            }
            Self::Throughput => (over_s > 0.0).then(|| counts.ok as f64 / over_s),
        }
    }

    /// The same of a run that is one of many of a search: a run that is wrong by chance is outvoted by others, so ten samples
    /// are enough, and a tenth of one beyond the percentile. With few of them the rank is the slowest: a run fails rather than
    /// passes by chance.
    pub fn observe_roughly(self, tally: &Tally, over_s: f64) -> Option<f64> {
        let Self::Percentile(percentile) = self else { return self.observe(tally, over_s) };
        let response = tally.response.all();
        let beyond = response.count() as f64 * f64::from(1_000_000 - percentile.ppm()) / 1e6;
        let is_enough = response.count() >= SAMPLES_MIN && beyond >= BEYOND_MIN;
        is_enough.then(|| response.value_at(percentile)).flatten().map(|ns| ns as f64)
    }

    /// Whether it is a time.
    pub(crate) const fn is_time(self) -> bool {
        matches!(self, Self::Percentile(_) | Self::Mean | Self::Max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::{Finish, Outcome};

    const P99: Figure = Figure::Percentile(Percentile::P99);

    fn tally(ok: u64, failed: u64, response_ns: u64) -> Tally {
        let mut tally = Tally::default();
        for number in 0..ok + failed {
            tally.note_sent(number);
            let outcome = if number < ok { Outcome::Ok } else { Outcome::Failed };
            let finished_ns = number + response_ns;
            tally.note_finished(&Finish {
                intended_ns: number,
                sent_ns: number,
                first_byte_ns: None,
                finished_ns,
                outcome,
                status: 0,
            });
        }
        tally
    }

    #[test]
    fn figures_are_told_only_from_enough_samples() {
        let many = tally(9_990, 10, 1_000_000);
        let p99 = P99.observe(&many, 10.0).unwrap();
        assert!((p99 / 1e6 - 1.0).abs() < 0.001, "{p99}");
        assert_eq!(P99.observe(&tally(9_000, 0, 5), 10.0), None);
        assert_eq!(Figure::Errors.observe(&many, 10.0), Some(0.001));
        assert_eq!(Figure::Throughput.observe(&many, 10.0), Some(999.0));
        assert_eq!(Figure::Mean.observe(&Tally::default(), 10.0), None);
        assert_eq!(Figure::Throughput.observe(&Tally::default(), 0.0), None);
    }
}
