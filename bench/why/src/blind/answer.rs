//! Grades an answer: compares the causes that the program named with those of the plant.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::plants::Plant;
use crate::cases::UNKNOWN;

/// Number of ranked causes that count for a plant with two limits.
const RANKS: usize = 3;

/// A cause that the program named.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub(crate) struct Cause {
    /// Code of the resource.
    pub(crate) resource: String,
    /// Limited resource, its place, and the reason, in lower case, without advice.
    pub(crate) text: String,
}

/// Answer to one run of a plant.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Answer {
    /// Causes, most likely first. Empty if none was named.
    pub(crate) causes: Vec<Cause>,
    /// Sentence with the evidence, or the error that prevented the run.
    pub(crate) because: String,
    /// `suspected`, `confirmed`, and so on. Empty without a cause.
    pub(crate) certainty: String,
    /// Share of the response time that the first cause explains. `None` if none was stated.
    #[serde(default)]
    pub(crate) share: Option<f64>,
    /// Rung of the first cause. Empty without a cause.
    #[serde(default)]
    pub(crate) rung: String,
    /// Answered requests per second.
    pub(crate) throughput_per_s: Option<f64>,
}

/// Grade of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Grade {
    /// Names every planted cause.
    Right,
    /// Names the family of the cause, one of two causes, or no cause.
    Vague,
    /// Names another cause.
    Wrong,
    /// The run failed, so there is no answer.
    NoRun,
}

impl Answer {
    /// Reads the answer from the result of a study of one run.
    pub(crate) fn read(study: &Value) -> Result<Self, String> {
        let [run] = study["runs"].as_array().map_or(&[][..], Vec::as_slice) else {
            return Err("the result does not have one run".to_owned());
        };
        let word = |value: &Value, key: &str| value[key].as_str().unwrap_or_default().to_owned();
        let bottleneck = &run["bottleneck"];
        let listed = bottleneck["causes"].as_array().map_or(&[][..], Vec::as_slice);
        let mut causes: Vec<Cause> = Vec::new();
        for value in std::iter::once(bottleneck).chain(listed).filter(|value| !value.is_null()) {
            let cause = Cause { resource: word(value, "resource"), text: text(value) };
            if !causes.contains(&cause) {
                causes.push(cause);
            }
        }
        Ok(Self {
            causes,
            because: word(bottleneck, "because"),
            certainty: word(bottleneck, "certainty"),
            share: bottleneck["share"].as_f64(),
            rung: word(bottleneck, "rung"),
            throughput_per_s: run["throughput_per_s"].as_f64(),
        })
    }

    /// Returns the answer of a run that failed.
    pub(crate) fn failed(error: &str) -> Self {
        Self {
            causes: Vec::new(),
            because: error.to_owned(),
            certainty: String::new(),
            share: None,
            rung: String::new(),
            throughput_per_s: None,
        }
    }

    /// Whether the first cause is a cause of `plant`.
    pub(crate) fn names_first(&self, plant: &Plant) -> bool {
        self.causes.first().is_some_and(|first| first.is_any_of(plant.right) || first.is_any_of(plant.also))
    }

    /// Grades the answer to `plant`.
    pub(crate) fn grade(&self, plant: &Plant) -> Grade {
        let Some(first) = self.causes.first() else {
            return if self.throughput_per_s.is_some() { Grade::Vague } else { Grade::NoRun };
        };
        let is_among = |group: &[&str]| self.causes.iter().take(RANKS).any(|cause| cause.is_any_of(group));
        let is_first_right = self.names_first(plant);
        if is_first_right && is_among(plant.right) && (plant.also.is_empty() || is_among(plant.also)) {
            Grade::Right
        } else if is_first_right || first.is_any_of(plant.vague) || UNKNOWN.contains(&first.resource.as_str())
        {
            Grade::Vague
        } else {
            Grade::Wrong
        }
    }
}

impl Cause {
    /// Whether the cause matches one of `answers`. An answer is a code, or `code:word/word` for a code with one of the words in its text.
    /// The code `*` matches every code.
    fn is_any_of(&self, answers: &[&str]) -> bool {
        answers.iter().any(|answer| {
            let (code, words) = answer.split_once(':').unwrap_or((answer, ""));
            (code == "*" || code == self.resource) && words.split('/').any(|word| self.text.contains(word))
        })
    }
}

fn text(cause: &Value) -> String {
    let mut text = String::new();
    for key in ["what", "scope", "because", "for"] {
        match &cause[key] {
            Value::String(words) => text.push_str(words),
            Value::Array(readings) => readings.iter().filter_map(Value::as_str).for_each(|reading| {
                text.push_str(reading);
                text.push(' ');
            }),
            _ => {}
        }
        text.push(' ');
    }
    text.to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blind::plants::Plant;

    const ONE: Plant = Plant::new("one", "").right(&["lock", "*:semaphore/slots"]).vague(&["one_core"]);
    const TWO: Plant = Plant::new("two", "").two(&["lock"], &["disk:fsync"]);

    fn answer(causes: &[(&str, &str)]) -> Answer {
        let causes = causes
            .iter()
            .map(|(resource, text)| Cause { resource: (*resource).to_owned(), text: (*text).to_owned() });
        Answer { causes: causes.collect(), throughput_per_s: Some(1.0), ..Answer::failed("") }
    }

    #[test]
    fn first_cause_decides_the_grade_of_one_limit() {
        let grade = |causes: &[(&str, &str)]| answer(causes).grade(&ONE);
        assert_eq!(grade(&[("lock", "")]), Grade::Right);
        assert_eq!(grade(&[("pool", "8 slots are taken")]), Grade::Right);
        assert_eq!(grade(&[("one_core", "")]), Grade::Vague);
        assert_eq!(grade(&[("unknown", "")]), Grade::Vague);
        assert_eq!(grade(&[]), Grade::Vague);
        assert_eq!(grade(&[("pool", ""), ("lock", "")]), Grade::Wrong);
    }

    #[test]
    fn both_of_two_causes_are_needed() {
        let grade = |causes: &[(&str, &str)]| answer(causes).grade(&TWO);
        assert_eq!(grade(&[("lock", ""), ("disk", "fsync takes 2 ms")]), Grade::Right);
        assert_eq!(grade(&[("disk", "fsync"), ("pool", ""), ("lock", "")]), Grade::Right);
        assert_eq!(grade(&[("lock", ""), ("disk", "reads")]), Grade::Vague);
        assert_eq!(grade(&[("pool", ""), ("disk", "fsync"), ("lock", "")]), Grade::Wrong);
    }

    #[test]
    fn a_failed_run_is_no_answer() {
        assert_eq!(Answer::failed("the server died").grade(&ONE), Grade::NoRun);
    }

    #[test]
    fn words_are_read_from_evidence_and_not_from_advice() {
        let study = serde_json::json!({ "runs": [{ "throughput_per_s": 3.5, "bottleneck": {
            "resource": "lock", "because": "Threads wait", "certainty": "suspected", "what": "a Lock", "next": "add an index",
            "for": ["16 threads slept"],
            "causes": [{ "resource": "lock", "because": "Threads wait", "what": "a Lock", "for": ["16 threads slept"] },
                       { "resource": "disk", "because": "fsync" }],
        } }] });
        let answer = Answer::read(&study).unwrap();
        assert_eq!(answer.causes.len(), 2);
        assert!(answer.causes[0].is_any_of(&["*:a lock"]) && answer.causes[0].is_any_of(&["lock:slept"]));
        assert!(!answer.causes[0].is_any_of(&["*:index"]));
        assert!(Answer::read(&serde_json::json!({ "runs": [] })).is_err());
    }
}
