//! CPU time that other processes took while each variant was measured.

use judge::{Eligibility, mean_of_others};

use super::sentences::Name;
use super::{LoadView, StudyView, VariantRow};
use crate::units::decimal;

/// Smallest number of cores that is reported. The clock ticks in which the kernel counts CPU time cause about as much uncertainty.
const REPORTED_CORES_MIN: f64 = 0.05;

/// Number of cores that other processes used in each row: the mean over its valid runs, never below 0. See [`mean_of_others`].
/// `None` if it was not read.
pub(crate) fn of_rows(view: &StudyView<'_>, load: &LoadView<'_>) -> Vec<Option<f64>> {
    let of_row = |row: &VariantRow<'_>| {
        mean_of_others(row.eligibility(Eligibility::Valid).map(|run| view.runs[run].run))
    };
    load.rows.iter().map(of_row).collect()
}

/// Sentence about the CPU time of others. `None` if it is negligible, or if there is only one variant.
pub(crate) fn sentence(view: &StudyView<'_>, load: &LoadView<'_>, name: Name<'_>) -> Option<String> {
    let read: Vec<(usize, f64)> =
        of_rows(view, load).into_iter().enumerate().filter_map(|(row, cores)| Some((row, cores?))).collect();
    words(&read, |row| name(load, row))
}

/// `read` has rows, and the number of cores that others used during each.
fn words(read: &[(usize, f64)], name: impl Fn(usize) -> String) -> Option<String> {
    let least = read.iter().min_by(|(_, one), (_, other)| one.total_cmp(other))?;
    let most = read.iter().max_by(|(_, one), (_, other)| one.total_cmp(other))?;
    if most.1 < REPORTED_CORES_MIN || read.len() < 2 {
        return None;
    }
    Some(match read {
        [(a, of_a), (b, of_b)] => format!(
            "Other processes used {} cores during {}, and {} during {}.",
            decimal(*of_a, 2),
            name(*a),
            decimal(*of_b, 2),
            name(*b)
        ),
        _ => format!(
            "Other processes used {} to {} cores, the most during {}.",
            decimal(least.1, 2),
            decimal(most.1, 2),
            name(most.0)
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(read: &[f64]) -> Option<String> {
        let read: Vec<(usize, f64)> = read.iter().copied().enumerate().collect();
        words(&read, |row| ["red", "green", "blue"][row].to_owned())
    }

    #[test]
    fn reports_cpu_time_of_others_above_threshold() {
        assert_eq!(told(&[]), None);
        assert_eq!(told(&[0.5]), None, "nothing is compared");
        assert_eq!(told(&[0.0, 0.049]), None);
        assert_eq!(
            told(&[0.5, 0.0]).as_deref(),
            Some("Other processes used 0.50 cores during red, and 0.00 during green.")
        );
        assert_eq!(
            told(&[0.02, 1.41, 0.3]).as_deref(),
            Some("Other processes used 0.02 to 1.41 cores, the most during green.")
        );
    }
}
