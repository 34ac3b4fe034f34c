//! Formats the costs of events over several runs or blocks for tables.

use judge::event_cost::{self, Figure, Pooled};
use judge::results::Repeated;

use crate::table::Cell;
use crate::units::{decimal, duration};
use crate::view::View;

/// Unit of excess waiting: seconds, summed over requests.
pub(crate) const REQUEST_SECONDS: &str = "request-seconds";

/// Costs of the events in several runs, by name.
pub(crate) fn pooled<'a>(views: &[&View<'a>]) -> Vec<Pooled<'a>> {
    event_cost::pooled(&views.iter().map(|view| view.run).collect::<Vec<_>>())
}

/// Formats a figure with its unit, for columns without a unit in their head.
pub(crate) fn written(figure: Figure, value: f64) -> String {
    match figure {
        Figure::Lost | Figure::LostAs(_) => decimal(value, if value.fract() == 0.0 { 0 } else { 1 }),
        Figure::Outage | Figure::Recovery | Figure::Worst if value == 0.0 => "0".to_owned(),
        Figure::Outage | Figure::Recovery | Figure::Worst => duration(value),
        Figure::ExcessWaiting => decimal(value / 1e9, if value.abs() < 100e9 { 2 } else { 1 }),
    }
}

/// Formats a difference with its sign.
pub(crate) fn signed(figure: Figure, value: f64) -> String {
    let sign = match value {
        value if value > 0.0 => "+",
        value if value < 0.0 => "−",
        _ => "",
    };
    format!("{sign}{}", written(figure, value.abs()))
}

/// Cell with a figure without its interval. In parentheses: the number of runs in which the system did not recover.
pub(crate) fn short_cell(of: &Pooled<'_>, figure: Figure) -> Cell {
    let cell = Cell::figure_or_na(of.over(figure).map(|of| of.middle), |middle| written(figure, middle));
    match (figure, of.not_recovered()) {
        (Figure::Recovery, runs @ 1..) => Cell { text: format!("{} (not in {runs})", cell.text), ..cell },
        _ => cell,
    }
}

/// Cell with a figure, its interval, and the number of runs in which the system did not recover.
pub(crate) fn cell(of: &Pooled<'_>, figure: Figure) -> Cell {
    let cell = with_interval(of.over(figure), |value| written(figure, value));
    match (figure, of.not_recovered()) {
        (Figure::Recovery, runs @ 1..) => {
            let runs = if runs == 1 { "1 run".to_owned() } else { format!("{runs} runs") };
            Cell { text: format!("{}; not in {runs}", cell.text), ..cell }
        }
        _ => cell,
    }
}

/// Cell with a figure and its interval: `1.20 s (1.10 s – 1.35 s)`.
pub(crate) fn with_interval(figure: Option<Repeated>, write: impl Fn(f64) -> String) -> Cell {
    let Some(Repeated { middle, interval, .. }) = figure else { return Cell::figure_or_na(None, write) };
    let within = interval.map_or(String::new(), |[low, high]| format!(" ({} – {})", write(low), write(high)));
    Cell { text: format!("{}{within}", write(middle)), value: Some(middle) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_differences_with_sign() {
        assert_eq!([600e6, -2e6, 0.0].map(|ns| signed(Figure::Outage, ns)), ["+600 ms", "−2.00 ms", "0"]);
    }
}
