//! Restores the state of a study's capacity search.

use evidence::{Compare, Distorted, EvidenceError, Procedure, Run, RunId, Study, StudyPlace, stage};
use stats::{At, Level, LevelRunResult, Search, SearchRules, SearchStage};

use crate::condition::Condition;
use crate::eligibility::{Eligibility, eligibility_by};
use crate::measured::Measured;
use crate::run_order::RunOrder;
use crate::setting::Setting;
use crate::slo::{self, FailedCondition};

/// Returns the rules of a study's search; `None` if its procedure is not a search. `seed` is the seed of the study.
pub fn search_rules(compare: &Compare, seed: u64) -> Option<SearchRules> {
    let Procedure::Capacity(rules) = &compare.procedure else { return None };
    Some(SearchRules {
        resolution: rules.resolution,
        from_per_s: rules.from_per_s,
        to_per_s: rules.to_per_s,
        confirm_runs: rules.confirm_runs,
        overruled_by: rules.overruled_by,
        has_overload: rules.has_overload,
        has_soak: rules.soak_s.is_some(),
        runs_max: rules.runs_max,
        seed,
    })
}

/// Returns the level of a place; `None` if the place is not part of a search.
pub fn level(place: &StudyPlace) -> Option<Level> {
    let stage = match place.stage.as_str() {
        stage::SIZING => SearchStage::Sizing,
        stage::BRACKET => SearchStage::Bracket,
        stage::BISECT => SearchStage::Bisect,
        stage::EDGE => SearchStage::Edge,
        stage::CONFIRM => SearchStage::Confirm,
        stage::OVERLOAD => SearchStage::Overload,
        stage::SOAK => SearchStage::Soak,
        _ => return None,
    };
    let at = place.users.map(At::Users).or_else(|| place.rate_per_s.map(At::PerS))?;
    Some(Level { stage, at })
}

/// Returns the name of a stage in the store, as [`level`] reads it.
pub const fn stage_name(stage: SearchStage) -> &'static str {
    match stage {
        SearchStage::Sizing => stage::SIZING,
        SearchStage::Bracket => stage::BRACKET,
        SearchStage::Bisect => stage::BISECT,
        SearchStage::Edge => stage::EDGE,
        SearchStage::Confirm => stage::CONFIRM,
        SearchStage::Overload => stage::OVERLOAD,
        SearchStage::Soak => stage::SOAK,
    }
}

/// Result of a run at a level.
#[derive(Clone, Debug, PartialEq)]
pub struct LevelResult {
    /// Result as the search uses it.
    pub judged: LevelRunResult,
    /// Conditions that failed, or could not be judged.
    pub failed: Vec<FailedCondition>,
    /// Whether the run passed although requests were sent late.
    pub is_late: bool,
}

/// Judges a run at a level. A run at a rate must have its per-second data.
pub fn judge_level(run: &Run, level: &Level, slos: &[Condition]) -> Result<LevelResult, EvidenceError> {
    match level.at {
        At::Users(_) => Ok(LevelResult { judged: sized(run)?, failed: Vec::new(), is_late: false }),
        At::PerS(_) => {
            let judgement = slo::judge(run, slos)?;
            let judged = match judgement.passed {
                _ if judgement.is_invalid => LevelRunResult::Invalid,
                true => LevelRunResult::Passed,
                false => LevelRunResult::Failed,
            };
            Ok(LevelResult { judged, failed: judgement.failed, is_late: judgement.is_late })
        }
    }
}

/// Returns throughput and response time at a number of users.
fn sized(run: &Run) -> Result<LevelRunResult, EvidenceError> {
    if eligibility_by(run, Some(Distorted::Throughput)) != Eligibility::Valid {
        return Ok(LevelRunResult::Invalid);
    }
    let measured = Measured::of(run)?;
    Ok(match (measured.ok_per_s(), measured.response.mean_ns) {
        (Some(per_s), Some(mean_ns)) => LevelRunResult::Sized { per_s, mean_response_s: mean_ns / 1e9 },
        _ => LevelRunResult::Invalid,
    })
}

/// Restores the search of a configuration under a load, with all stored results; `None` if the study's procedure is not
/// a search. `load_run` reads a run with its per-second data, which a study's own runs do not have.
///
/// A run that the study continued without counts as invalid.
pub fn search(
    study: &Study,
    load: &str,
    setting: &Setting,
    load_run: &dyn Fn(&RunId) -> Result<Run, EvidenceError>,
) -> Result<Option<Search>, EvidenceError> {
    let Procedure::Capacity(rules) = &study.new.compare.procedure else { return Ok(None) };
    // Another version may have written the conditions. If this version cannot parse them, no run passes.
    let slos: Result<Vec<Vec<Condition>>, _> =
        rules.slos.iter().map(|slo| Condition::parse_list(slo)).collect();
    let slos: Option<Vec<Condition>> = slos.ok().map(|slos| slos.into_iter().flatten().collect());
    search_by(study, load, setting, &mut |run, level| match &slos {
        Some(slos) => Ok(judge_level(&load_run(&run.id)?, level, slos)?.judged),
        None => Ok(LevelRunResult::Invalid),
    })
}

/// Like [`search`], but judges each run with `judged`. Runs are passed without their per-second data.
pub fn search_by(
    study: &Study,
    load: &str,
    setting: &Setting,
    judged: &mut dyn FnMut(&Run, &Level) -> Result<LevelRunResult, EvidenceError>,
) -> Result<Option<Search>, EvidenceError> {
    let Some(rules) = search_rules(&study.new.compare, study.new.seed) else { return Ok(None) };
    let mut search = Search::new(rules);
    for slot in RunOrder::of(study).answered_slots() {
        if slot.place.load != load || !setting.is_of(slot.place) {
            continue;
        }
        let Some(level) = level(slot.place) else { continue };
        let judged = slot.run.map_or(Ok(LevelRunResult::Invalid), |run| judged(run, &level))?;
        search.note(level, judged);
    }
    Ok(Some(search))
}
