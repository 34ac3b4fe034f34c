//! What a search tries: a level of load, named by a number that people can read.

use libm::{floor, log10, pow, round};

/// A load to run, and what for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Level {
    /// What for.
    pub stage: SearchStage,
    /// How much.
    pub at: At,
}

/// How much load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum At {
    /// So many users without pauses, while sizing.
    Users(u32),
    /// So many arrivals per second, in all stages after sizing.
    PerS(f64),
}

/// What a run of a search is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SearchStage {
    /// Users, doubled until they get no more: where to begin.
    Sizing,
    /// Rates, doubled until one fails.
    Bracket,
    /// Between a rate that held and one that failed.
    Bisect,
    /// The two ends of a range in which runs now pass, now fail.
    Edge,
    /// Fresh runs at both ends of what was found, in random order.
    Confirm,
    /// A little less than the rate that held, right after more than the system can take
    /// ([`crate::Search::overload_per_s`]).
    Overload,
    /// A little less than the rate that held, for long.
    Soak,
}

/// The rate with as few significant digits as stay within a tenth of the resolution; zero if it is no rate.
pub(super) fn rounded(per_s: f64, resolution: f64) -> f64 {
    if !(per_s.is_finite() && per_s > 0.0) {
        return 0.0;
    }
    let magnitude = floor(log10(per_s)) as i32;
    let with_digits = |digits: i32| {
        let places = digits - 1 - magnitude;
        // Dividing by a whole power of ten gives the double nearest to the decimal; multiplying by a broken one does not.
        if places >= 0 {
            let unit = pow(10.0, f64::from(places));
            round(per_s * unit) / unit
        } else {
            let unit = pow(10.0, f64::from(-places));
            round(per_s / unit) * unit
        }
    };
    let is_near = |near: &f64| (near / per_s - 1.0).abs() <= resolution / 10.0;
    (2..6).map(with_digits).find(is_near).filter(|near| *near > 0.0 && near.is_finite()).unwrap_or(per_s)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_few_digits_as_will_do() {
        let cases = [
            (387.64, 388.0),
            (101.44, 101.4),
            (99.87, 100.0),
            (1.2323, 1.23),
            (40_312.0, 40_300.0),
            (0.012_32, 0.0123),
        ];
        for (per_s, expected) in cases {
            assert_eq!(rounded(per_s, 0.03), expected, "{per_s}");
        }
        assert_eq!(rounded(387.64, 0.001), 387.64);
        assert_eq!([0.0, -1.0, f64::NAN, f64::INFINITY].map(|bad| rounded(bad, 0.03)), [0.0; 4]);
    }
}
