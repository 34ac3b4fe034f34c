//! Comparison of two runs: their figures, and the ratio of each.

use evidence::{NewRun, Outage, Run};
use judge::Eligibility;
use judge::alike::WorkDifference;
use serde_json::{Value, json};

use super::conditions::{Conditions, differences};
use super::planned_work::{self, A_AND_B};
use crate::alike;
use crate::error::ReportError;
use crate::metric::{self, ComparedBy, Metric};
use crate::outage;
use crate::ratio;
use crate::study::explained::SlownessExplanation;
use crate::table::{Cell, Table};
use crate::units::{decimal, percent_of};
use crate::view::View;

/// Note on how much a comparison of two single runs can prove.
pub(super) const SINGLE_RUNS_NOTE: &str = "One run each gives no verdict: two runs of the same system differ too, by an unknown amount. \
    A study with blocks shows whether a difference is real (compare: in a plan).";

/// Values of one figure in both runs.
pub(super) struct Figure {
    name: &'static str,
    words: &'static str,
    /// Unit in formats for programs, and its size.
    unit: (&'static str, f64),
    write: fn(f64) -> String,
    values: [Option<f64>; 2],
    /// Ratio of the second to the first. `None` if a figure is missing, zero, or unreliable.
    ratio: Option<f64>,
    /// Second figure minus the first. Only for figures that are mostly 0, which have no ratio.
    difference: Option<f64>,
}

/// Outages of both runs, compared by difference because most runs have none.
fn outages(views: &[View<'_>; 2]) -> [Figure; 2] {
    let figure = |name, words, unit, write, read: fn(&Outage) -> f64| {
        let values = views.each_ref().map(|view| outage::of(view).map(read));
        let difference = match values {
            [Some(a), Some(b)] => Some(b - a),
            _ => None,
        };
        Figure { name, words, unit: (unit, 1.0), write, values, ratio: None, difference }
    };
    [
        figure(
            "outage",
            "longest outage",
            "s",
            |s| format!("{} s", decimal(s, 2)),
            |outage| outage.longest_s,
        ),
        figure("gone", "gone", "share", percent_of, |outage| outage.gone_share),
    ]
}

/// Comparison of two runs.
pub(super) struct Runs {
    pub(super) figures: Vec<Figure>,
    /// Reason why one run is slower. `None` if the runs hardly differ, or if a response time is unreliable.
    pub(super) why: Option<SlownessExplanation>,
    /// Differences between the work of the runs.
    pub(super) unlike: Vec<WorkDifference>,
}

/// Explains the longer mean response time of the slower run.
fn why(views: &[View<'_>; 2]) -> Option<SlownessExplanation> {
    let [a, b] = views.each_ref().map(|view| view.measured.response.mean_ns);
    let sides =
        if b? >= a? { [("A", &views[0]), ("B", &views[1])] } else { [("B", &views[1]), ("A", &views[0])] };
    let [faster, slower] = sides;
    SlownessExplanation::apart([faster.0, slower.0], [&[faster.1], &[slower.1]])
}

/// Compares two runs. Returns the figures with their explanation, and notes for the reader.
pub(super) fn compare(first: &Run, second: &Run) -> Result<(Runs, Vec<String>), ReportError> {
    let loads = [first, second].map(|run| unprofiled_words(&run.new));
    if loads[0] != loads[1] || first.new.unit() != second.new.unit() {
        return Err(ReportError::NotComparable {
            what: format!(
                "{} and {} were measured under different loads ({}; {}), and a ratio of their figures would say nothing",
                first.id,
                second.id,
                crate::visible(&loads[0]),
                crate::visible(&loads[1])
            ),
            way_out: format!(
                "measure both under the same load, or see them side by side without ratios: tenbin report {} {}",
                first.id, second.id
            ),
        });
    }
    let views = [View::of(first)?, View::of(second)?];
    let are_all_valid = views.iter().all(|view| view.eligibility() == Eligibility::Valid);
    let figures = Metric::of_runs().map(|metric| {
        let values = views.each_ref().map(|view| metric::read(&ComparedBy::of(metric), view));
        let ratio = match values {
            [Some(a), Some(b)] if are_all_valid && a > 0.0 => Some(b / a).filter(|ratio| ratio.is_finite()),
            _ => None,
        };
        let words = metric.words(views[0].unit());
        Figure {
            name: metric.name,
            words,
            unit: metric.kind.unit(),
            write: metric.kind.writer(),
            values,
            ratio,
            difference: None,
        }
    });
    let figures = figures.chain(outages(&views));
    let figures = figures.filter(|figure| figure.values.iter().any(Option::is_some)).collect();
    let mut notes = Vec::new();
    for (name, view) in ["A", "B"].iter().zip(&views) {
        if view.eligibility() != Eligibility::Valid {
            notes.push(format!("{name} does not count ({}), so there are no ratios.", view.judgement()));
        }
        notes.extend(outage::headline(view).map(|words| format!("{name}: {words}.")));
    }
    notes.extend(profile_note(&views));
    let unlike = judge::alike::compare_work_of_runs(first, second)?;
    if !unlike.is_empty() {
        let words = alike::of_pair(&unlike, &["A", "B"], first.new.steps.len() > 1, &str::to_owned);
        notes.push(format!("Not alike: {words}."));
    }
    notes.extend(planned_work::differences(&(&first.new).into(), &(&second.new).into(), false, A_AND_B));
    notes.extend(differences(
        &Conditions { host: &first.new.host, tenbin_version: &first.new.tenbin_version },
        &Conditions { host: &second.new.host, tenbin_version: &second.new.tenbin_version },
        A_AND_B,
    ));
    let why = if are_all_valid { why(&views) } else { None };
    Ok((Runs { figures, why, unlike }, notes))
}

/// Load and planned duration. Excludes the profile, which does not change the system's work.
fn unprofiled_words(new: &NewRun) -> String {
    judge::words::planned_load(&new.load_words, new.planned_duration_ns, new.warm_up_ns)
}

/// Whether the run was profiled with `perf`.
pub(super) fn is_profiled(run: &Run) -> bool {
    run.cpu_profile().is_some()
}

/// Note that only one of two runs was profiled. `None` otherwise.
fn profile_note(views: &[View<'_>; 2]) -> Option<String> {
    let name = match views.each_ref().map(|view| is_profiled(view.run)) {
        [true, false] => "A",
        [false, true] => "B",
        _ => return None,
    };
    Some(format!(
        "Only {name} was profiled. perf takes CPU time from the machine, and each sample interrupts the system: that alone may explain a \
         small difference."
    ))
}

/// Table with a row for each figure.
pub(super) fn table(figures: &[Figure]) -> Table {
    let mut table = Table::of_names("", figures.iter().map(|figure| figure.words.to_owned()));
    for (side, head) in ["A", "B"].into_iter().enumerate() {
        let cells = figures.iter().map(|figure| Cell::figure_or_na(figure.values[side], figure.write));
        table.column(head, "", cells);
    }
    table.column("B ÷ A", "", figures.iter().map(|figure| Cell::figure(figure.ratio, ratio::times)));
    if figures.iter().any(|figure| figure.difference.is_some_and(|difference| difference != 0.0)) {
        let signed = |figure: &Figure| {
            let difference = figure.difference?;
            let sign = if difference < 0.0 { "−" } else { "+" };
            Some(format!("{sign}{}", (figure.write)(difference.abs())))
        };
        table.column(
            "B − A",
            "",
            figures.iter().map(|figure| Cell::from(signed(figure).unwrap_or_default())),
        );
    }
    table
}

impl Figure {
    /// JSON object of the figure.
    pub(super) fn object(&self) -> Value {
        let (unit, size) = self.unit;
        let [a, b] = self.values.map(|value| value.map(|value| value / size));
        json!({
            "name": self.name, "unit": unit, "a": a, "b": b, "ratio": self.ratio, "difference": self.difference
        })
    }
}
