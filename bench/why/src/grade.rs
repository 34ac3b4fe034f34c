//! Grades a run: compares the bottleneck that the program named with the planted one.

use std::time::Duration;

use serde::Serialize;

use crate::cases::{Case, UNKNOWN};

/// Bottleneck that the program named for a run.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct NamedBottleneck {
    /// Code of the likely bottleneck. `none` if the program named none.
    pub(crate) resource: String,
    /// Codes of the likely bottleneck and the next causes, three at most.
    pub(crate) ranked: Vec<String>,
    /// Sentence with the evidence, or the error that prevented the run.
    pub(crate) sentence: String,
    /// Report of the system in instrumented runs of an experiment. Empty without one.
    pub(crate) report: String,
    /// Share of the response time that the first cause explains. `None` if none was stated.
    pub(crate) share: Option<f64>,
    /// `suspected`, `confirmed`, and so on. Empty without a bottleneck.
    pub(crate) certainty: String,
    /// Validity of the numbers, such as `valid` or `invalid`. Empty without a bottleneck.
    pub(crate) validity: String,
    /// Sentences about readings of the run that contradict the bottleneck.
    pub(crate) refuted: Vec<String>,
    /// Throughput in requests per second, which shows whether the plant took effect. `None` without a bottleneck.
    pub(crate) throughput_per_s: Option<f64>,
}

impl NamedBottleneck {
    /// Returns an answer without a bottleneck, and the reason for it.
    pub(crate) fn without_bottleneck(why: &str) -> Self {
        Self {
            resource: "none".to_owned(),
            ranked: Vec::new(),
            sentence: why.to_owned(),
            report: String::new(),
            share: None,
            certainty: String::new(),
            validity: String::new(),
            refuted: Vec::new(),
            throughput_per_s: None,
        }
    }
}

/// Verdict on the bottleneck that the program named.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Verdict {
    /// Names the planted resource.
    Right,
    /// Names another resource first, and the planted one among the next.
    Listed,
    /// Names no resource, or the program called a noisy run invalid.
    Undetermined,
    /// Names only other resources.
    Wrong,
}

/// Run of a case, with the planted bottleneck and the named one.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Grade {
    /// Name of the case.
    pub(crate) case: &'static str,
    /// Number of the run of this case, from 1.
    pub(crate) number: u32,
    /// Code of the planted resource.
    pub(crate) planted: &'static str,
    /// Bottleneck that the program named.
    #[serde(flatten)]
    pub(crate) said: NamedBottleneck,
    pub(crate) verdict: Verdict,
    /// Whether the program wrongly blamed the generator or the load, or reported a limit where there is none.
    pub(crate) is_denied: bool,
    /// Whether the program called another bottleneck confirmed.
    pub(crate) is_falsely_confirmed: bool,
    /// Duration in seconds, including start and stop of the system.
    pub(crate) seconds: f64,
}

impl Grade {
    /// Grades the bottleneck `said` against the plant of `case`.
    pub(crate) fn of(
        case: &'static Case,
        number: u32,
        is_noisy: bool,
        said: NamedBottleneck,
        took: Duration,
    ) -> Self {
        let is_met = case.is_met_by(&said);
        let verdict = if is_met {
            Verdict::Right
        } else if UNKNOWN.contains(&said.resource.as_str()) || is_noisy && said.validity == "invalid" {
            // The program itself distrusts an invalid run, so its answer is not wrong.
            Verdict::Undetermined
        } else if said.ranked.iter().any(|code| case.accepts.contains(&code.as_str())) {
            Verdict::Listed
        } else {
            Verdict::Wrong
        };
        Self {
            case: case.name,
            number,
            planted: case.accepts[0],
            verdict,
            is_denied: !is_met && case.is_contradicted_by(&said.resource),
            is_falsely_confirmed: !is_met && said.certainty == "confirmed",
            seconds: (took.as_secs_f64() * 10.0).round() / 10.0,
            said,
        }
    }

    /// Whether the planted resource is among the first three.
    pub(crate) fn is_among_three(&self, case: &Case) -> bool {
        self.verdict == Verdict::Right
            || self.said.ranked.iter().any(|code| case.accepts.contains(&code.as_str()))
    }

    /// Formats the grade as a line for the terminal.
    pub(crate) fn line(&self) -> String {
        let NamedBottleneck { resource, sentence, .. } = &self.said;
        let verdict = match self.verdict {
            Verdict::Right => "right",
            Verdict::Listed => "listed",
            Verdict::Undetermined => "undetermined",
            Verdict::Wrong => "WRONG",
        };
        format!("{:<22} {:<13} planted {}, said {resource}: {sentence}", self.case, verdict, self.planted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases::{CASES, Case};

    fn said(resource: &str, ranked: &[&str]) -> NamedBottleneck {
        let ranked = ranked.iter().map(|code| (*code).to_owned()).collect();
        NamedBottleneck {
            resource: resource.to_owned(),
            ranked,
            ..NamedBottleneck::without_bottleneck("so it is")
        }
    }

    fn graded(resource: &str, ranked: &[&str]) -> Grade {
        let case: &Case = CASES.iter().find(|case| case.name == "c-mutex").unwrap();
        Grade::of(case, 1, false, said(resource, ranked), Duration::from_secs(1))
    }

    #[test]
    fn answers_are_right_listed_undetermined_or_wrong() {
        assert_eq!(graded("lock", &["lock"]).verdict, Verdict::Right);
        assert_eq!(graded("disk", &["disk", "lock"]).verdict, Verdict::Listed);
        assert_eq!(graded("unknown", &["unknown"]).verdict, Verdict::Undetermined);
        assert_eq!(graded("disk", &["disk"]).verdict, Verdict::Wrong);
        assert!(graded("generator", &["generator"]).is_denied && !graded("disk", &["disk"]).is_denied);
    }

    #[test]
    fn a_confirmation_of_something_else_is_false() {
        let case: &Case = CASES.iter().find(|case| case.name == "c-mutex").unwrap();
        let of = |resource| {
            let said = NamedBottleneck { certainty: "confirmed".to_owned(), ..said(resource, &[]) };
            Grade::of(case, 1, false, said, Duration::from_secs(1)).is_falsely_confirmed
        };
        assert!(of("disk") && !of("lock"));
    }
}
