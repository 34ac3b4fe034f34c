//! What was said of a planted bottleneck, and how good that is.

use std::time::Duration;

use serde::Serialize;

use crate::cases::{Case, UNKNOWN};

/// What the program said of a run.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Said {
    /// The code of the likely bottleneck; `none` if it named none.
    pub(crate) resource: String,
    /// It and those that come next, three at most.
    pub(crate) ranked: Vec<String>,
    /// The evidence in a sentence, or the error that kept the run from being made.
    pub(crate) sentence: String,
    /// Share of the response time that the first cause is said to explain; `None` if none was stated.
    pub(crate) share: Option<f64>,
    /// `suspected`, `confirmed`, and so on; empty if nothing was said.
    pub(crate) certainty: String,
    /// Whether the numbers may be believed.
    pub(crate) validity: String,
    /// Readings of the run that contradict it.
    pub(crate) refuted: Vec<String>,
    /// To see whether the plant had its effect.
    pub(crate) throughput_per_s: Option<f64>,
}

impl Said {
    /// No bottleneck, and why.
    pub(crate) fn nothing(why: &str) -> Self {
        Self {
            resource: "none".to_owned(),
            ranked: Vec::new(),
            sentence: why.to_owned(),
            share: None,
            certainty: String::new(),
            validity: String::new(),
            refuted: Vec::new(),
            throughput_per_s: None,
        }
    }
}

/// How good it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Verdict {
    /// It names what was planted.
    Right,
    /// It names something else first, and what was planted among the next.
    Listed,
    /// It names no resource.
    Undetermined,
    /// It names another resource.
    Wrong,
}

/// A run with what was planted and what was said.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Grade {
    /// The case.
    pub(crate) case: &'static str,
    /// Which of its runs, from 1.
    pub(crate) number: u32,
    /// The code of what was planted.
    pub(crate) planted: &'static str,
    /// What was said.
    #[serde(flatten)]
    pub(crate) said: Said,
    /// How good it is.
    pub(crate) verdict: Verdict,
    /// Whether it blames the generator or the load for a limit of the system, or finds a limit where there is none.
    pub(crate) is_denied: bool,
    /// Whether it is called confirmed, and is not what was planted.
    pub(crate) is_falsely_confirmed: bool,
    /// How long it took, start and stop of the system included.
    pub(crate) seconds: f64,
}

impl Grade {
    /// The grade of what was said.
    pub(crate) fn of(case: &'static Case, number: u32, is_noisy: bool, said: Said, took: Duration) -> Self {
        let is_met = case.is_met_by(&said);
        let verdict = if is_met {
            Verdict::Right
        } else if UNKNOWN.contains(&said.resource.as_str()) || is_noisy && said.validity == "invalid" {
            // A run that the program itself disbelieves says nothing.
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
            is_denied: !is_met && case.must_not_be(&said.resource),
            is_falsely_confirmed: !is_met && said.certainty == "confirmed",
            seconds: (took.as_secs_f64() * 10.0).round() / 10.0,
            said,
        }
    }

    /// Whether what was planted is among the first three.
    pub(crate) fn is_among_three(&self, case: &Case) -> bool {
        self.verdict == Verdict::Right
            || self.said.ranked.iter().any(|code| case.accepts.contains(&code.as_str()))
    }

    /// One line for people.
    pub(crate) fn line(&self) -> String {
        let Said { resource, sentence, .. } = &self.said;
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

    fn said(resource: &str, ranked: &[&str]) -> Said {
        let ranked = ranked.iter().map(|code| (*code).to_owned()).collect();
        Said { resource: resource.to_owned(), ranked, ..Said::nothing("so it is") }
    }

    fn graded(resource: &str, ranked: &[&str]) -> Grade {
        let case: &Case = CASES.iter().find(|case| case.name == "c-mutex").unwrap();
        Grade::of(case, 1, false, said(resource, ranked), Duration::from_secs(1))
    }

    #[test]
    fn what_is_said_is_right_listed_undetermined_or_wrong() {
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
            let said = Said { certainty: "confirmed".to_owned(), ..said(resource, &[]) };
            Grade::of(case, 1, false, said, Duration::from_secs(1)).is_falsely_confirmed
        };
        assert!(of("disk") && !of("lock"));
    }
}
