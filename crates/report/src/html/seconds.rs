//! The seconds of every run, one run after the other, each with as many points as there is room for.

use store::{Run, StoreError};

use super::charts;
use super::document::Document;
use super::series::{self, Series};

/// Of all series together, in JSON.
const BYTES_MAX: usize = 1_400_000;
/// Points of one track: more than a screen has room for.
const POINTS_MAX: usize = 800;
/// With fewer points nothing can be seen.
const POINTS_MIN: usize = 12;

/// Puts the series of each run into the document, and says what there is to draw. `with_run` hands over the run of a place
/// with its seconds.
pub(super) fn add(
    document: &mut Document,
    mut with_run: impl FnMut(usize, &mut dyn FnMut(&Run) -> Result<(), StoreError>) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let (mut left, mut points) = (BYTES_MAX, POINTS_MAX);
    let runs = document.runs.len();
    for (place, run) in document.runs.iter_mut().enumerate() {
        let share = left / (runs - place);
        with_run(place, &mut |stored| {
            let mut made = series::of(stored, points)?;
            let mut bytes = size(made.as_ref());
            // The next run is probably like this one, and fits at once.
            points = fitting(points, bytes, share);
            if bytes > share {
                made = series::of(stored, points)?;
                bytes = size(made.as_ref());
            }
            left = left.saturating_sub(bytes);
            run.series = made;
            Ok(())
        })?;
    }
    document.charts = charts::of(document.runs.iter().filter_map(|run| run.series.as_ref()));
    Ok(())
}

/// So many points that a series like this one takes no more than its share.
fn fitting(points: usize, bytes: usize, share: usize) -> usize {
    match bytes {
        0 => points,
        // A little less: short tracks have heads, too.
        bytes => (points.saturating_mul(share / 100 * 95) / bytes).clamp(POINTS_MIN, POINTS_MAX),
    }
}

/// In JSON.
fn size(series: Option<&Series>) -> usize {
    series.and_then(|series| serde_json::to_vec(series).ok()).map_or(0, |json| json.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_large_gets_fewer_points_and_what_is_small_more() {
        assert_eq!(fitting(800, 80_000, 8_000), 76);
        assert_eq!(fitting(76, 7_600, 16_000), 152);
        assert_eq!(fitting(800, 80_000, 100), POINTS_MIN);
        assert_eq!(fitting(400, 10, 1_000_000), POINTS_MAX);
        assert_eq!(fitting(300, 0, 1_000), 300);
    }
}
