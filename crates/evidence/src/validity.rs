//! Validity: whether the figures of a run can be trusted, each judged by itself.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Level of trust in the figures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// There is no evidence against the figures.
    #[default]
    Valid,
    /// The figures may have been disturbed.
    Suspect,
    /// The figures describe the generator, or nothing at all.
    Invalid,
}

impl Level {
    /// Returns the word for the level in the store and in reports.
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
    /// Mean and median response time.
    Mean,
    /// Response times from the 90th percentile on.
    Tail,
}

impl Distorted {
    /// Every figure.
    pub const ALL: [Self; 3] = [Self::Throughput, Self::Mean, Self::Tail];

    /// Returns the word for the figure in the store and in reports.
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
    /// Level of trust in the figure despite the cause.
    pub level: Level,
    /// Error of the figure, as a share of it: negative if the figure is too low. `None` if no reading shows the size.
    pub by_share: Option<f64>,
    /// Error of a response time, in microseconds.
    pub by_us: Option<f64>,
}

impl Distortion {
    /// Creates a distortion of unknown size.
    pub const fn with_unknown_size(figure: Distorted, level: Level) -> Self {
        Self { figure, level, by_share: None, by_us: None }
    }
}

/// Reason why figures may not be trusted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cause {
    /// Code for programs, such as `generator_cpu`.
    pub code: String,
    /// Observation, with its figures.
    pub sentence: String,
    /// Advice for the reader.
    pub remedy: String,
    /// Figures that it can distort; empty if an earlier version stored the run.
    #[serde(default)]
    pub distorts: Vec<Distortion>,
}

/// Number of delay thresholds for which the number of longer delays is stored.
pub const LONG_DELAYS: usize = 6;

/// Upper bound of the number of requests that the generator delayed for longer than a threshold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LongDelays {
    /// Upper bound of the number of requests.
    pub requests: f64,
    /// Threshold in nanoseconds.
    pub longer_than_ns: f64,
}

impl LongDelays {
    /// Combines the numbers of two loads. Each threshold becomes the longer of the two, so that the sum remains an
    /// upper bound. `None` if one load has no numbers.
    fn together(
        one: Option<[Self; LONG_DELAYS]>,
        other: Option<[Self; LONG_DELAYS]>,
    ) -> Option<[Self; LONG_DELAYS]> {
        let (mut sum, other) = (one?, other?);
        for (of, more) in sum.iter_mut().zip(other) {
            of.requests += more.requests;
            of.longer_than_ns = of.longer_than_ns.max(more.longer_than_ns);
        }
        Some(sum)
    }
}

/// Upper bounds of the generator's effect on the figures of a run, from its own signals. Bounds of figures follow from
/// them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GeneratorEffect {
    /// Share of the window for which the generator was stopped, or had no core for long, from 0 to 1.
    pub stopped_share: f64,
    /// Upper bound of the sum of the generator's own delays in all response times, in nanoseconds.
    pub delay_ns: f64,
    /// Numbers of requests that may be delayed for longer than a threshold, in descending order. Excludes stops. `None`
    /// if only the sum is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub long_delays: Option<[LongDelays; LONG_DELAYS]>,
    /// Upper bound of the share of requests whose response times a stop of the generator changed in another way, from 0
    /// to 1.
    pub disturbed_share: f64,
    /// Upper bound of the share of the true throughput that the measured throughput lacks, from 0 to 1.
    pub missing_share: f64,
    /// Upper bound of the share of answers that delays moved into the window or out of it, from 0 to 1.
    pub moved_share: f64,
    /// Whether the generator came near its highest rate, so that nothing limits the true throughput from above.
    pub is_at_limit: bool,
}

impl GeneratorEffect {
    /// Combines the effects on several loads, each with its number of requests. Shares of time or of answers become the
    /// largest one, so that no bound becomes too narrow. `None` without loads.
    pub fn together(loads: impl IntoIterator<Item = (Self, u64)>) -> Option<Self> {
        let add = |(sum, requests): (Self, u64), (next, more): (Self, u64)| {
            let all = (requests + more).max(1) as f64;
            let disturbed = sum.disturbed_share * requests as f64 + next.disturbed_share * more as f64;
            let together = Self {
                stopped_share: sum.stopped_share.max(next.stopped_share),
                delay_ns: sum.delay_ns + next.delay_ns,
                long_delays: LongDelays::together(sum.long_delays, next.long_delays),
                disturbed_share: disturbed / all,
                missing_share: sum.missing_share.max(next.missing_share),
                moved_share: sum.moved_share.max(next.moved_share),
                is_at_limit: sum.is_at_limit || next.is_at_limit,
            };
            (together, requests.saturating_add(more))
        };
        loads.into_iter().reduce(add).map(|(together, _)| together)
    }
}

/// Whether the figures can be trusted, and why not.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Validity {
    /// Worst level of all figures.
    pub verdict: Level,
    /// Causes; empty if valid.
    pub causes: Vec<Cause>,
    /// Observations whose effect on every figure is negligible.
    #[serde(default)]
    pub notes: Vec<Cause>,
    /// Effects of the generator on figures; `None` if unknown: another tool made the load, or an earlier version stored the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect: Option<GeneratorEffect>,
}

impl Validity {
    /// Returns the level of one figure. Runs of earlier versions do not record which figures their causes distort: if
    /// such a run is invalid, all of its figures are.
    pub fn of(&self, figure: Distorted) -> Level {
        let of_cause = |cause: &Cause| {
            let is_of_earlier = cause.distorts.is_empty() && self.verdict == Level::Invalid;
            let distorts = cause.distorts.iter().filter(|distortion| distortion.figure == figure);
            let known = distorts.map(|distortion| distortion.level).max().unwrap_or_default();
            if is_of_earlier { Level::Invalid } else { known }
        };
        // Without a cause, the verdict covers every figure.
        let unexplained = if self.causes.is_empty() { self.verdict } else { Level::Valid };
        self.causes.iter().map(of_cause).max().unwrap_or_default().max(unexplained)
    }

    /// Returns whether every share and time is finite. NaN and infinity can be neither stored nor printed.
    pub fn is_finite(&self) -> bool {
        let causes = self.causes.iter().chain(&self.notes);
        let sizes = causes
            .flat_map(|cause| &cause.distorts)
            .flat_map(|distortion| [distortion.by_share, distortion.by_us]);
        let effects = self.effect.iter().flat_map(|effect| {
            let GeneratorEffect {
                stopped_share, delay_ns, disturbed_share, missing_share, moved_share, ..
            } = *effect;
            [stopped_share, delay_ns, disturbed_share, missing_share, moved_share]
        });
        let delays = self.effect.iter().flat_map(|effect| effect.long_delays.iter().flatten());
        let delays = delays.flat_map(|of| [of.requests, of.longer_than_ns]);
        sizes.flatten().chain(effects).chain(delays).all(f64::is_finite)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cause(distorts: Vec<Distortion>) -> Cause {
        Cause { code: "a".to_owned(), sentence: String::new(), remedy: String::new(), distorts }
    }

    #[test]
    fn level_of_each_figure_depends_on_its_distortions() {
        let tail = Distortion::with_unknown_size(Distorted::Tail, Level::Invalid);
        let mean = Distortion::with_unknown_size(Distorted::Mean, Level::Suspect);
        let validity = Validity {
            verdict: Level::Invalid,
            causes: vec![cause(vec![tail]), cause(vec![mean])],
            notes: vec![cause(vec![Distortion::with_unknown_size(Distorted::Throughput, Level::Valid)])],
            effect: None,
        };
        assert_eq!(
            Distorted::ALL.map(|figure| validity.of(figure)),
            [Level::Valid, Level::Suspect, Level::Invalid]
        );
    }

    #[test]
    fn invalid_run_of_earlier_version_is_invalid_in_every_figure() {
        let of = |verdict, causes| {
            let validity = Validity { verdict, causes, ..Validity::default() };
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
