//! JUnit's XML, which build servers read: a test case for each condition and each run.

use std::io;
use std::time::Duration;

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use super::{Format, Way};
use crate::checks::{self, Check, Group, Outcome};
use crate::error::ReportError;

pub(super) const FORMAT: Format = Format {
    name: "junit",
    sentence: "JUnit's XML, for build servers: conditions and runs as test cases",
    extension: "xml",
    way: Way::Picked {
        runs: |views, out| write(&checks::of_runs(views), out),
        study: Some(|study, out| write(&checks::of_study(study), out)),
        compared: Some(|compared, out| write(&checks::of_compared(compared), out)),
    },
};

/// What the report is called.
const NAME: &str = "tenbin";

fn write(groups: &[Group], out: &mut dyn io::Write) -> Result<(), ReportError> {
    let mut report = Report::new(NAME);
    report.add_test_suites(groups.iter().map(suite));
    report.serialize(&mut *out).map_err(io::Error::other)?;
    Ok(())
}

fn suite(group: &Group) -> TestSuite {
    let mut suite = TestSuite::new(group.name.as_str());
    if let Some(time) = group.duration_s.and_then(|s| Duration::try_from_secs_f64(s).ok()) {
        suite.set_time(time);
    }
    suite.add_test_cases(group.checks.iter().map(case));
    suite
}

fn case(check: &Check) -> TestCase {
    let mut case = TestCase::new(check.name.as_str(), status(&check.outcome));
    case.set_classname(check.of.as_str());
    case
}

fn status(outcome: &Outcome) -> TestCaseStatus {
    let (mut status, message) = match outcome {
        Outcome::Passed => return TestCaseStatus::success(),
        Outcome::Skipped(message) => (TestCaseStatus::skipped(), message),
        Outcome::Failed(message) => (TestCaseStatus::non_success(NonSuccessKind::Failure), message),
        Outcome::Invalid(message) => (TestCaseStatus::non_success(NonSuccessKind::Error), message),
    };
    status.set_message(message.as_str());
    status
}
