//! Whether the numbers of a run can be believed: each of its figures by itself.

use std::fmt;

use serde::{Deserialize, Serialize};

/// How far the numbers may be believed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Nothing speaks against them.
    #[default]
    Valid,
    /// Something may have disturbed them.
    Suspect,
    /// They measure the generator, or nothing.
    Invalid,
}

impl Level {
    /// The word in the store and in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Valid => "valid",
            Self::Suspect => "suspect",
            Self::Invalid => "invalid",
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A figure that a generator can distort.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Distorted {
    /// Answers per second.
    Throughput,
    /// The mean and the median response time.
    Mean,
    /// Response times from the 90th percentile on.
    Tail,
}

impl Distorted {
    /// Every one.
    pub const ALL: [Self; 3] = [Self::Throughput, Self::Mean, Self::Tail];

    /// The word in the store and in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Throughput => "throughput",
            Self::Mean => "mean",
            Self::Tail => "tail",
        }
    }
}

/// Maximum effect of a cause on a figure.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Distortion {
    /// The figure.
    pub figure: Distorted,
    /// Whether the figure may be believed nevertheless.
    pub level: Level,
    /// By how much it may be off, as a share of the figure: negative if it is too low. `None` if no reading tells.
    pub by_share: Option<f64>,
    /// Change of a response time, in microseconds.
    pub by_us: Option<f64>,
}

impl Distortion {
    /// Change of unknown size.
    pub const fn unsized_of(figure: Distorted, level: Level) -> Self {
        Self { figure, level, by_share: None, by_us: None }
    }
}

/// Why numbers may not be believed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cause {
    /// A word for programs, such as `generator_cpu`.
    pub code: String,
    /// Observation, with its figures.
    pub sentence: String,
    /// Advice for the reader.
    pub remedy: String,
    /// The figures that it can distort; empty if an earlier version kept the run.
    #[serde(default)]
    pub distorts: Vec<Distortion>,
}

/// May the numbers be believed, and if not, why.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Validity {
    /// The judgement: that of the figure in most doubt.
    pub verdict: Level,
    /// Causes; empty when valid.
    pub causes: Vec<Cause>,
    /// Observations whose effect on every figure is negligible.
    #[serde(default)]
    pub notes: Vec<Cause>,
}

impl Validity {
    /// Whether one figure may be believed. Of a run that an earlier version kept, what made it invalid spoils every figure, and
    /// nobody knows which ones the rest distorts.
    pub fn of(&self, figure: Distorted) -> Level {
        let of_cause = |cause: &Cause| {
            let is_of_earlier = cause.distorts.is_empty() && self.verdict == Level::Invalid;
            let distorts = cause.distorts.iter().filter(|distortion| distortion.figure == figure);
            let known = distorts.map(|distortion| distortion.level).max().unwrap_or_default();
            if is_of_earlier { Level::Invalid } else { known }
        };
        // Without a cause, the judgement is about all.
        let unexplained = if self.causes.is_empty() { self.verdict } else { Level::Valid };
        self.causes.iter().map(of_cause).max().unwrap_or_default().max(unexplained)
    }

    /// Whether every share and time is finite, and so can be kept and printed.
    pub fn is_finite(&self) -> bool {
        let causes = self.causes.iter().chain(&self.notes);
        let sizes = causes
            .flat_map(|cause| &cause.distorts)
            .flat_map(|distortion| [distortion.by_share, distortion.by_us]);
        sizes.flatten().all(f64::is_finite)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cause(distorts: Vec<Distortion>) -> Cause {
        Cause { code: "a".to_owned(), sentence: String::new(), remedy: String::new(), distorts }
    }

    #[test]
    fn each_figure_is_judged_by_what_distorts_it() {
        let tail = Distortion::unsized_of(Distorted::Tail, Level::Invalid);
        let mean = Distortion::unsized_of(Distorted::Mean, Level::Suspect);
        let validity = Validity {
            verdict: Level::Invalid,
            causes: vec![cause(vec![tail]), cause(vec![mean])],
            notes: vec![cause(vec![Distortion::unsized_of(Distorted::Throughput, Level::Valid)])],
        };
        assert_eq!(
            Distorted::ALL.map(|figure| validity.of(figure)),
            [Level::Valid, Level::Suspect, Level::Invalid]
        );
    }

    #[test]
    fn what_an_earlier_version_called_invalid_is_invalid_as_a_whole() {
        let of = |verdict, causes| {
            let validity = Validity { verdict, causes, notes: Vec::new() };
            Distorted::ALL.map(|figure| validity.of(figure))
        };
        assert_eq!(of(Level::Invalid, vec![cause(Vec::new())]), [Level::Invalid; 3]);
        assert_eq!(of(Level::Invalid, Vec::new()), [Level::Invalid; 3]);
        assert_eq!(of(Level::Suspect, vec![cause(Vec::new())]), [Level::Valid; 3]);
        let text = r#"{"verdict":"suspect","causes":[{"code":"a","sentence":"","remedy":""}]}"#;
        let read: Validity = serde_json::from_str(text).unwrap();
        assert_eq!((read.causes, read.notes), (vec![cause(Vec::new())], Vec::new()));
    }
}
