//! Figures of a run or a row, in the units of the page.

use judge::RelativeRange;

use super::document::{
    Counts, Fairness, MinMedianMax, RelativeRanges, RowFairness, RowFigures, Spread, Times,
};
use crate::durations::{Durations, KeyedFigures};
use crate::figures;
use crate::metric::{self, ComparedBy, Metric};
use crate::study::VariantRow;
use crate::view::View;

const NS_PER_MS: f64 = 1e6;

/// Figures of one run. `None` if no request was sent.
pub(super) fn of_run(view: &View<'_>, metric: Option<&ComparedBy>) -> Option<RowFigures> {
    if view.whole.counts.planned == 0 && view.whole.samples() == 0 {
        return None;
    }
    let used =
        view.measured.resources.as_ref().and_then(|resources| Some((resources, resources.system.as_ref()?)));
    Some(RowFigures {
        ok_per_s: finite(view.whole.ok_per_s()),
        system_cores: used.and_then(|(resources, usage)| resources.cores_used(usage)),
        generator_cores: finite(view.generator_cores_used()),
        system_us_per_request: finite(view.system_us_per_request()),
        generator_us_per_request: finite(view.generator_us_per_request()),
        rss_peak_bytes: used.and_then(|(_, usage)| usage.rss_peak_bytes),
        metric: metric.and_then(|by| in_unit(by.metric, metric::read(by, view)?)),
        ..of_all(&view.whole)
    })
}

/// Figures of a row, from all samples of its runs together. `None` if there are no samples.
pub(super) fn of_row(row: &VariantRow<'_>, metric: Option<&ComparedBy>) -> Option<RowFigures> {
    Some(RowFigures {
        ok_per_s: row.throughput.map(|spread| spread.median),
        system_cores: row.medians.system_cores_used,
        generator_cores: row.medians.generator_cores_used,
        system_us_per_request: row.medians.system_us_per_request,
        generator_us_per_request: row.medians.generator_us_per_request,
        rss_peak_bytes: row.medians.rss_peak_bytes,
        metric: metric.and_then(|by| in_unit(by.metric, row.metric?.median)),
        ..of_all(row.figures.as_ref()?)
    })
}

/// Figures that depend only on samples.
fn of_all(figures: &figures::Figures) -> RowFigures {
    let record::Counts { planned, sent, not_sent, ok, rejected, failed, timed_out, unfinished } =
        figures.counts;
    RowFigures {
        samples: figures.samples(),
        counts: Counts { planned, sent, not_sent, ok, rejected, failed, timed_out, unfinished },
        ok_per_s: None,
        error_share: metric::error_share(figures),
        response_ms: times(&figures.response.all),
        service_ms: times(&figures.service.all),
        lateness_ms: times(&figures.lateness.all),
        received_bytes: figures.received_bytes,
        sent_bytes: figures.sent_bytes,
        system_cores: None,
        generator_cores: None,
        system_us_per_request: None,
        generator_us_per_request: None,
        rss_peak_bytes: None,
        metric: None,
        further: Vec::new(),
    }
}

pub(super) fn times(durations: &Durations) -> Times {
    Times { n: durations.count, figures: KeyedFigures::of(durations, |ns| ns / NS_PER_MS) }
}

/// Spread of the metric over runs, in the unit of the page.
pub(super) fn spread(metric: &Metric, spread: judge::results::Spread) -> Option<Spread> {
    let [median, min, max] = [spread.median, spread.min, spread.max].map(|figure| in_unit(metric, figure));
    Some(Spread { n: spread.count, median: median?, min: min?, max: max? })
}

/// Unit of a metric in the page.
pub(super) fn unit(metric: &Metric) -> &'static str {
    match metric.kind.unit() {
        ("us", size) if size > 1.0 => "ms",
        ("requests" | "number", _) => "count",
        (name, _) => name,
    }
}

/// Converts a figure of a metric to the unit of the page.
pub(super) fn in_unit(metric: &Metric, figure: f64) -> Option<f64> {
    let (_, size) = metric.kind.unit();
    let size = if unit(metric) == "ms" { size * 1e3 } else { size };
    finite(Some(figure / size))
}

/// Distribution of a run's requests and response times over the connections.
pub(super) fn fairness(view: &View<'_>) -> Option<Fairness> {
    let spread = view.run.ending.as_ref()?.spread.as_ref()?;
    let three = |figures: record::MinMedianMax, size: f64| MinMedianMax {
        min: figures.min / size,
        median: figures.median / size,
        max: figures.max / size,
        relative: RelativeRange::from_figures(&figures).map(|range| [range.low, range.high]),
    };
    Some(Fairness {
        connections: spread.connections,
        requests: three(spread.requests, 1.0),
        response_mean_ms: spread.response_mean_ns.map(|figures| three(figures, NS_PER_MS)),
        response_max_ms: spread.response_max_ns.map(|figures| three(figures, NS_PER_MS)),
    })
}

/// Distribution over the connections of several runs. `None` if it is unknown for all of them.
pub(super) fn row_fairness<'v>(runs: impl Iterator<Item = &'v View<'v>>) -> Option<RowFairness> {
    let spreads: Vec<_> = runs.filter_map(|run| run.run.ending.as_ref()?.spread.as_ref()).collect();
    let ranges = |figures: fn(&record::Spread) -> Option<record::MinMedianMax>| {
        let each = spreads.iter().filter_map(|spread| RelativeRange::from_figures(&figures(spread)?));
        let all = judge::RelativeRanges::over(&each.collect::<Vec<_>>())?;
        Some(RelativeRanges { low: all.low, high: all.high, median_high: all.median_high })
    };
    (!spreads.is_empty()).then(|| RowFairness {
        requests: ranges(|spread| Some(spread.requests)),
        response_mean_ms: ranges(|spread| spread.response_mean_ns),
        response_max_ms: ranges(|spread| spread.response_max_ns),
    })
}

fn finite(figure: Option<f64>) -> Option<f64> {
    figure.filter(|figure| figure.is_finite())
}
