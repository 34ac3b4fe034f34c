//! Level of load in a search, and rounding of rates to few digits.

use libm::{floor, log10, pow, round};

/// Load to run, and its purpose.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Level {
    /// Stage that the run belongs to.
    pub stage: SearchStage,
    /// Amount of load.
    pub at: At,
}

/// Amount of load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum At {
    /// Number of closed users without think time, in the sizing stage.
    Users(u32),
    /// Arrivals per second, in all stages after sizing.
    PerS(f64),
}

/// Stage of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SearchStage {
    /// Doubles closed users until throughput stops growing, to find a first rate.
    Sizing,
    /// Doubles the rate until one fails.
    Bracket,
    /// Tries a rate between a passing and a failing one.
    Bisect,
    /// Refines both ends of a range in which runs both pass and fail.
    Edge,
    /// Confirmation runs at both ends, in random order.
    Confirm,
    /// Slightly below the highest passing rate, right after an overload ([`crate::Search::overload_per_s`]).
    Overload,
    /// Slightly below the highest passing rate, for a long time.
    Soak,
}

/// Rounds a rate to the fewest significant digits within a tenth of the resolution. 0 if `per_s` is not a positive rate.
pub(super) fn rounded(per_s: f64, resolution: f64) -> f64 {
    if !(per_s.is_finite() && per_s > 0.0) {
        return 0.0;
    }
    let magnitude = floor(log10(per_s)) as i32;
    let with_digits = |digits: i32| {
        let places = digits - 1 - magnitude;
        // Dividing by an integer power of ten gives the double nearest to the decimal; multiplying by a fraction does not.
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
    fn rounds_to_the_fewest_digits() {
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
