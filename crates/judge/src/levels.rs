//! Levels of a capacity search: the results of every rate over all its runs, and of every number of users.

use evidence::{EvidenceError, Run, RunId};
use record::{Percentile, Phase, Tally};
use stats::usl::{self, Usl};
use stats::{At, Level, LevelRunResult, SearchStage, median};

use crate::condition::Condition;
use crate::measured::Measured;
use crate::rates;
use crate::search::{LevelResult, judge_level, stage_name};
use crate::slo::FailedCondition;

/// Levels at which one variant was run.
#[derive(Clone, Debug, Default)]
pub struct SearchLevels {
    /// Rates, lowest first once all are added. Runs after the confirmation are not included.
    pub rates: Vec<LevelRow>,
    /// Numbers of users, in the order in which they were run; a number may be repeated.
    pub sizes: Vec<SizeRow>,
    /// Reason why the run after the overload did not hold; `None` if it held.
    pub not_recovered: Option<String>,
    /// Reason why the soak did not hold; `None` if it held.
    pub not_soaked: Option<String>,
    /// Whether the system answered in any run.
    pub was_answered: bool,
}

/// Results of a rate, over all its runs.
#[derive(Clone, Debug)]
pub struct LevelRow {
    /// Offered requests per second.
    pub per_s: f64,
    /// Stages of the rate's runs, in order, without repetition.
    pub stages: Vec<SearchStage>,
    /// Number of runs that passed.
    pub passed: u32,
    /// Number of runs that failed.
    pub failed: u32,
    /// Number of runs without a result.
    pub invalid: u32,
    /// Number of runs with requests that were sent late.
    pub late: u32,
    /// Cause of the last invalid run, in words.
    pub invalid_by: Option<String>,
    /// Number of passed confirmation runs, and number of all confirmation runs with a result.
    pub confirmed: (u32, u32),
    /// Condition that failed in the last failed run, in words.
    pub failed_by: Option<String>,
    /// Runs that failed.
    pub failed_runs: Vec<RunId>,
    /// Conditions that failed in any run of the rate, as written, without repetition.
    pub conditions: Vec<String>,
    /// Combined samples of the runs with a result.
    pub tally: Tally,
    /// Ok answers per second of each run with a result.
    ok_per_s: Vec<f64>,
    system_us_per_request: Vec<f64>,
}

/// Results of a number of users.
#[derive(Clone, Debug)]
pub struct SizeRow {
    /// Number of users.
    pub users: u32,
    /// Ok answers per second.
    pub per_s: f64,
    /// Mean response time, in nanoseconds.
    pub mean_response_ns: f64,
}

impl SearchLevels {
    /// Adds a run, with its per-second data, and returns its result.
    pub fn note(
        &mut self,
        run: &Run,
        level: &Level,
        slos: &[Condition],
    ) -> Result<LevelRunResult, EvidenceError> {
        let said = judge_level(run, level, slos)?;
        let (judged, is_late) = (said.judged, said.is_late);
        self.was_answered |= match judged {
            LevelRunResult::Sized { per_s, .. } => per_s > 0.0,
            _ => run.ending.as_ref().is_some_and(|ending| ending.failure.is_none()),
        };
        let why = why(said, slos);
        match (level.at, level.stage) {
            (At::Users(users), _) => self.sizes.extend(size(users, judged)),
            (At::PerS(_), SearchStage::Overload) => self.not_recovered = why.map(|failed| failed.words),
            (At::PerS(_), SearchStage::Soak) => self.not_soaked = why.map(|failed| failed.words),
            (At::PerS(per_s), stage) => {
                let place = self.rates.iter().position(|row| row.per_s == per_s).unwrap_or_else(|| {
                    self.rates.push(LevelRow::new(per_s));
                    self.rates.len() - 1
                });
                self.rates[place].late += u32::from(is_late);
                self.rates[place].add(run, stage, judged, why)?;
            }
        }
        Ok(judged)
    }

    /// Fits the scalability law to the numbers of users; `None` if there are too few. `seed` is the seed of the study.
    pub fn scalability(&self, seed: u64) -> Option<Usl> {
        let points: Vec<(f64, f64)> =
            self.sizes.iter().map(|size| (f64::from(size.users), size.per_s)).collect();
        usl::fit(&points, seed)
    }

    /// Returns the results of the given rate.
    pub fn at(&self, per_s: f64) -> Option<&LevelRow> {
        self.rates.iter().find(|row| row.per_s == per_s)
    }
}

fn size(users: u32, judged: LevelRunResult) -> Option<SizeRow> {
    let LevelRunResult::Sized { per_s, mean_response_s } = judged else { return None };
    Some(SizeRow { users, per_s, mean_response_ns: mean_response_s * 1e9 })
}

/// Returns the failed condition of a failed run.
fn why(said: LevelResult, slos: &[Condition]) -> Option<FailedCondition> {
    let mut failed = if said.judged == LevelRunResult::Failed { said.failed } else { Vec::new() };
    // A condition of the user is more informative than the built-in ones.
    let is_asked = |text: &str| slos.iter().any(|slo| slo.text == text);
    let first = failed.iter().position(|failed| is_asked(&failed.condition)).unwrap_or(0);
    (first < failed.len()).then(|| failed.swap_remove(first))
}

impl LevelRow {
    fn new(per_s: f64) -> Self {
        Self {
            per_s,
            stages: Vec::new(),
            passed: 0,
            failed: 0,
            invalid: 0,
            late: 0,
            invalid_by: None,
            confirmed: (0, 0),
            failed_by: None,
            failed_runs: Vec::new(),
            conditions: Vec::new(),
            tally: Tally::default(),
            ok_per_s: Vec::new(),
            system_us_per_request: Vec::new(),
        }
    }

    fn add(
        &mut self,
        run: &Run,
        stage: SearchStage,
        judged: LevelRunResult,
        why: Option<FailedCondition>,
    ) -> Result<(), EvidenceError> {
        if !self.stages.contains(&stage) {
            self.stages.push(stage);
        }
        let (has_passed, has_failed) = (judged == LevelRunResult::Passed, judged == LevelRunResult::Failed);
        self.passed += u32::from(has_passed);
        self.failed += u32::from(has_failed);
        self.failed_runs.extend(has_failed.then(|| run.id.clone()));
        if !has_passed && !has_failed {
            self.invalid += 1;
            let causes = run.ending.iter().flat_map(|ending| &ending.validity.causes);
            self.invalid_by = causes.map(|cause| cause.sentence.clone()).next();
            return Ok(());
        }
        if stage == SearchStage::Confirm {
            self.confirmed.0 += u32::from(has_passed);
            self.confirmed.1 += 1;
        }
        if let Some(failed) = why {
            if !self.conditions.contains(&failed.condition) {
                self.conditions.push(failed.condition);
            }
            self.failed_by = Some(failed.words);
        }
        self.tally.merge(&run.whole(Phase::Measured)?);
        let measured = Measured::of(run)?;
        self.ok_per_s.extend(measured.ok_per_s());
        self.system_us_per_request.extend(measured.system_us_per_request());
        Ok(())
    }

    /// Describes the stages of the rate's runs.
    pub fn stage_words(&self) -> String {
        let words: Vec<&str> = self.stages.iter().map(|stage| stage_name(*stage)).collect();
        words.join(", ")
    }

    /// Returns the ok answers per second: the median over the rate's runs.
    pub fn ok_per_s(&self) -> Option<f64> {
        median(self.ok_per_s.iter().copied())
    }

    /// Returns the share of planned requests that the system did not serve, over the rate's runs.
    pub fn error_share(&self) -> Option<f64> {
        rates::error_share(&self.tally.counts)
    }

    /// Returns the CPU time of the system per request, in microseconds: the median over the rate's runs.
    pub fn system_us_per_request(&self) -> Option<f64> {
        median(self.system_us_per_request.iter().copied())
    }

    /// Returns a percentile of response time over the rate's runs; `None` if there are too few samples.
    pub fn response_ns(&self, percentile: Percentile) -> Option<f64> {
        self.tally.response.all().printable_at(percentile).map(|ns| ns as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_in_flight_at_the_end_are_no_errors() {
        let mut row = LevelRow::new(100.0);
        assert_eq!(row.error_share(), None);
        let counts = &mut row.tally.counts;
        (counts.planned, counts.ok, counts.unfinished, counts.not_sent) = (100, 88, 10, 2);
        assert_eq!(row.error_share(), Some(0.02));
    }
}
