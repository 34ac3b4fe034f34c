//! A figure of repeated runs: where its middle lies.

use crate::signed_rank;
use crate::walsh::Walsh;

/// The middle of a figure over runs that were made in the same way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Repeated {
    /// How many runs there were.
    pub runs: usize,
    /// The estimate of Hodges and Lehmann.
    pub middle: f64,
    /// What it lies in with a confidence of at least 95 %; `None` of fewer than six runs.
    pub interval: Option<[f64; 2]>,
}

/// The chance that an interval does not cover the middle.
const ALPHA: f64 = 0.05;

impl Repeated {
    /// Of figures that are all finite; `None` if there is none.
    pub fn of(figures: &[f64]) -> Option<Self> {
        let walsh = Walsh::of(figures);
        let runs = u32::try_from(figures.len()).ok()?;
        let critical = signed_rank::critical_value(runs, ALPHA);
        let interval = critical.and_then(|critical| walsh.interval(critical));
        Some(Self { runs: figures.len(), middle: walsh.centre()?, interval })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn six_runs_have_an_interval_and_fewer_have_none() {
        let figures = [3.0, 1.0, 2.0, 6.0, 4.0, 5.0];
        let six = Repeated::of(&figures).unwrap();
        assert_eq!((six.runs, six.middle, six.interval), (6, 3.5, Some([1.0, 6.0])));
        assert_eq!(Repeated::of(&figures[..5]).unwrap().interval, None);
        assert_eq!(Repeated::of(&[0.0; 8]).unwrap().interval, Some([0.0, 0.0]));
        assert_eq!(Repeated::of(&[]), None);
    }
}
