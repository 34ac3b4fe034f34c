//! Least squares with three non-negative coefficients.

/// Row of the problem: the factors of the coefficients, and the target.
pub(super) type Row = ([f64; 3], f64);

/// Fits the coefficients with the smallest sum of squares: the first is above zero, the others are not negative. `None` if there are none.
/// All active sets are tried, because there are few; C. L. Lawson and R. J. Hanson search for the set instead.
pub(super) fn fit(rows: &[Row]) -> Option<[f64; 3]> {
    let mut normal = [[0.0; 4]; 3];
    for (factors, target) in rows {
        for (line, factor) in normal.iter_mut().zip(factors) {
            for (cell, other) in line.iter_mut().zip(factors.iter().chain([target])) {
                *cell += factor * other;
            }
        }
    }
    let candidates = [[true, true, true], [true, true, false], [true, false, true], [true, false, false]];
    let solved = candidates.iter().filter_map(|free| solve(normal, *free));
    let allowed =
        solved.filter(|found| found[0] > 0.0 && found.iter().all(|one| *one >= 0.0 && one.is_finite()));
    allowed.min_by(|one, other| squares(rows, one).total_cmp(&squares(rows, other)))
}

fn squares(rows: &[Row], found: &[f64; 3]) -> f64 {
    let residual =
        |(factors, target): &Row| factors.iter().zip(found).map(|(a, b)| a * b).sum::<f64>() - target;
    rows.iter().map(|row| residual(row) * residual(row)).sum()
}

/// Solves the normal equations with all coefficients that are not free fixed to zero, by Gauss–Jordan elimination.
fn solve(mut lines: [[f64; 4]; 3], free: [bool; 3]) -> Option<[f64; 3]> {
    for fixed in (0..3).filter(|place| !free[*place]) {
        lines[fixed] = [0.0; 4];
        lines.iter_mut().for_each(|line| line[fixed] = 0.0);
        lines[fixed][fixed] = 1.0;
    }
    // The columns differ by powers of the number of users, so they are normalized first.
    let sizes = [0, 1, 2].map(|place| libm::sqrt(lines[place][place]));
    if sizes.iter().any(|size| !(*size > 0.0 && size.is_finite())) {
        return None;
    }
    for row in 0..3 {
        for column in 0..3 {
            lines[row][column] /= sizes[row] * sizes[column];
        }
        lines[row][3] /= sizes[row];
    }
    for pivot in 0..3 {
        let best = (pivot..3).max_by(|a, b| lines[*a][pivot].abs().total_cmp(&lines[*b][pivot].abs()))?;
        lines.swap(pivot, best);
        let head = lines[pivot];
        if head[pivot].abs() < SINGULAR {
            return None;
        }
        for row in (0..3).filter(|row| *row != pivot) {
            let share = lines[row][pivot] / head[pivot];
            for (cell, above) in lines[row].iter_mut().zip(head) {
                *cell -= share * above;
            }
        }
    }
    Some([0, 1, 2].map(|place| lines[place][3] / lines[place][place] / sizes[place]))
}

/// Smallest pivot. Below it, the columns are numerically dependent.
const SINGULAR: f64 = 1e-12;

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(of: [f64; 3]) -> [Row; 5] {
        [1.0, 2.0, 4.0, 8.0, 16.0].map(|x| {
            let factors = [1.0, x - 1.0, x * (x - 1.0)];
            (factors, factors.iter().zip(of).map(|(a, b)| a * b).sum())
        })
    }

    #[test]
    fn recovers_exact_coefficients() {
        let found = fit(&rows([3.0, 0.5, 0.25])).unwrap();
        for (found, expected) in found.iter().zip([3.0, 0.5, 0.25]) {
            assert!((found - expected).abs() < 1e-9, "{found} {expected}");
        }
    }

    #[test]
    fn coefficients_are_never_negative() {
        let found = fit(&rows([3.0, 0.5, -0.01])).unwrap();
        assert!(found[2] == 0.0 && found[1] > 0.0 && found[1] < 0.5, "{found:?}");
        let found = fit(&rows([3.0, -0.5, 0.25])).unwrap();
        assert_eq!(found[1], 0.0);
        assert_eq!(fit(&rows([-3.0, 0.0, 0.0])), None);
        assert_eq!(fit(&[]), None);
    }
}
