//! The ending of a study, which determines the exit code, agrees with its report.

use evidence::{Cause, Distorted, Distortion, Level, Validity, Verdict};
use judge::CommandEnding;

use crate::studies::{self, Stored};

fn ending(stored: &Stored) -> CommandEnding {
    report::study_ending(&stored.study, &|run| stored.load(run)).unwrap()
}

/// Makes the response times of every run invalid, but not the throughput.
fn with_late_runs(mut stored: Stored) -> Stored {
    let distorts = [Distorted::Mean, Distorted::Tail]
        .map(|figure| Distortion::with_unknown_size(figure, Level::Invalid));
    let cause = Cause {
        code: "wake_lag".to_owned(),
        sentence: "timers woke late".to_owned(),
        remedy: "use a quieter machine".to_owned(),
        distorts: distorts.to_vec(),
    };
    let validity = Validity { verdict: Level::Invalid, causes: vec![cause], ..Validity::default() };
    for run in stored.study.runs.iter_mut().chain(&mut stored.runs) {
        let ending = run.ending.as_mut().expect("the run has ended");
        (ending.verdict, ending.validity) = (Verdict::Invalid, validity.clone());
    }
    stored
}

#[test]
fn studies_have_expected_endings() {
    let endings: Vec<(&str, CommandEnding)> =
        studies::all().iter().map(|(case, stored)| (*case, ending(stored))).collect();
    let of = |case: &str| endings.iter().find(|(name, _)| *name == case).expect("it is stored").1;
    assert_eq!(of("study-complete"), CommandEnding::Breached, "a system does not start, and there are gates");
    assert_eq!(of("study-invalid"), CommandEnding::Invalid);
    assert_eq!(of("study-gone"), CommandEnding::Degraded);
    assert_eq!(of("study-failures"), CommandEnding::Ok);
    assert_eq!(of("study-no-baseline"), CommandEnding::Undecided);
    assert_eq!(of("study-gates-of-baseline"), CommandEnding::Breached);
    assert_eq!(of("study-capacity"), CommandEnding::Ok);
    assert_eq!(of("study-not-begun"), CommandEnding::CouldNotRun);
}

#[test]
fn gates_on_invalid_response_times_give_no_verdict() {
    let stored = with_late_runs(studies::gone());
    assert!(!stored.study.new.gates.is_empty());
    assert_eq!(ending(&stored), CommandEnding::Invalid);
}

#[test]
fn valid_throughput_gives_verdict_despite_invalid_response_times() {
    let mut stored = with_late_runs(studies::gone());
    stored.study.new.gates.clear();
    assert_eq!(ending(&stored), CommandEnding::Ok);
    // There are too few blocks for a verdict, so the invalid runs determine the ending.
    let mut stored = with_late_runs(studies::one_block());
    stored.study.new.gates.clear();
    assert_eq!(ending(&stored), CommandEnding::Invalid);
}

#[test]
fn system_that_fails_in_every_run_determines_ending() {
    let mut stored = studies::complete();
    stored.study.new.gates.clear();
    assert_eq!(ending(&stored), CommandEnding::SystemFailed);
}
