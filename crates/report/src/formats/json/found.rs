//! Procedure of a study, and the findings of a search for the best, in JSON.

use evidence::{SliceRules, Study};
use judge::results::{Eliminated, EliminationReason, TournamentEnd, TournamentFindings};
use serde::Serialize;

use super::study::{Variant, variant};
use crate::study::{LoadView, verdict_name};

/// Procedure that selected the runs.
#[derive(Serialize)]
pub(super) struct ProcedureObject<'a> {
    kind: &'static str,
    within_s: Option<f64>,
    also: &'a [String],
    baseline: Option<&'a str>,
    /// Reason why the procedure stopped. `None` while it is running.
    ended: Option<&'a str>,
    /// Rules of slices. `None` if the study does not use slices.
    #[serde(skip_serializing_if = "Option::is_none")]
    slices: Option<&'a SliceRules>,
    /// Number of blocks before the final. `None` unless the study searches for the best of each system.
    #[serde(skip_serializing_if = "Option::is_none")]
    sweep_blocks: Option<u32>,
}

/// Findings of a search for the best under a load.
#[derive(Serialize)]
pub(super) struct FoundObject<'a> {
    load: &'a str,
    best: Option<Variant<'a>>,
    tied: Vec<Variant<'a>>,
    left: Vec<EliminatedObject<'a>>,
    rival: Option<Variant<'a>>,
    /// Comparison of the best variant with its rival on fresh blocks.
    confirmed: Option<ConfirmedObject>,
    blocks: u32,
    end: Option<&'static str>,
}

#[derive(Serialize)]
struct EliminatedObject<'a> {
    #[serde(flatten)]
    variant: Variant<'a>,
    after_blocks: u32,
    why: &'static str,
    ratio: Option<f64>,
}

#[derive(Serialize)]
struct ConfirmedObject {
    verdict: &'static str,
    ratio: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
    confidence: Option<f64>,
    blocks: usize,
}

impl<'a> ProcedureObject<'a> {
    pub(super) fn of(study: &'a Study) -> Self {
        let compare = &study.new.compare;
        Self {
            kind: compare.procedure.name(),
            within_s: compare.within_s,
            also: &compare.also,
            baseline: compare.baseline.as_deref(),
            ended: study.ending.as_ref().and_then(|ending| ending.why.as_deref()),
            slices: compare.procedure.slices(),
            sweep_blocks: compare.procedure.sweep_blocks(),
        }
    }
}

impl<'a> FoundObject<'a> {
    /// `None` if the study does not search for the best.
    pub(super) fn of(load: &'a LoadView<'_>) -> Option<Self> {
        let TournamentFindings { best, tied, left, rival, confirmed, blocks, end } = load.found.as_ref()?;
        Some(Self {
            load: load.name,
            best: best.map(|row| variant(load, row)),
            tied: tied.iter().map(|row| variant(load, *row)).collect(),
            left: left.iter().map(|left| eliminated(load, left)).collect(),
            rival: rival.map(|row| variant(load, row)),
            confirmed: confirmed.as_ref().map(|comparison| ConfirmedObject {
                verdict: verdict_name(comparison.verdict),
                ratio: comparison.estimate,
                low: comparison.interval.map(|[low, _]| low),
                high: comparison.interval.map(|[_, high]| high),
                confidence: comparison.confidence,
                blocks: comparison.blocks,
            }),
            blocks: *blocks,
            end: end.map(|end| match end {
                TournamentEnd::Decided => "decided",
                TournamentEnd::OutOfBlocks => "out_of_blocks",
                TournamentEnd::NotFit => "not_fit",
                TournamentEnd::Unmeasured => "unmeasured",
            }),
        })
    }
}

fn eliminated<'a>(load: &'a LoadView<'_>, left: &Eliminated) -> EliminatedObject<'a> {
    EliminatedObject {
        variant: variant(load, left.setting),
        after_blocks: left.after_blocks,
        why: match left.why {
            EliminationReason::Halved => "halved",
            EliminationReason::Behind => "behind",
            EliminationReason::MoreErrors => "more_errors",
            EliminationReason::Invalid => "invalid",
            EliminationReason::NoFigure => "no_figure",
        },
        ratio: left.ratio,
    }
}
