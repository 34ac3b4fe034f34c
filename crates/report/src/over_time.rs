//! Throughput and response time of a run over time, reduced to a few figures for drawing in a line of text.

use evidence::{EvidenceError, Run};

use crate::html::series::{self, Series};
use crate::spark;
use crate::units::{decimal, rate};

/// Figures of one run over time, without its warm-up.
pub(crate) struct OverTime {
    /// Ok answers per second. `None` where the rate is unknown.
    pub(crate) ok_per_s: Vec<Option<f64>>,
    /// Response times in milliseconds, one series for each entry of [`TIMES`].
    times_ms: [Vec<Option<f64>>; TIMES.len()],
}

/// Response time that is drawn: the first one with figures for nearly all points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DrawnTime(usize);

/// Response times: key of the series, and name for people.
const TIMES: [(&str, &str); 3] =
    [("response_p99", "p99"), ("response_p50", "median"), ("response_max", "longest")];
/// Maximum number of bars in a drawing, warm-up included.
const POINTS_MAX: usize = 30;
/// Minimum number of bars that is worth a drawing.
const POINTS_MIN: usize = 3;

impl OverTime {
    /// Figures of a run that was loaded with its per-second data. `None` if too little was stored for a drawing.
    pub(crate) fn of(run: &Run) -> Result<Option<Self>, EvidenceError> {
        let Some(series) = series::of(run, POINTS_MAX)? else { return Ok(None) };
        let bin_ns = u128::from(series.bin_s) * 1_000_000_000;
        let warm_up =
            usize::try_from(u128::from(run.new.warm_up_ns).div_ceil(bin_ns.max(1))).unwrap_or(usize::MAX);
        let measured = |key: &str| measured(&series, key, warm_up);
        let ok_per_s = measured("ok_per_s");
        let times_ms = TIMES.map(|(key, _)| measured(key));
        let is_enough = ok_per_s.iter().flatten().count() >= POINTS_MIN;
        Ok(is_enough.then_some(Self { ok_per_s, times_ms }))
    }

    /// Chooses the first response time that is known for at least 90 % of the points in every run.
    pub(crate) fn time<'a>(all: impl Iterator<Item = &'a Self> + Clone) -> DrawnTime {
        let is_told = |time: &usize| {
            all.clone().all(|one| {
                let points = &one.times_ms[*time];
                !points.is_empty() && points.iter().flatten().count() * 10 >= points.len() * 9
            })
        };
        DrawnTime((0..TIMES.len()).find(is_told).unwrap_or(TIMES.len() - 1))
    }

    /// Response times in milliseconds.
    pub(crate) fn times_ms(&self, DrawnTime(time): DrawnTime) -> &[Option<f64>] {
        &self.times_ms[time]
    }
}

impl DrawnTime {
    /// Name of the response time.
    pub(crate) fn name(self) -> &'static str {
        TIMES[self.0].1
    }
}

/// Drawings of one run: name of the figure, bars, and range.
pub(crate) fn lines(run: &Run) -> Result<Vec<[String; 3]>, EvidenceError> {
    let Some(one) = OverTime::of(run)? else { return Ok(Vec::new()) };
    let time = OverTime::time([&one].into_iter());
    let (rates, times) = (&one.ok_per_s, one.times_ms(time));
    let mut lines = vec![["ok/s".to_owned(), spark::bars(rates), format!("{} per s", range(rates, rate))]];
    if times.iter().any(Option::is_some) {
        let ends = format!("{} ms", range(times, milliseconds));
        lines.push([time.name().to_owned(), spark::bars(times), ends]);
    }
    Ok(lines)
}

/// Formats a range: `least–most`, or one number if both print alike.
pub(crate) fn range(figures: &[Option<f64>], write: impl Fn(f64) -> String) -> String {
    let known = || figures.iter().flatten().copied();
    match (known().reduce(f64::min), known().reduce(f64::max)) {
        (Some(least), Some(most)) => match (write(least), write(most)) {
            (least, most) if least == most => least,
            (least, most) => format!("{least}–{most}"),
        },
        _ => "n/a".to_owned(),
    }
}

/// Formats milliseconds: 3 decimals below 1 ms, 1 below 100 ms, and none above.
pub(crate) fn milliseconds(ms: f64) -> String {
    decimal(
        ms,
        if ms < 1.0 {
            3
        } else if ms < 100.0 {
            1
        } else {
            0
        },
    )
}

fn measured(series: &Series, key: &str, warm_up: usize) -> Vec<Option<f64>> {
    let points = series.tracks.get(key).map_or(&[][..], |points| &points.mid);
    let mut figures: Vec<Option<f64>> = points.iter().skip(warm_up).map(|point| point.get()).collect();
    // The second in which the load ends has no rate, and later seconds only have the last replies.
    while figures.last() == Some(&None) {
        figures.pop();
    }
    figures
}
