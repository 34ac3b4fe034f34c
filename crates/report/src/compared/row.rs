//! One configuration in a comparison of two studies, and its verdict as text.

use evidence::StudyPlace;
use judge::alike::WorkDifference;
use judge::baseline::RUNS_MIN;
use judge::comparison::unpaired::{Compared, NoVerdict, SignificantAlone, Verdict};
use judge::comparison::unpaired_way_in_words;

use crate::study::explained::SlownessExplanation;
use crate::units::decimal;

/// Comparison of a configuration under a load.
pub(super) struct ComparedRow {
    /// Load, system, and variant. Arbitrary text: escape them.
    pub(super) load: String,
    pub(super) system: String,
    pub(super) variant: String,
    pub(super) compared: Compared,
    /// Explanation of why one side is slower. `None` if the sides do not differ, or if their metric cannot be explained this way.
    pub(super) why: Option<SlownessExplanation>,
    /// Differences between the work of the sides.
    pub(super) unlike: Vec<WorkDifference>,
}

impl ComparedRow {
    pub(super) fn new(load: &str, place: &StudyPlace, compared: Compared) -> Self {
        Self {
            load: load.to_owned(),
            system: place.system.clone(),
            variant: place.variant.clone(),
            compared,
            why: None,
            unlike: Vec::new(),
        }
    }
}

/// Verdict in one word.
pub(super) fn word(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Differs { .. } => "differs",
        Verdict::Equivalent => "equivalent",
        Verdict::Inconclusive(_) => "inconclusive",
        Verdict::None(_) => "none",
    }
}

/// Verdict with the minimum effect, such as `equivalent within 3 %`.
pub(super) fn words(verdict: &Verdict, matters: &str) -> String {
    match verdict {
        Verdict::Differs { below_matters: true } => format!("differs, by less than {matters}"),
        Verdict::Equivalent => format!("equivalent within {matters}"),
        _ => word(verdict).to_owned(),
    }
}

/// Reason why there is no verdict, or why the interval alone gives none, and what would decide. `None` if the verdict needs no reason, or
/// if it is inconclusive and the runs do not show what would decide.
pub(super) fn reason(compared: &Compared) -> Option<String> {
    match &compared.verdict {
        Verdict::Inconclusive(alone) => {
            let why = alone.map(|SignificantAlone { p, together }| {
                format!("p = {} would do alone, not among {together} rows", decimal(p, 3))
            });
            let parts: Vec<String> =
                why.into_iter().chain(compared.way.as_ref().map(unpaired_way_in_words)).collect();
            (!parts.is_empty()).then(|| parts.join("; "))
        }
        Verdict::None(why) => Some(no_verdict_reason(why)),
        _ => None,
    }
}

fn no_verdict_reason(why: &NoVerdict) -> String {
    match why {
        NoVerdict::UnevenDiscards { invalid: [a, b] } => {
            format!("{a} runs of A and {b} of B were invalid, so the remaining runs are a biased sample")
        }
        NoVerdict::BetterHasMoreErrors => "a side with more errors is not better".to_owned(),
        NoVerdict::EquivalentHasMoreErrors => {
            "the configuration with more errors is not called equivalent".to_owned()
        }
        NoVerdict::TooFewRuns { runs: [a, b], too_few_samples } => {
            let few = match too_few_samples {
                0 => String::new(),
                few => format!("; {few} more have too few samples for a verdict on this percentile"),
            };
            format!("A has {a} runs that count, B has {b}: it takes {RUNS_MIN} of each{few}")
        }
        NoVerdict::NoRatio => "a figure is zero, so there is no ratio".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use judge::comparison::unpaired::Side;
    use judge::results::UnpairedWay;

    #[test]
    fn reasons_have_numbers_of_runs() {
        let reason = |verdict, way| {
            let sides = [Side::of(std::iter::empty()), Side::of(std::iter::empty())];
            reason(&Compared { sides, unpaired: None, verdict, way })
        };
        let few = |too_few_samples| {
            let why = NoVerdict::TooFewRuns { runs: [3, 6], too_few_samples };
            reason(Verdict::None(why), None).unwrap()
        };
        assert_eq!(few(0), "A has 3 runs that count, B has 6: it takes 4 of each");
        assert!(few(2).ends_with("4 of each; 2 more have too few samples for a verdict on this percentile"));
        let alone = Verdict::Inconclusive(Some(SignificantAlone { p: 0.0286, together: 3 }));
        assert_eq!(reason(alone, None).as_deref(), Some("p = 0.029 would do alone, not among 3 rows"));
        assert_eq!(reason(Verdict::Inconclusive(None), None), None);
        let way = Some(UnpairedWay::MoreRuns { each: 12, seconds: 90.0 });
        let more = reason(Verdict::Inconclusive(None), way).unwrap();
        assert_eq!(more, "12 valid runs in each study are likely to be conclusive, about 90 s more");
    }
}
