//! Draws a capacity with characters, from zero to the highest rate that was run.

use judge::results::Capacity;

/// Passing rates.
const PASSING_MARK: char = '━';
/// Rates between the highest passing and the lowest failing one.
const UNDECIDED_MARK: char = '▒';
/// Failing rates.
const FAILING_MARK: char = '┈';

/// Draws the passing rates, the unknown ones, and the failing ones: `━━━━━━━━━▒┈┈┈┈`. Also returns the rate at the right end.
/// `None` if no rate passed and none failed.
pub(super) fn line(found: &Capacity, columns: usize) -> Option<(String, f64)> {
    let run = found.tallies.iter().map(|tally| tally.per_s);
    let end = run.chain(found.held_per_s).chain(found.failed_per_s).fold(0.0, f64::max);
    if end <= 0.0 || !end.is_finite() || (found.held_per_s.is_none() && found.failed_per_s.is_none()) {
        return None;
    }
    let held = found.held_per_s.unwrap_or(0.0);
    let failed = found.failed_per_s.unwrap_or(end);
    // The columns of both ends belong to the unknown rates, so that even a narrow gap is visible.
    let column = |rate: f64| ((rate / end * columns as f64) as usize).min(columns.saturating_sub(1));
    let (first, last) = (column(held), column(failed));
    let line = (0..columns).map(|at| match at {
        at if at < first => PASSING_MARK,
        at if at <= last => UNDECIDED_MARK,
        _ => FAILING_MARK,
    });
    Some((line.collect(), end))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(held_per_s: Option<f64>, failed_per_s: Option<f64>, most: f64) -> Capacity {
        let mut found = stats::Search::new(stats::SearchRules::default()).finding();
        found.tallies = vec![stats::Tally { per_s: most, passed: 0, failed: 1, invalid: 0 }];
        Capacity { held_per_s, failed_per_s, ..found }
    }

    #[test]
    fn narrow_gap_has_a_column() {
        let (line, end) = line(&found(Some(400.0), Some(410.0), 800.0), 16).unwrap();
        assert_eq!((line.as_str(), end), ("━━━━━━━━▒┈┈┈┈┈┈┈", 800.0));
    }

    #[test]
    fn missing_bound_extends_gap_to_the_end() {
        assert_eq!(line(&found(Some(400.0), None, 400.0), 8).unwrap().0, "━━━━━━━▒");
        assert_eq!(line(&found(None, Some(100.0), 400.0), 8).unwrap().0, "▒▒▒┈┈┈┈┈");
        assert_eq!(line(&found(None, None, 400.0), 8), None);
        assert_eq!(line(&found(Some(f64::NAN), Some(f64::INFINITY), 1.0), 8), None);
    }
}
