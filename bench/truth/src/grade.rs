//! Grades planted truths: counts the right attempts, and compares them with the number required.

use std::fs;
use std::path::Path;

use anyhow::Context as _;
use serde::Serialize;

use harness::aligned::aligned;

use crate::flags::Flags;

/// Grade of one planted truth.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Grade {
    /// Name of the case, such as T4.
    pub(crate) case: &'static str,
    /// Description of the planted truth.
    pub(crate) planted: String,
    /// Short summary of what Tenbin reported.
    pub(crate) found: String,
    /// Number of right attempts.
    pub(crate) good: u32,
    /// Number of attempts.
    pub(crate) of: u32,
    /// Min number of right attempts to pass.
    pub(crate) needed: u32,
    /// Wrong results, and errors of attempts that had no result.
    pub(crate) remarks: Vec<String>,
}

impl Grade {
    /// Grades the results of several attempts.
    pub(crate) fn of(
        case: &'static str,
        planted: impl Into<String>,
        needed: u32,
        tries: Vec<Result<Finding, String>>,
    ) -> Self {
        let of = tries.len() as u32;
        let good = tries.iter().flatten().filter(|found| found.is_right).count() as u32;
        let mut words: Vec<&str> = tries.iter().flatten().map(|found| found.what.as_str()).collect();
        words.dedup();
        const SHOWN: usize = 6;
        let more =
            if words.len() > SHOWN { format!(", and {} more", words.len() - SHOWN) } else { String::new() };
        let found = words.iter().take(SHOWN).copied().collect::<Vec<_>>().join(", ") + &more;
        let wrong = |found: &Finding| (!found.is_right).then(|| format!("wrong: {}", found.what));
        let remarks = tries
            .iter()
            .filter_map(|one| match one {
                Ok(found) => wrong(found),
                Err(error) => Some(error.clone()),
            })
            .collect();
        Self { case, planted: planted.into(), found, good, of, needed, remarks }
    }

    /// Returns a failing grade for a case that could not run.
    pub(crate) fn broken(case: &'static str, why: impl Into<String>) -> Self {
        let (planted, found) = ("–".to_owned(), "–".to_owned());
        Self { case, planted, found, good: 0, of: 0, needed: 1, remarks: vec![why.into()] }
    }

    /// Returns a passing grade for a truth that cannot be planted on this machine.
    pub(crate) fn skipped_case(
        case: &'static str,
        planted: impl Into<String>,
        why: impl Into<String>,
    ) -> Self {
        let found = "left out".to_owned();
        Self { case, planted: planted.into(), found, good: 0, of: 0, needed: 0, remarks: vec![why.into()] }
    }

    pub(crate) fn is_passed(&self) -> bool {
        self.good >= self.needed
    }
}

/// Result of one attempt.
#[derive(Clone, Debug)]
pub(crate) struct Finding {
    /// Whether the report matches the planted truth.
    pub(crate) is_right: bool,
    /// Short summary of the report.
    pub(crate) what: String,
}

impl Finding {
    pub(crate) fn new(is_right: bool, what: impl Into<String>) -> Self {
        Self { is_right, what: what.into() }
    }
}

/// Formats all grades as a table, followed by their remarks.
pub(crate) fn table(grades: &[Grade]) -> String {
    let mut lines = vec![["case", "planted", "right", "needed", "", "found"].map(str::to_owned).to_vec()];
    for grade in grades {
        let verdict = if grade.is_passed() { "pass" } else { "FAIL" };
        let right = format!("{}/{}", grade.good, grade.of);
        lines.push(vec![
            grade.case.to_owned(),
            grade.planted.clone(),
            right,
            grade.needed.to_string(),
            verdict.to_owned(),
            grade.found.clone(),
        ]);
    }
    let mut text = aligned(&lines);
    for grade in grades {
        for remark in &grade.remarks {
            text.push_str(&format!("  {}, {}: {remark}\n", grade.case, grade.planted));
        }
    }
    text
}

#[derive(Serialize)]
struct StoredGrades<'a> {
    schema: &'static str,
    profile: &'static str,
    seed: u64,
    passed: bool,
    grades: &'a [Grade],
}

/// Writes all grades to a JSON file.
pub(crate) fn write(path: &Path, flags: &Flags, grades: &[Grade]) -> anyhow::Result<()> {
    let passed = grades.iter().all(Grade::is_passed);
    let kept = StoredGrades {
        schema: "bench-truth/1",
        profile: flags.profile.name(),
        seed: flags.seed,
        passed,
        grades,
    };
    let text = serde_json::to_string_pretty(&kept).context("cannot write JSON")?;
    fs::write(path, text + "\n")
        .with_context(|| format!("cannot write {}; name another with --json", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tries_that_could_not_be_made_are_not_right() {
        let tries = vec![
            Ok(Finding::new(true, "5 %")),
            Ok(Finding::new(true, "5 %")),
            Ok(Finding::new(false, "0 %")),
            Err("no server".to_owned()),
        ];
        let grade = Grade::of("T9", "+5 %", 3, tries);
        assert_eq!((grade.good, grade.of, grade.is_passed()), (2, 4, false));
        assert_eq!(grade.found, "5 %, 0 %");
        assert_eq!(grade.remarks, ["wrong: 0 %", "no server"]);
        assert!(table(&[grade]).contains("FAIL"));
        assert!(Grade::skipped_case("T5", "quota", "no cgroup").is_passed());
        assert!(!Grade::broken("T5", "it panicked").is_passed());
    }
}
