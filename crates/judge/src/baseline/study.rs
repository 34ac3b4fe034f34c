//! Judges the gates of a study that are conditions of a baseline, for every configuration over all of its runs.

use std::collections::BTreeMap;

use evidence::{EvidenceError, Run, Study};
use stats::{RunResult, Scale};

use super::paired::{self, BlockResults, Blocks};
use super::{ConditionResult, Decision, Side, WithSeconds, judge_extended, said, stored};
use crate::condition::{BaselineLimit, Condition};
use crate::counting::counted;
use crate::run_result::combine_slices;
use crate::setting::Setting;

/// A condition of a baseline on one configuration under one load.
#[derive(Clone, Debug, PartialEq)]
pub struct Gate {
    /// Name of the load, from outside: escape it.
    pub load: String,
    /// The configuration.
    pub setting: Setting,
    /// The condition.
    pub condition: Condition,
    /// Result of the condition.
    pub answer: Answer,
}

/// Result of a gate.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// Both sides were compared.
    Judged(ConditionResult),
    /// The gate has no baseline; contains the reason in words.
    NotJudged(String),
}

impl Gate {
    /// Returns whether the gate is breached: the condition is false, or undecided. In a quick study, which promises no
    /// decision, only a false condition breaches it.
    pub fn is_breached(&self, is_quick: bool) -> bool {
        match &self.answer {
            Answer::NotJudged(_) => false,
            Answer::Judged(found) => match found.decision {
                Decision::True => false,
                Decision::False => true,
                Decision::Undecided(_) => !is_quick,
            },
        }
    }
}

/// Returns whether any gate of a study that is a condition of a baseline is breached.
pub fn is_breached(study: &Study, with_seconds: WithSeconds<'_>) -> Result<bool, EvidenceError> {
    Ok(gates(study, with_seconds)?.iter().any(|gate| gate.is_breached(study.new.is_quick)))
}

/// Returns every gate of a study that is a condition of a baseline, in order of loads, gates, and configurations.
pub fn gates(study: &Study, with_seconds: WithSeconds<'_>) -> Result<Vec<Gate>, EvidenceError> {
    let conditions = stored::conditions(&study.new.gates);
    if conditions.is_empty() {
        return Ok(Vec::new());
    }
    let loads = study.new.loads_of_places();
    let rows: Vec<Row<'_>> = loads.iter().flat_map(|load| rows(study, load)).collect();
    let of = |row: &Row<'_>, condition: &Condition| !row.is_baseline(study) && row.has_step(condition);
    let together = rows.iter().map(|row| conditions.iter().filter(|one| of(row, one)).count()).sum();
    let judging = Judging { study, with_seconds, together };
    let mut gates = Vec::new();
    for load in &loads {
        for condition in &conditions {
            let of_load = rows.iter().filter(|row| row.load == *load);
            for row in of_load.clone().filter(|row| of(row, condition)) {
                let baseline = of_load.clone().find(|row| row.is_baseline(study));
                gates.push(Gate {
                    load: row.load.to_owned(),
                    setting: row.setting.clone(),
                    condition: condition.clone(),
                    answer: judging.answer(condition, row, baseline)?,
                });
            }
        }
    }
    Ok(gates)
}

/// A configuration under a load, with its eligible runs and their blocks.
struct Row<'a> {
    load: &'a str,
    setting: Setting,
    runs: Vec<(u32, &'a Run)>,
}

fn rows<'a>(study: &'a Study, load: &'a str) -> impl Iterator<Item = Row<'a>> {
    let runs: BTreeMap<u32, &Run> =
        study.runs.iter().filter_map(|run| Some((run.new.place.as_ref()?.1.position, run))).collect();
    counted(study, load).filter_map(move |counted| {
        let setting = Setting::of(counted.places.first()?);
        let run = |place: &&evidence::StudyPlace| Some((place.block, *runs.get(&place.position)?));
        Some(Row { load, setting, runs: counted.places.iter().filter_map(run).collect() })
    })
}

impl Row<'_> {
    /// Returns whether this configuration is the one that the plan names as the baseline.
    fn is_baseline(&self, study: &Study) -> bool {
        let named = study.new.compare.baseline.as_deref().filter(|_| study.baseline.is_none());
        named.is_some_and(|named| named == self.setting.name())
    }

    /// Returns whether the load has the step of a condition. Loads may follow different scenarios.
    fn has_step(&self, condition: &Condition) -> bool {
        let Some(step) = &condition.step else { return true };
        self.runs.is_empty() || self.runs.iter().any(|(_, run)| run.new.steps.contains(step))
    }

    fn in_each_block(
        &self,
        condition: &Condition,
        with_seconds: WithSeconds<'_>,
    ) -> Result<BlockResults, EvidenceError> {
        let side = Side::of(condition, self.runs.iter().map(|(_, run)| *run), with_seconds)?;
        let mut runs: BTreeMap<u32, Vec<RunResult>> = BTreeMap::new();
        for (block, run) in &self.runs {
            runs.entry(*block).or_default().push(said(condition, run, with_seconds)?);
        }
        let scale = condition.of_baseline.map_or(Scale::Ratio, BaselineLimit::scale);
        let of_block = |(block, runs): (u32, Vec<RunResult>)| (block, combine_slices(&runs, scale));
        Ok(BlockResults { seen: runs.into_iter().map(of_block).collect(), side })
    }
}

struct Judging<'a> {
    study: &'a Study,
    with_seconds: WithSeconds<'a>,
    together: usize,
}

impl Judging<'_> {
    fn answer(
        &self,
        condition: &Condition,
        row: &Row<'_>,
        baseline: Option<&Row<'_>>,
    ) -> Result<Answer, EvidenceError> {
        let extensions = self.study.extensions.len();
        match (&self.study.baseline, baseline) {
            (Some(kept), _) => {
                let found = match &kept.found {
                    Ok(found) => found,
                    Err(why) => return Ok(Answer::NotJudged(why.clone())),
                };
                let Setting { system, variant } = &row.setting;
                let side = found.row(row.load, system, variant).and_then(|row| row.side(&condition.text));
                let Some(side) = side else {
                    return Ok(Answer::NotJudged(
                        "the baseline has no such configuration and load".to_owned(),
                    ));
                };
                let runs = row.runs.iter().map(|(_, run)| *run);
                let candidate = Side::of(condition, runs, self.with_seconds)?;
                let found =
                    judge_extended(condition, &stored::side(side), &candidate, self.together, extensions);
                Ok(Answer::Judged(found))
            }
            (None, Some(baseline)) => {
                let Some(how) = condition.of_baseline else { return Ok(no_baseline()) };
                let sides = [
                    baseline.in_each_block(condition, self.with_seconds)?,
                    row.in_each_block(condition, self.with_seconds)?,
                ];
                let blocks = Blocks { planned: self.study.blocks(), extensions };
                let found = paired::judge(condition, how, sides.each_ref(), blocks, self.together);
                Ok(Answer::Judged(found))
            }
            (None, None) => Ok(no_baseline()),
        }
    }
}

fn no_baseline() -> Answer {
    Answer::NotJudged("there is no baseline".to_owned())
}
