//! Median of a figure over repeated runs, with its confidence interval.

use crate::signed_rank;
use crate::walsh::Walsh;

/// Location of a figure over repeated identical runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Repeated {
    /// Number of runs.
    pub runs: usize,
    /// Hodges–Lehmann estimate.
    pub middle: f64,
    /// Confidence interval of at least 95 %. `None` with fewer than six runs.
    pub interval: Option<[f64; 2]>,
}

/// Error rate of the interval.
const ALPHA: f64 = 0.05;

impl Repeated {
    /// Summarizes figures, which must all be finite. `None` without figures.
    pub fn of(figures: &[f64]) -> Option<Self> {
        let walsh = Walsh::of(figures);
        let runs = u32::try_from(figures.len()).ok()?;
        let critical = signed_rank::critical_value(runs, ALPHA);
        let interval = critical.and_then(|critical| walsh.interval(critical));
        Some(Self { runs: figures.len(), middle: walsh.center()?, interval })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interval_needs_six_runs() {
        let figures = [3.0, 1.0, 2.0, 6.0, 4.0, 5.0];
        let six = Repeated::of(&figures).unwrap();
        assert_eq!((six.runs, six.middle, six.interval), (6, 3.5, Some([1.0, 6.0])));
        assert_eq!(Repeated::of(&figures[..5]).unwrap().interval, None);
        assert_eq!(Repeated::of(&[0.0; 8]).unwrap().interval, Some([0.0, 0.0]));
        assert_eq!(Repeated::of(&[]), None);
    }
}
