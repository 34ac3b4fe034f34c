//! Figures that a run can be asked to hold.

use record::{Percentile, Tally};
use store::Outage;

use crate::rates;
use crate::window::Window;

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
    /// The longest time without an ok answer, in nanoseconds.
    Outage,
}

/// What figures are read from: a run, a step of it, or a part of its time.
#[derive(Clone, Copy, Debug)]
pub struct Observed<'a> {
    /// Requests that were intended in it.
    pub tally: &'a Tally,
    /// What ended in it; `None` where nothing tells how long it was.
    pub window: Option<Window>,
    /// How long the system was gone; `None` if nobody looked.
    pub outage: Option<&'a Outage>,
}

impl Figure {
    /// The unit, as the store has it.
    pub const fn unit(self) -> &'static str {
        match self {
            Self::Percentile(_) | Self::Mean | Self::Max | Self::Outage => "ns",
            Self::Errors => "share",
            Self::Throughput => "/s",
        }
    }

    /// The figure, if there are enough samples for a verdict on it.
    pub fn observe(self, observed: &Observed<'_>) -> Option<f64> {
        let Observed { tally, window, outage } = *observed;
        let response = tally.response.all();
        match self {
            Self::Percentile(percentile) => {
                let is_judgeable = percentile.is_judgeable(response.count());
                is_judgeable.then(|| response.value_at(percentile)).flatten().map(|ns| ns as f64)
            }
            Self::Mean => response.mean_ns(),
            Self::Max => response.max_ns().map(|ns| ns as f64),
            Self::Errors => rates::error_share(&tally.counts),
            Self::Throughput => window.map(|window| window.ok_per_s()),
            Self::Outage => outage.map(|outage| outage.longest_s * 1e9),
        }
    }

    /// The same of a run that is one of many of a search: a run that is wrong by chance is outvoted by others, so ten samples
    /// are enough, and a tenth of one beyond the percentile. With few of them the rank is the slowest: a run fails rather than
    /// passes by chance.
    pub fn observe_roughly(self, observed: &Observed<'_>) -> Option<f64> {
        let Self::Percentile(percentile) = self else { return self.observe(observed) };
        let response = observed.tally.response.all();
        let beyond = response.count() as f64 * f64::from(1_000_000 - percentile.ppm()) / 1e6;
        let is_enough = response.count() >= SAMPLES_MIN && beyond >= BEYOND_MIN;
        is_enough.then(|| response.value_at(percentile)).flatten().map(|ns| ns as f64)
    }

    /// Whether it is a time.
    pub(crate) const fn is_time(self) -> bool {
        matches!(self, Self::Percentile(_) | Self::Mean | Self::Max | Self::Outage)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::{Finish, InWindow, Outcome};

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
        let window = Window::of_seconds(10, InWindow { ok: 9_990, other: 10, ..InWindow::default() });
        let outage = Outage { longest_s: 0.5, ..Outage::default() };
        let observed = Observed { tally: &many, window, outage: Some(&outage) };
        let p99 = P99.observe(&observed).unwrap();
        assert!((p99 / 1e6 - 1.0).abs() < 0.001, "{p99}");
        assert_eq!(P99.observe(&Observed { tally: &tally(9_000, 0, 5), ..observed }), None);
        assert_eq!(Figure::Errors.observe(&observed), Some(0.001));
        assert_eq!(Figure::Throughput.observe(&observed), Some(999.0));
        assert_eq!(Figure::Outage.observe(&observed), Some(5e8));
        let nothing = Observed { tally: &Tally::default(), window: None, outage: None };
        for figure in [Figure::Mean, Figure::Errors, Figure::Throughput, Figure::Outage] {
            assert_eq!(figure.observe(&nothing), None);
        }
    }
}
