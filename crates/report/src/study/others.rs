//! What processes outside of a study took of the cores while each variant was measured.

use judge::{Eligibility, mean_of_others};

use super::sentences::Name;
use super::{LoadView, StudyView, VariantRow};
use crate::units::decimal;

/// How many cores others use at least where a reader must know of it. The clock ticks that the kernel counts the time of cores in leave
/// about as much in doubt.
const TOLD_FROM: f64 = 0.05;

/// By row how many cores other processes used, the mean of its valid runs and never below 0: [`mean_of_others`]. `None` where it was not
/// read.
pub(crate) fn of_rows(view: &StudyView<'_>, load: &LoadView<'_>) -> Vec<Option<f64>> {
    let of_row = |row: &VariantRow<'_>| {
        mean_of_others(row.eligibility(Eligibility::Valid).map(|run| view.runs[run].run))
    };
    load.rows.iter().map(of_row).collect()
}

/// What others used during each variant, if it matters and there are several to compare.
pub(crate) fn sentence(view: &StudyView<'_>, load: &LoadView<'_>, name: Name<'_>) -> Option<String> {
    let read: Vec<(usize, f64)> =
        of_rows(view, load).into_iter().enumerate().filter_map(|(row, cores)| Some((row, cores?))).collect();
    words(&read, |row| name(load, row))
}

/// `read` has rows, and how many cores others used during each.
fn words(read: &[(usize, f64)], name: impl Fn(usize) -> String) -> Option<String> {
    let least = read.iter().min_by(|(_, one), (_, other)| one.total_cmp(other))?;
    let most = read.iter().max_by(|(_, one), (_, other)| one.total_cmp(other))?;
    if most.1 < TOLD_FROM || read.len() < 2 {
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
    fn what_others_took_is_told_where_it_can_matter() {
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
