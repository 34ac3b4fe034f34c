//! JUnit XML and GitHub annotations report the failed conditions of other formats, and escape every text.

use quick_junit::{NonSuccessKind, Report, TestCaseStatus};

use crate::pages;
use crate::studies::{self, Stored};

fn written(stored: &Stored, format: &str) -> String {
    let mut out = Vec::new();
    let format = report::format(format).unwrap();
    report::write_study(format, &stored.study, &|run| stored.load(run), &pages::OPTIONS, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// Number of cases that passed, were skipped, failed, and had errors.
fn counted(report: &Report) -> [usize; 4] {
    let mut counts = [0; 4];
    for case in report.test_suites.iter().flat_map(|suite| &suite.test_cases) {
        counts[match &case.status {
            TestCaseStatus::Success { .. } => 0,
            TestCaseStatus::Skipped { .. } => 1,
            TestCaseStatus::NonSuccess { kind: NonSuccessKind::Failure, .. } => 2,
            TestCaseStatus::NonSuccess { kind: NonSuccessKind::Error, .. } => 3,
        }] += 1;
    }
    counts
}

#[test]
fn failed_condition_is_failed_case() {
    let mut failures = 0;
    for (case, stored) in studies::all() {
        let xml = written(stored, "junit");
        let report =
            Report::deserialize_from_str(&xml).unwrap_or_else(|error| panic!("{case}: {error}\n{xml}"));
        let [passed, skipped, failed, invalid] = counted(&report);
        failures += failed;
        let ending = report::study_ending(&stored.study, &|run| stored.load(run)).unwrap();
        if stored.study.ending.is_some() {
            let says_so = if ending.code() == 0 { failed + invalid == 0 } else { failed + invalid > 0 };
            assert!(says_so, "{case}: {ending:?}, and {failed} failed, {invalid} without an answer");
        }
        let terminal = written(stored, "terminal");
        if terminal.contains("Gate failed") {
            assert!(failed > 0, "{case}: all conditions passed");
        }
        let annotations = written(stored, "github");
        let count = |command: &str| annotations.lines().filter(|line| line.starts_with(command)).count();
        assert_eq!((count("::error "), count("::warning ")), (failed + invalid, skipped), "{case}");
        let all = passed + skipped + failed + invalid;
        assert!(annotations.ends_with(&format!("::{passed} of {all} checks passed\n")), "{case}");
    }
    assert!(failures > 0, "no study of the fixtures fails a condition");
}
