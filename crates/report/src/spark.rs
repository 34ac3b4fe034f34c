//! Small drawings with characters: a figure over time, runs on an axis, and the interval of a ratio.

/// Bars, from zero to the largest figure.
const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// Placeholder for a missing figure. Unlike a space, it is never trimmed or collapsed.
const MISSING_MARK: char = '┈';

/// Draws a bar for each figure, scaled from zero to the largest: `▂▅█┈▇`. A missing figure is a dotted line.
pub fn bars(figures: &[Option<f64>]) -> String {
    let largest = figures.iter().flatten().copied().filter(|figure| figure.is_finite()).fold(0.0, f64::max);
    let bar = |figure: &Option<f64>| match figure {
        Some(figure) if figure.is_finite() && largest > 0.0 => {
            LEVELS[column_of(*figure, [0.0, largest], LEVELS.len())]
        }
        Some(figure) if figure.is_finite() => LEVELS[0],
        _ => MISSING_MARK,
    };
    figures.iter().map(bar).collect()
}

/// Draws figures as points on an axis of `columns` columns: `┈•┈:┈┈•`. Two in one column are `:`, more are `●`.
pub(crate) fn points(figures: impl IntoIterator<Item = f64>, axis: [f64; 2], columns: usize) -> String {
    let mut counts = vec![0usize; columns];
    for figure in figures.into_iter().filter(|figure| figure.is_finite()) {
        if let Some(count) = counts.get_mut(column_of(figure, axis, columns)) {
            *count += 1;
        }
    }
    let point = |count: &usize| match count {
        0 => MISSING_MARK,
        1 => '•',
        2 => ':',
        _ => '●',
    };
    counts.iter().map(point).collect()
}

/// Draws an estimate with its interval on an axis of `columns` columns, which includes `none`, the value of no difference:
/// `┈│┈├──●─┤┈`.
pub(crate) fn interval(
    estimate: f64,
    [low, high]: [f64; 2],
    none: f64,
    axis: [f64; 2],
    columns: usize,
) -> String {
    let at = |figure| column_of(figure, axis, columns);
    let mut line = vec![MISSING_MARK; columns];
    let mut put = |column: usize, character: char| {
        if let Some(slot) = line.get_mut(column) {
            *slot = character;
        }
    };
    (at(low)..=at(high)).for_each(|column| put(column, '─'));
    put(at(low), '├');
    put(at(high), '┤');
    put(at(estimate), '●');
    // The mark of no difference is drawn last, so that other marks cannot hide it.
    let is_within = (at(low)..=at(high)).contains(&at(none));
    put(
        at(none),
        if at(estimate) == at(none) {
            '◉'
        } else if is_within {
            '┼'
        } else {
            '│'
        },
    );
    line.into_iter().collect()
}

/// Column of a figure. Figures outside of the axis are put at its nearer end.
fn column_of(figure: f64, [low, high]: [f64; 2], columns: usize) -> usize {
    let share = (figure - low) / (high - low);
    let share = if share.is_nan() || !(high - low).is_finite() { 0.5 } else { share.clamp(0.0, 1.0) };
    (share * columns.saturating_sub(1) as f64).round() as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_start_at_zero_and_missing_figures_are_dotted() {
        assert_eq!(bars(&[Some(0.0), Some(50.0), None, Some(100.0), Some(99.0)]), "▁▅┈██");
        assert_eq!(bars(&[Some(90.0), Some(100.0)]), "▇█", "a small difference looks small");
        assert_eq!(bars(&[Some(0.0), Some(0.0)]), "▁▁");
        assert_eq!(bars(&[Some(f64::NAN), Some(f64::INFINITY), Some(-1.0), Some(1.0)]), "┈┈▁█");
        assert_eq!(bars(&[]), "");
    }

    #[test]
    fn points_share_one_axis() {
        assert_eq!(points([0.0, 5.0, 5.1, 10.0], [0.0, 10.0], 5), "•┈:┈•");
        assert_eq!(points([1.0, 1.0, 1.0], [1.0, 1.0], 5), "┈┈●┈┈", "no axis to speak of");
        assert_eq!(points([-9.0, 99.0, f64::NAN], [0.0, 1.0], 3), "•┈•");
        assert_eq!(points([1.0], [0.0, 1.0], 0), "");
    }

    #[test]
    fn interval_marks_value_of_no_difference() {
        assert_eq!(interval(1.12, [1.05, 1.175], 1.0, [1.0, 1.2], 8), "│┈├─●─┤┈");
        assert_eq!(interval(0.95, [0.9, 0.97], 1.0, [0.9, 1.1], 9), "├─●┤│┈┈┈┈");
        assert_eq!(interval(-400.0, [f64::NEG_INFINITY, -300.0], 0.0, [-400.0, 100.0], 6), "●┤┈┈│┈");
        assert_eq!(interval(1.0, [0.9, 1.1], 1.0, [0.9, 1.1], 5), "├─◉─┤");
        assert_eq!(interval(1.05, [0.95, 1.1], 1.0, [0.9, 1.1], 9), "┈┈├─┼─●─┤");
        assert_eq!(interval(f64::NAN, [0.9, f64::INFINITY], 1.0, [0.9, f64::INFINITY], 4).chars().count(), 4);
    }
}
