//! A study in JSON: its runs, as in reports on single runs, and their comparison.

use std::collections::BTreeMap;

use judge::Eligibility;
use judge::alike::WorkDifference;
use judge::cpu_profile::Profile;
use judge::results::Scale;
use serde::Serialize;
use serde_json::Value;

use super::by_fingerprint::StatementsObject;
use super::capacity::{self, CapacityObject};
use super::experiment::DiagnosisObject;
use super::found::{FoundObject, ProcedureObject};
use super::{FailureObject, RunObject, bottleneck, cpu_profile, event_costs};
use crate::alike;
use crate::apart;
use crate::event_causes;
use crate::study::{
    self, LoadView, Pair, Ranked, SliceFindings, StudyPieces, StudyView, explained, reason, verdict_word,
};
use crate::view::View;

#[derive(Serialize)]
pub(super) struct FullStudyObject<'a> {
    schema: &'static str,
    runs: Vec<RunObject<'a>>,
    comparison: ComparisonObject<'a>,
    bottlenecks: Vec<bottleneck::RowBottleneck<'a>>,
    // Keys from here on were added after the first version of the contract.
    study: StudyFacts<'a>,
    failures: Vec<RunFailure<'a>>,
    gates: Vec<RunGate<'a>>,
    capacity: Vec<CapacityObject<'a>>,
    gates_unjudged: Vec<Unjudged<'a>>,
    events: Vec<RowEvent<'a>>,
    event_differences: Vec<EventDifference<'a>>,
    /// Stored baseline. `None` if the study has none.
    baseline: Option<serde_json::Value>,
    /// Gates that are baseline conditions. They are judged over all runs of a configuration.
    gates_of_baseline: Vec<serde_json::Value>,
    profiles: Vec<RowProfile<'a>>,
    profile_differences: Vec<RowDifference<'a>>,
    /// Statements of replayed logs. Empty if no log was replayed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    statements: Vec<RowStatements<'a>>,
    /// Result of an experiment. `None` if the study has none.
    diagnosis: Option<DiagnosisObject<'a>>,
    /// Ending of the command that made the study. `None` while it is running.
    ending: Option<&'static str>,
}

/// CPU profile of a variant under a load, over its runs.
#[derive(Serialize)]
struct RowProfile<'a> {
    load: &'a str,
    #[serde(flatten)]
    variant: Variant<'a>,
    #[serde(flatten)]
    profile: cpu_profile::ProfileObject,
}

/// Additional CPU time per request of variant `b` over `a`, with its parts.
#[derive(Serialize)]
struct RowDifference<'a> {
    load: &'a str,
    a: Variant<'a>,
    b: Variant<'a>,
    #[serde(flatten)]
    difference: cpu_profile::ProfileDifference,
}

/// Statements of variant `b`, compared with those of `a`.
#[derive(Serialize)]
struct RowStatements<'a> {
    load: &'a str,
    a: Variant<'a>,
    b: Variant<'a>,
    #[serde(flatten)]
    compared: StatementsObject,
}

/// Cost of an event of a variant under a load, over all blocks.
#[derive(Serialize)]
struct RowEvent<'a> {
    load: &'a str,
    #[serde(flatten)]
    variant: Variant<'a>,
    #[serde(flatten)]
    cost: event_costs::PooledObject<'a>,
}

/// Cost of an event in variant `a` beyond that in `b`, over the blocks of both.
#[derive(Serialize)]
struct EventDifference<'a> {
    load: &'a str,
    a: Variant<'a>,
    b: Variant<'a>,
    #[serde(flatten)]
    difference: event_costs::DifferenceObject<'a>,
}

/// Configuration without a single valid run. None of its gates held.
#[derive(Serialize)]
struct Unjudged<'a> {
    load: &'a str,
    #[serde(flatten)]
    variant: Variant<'a>,
}

#[derive(Serialize)]
struct StudyFacts<'a> {
    id: &'a str,
    title: &'a str,
    question: Option<&'a str>,
    started_at: String,
    plan_hash: &'a str,
    tenbin_version: &'a str,
    host: &'a serde_json::Value,
    seed: u64,
    blocks: u32,
    planned: usize,
    done: usize,
    state: &'static str,
    verdict: Option<&'static str>,
    is_quick: bool,
    gates: &'a [String],
    stamps: &'a [String],
    superseded: Vec<&'a str>,
    procedure: ProcedureObject<'a>,
}

#[derive(Serialize)]
struct ComparisonObject<'a> {
    metric: &'a str,
    /// `ratio`, or `difference` for metrics that may be 0.
    scale: &'static str,
    higher_is_better: bool,
    /// Minimum effect: a share, or a difference in the unit.
    matters: f64,
    ranking: Vec<RankedObject<'a>>,
    pairs: Vec<PairObject<'a>>,
    /// Comparisons of these pairs by physical costs.
    costs: Vec<PairObject<'a>>,
    unit: Option<&'static str>,
    found: Vec<FoundObject<'a>>,
    answers: Vec<AnswerObject<'a>>,
    /// Numbers of blocks to which the study was extended after its end.
    extended_to: Vec<u32>,
    /// Total error rate of a comparison or a family of them, over all extensions. `None` for a search.
    error_rate: Option<f64>,
    /// CPU time of other processes by load and variant. Empty if it was not read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    others: Vec<OthersObject<'a>>,
    /// Sources of variance by load. Only for studies in slices.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    variance: Vec<VarianceObject<'a>>,
    /// Differences between the work of variants `a` and `b`. Empty if all do equal work.
    unlike: Vec<UnlikeObject<'a>>,
    /// Large differences that every run shows, although there are too few blocks for a verdict.
    observed: Vec<ObservedObject<'a>>,
}

/// Pair in which variant `a` was faster than `b` in every run, by at least a factor.
#[derive(Serialize)]
struct ObservedObject<'a> {
    load: &'a str,
    a: Variant<'a>,
    b: Variant<'a>,
    /// Ratio of the lowest bound of `a` to the highest one of `b`.
    ratio_min: f64,
    /// Number of starts of both.
    starts: usize,
}

/// Difference between the work of two variants under a load: status, size, coding, cache hits, or rows of replies.
#[derive(Serialize)]
struct UnlikeObject<'a> {
    load: &'a str,
    a: Variant<'a>,
    b: Variant<'a>,
    #[serde(flatten)]
    difference: Value,
}

/// CPU time of processes outside of the study.
#[derive(Serialize)]
struct OthersObject<'a> {
    load: &'a str,
    #[serde(flatten)]
    variant: Variant<'a>,
    /// Number of busy cores: the mean over the valid runs.
    cores: f64,
}

/// Sources of variance in a comparison in slices. Standard deviations are of the natural logarithm of the ratio.
#[derive(Serialize)]
struct VarianceObject<'a> {
    load: &'a str,
    blocks: usize,
    slice_pairs: usize,
    /// `None` for a single block.
    between_starts: Option<f64>,
    between_slices: f64,
    /// Share of the variance between slices that is explained by CPU time of others. `None` if it is zero, or was not requested.
    explained_by_others: Option<f64>,
    /// `None` with too few blocks.
    carry_over: Option<CarryOverObject>,
}

/// Difference between slices after one of the other system and the rest, as natural logarithms.
#[derive(Serialize)]
struct CarryOverObject {
    effect: f64,
    /// Interval with 99 % confidence.
    interval: [f64; 2],
    is_found: bool,
    /// Maximum bias of the natural logarithm of the ratio.
    bias_most: f64,
}

/// Result under a load, in the words of all other formats.
#[derive(Serialize)]
struct AnswerObject<'a> {
    load: &'a str,
    text: String,
    certainty: &'static str,
    how_sure: String,
    besides: String,
    winner: Option<Variant<'a>>,
}

/// A variant under a load.
#[derive(Serialize)]
pub(super) struct Variant<'a> {
    system: &'a str,
    variant: &'a str,
    knobs: BTreeMap<&'a str, &'a str>,
}

#[derive(Serialize)]
struct RankedObject<'a> {
    load: &'a str,
    rank: usize,
    #[serde(flatten)]
    variant: Variant<'a>,
    runs: usize,
    median: f64,
    min: f64,
    max: f64,
    error_share: Option<f64>,
    is_best: bool,
}

#[derive(Serialize)]
struct PairObject<'a> {
    load: &'a str,
    a: Variant<'a>,
    b: Variant<'a>,
    /// `None` for metrics that are compared by difference.
    ratio: Option<f64>,
    /// Value of `a` minus value of `b`, in the unit of the metric. `None` if it is infinite, and for metrics that are compared by ratio.
    difference: Option<f64>,
    scale: &'static str,
    low: Option<f64>,
    high: Option<f64>,
    blocks: usize,
    verdict: &'static str,
    confidence: Option<f64>,
    p: Option<f64>,
    common_blocks: usize,
    a_better_blocks: usize,
    below_matters: Option<bool>,
    reason: Option<String>,
    metric: String,
    unit: &'static str,
    holm: bool,
    /// Explanation of the difference by stored readings. `None` if there is nothing to explain, or if no reading explains it.
    explanation: Option<Value>,
}

#[derive(Serialize)]
struct RunFailure<'a> {
    run: &'a str,
    #[serde(flatten)]
    place: RunPlaceObject<'a>,
    #[serde(flatten)]
    failure: FailureObject<'a>,
    outputs: Vec<OutputObject<'a>>,
}

#[derive(Serialize)]
struct RunGate<'a> {
    run: &'a str,
    #[serde(flatten)]
    place: RunPlaceObject<'a>,
    counts: bool,
    #[serde(flatten)]
    gate: super::GateObject<'a>,
}

#[derive(Serialize)]
struct RunPlaceObject<'a> {
    block: Option<u32>,
    load: Option<&'a str>,
    system: Option<&'a str>,
    variant: Option<&'a str>,
}

#[derive(Serialize)]
struct OutputObject<'a> {
    process: &'a str,
    text: String,
    dropped_bytes: u64,
}

/// Max bytes of a process's output. The store has the complete output.
const OUTPUT_BYTES_MAX: usize = 4 << 10;

impl<'a> FullStudyObject<'a> {
    pub(super) fn of(view: &'a StudyView<'_>) -> Self {
        let new = &view.study.new;
        Self {
            schema: "tenbin.study/1",
            runs: view.runs.iter().map(RunObject::of).collect(),
            comparison: ComparisonObject::of(view),
            bottlenecks: bottleneck::of_study(view),
            study: StudyFacts {
                id: view.study.id.as_str(),
                title: &new.title,
                question: new.question.as_deref(),
                started_at: view.started_at().to_string(),
                plan_hash: &new.plan_hash,
                tenbin_version: &new.tenbin_version,
                host: &new.host,
                seed: new.seed,
                blocks: view.study.blocks(),
                planned: view.planned(),
                done: view.done(),
                state: view.study.state.name(),
                verdict: view.study.ending.as_ref().map(|ending| ending.verdict.name()),
                is_quick: new.is_quick,
                gates: &new.gates,
                stamps: &new.stamps,
                superseded: view.study.superseded.iter().map(evidence::RunId::as_str).collect(),
                procedure: ProcedureObject::of(view.study),
            },
            failures: failures(view),
            gates: gates(view),
            gates_unjudged: view.loads.iter().flat_map(|load| unjudged(view, load)).collect(),
            baseline: view.stored_baseline_object(),
            gates_of_baseline: view.of_baseline.iter().map(|gate| gate.object(view)).collect(),
            diagnosis: view.diagnosis.as_ref().map(DiagnosisObject::of),
            capacity: view.capacity.as_ref().map_or_else(Vec::new, capacity::of_view),
            events: row_events(view),
            event_differences: view.loads.iter().flat_map(|load| differences(view, load)).collect(),
            profiles: view.loads.iter().flat_map(|load| profiles(view, load)).collect(),
            statements: view.loads.iter().flat_map(|load| statements(view, load)).collect(),
            profile_differences: view.loads.iter().flat_map(|load| profile_differences(view, load)).collect(),
            ending: crate::ending::of_study(view).map(|ending| ending.row().name),
        }
    }
}

impl<'a> ComparisonObject<'a> {
    fn of(view: &'a StudyView<'_>) -> Self {
        let new = &view.study.new;
        let unit = view.metric.as_ref().map(|by| by.metric.kind.unit());
        let scale = study::scale(view);
        let size_of_matters = match scale {
            Scale::Ratio => 1.0,
            Scale::Difference => unit.map_or(1.0, |(_, size)| size),
        };
        Self {
            metric: &new.compare.by,
            higher_is_better: new.compare.higher_is_better,
            scale: apart::noun(scale),
            matters: new.compare.matters / size_of_matters,
            ranking: view
                .loads
                .iter()
                .flat_map(|load| ranking(load, unit.map_or(1.0, |(_, size)| size)))
                .collect(),
            pairs: view
                .loads
                .iter()
                .flat_map(|load| pairs(view, load, load.pairs.iter().chain(&load.further)))
                .collect(),
            costs: view.loads.iter().flat_map(|load| pairs(view, load, load.costs.iter())).collect(),
            unit: unit.map(|(name, _)| name),
            found: view.loads.iter().filter_map(FoundObject::of).collect(),
            answers: answers(view),
            extended_to: view.study.extensions.iter().map(|extension| extension.blocks).collect(),
            error_rate: new
                .compare
                .procedure
                .can_be_extended()
                .then(|| judge::comparison::error_rate(view.study)),
            others: view.loads.iter().flat_map(|load| others(view, load)).collect(),
            variance: view.loads.iter().filter_map(variance).collect(),
            unlike: view.loads.iter().flat_map(unlike).collect(),
            observed: view.loads.iter().flat_map(observed).collect(),
        }
    }
}

fn others<'a>(view: &'a StudyView<'_>, load: &'a LoadView<'_>) -> Vec<OthersObject<'a>> {
    let read = study::others::of_rows(view, load).into_iter().enumerate();
    read.filter_map(|(row, cores)| {
        Some(OthersObject { load: load.name, variant: variant(load, row), cores: cores? })
    })
    .collect()
}

fn variance<'a>(load: &LoadView<'a>) -> Option<VarianceObject<'a>> {
    let SliceFindings { levels, carry_over, control, .. } = load.sliced?;
    let carried = |judge::results::CarryOver { effect, interval, is_found, bias_most }| CarryOverObject {
        effect,
        interval,
        is_found,
        bias_most,
    };
    Some(VarianceObject {
        load: load.name,
        blocks: levels.blocks,
        slice_pairs: levels.pairs,
        between_starts: levels.between,
        between_slices: levels.within,
        explained_by_others: control.map(|control| control.explained),
        carry_over: carry_over.map(carried),
    })
}

fn unlike<'a>(load: &'a LoadView<'_>) -> Vec<UnlikeObject<'a>> {
    let pairs = load.unlike.iter().flat_map(|pair| pair.differences.iter().map(move |of| (pair.rows, of)));
    let of = |((a, b), unlike): ((usize, usize), &WorkDifference)| UnlikeObject {
        load: load.name,
        a: variant(load, a),
        b: variant(load, b),
        difference: alike::object(unlike),
    };
    pairs.map(of).collect()
}

fn observed<'a>(load: &'a LoadView<'_>) -> impl Iterator<Item = ObservedObject<'a>> {
    load.observed.iter().map(|observed| ObservedObject {
        load: load.name,
        a: variant(load, observed.faster),
        b: variant(load, observed.slower),
        ratio_min: observed.ratio_min,
        starts: observed.starts,
    })
}

fn row_events<'a>(view: &'a StudyView<'_>) -> Vec<RowEvent<'a>> {
    let rows = view.loads.iter().flat_map(|load| (0..load.rows.len()).map(move |row| (load, row)));
    rows.flat_map(|(load, row)| {
        let of = |cost| RowEvent { load: load.name, variant: variant(load, row), cost };
        let views: Vec<&View<'_>> = load.rows[row].shown().map(|run| &view.runs[run]).collect();
        study::event_costs::of_row(view, &load.rows[row])
            .iter()
            .map(|of| event_costs::PooledObject::of(of, event_causes::pooled(&views, of.name)))
            .map(of)
            .collect::<Vec<_>>()
    })
    .collect()
}

fn differences<'a>(view: &'a StudyView<'_>, load: &'a LoadView<'_>) -> Vec<EventDifference<'a>> {
    let of = |of: &judge::event_cost::Difference<'a>| EventDifference {
        load: load.name,
        a: variant(load, of.row),
        b: variant(load, of.from),
        difference: event_costs::DifferenceObject::of(of),
    };
    study::event_costs::differences(view, load).iter().map(of).collect()
}

fn profiles<'a>(view: &StudyView<'_>, load: &'a LoadView<'_>) -> Vec<RowProfile<'a>> {
    let of = |(row, profile): &(usize, Profile)| RowProfile {
        load: load.name,
        variant: variant(load, *row),
        profile: cpu_profile::ProfileObject::of(profile),
    };
    study::cpu_profiles::of_load(view, load).iter().map(of).collect()
}

fn statements<'a>(view: &StudyView<'_>, load: &'a LoadView<'_>) -> Vec<RowStatements<'a>> {
    let of = |comparison: &judge::FingerprintComparison| {
        let [a, b] = comparison.variants.map(|row| variant(load, row));
        RowStatements { load: load.name, a, b, compared: StatementsObject::of(comparison) }
    };
    // Reading the runs failed before if they are damaged.
    study::by_fingerprint::of_load(view, load).unwrap_or_default().iter().map(of).collect()
}

fn profile_differences<'a>(view: &StudyView<'_>, load: &'a LoadView<'_>) -> Vec<RowDifference<'a>> {
    let profiles = study::cpu_profiles::of_load(view, load);
    let of = |([a, b], pair): ([usize; 2], [&Profile; 2])| {
        let difference = cpu_profile::ProfileDifference::of(pair)?;
        Some(RowDifference { load: load.name, a: variant(load, a), b: variant(load, b), difference })
    };
    study::cpu_profiles::pairs(load, &profiles).into_iter().filter_map(of).collect()
}

fn unjudged<'a>(view: &StudyView<'_>, load: &'a LoadView<'_>) -> impl Iterator<Item = Unjudged<'a>> {
    let rows = study::unjudged(view, load).into_iter();
    rows.map(|row| Unjudged { load: load.name, variant: variant(load, row) })
}

/// Results by load. Empty for a capacity search, whose results are in `capacity`.
fn answers<'a>(view: &'a StudyView<'_>) -> Vec<AnswerObject<'a>> {
    let page = StudyPieces::new(view, str::to_owned);
    let of_load = |load: &'a LoadView<'_>| {
        let answer = study::answer(&page, view, load);
        AnswerObject {
            load: load.name,
            text: answer.text,
            certainty: answer.certainty.name(),
            how_sure: answer.how_sure,
            besides: answer.besides,
            winner: study::winner(load).map(|row| variant(load, row)),
        }
    };
    view.loads.iter().filter(|_| view.capacity.is_none()).map(of_load).collect()
}

fn ranking<'a>(load: &'a LoadView<'_>, unit_size: f64) -> impl Iterator<Item = RankedObject<'a>> {
    load.ranking.iter().enumerate().map(move |(place, Ranked { row, metric, is_best, .. })| RankedObject {
        load: load.name,
        rank: place + 1,
        variant: variant(load, *row),
        runs: load.rows[*row].count(Eligibility::Valid),
        median: metric.median / unit_size,
        min: metric.min / unit_size,
        max: metric.max / unit_size,
        error_share: load.rows[*row].error_share,
        is_best: *is_best,
    })
}

fn pairs<'a>(
    view: &'a StudyView<'_>,
    load: &'a LoadView<'_>,
    pairs: impl Iterator<Item = &'a Pair>,
) -> impl Iterator<Item = PairObject<'a>> {
    pairs.map(move |pair| {
        let Pair { first, second, comparison, first_better, by, .. } = pair;
        let (unit, size) = by.metric.kind.unit();
        let (scale, finite) = (by.scale(), |figure: &f64| figure.is_finite());
        let of = |wanted: Scale| comparison.estimate.filter(|_| scale == wanted);
        let in_unit = |end: f64| match scale {
            Scale::Ratio => Some(end),
            Scale::Difference => Some(end / size).filter(finite),
        };
        PairObject {
            load: load.name,
            a: variant(load, *first),
            b: variant(load, *second),
            ratio: of(Scale::Ratio),
            difference: of(Scale::Difference).and_then(in_unit),
            scale: apart::noun(scale),
            low: comparison.interval.and_then(|[low, _]| in_unit(low)),
            high: comparison.interval.and_then(|[_, high]| in_unit(high)),
            blocks: comparison.blocks,
            verdict: verdict_word(pair),
            confidence: comparison.confidence,
            p: comparison.p,
            common_blocks: comparison.common,
            a_better_blocks: *first_better,
            below_matters: match comparison.verdict {
                judge::results::Verdict::Differs { below_matters } => Some(below_matters),
                _ => None,
            },
            reason: reason(view, load, pair),
            metric: by.name(),
            unit,
            holm: pair.is_shared,
            explanation: explained::of_pair(view, load, pair).flatten().as_ref().map(explained::object),
        }
    })
}

pub(super) fn variant<'a>(load: &'a LoadView<'_>, row: usize) -> Variant<'a> {
    let place = load.rows[row].place;
    let knobs = place.knobs.iter().map(|(knob, value)| (knob.as_str(), value.as_str())).collect();
    Variant { system: &place.system, variant: &place.variant, knobs }
}

fn place<'a>(view: &'a crate::view::View<'_>) -> RunPlaceObject<'a> {
    let place = view.place();
    RunPlaceObject {
        block: place.map(|place| place.block),
        load: place.map(|place| place.load.as_str()),
        system: place.map(|place| place.system.as_str()),
        variant: place.map(|place| place.variant.as_str()),
    }
}

fn failures<'a>(study: &'a StudyView<'_>) -> Vec<RunFailure<'a>> {
    let failed =
        study.runs.iter().filter_map(|view| Some((view, view.run.ending.as_ref()?.failure.as_ref()?)));
    failed
        .map(|(view, failure)| RunFailure {
            run: view.run.id.as_str(),
            place: place(view),
            failure: FailureObject::of(failure),
            outputs: view.run.outputs().iter().map(OutputObject::of).collect(),
        })
        .collect()
}

fn gates<'a>(study: &'a StudyView<'_>) -> Vec<RunGate<'a>> {
    let runs = study.runs.iter().zip(study.counting());
    let gates = runs.flat_map(|(view, counts)| view.run.gates().iter().map(move |gate| (view, counts, gate)));
    gates
        .map(|(view, counts, gate)| RunGate {
            run: view.run.id.as_str(),
            place: place(view),
            counts,
            gate: super::GateObject::of(gate),
        })
        .collect()
}

impl<'a> OutputObject<'a> {
    fn of(output: &'a evidence::Output) -> Self {
        let from = output.text.len().saturating_sub(OUTPUT_BYTES_MAX);
        let text = String::from_utf8_lossy(&output.text[from..]).into_owned();
        Self {
            process: &output.process,
            text,
            dropped_bytes: output.dropped_bytes.saturating_add(from as u64),
        }
    }
}
