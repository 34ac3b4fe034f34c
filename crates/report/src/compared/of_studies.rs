//! Comparison of two studies: the configurations that both measured under the same load.

use std::collections::BTreeMap;

use evidence::{Outage, Procedure, Run, Study};
use judge::alike::{self, Work};
use judge::comparison::unpaired::{self, Side, Verdict};
use judge::results::{MinEffect, RunResult};
use judge::{Condition, Eligibility};
use record::Counts;

use super::conditions::{Conditions, differences};
use super::failures::{self, Failure};
use super::planned_work::{self, A_AND_B};
use super::row::ComparedRow;
use crate::LoadRun;
use crate::error::ReportError;
use crate::metric::{self, ComparedBy};
use crate::study::explained::SlownessExplanation;
use crate::study::{StudyView, VariantRow};
use crate::view::View;

/// Comparison of two studies.
pub(super) struct Studies {
    pub(super) by: ComparedBy,
    pub(super) metric_words: String,
    pub(super) higher_is_better: bool,
    /// The smaller one of the two minimum effects.
    pub(super) matters: MinEffect,
    pub(super) rows: Vec<ComparedRow>,
    /// Load, system, and variant of configurations that only the first study has, and of those that only the second one has. Arbitrary
    /// text.
    pub(super) alone: [Vec<String>; 2],
}

/// Compares two studies. Returns the rows, the results of the conditions in `failing`, and notes for the reader.
pub(super) fn compare(
    first: &Study,
    second: &Study,
    load_run: LoadRun<'_>,
    failing: &[Condition],
) -> Result<(Studies, Vec<Failure>, Vec<String>), ReportError> {
    let by = common_metric(first, second)?;
    let views = [StudyView::of(first, load_run)?, StudyView::of(second, load_run)?];
    let (mut named, mut sides, mut of_rows) = (Vec::new(), Vec::new(), Vec::new());
    let mut alone = [Vec::new(), Vec::new()];
    let mut asked: Vec<String> = Vec::new();
    let mut held: Vec<failures::Row<'_>> = Vec::new();
    let mut gone: Vec<String> = Vec::new();
    let [a, b] = &views;
    for (load, row) in rows_of(a) {
        let other = rows_of(b).find(|(load_b, row_b)| {
            (load_b.name, &load_b.words) == (load.name, &load.words)
                && (&row_b.place.system, &row_b.place.variant) == (&row.place.system, &row.place.variant)
        });
        let Some((_, row_b)) = other else {
            alone[0].push(row_name(load, row));
            held.push(failures::Row { name: row_name(load, row), runs: [runs_of(a, row), Vec::new()] });
            continue;
        };
        if let (Some((one, _)), Some((other, _))) = (row.runs.first(), row_b.runs.first()) {
            let runs = [&a.runs[*one].run.new, &b.runs[*other].run.new];
            let is_same_file = first.new.plan_hash == second.new.plan_hash;
            let points = planned_work::differences(&runs[0].into(), &runs[1].into(), is_same_file, A_AND_B);
            asked.extend(points.into_iter().filter(|point| !asked.contains(point)).collect::<Vec<_>>());
        }
        held.push(failures::Row { name: row_name(load, row), runs: [runs_of(a, row), runs_of(b, row_b)] });
        for (side, view, row) in [("A", a, row), ("B", b, row_b)] {
            gone.extend(degraded(view, row).map(|degraded| format!("{side}: {degraded}.")));
        }
        sides.push([(a, row), (b, row_b)].map(|(view, row)| {
            let seen = seen(&by, view, row);
            let runs = row.eligibility(Eligibility::Valid).map(|run| view.runs[run].measured_run());
            Side::of(seen.iter().map(|(seen, counts)| (*seen, counts))).with_costs_of(runs)
        }));
        named.push((load.name, row.place));
        of_rows.push([(a, row), (b, row_b)]);
    }
    if named.is_empty() {
        return Err(incomparable(first, second, &views));
    }
    let compares = [&first.new.compare, &second.new.compare];
    let higher_is_better = compares[0].higher_is_better;
    let matters = unpaired::smaller_min_effect(&by, compares);
    let compared = unpaired::judge(sides, by.scale(), matters, higher_is_better);
    let rows = named.into_iter().zip(compared);
    let mut rows: Vec<ComparedRow> =
        rows.map(|((load, place), compared)| ComparedRow::new(load, place, compared)).collect();
    alone[1] = unmatched_rows(b, &rows);
    for (row, sides) in rows.iter_mut().zip(&of_rows) {
        row.unlike = unlike(*sides)?;
    }
    for (row, sides) in rows.iter_mut().zip(of_rows).filter(|_| by.distorted().is_some()) {
        row.why = why(row, sides, higher_is_better);
    }
    let failures = failures::judge(failing, &held, load_run)?;
    let notes = gone.into_iter().chain(asked).chain(environment_differences(first, second)).collect();
    let metric_words = a.metric_words();
    Ok((Studies { by, metric_words, higher_is_better, matters, rows, alone }, failures, notes))
}

/// Observation of each run of a row, or of each start with all of its slices, with the counts of requests.
fn seen(by: &ComparedBy, view: &StudyView<'_>, row: &VariantRow<'_>) -> Vec<(RunResult, Counts)> {
    let mut seen: Vec<(RunResult, Counts)> = Vec::new();
    let mut starts: BTreeMap<(&str, u32), (Vec<RunResult>, Counts)> = BTreeMap::new();
    for run in row.runs.iter().map(|(run, _)| &view.runs[*run]) {
        let result = metric::run_result(by, run);
        match judge::start_of_slice(run.run) {
            None => seen.push((result, run.whole.counts)),
            Some(start) => {
                let (slices, counts) = starts.entry(start).or_default();
                slices.push(result);
                counts.add(&run.whole.counts);
            }
        }
    }
    let combine_slices =
        |(slices, counts): (Vec<RunResult>, Counts)| (judge::combine_slices(&slices, by.scale()), counts);
    seen.extend(starts.into_values().map(combine_slices));
    seen
}

/// Notes on differences between the circumstances of two studies.
fn environment_differences(first: &Study, second: &Study) -> Vec<String> {
    let mut notes = differences(
        &Conditions { host: &first.new.host, tenbin_version: &first.new.tenbin_version },
        &Conditions { host: &second.new.host, tenbin_version: &second.new.tenbin_version },
        A_AND_B,
    );
    if first.new.compare.matters != second.new.compare.matters {
        notes.push("What matters is not the same in A and B: the smaller of the two is taken.".to_owned());
    }
    notes
}

/// Reason why one side of a row is slower. `None` unless the verdict is that the sides differ.
fn why(
    row: &ComparedRow,
    sides: [(&StudyView<'_>, &VariantRow<'_>); 2],
    higher_is_better: bool,
) -> Option<SlownessExplanation> {
    if row.compared.verdict != (Verdict::Differs { below_matters: false }) {
        return None;
    }
    let views = sides.map(|(view, row)| valid_runs(view, row));
    let (faster, slower) = if row.compared.is_second_ahead(higher_is_better) { (1, 0) } else { (0, 1) };
    let names = ["A", "B"];
    SlownessExplanation::apart([names[faster], names[slower]], [&views[faster], &views[slower]])
}

/// Differences between the work of both sides of a row.
fn unlike(sides: [(&StudyView<'_>, &VariantRow<'_>); 2]) -> Result<Vec<alike::WorkDifference>, ReportError> {
    let [first, second] = sides.map(|(view, of)| of.shown().map(|run| view.runs[run].run));
    Ok(alike::unlike(&Work::of(first)?, &Work::of(second)?))
}

fn valid_runs<'v, 'a>(view: &'v StudyView<'a>, row: &VariantRow<'_>) -> Vec<&'v View<'a>> {
    row.eligibility(Eligibility::Valid).map(|run| &view.runs[run]).collect()
}

type LoadAndRow<'v, 'a> = (&'v crate::study::LoadView<'a>, &'v crate::study::VariantRow<'a>);

fn rows_of<'v, 'a>(view: &'v StudyView<'a>) -> impl Iterator<Item = LoadAndRow<'v, 'a>> {
    view.loads.iter().flat_map(|load| load.rows.iter().map(move |row| (load, row)))
}

/// Configurations of a study that are not in the common rows.
fn unmatched_rows(view: &StudyView<'_>, rows: &[ComparedRow]) -> Vec<String> {
    let is_common = |(load, row): &LoadAndRow<'_, '_>| {
        rows.iter().any(|common| {
            common.load == load.name
                && common.system == row.place.system
                && common.variant == row.place.variant
        })
    };
    rows_of(view).filter(|of| !is_common(of)).map(|(load, row)| row_name(load, row)).collect()
}

fn runs_of<'a>(view: &StudyView<'a>, row: &crate::study::VariantRow<'a>) -> Vec<&'a Run> {
    row.runs.iter().map(|(run, _)| view.runs[*run].run).collect()
}

/// Note on the number of valid runs in which the system was unavailable for part of the time. `None` if there were none.
fn degraded(view: &StudyView<'_>, row: &crate::study::VariantRow<'_>) -> Option<String> {
    let runs = || row.runs.iter().filter(|(_, eligibility)| *eligibility == Eligibility::Valid);
    let is_degraded = |(run, _): &&(usize, Eligibility)| {
        view.runs[*run].measured.outage.as_ref().is_some_and(Outage::is_degraded)
    };
    let degraded = runs().filter(is_degraded).count();
    (degraded > 0).then(|| {
        let (name, all) = (crate::study::name(row.place), runs().count());
        format!("{name} was gone for part of the time in {degraded} of {all} runs")
    })
}

fn row_name(load: &crate::study::LoadView<'_>, row: &crate::study::VariantRow<'_>) -> String {
    format!("{} under {}", crate::study::name(row.place), load.words.as_deref().unwrap_or(load.name))
}

fn common_metric(first: &Study, second: &Study) -> Result<ComparedBy, ReportError> {
    let ids = format!("{} and {}", first.id, second.id);
    let compares = [&first.new.compare, &second.new.compare];
    if compares.iter().any(|compare| matches!(compare.procedure, Procedure::Capacity(_))) {
        return Err(ReportError::NotComparable {
            what: format!(
                "one of {ids} is a search for a capacity, whose runs are made at levels of their own"
            ),
            way_out: format!(
                "see what each has found: tenbin report {}, tenbin report {}",
                first.id, second.id
            ),
        });
    }
    let [by_first, by_second] = compares.map(|compare| (compare.by.as_str(), compare.higher_is_better));
    match ComparedBy::named(by_first.0) {
        Some(by) if by_first == by_second => Ok(by),
        Some(_) => Err(ReportError::NotComparable {
            what: format!(
                "{ids} do not compare by the same metric ({}; {})",
                crate::visible(by_first.0),
                crate::visible(by_second.0)
            ),
            way_out: "run one of the plans again with the `compare: by` of the other".to_owned(),
        }),
        None => Err(ReportError::NotComparable {
            what: format!(
                "{ids} compare by {}, which this version does not know",
                crate::visible(by_first.0)
            ),
            way_out: "use the version of Tenbin that measured them".to_owned(),
        }),
    }
}

fn incomparable(first: &Study, second: &Study, views: &[StudyView<'_>; 2]) -> ReportError {
    let some = |view: &StudyView<'_>| {
        let names: Vec<String> = rows_of(view).take(3).map(|(load, row)| row_name(load, row)).collect();
        if names.is_empty() { "nothing".to_owned() } else { crate::visible(&names.join("; ")) }
    };
    ReportError::NotComparable {
        what: format!(
            "{} and {} have no configuration in common under the same load: {} has {}; {} has {}",
            first.id,
            second.id,
            first.id,
            some(&views[0]),
            second.id,
            some(&views[1])
        ),
        way_out:
            "compare studies of the same systems, configurations, and loads; the page of a report shows its plan"
                .to_owned(),
    }
}
