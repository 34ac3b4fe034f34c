//! The seconds of every run, one run after the other, each with as many points as there is room for.

use store::{Run, StoreError};

use super::charts;
use super::document::{self, Document};
use super::series::{self, Series};

/// Of all series together, in JSON.
const BYTES_MAX: usize = 1_150_000;
/// Points of one track: more than a screen has room for.
const POINTS_MAX: usize = 800;
/// With fewer points nothing can be seen.
const POINTS_MIN: usize = 8;
/// The best are looked at most: so many times the room of another run.
const WEIGHT_OF_BEST: usize = 3;

/// Puts the series of each run into the document, and says what there is to draw. `with_run` hands over the run of a place
/// with its seconds.
pub(super) fn add(
    document: &mut Document,
    mut with_run: impl FnMut(usize, &mut dyn FnMut(&Run) -> Result<(), StoreError>) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let weights: Vec<usize> = document.runs.iter().map(|run| weight(document, run)).collect();
    let (mut left, mut weight_left) = (BYTES_MAX, weights.iter().sum::<usize>());
    // What a point took in the last run: the next one is probably like it, and fits at once.
    let mut bytes_per_point = None;
    for (place, (run, weight)) in document.runs.iter_mut().zip(weights).enumerate() {
        let share = left / weight_left.max(1) * weight;
        weight_left = weight_left.saturating_sub(weight);
        with_run(place, &mut |stored| {
            run.series = series::of(stored, points(share, bytes_per_point))?;
            let mut bytes = size(run.series.as_ref());
            if let Some(series) = &run.series {
                bytes_per_point = Some(bytes / series.bins.max(1));
                if bytes > share && series.bins > POINTS_MIN {
                    run.series = series::of(stored, points(share, bytes_per_point))?;
                    bytes = size(run.series.as_ref());
                }
            }
            left = left.saturating_sub(bytes);
            Ok(())
        })?;
    }
    document.charts = charts::of(document.runs.iter().filter_map(|run| run.series.as_ref()));
    Ok(())
}

fn weight(document: &Document, run: &document::Run) -> usize {
    let row = document.loads.get(run.load).and_then(|load| load.rows.get(run.row));
    if row.is_some_and(|row| row.is_best) { WEIGHT_OF_BEST } else { 1 }
}

/// So many points as fit into a share.
fn points(share: usize, bytes_per_point: Option<usize>) -> usize {
    match bytes_per_point {
        None => POINTS_MAX,
        Some(bytes) => (share / bytes.max(1)).clamp(POINTS_MIN, POINTS_MAX),
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
    fn a_share_is_filled_and_no_picture_is_without_points() {
        assert_eq!(points(8_000, None), POINTS_MAX);
        assert_eq!(points(8_000, Some(100)), 80);
        assert_eq!(points(80, Some(100)), POINTS_MIN);
        assert_eq!(points(1_000_000, Some(0)), POINTS_MAX);
    }
}
