//! Time series of every run, one run after the other, each with as many points as there is room for.

use evidence::{EvidenceError, Run};

use super::charts;
use super::document::{self, Document};
use super::happened;
use super::series::{self, Series};
use super::shell;

/// Maximum size of the page in bytes. A little below two million, because the list of charts is added when all series are known.
const PAGE_BYTES_MAX: usize = 1_950_000;
/// Minimum space for all series in bytes, even if the rest fills the page.
const BYTES_MIN: usize = 300_000;
/// Maximum number of points of a track, which is more than a screen can show.
const POINTS_MAX: usize = 1_500;
/// Min number of points of a track. Fewer points are not informative.
const POINTS_MIN: usize = 8;
/// Expected bytes per point of the first run.
const BYTES_PER_POINT: usize = 150;
/// Expected bytes per point of the load around an event.
const BYTES_PER_COURSE_POINT: usize = 40;
/// Maximum number of attempts. A run is read again if its series exceeds its share, or is much smaller.
const TRIES_MAX: usize = 4;
/// Space for a best row's run, as a multiple of the space for another run.
const BEST_RUN_WEIGHT: usize = 2;

/// Adds the series of each run, and the list of charts, to the document. `with_run` passes the run with this index and its
/// per-second data.
pub(super) fn add(
    document: &mut Document,
    mut with_run: impl FnMut(
        usize,
        &mut dyn FnMut(&Run) -> Result<(), EvidenceError>,
    ) -> Result<(), EvidenceError>,
) -> Result<(), EvidenceError> {
    let has_events = document.runs.iter().any(|run| !run.happened.is_empty());
    let weights: Vec<usize> = document.runs.iter().map(|run| weight(document, run)).collect();
    let courses = if has_events { happened::POINTS_OF_PAGE_MAX * BYTES_PER_COURSE_POINT } else { 0 };
    let mut left = PAGE_BYTES_MAX.saturating_sub(shell::size(document) + courses).max(BYTES_MIN);
    let mut weight_left = weights.iter().sum::<usize>();
    // Bytes per point of the previous run: the next run is probably similar, so that the first attempt fits.
    let mut bytes_per_point = BYTES_PER_POINT;
    let mut points_left = happened::POINTS_OF_PAGE_MAX;
    for (place, (run, weight)) in document.runs.iter_mut().zip(weights).enumerate() {
        let share = left / weight_left.max(1) * weight;
        weight_left = weight_left.saturating_sub(weight);
        with_run(place, &mut |stored| {
            happened::add_courses(&mut run.happened, stored, &mut points_left);
            let fitted = fitted(share, bytes_per_point, |points_max| series::of(stored, points_max))?;
            if let Some(FittedSeries { series, bytes }) = fitted {
                bytes_per_point = bytes / series.bins.max(1);
                left = left.saturating_sub(bytes);
                run.series = Some(series);
            }
            Ok(())
        })?;
    }
    document.charts =
        charts::of(document.runs.iter().filter_map(|run| run.series.as_ref()), document.counted.unit);
    Ok(())
}

/// A series and its size in JSON.
struct FittedSeries {
    series: Series,
    bytes: usize,
}

/// Selects the series with the most points among those that fit into the share. If none does, selects the smallest.
fn fitted(
    share: usize,
    mut bytes_per_point: usize,
    mut series_of: impl FnMut(usize) -> Result<Option<Series>, EvidenceError>,
) -> Result<Option<FittedSeries>, EvidenceError> {
    let mut best: Option<FittedSeries> = None;
    for _ in 0..TRIES_MAX {
        let Some(series) = series_of(point_count(share, bytes_per_point))? else { break };
        let bytes = size(&series);
        bytes_per_point = bytes / series.bins.max(1);
        let (fits, bins, bin_s) = (bytes <= share, series.bins, series.bin_s as usize);
        // Whether bins one second shorter would probably fit, so that another attempt is worthwhile.
        let has_room_for_more = bytes.saturating_mul(bin_s) <= share.saturating_mul(bin_s - 1)
            && bytes.saturating_mul(10) < share.saturating_mul(9)
            && bins.saturating_mul(bin_s) <= POINTS_MAX.saturating_mul(bin_s - 1);
        let is_better = best.as_ref().is_none_or(|best| match best.bytes <= share {
            true => fits && best.bytes < bytes,
            false => bytes < best.bytes,
        });
        let had_fitting = best.as_ref().is_some_and(|best| best.bytes <= share);
        if is_better {
            best = Some(FittedSeries { series, bytes });
        }
        let is_enough = if fits { !has_room_for_more } else { bins <= POINTS_MIN };
        if is_enough || (had_fitting && !fits) {
            break;
        }
    }
    Ok(best)
}

fn weight(document: &Document, run: &document::Run) -> usize {
    let row = document.loads.get(run.load).and_then(|load| load.rows.get(run.row));
    if row.is_some_and(|row| row.is_best) { BEST_RUN_WEIGHT } else { 1 }
}

/// Number of points that fit into a share.
fn point_count(share: usize, bytes_per_point: usize) -> usize {
    (share / bytes_per_point.max(1)).clamp(POINTS_MIN, POINTS_MAX)
}

/// Size of a series in JSON.
fn size(series: &Series) -> usize {
    serde_json::to_vec(series).map_or(0, |json| json.len())
}

#[cfg(test)]
mod tests {
    use super::super::rounded::Rounded;
    use super::super::thin::{Bins, Points};
    use super::*;

    /// Fits a series of `seconds` seconds with figures of `digits` digits. Also returns the number of attempts.
    fn fit(share: usize, seconds: u64, digits: i32) -> (Option<FittedSeries>, usize) {
        let mut tries = 0;
        let fitted = fitted(share, BYTES_PER_POINT, |points_max| {
            tries += 1;
            let Bins { bin_s, count: bins } = Bins::fitting(seconds, points_max);
            let figure = |place: usize| Rounded::of(((place * 7919) % 10usize.pow(digits as u32)) as f64);
            let tracks = (0..40).map(|track| {
                let mid = (0..bins).map(|place| figure(place + track)).collect();
                (format!("track_{track}"), Points { mid, low: None, high: None })
            });
            Ok(Some(Series { bin_s, bins, tracks: tracks.collect(), ..Series::default() }))
        });
        (fitted.unwrap(), tries)
    }

    #[test]
    fn points_fill_share_within_bounds() {
        assert_eq!(point_count(8_000, 100), 80);
        assert_eq!(point_count(80, 100), POINTS_MIN);
        assert_eq!(point_count(1_000_000, 0), POINTS_MAX);
    }

    #[test]
    fn first_run_is_fitted_like_later_ones() {
        for (seconds, digits) in [(300, 1), (300, 4), (86_400, 1), (86_400, 4)] {
            for share in [5_000, 20_000, 80_000] {
                let (fitted, tries) = fit(share, seconds, digits);
                let FittedSeries { series, bytes } = fitted.unwrap();
                assert!(bytes <= share, "{seconds} {digits} {share}: {bytes}");
                // Bins that are a second shorter would nearly fill the share, or exceed the limit of points.
                let (shorter_s, bin_s) = (series.bin_s as usize - 1, series.bin_s as usize);
                let is_full = bytes * bin_s * 10 > share * shorter_s * 8;
                let has_most = series.bins * bin_s > POINTS_MAX * shorter_s;
                assert!(is_full || has_most, "{seconds} {digits} {share}: {bytes} of {bin_s} s");
                assert!(tries <= TRIES_MAX);
            }
        }
    }

    #[test]
    fn series_that_never_fits_has_minimum_of_points() {
        let FittedSeries { series, .. } = fit(10, 300, 4).0.unwrap();
        assert_eq!(series.bins, 8);
        assert!(fitted(1_000, 1, |_| Ok(None)).unwrap().is_none());
    }
}
