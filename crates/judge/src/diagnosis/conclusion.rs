//! Summarizes an experiment in a sentence: confirmed, refuted, or open, with the changes that were tried, and those
//! left out.

use stats::{Finding, Undecided};

use super::{Diagnosis, TriedIntervention};

/// Result of an experiment as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// A change has the effect of a limit, and no other change of the same resource contradicts it.
    Confirmed,
    /// No decided change has the effect of a limit.
    Refuted,
    /// No change was decided, or two contradict each other.
    Open,
}

impl Outcome {
    /// Returns the name in JSON and in the sentence.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Confirmed => "confirmed",
            Self::Refuted => "refuted",
            Self::Open => "open",
        }
    }
}

/// Result of an experiment, with a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conclusion {
    /// Result.
    pub outcome: Outcome,
    /// Sentence without a full stop, which begins with the name of the result. May quote names: escape it.
    pub sentence: String,
}

impl Diagnosis {
    /// Returns the conclusion of the experiment.
    pub fn conclusion(&self) -> Conclusion {
        let of = |finding: Finding| self.tried.iter().filter(move |tried| tried.effect.finding == finding);
        let (contested, confirmed): (Vec<_>, Vec<_>) =
            of(Finding::Confirmed).partition(|tried| self.is_contested(tried));
        let refuted: Vec<_> = of(Finding::Refuted).collect();
        let outcome = match (confirmed.is_empty(), contested.is_empty(), refuted.is_empty()) {
            (false, ..) => Outcome::Confirmed,
            (true, true, false) => Outcome::Refuted,
            _ => Outcome::Open,
        };
        let head = match outcome {
            Outcome::Confirmed => format!("confirmed: {}", effects(&confirmed)),
            Outcome::Refuted => {
                format!("refuted: {}; what limits the system was not found", effects(&refuted))
            }
            Outcome::Open if self.tried.is_empty() => "open: no change was tried".to_owned(),
            Outcome::Open => "open: no change showed a limit".to_owned(),
        };
        let no_effect = if outcome == Outcome::Confirmed { effects(&refuted) } else { String::new() };
        let contributing: Vec<_> = of(Finding::Contributing).collect();
        let parts = [
            ("contradictory", effects(&contested)),
            ("contributes", effects(&contributing)),
            ("no limit", no_effect),
            ("undecided", self.undecided()),
            ("not tested", self.left_out.join(", ")),
        ];
        let parts = parts.into_iter().filter(|(_, words)| !words.is_empty());
        let sentence = parts.fold(head, |sentence, (name, words)| format!("{sentence}; {name}: {words}"));
        Conclusion { outcome, sentence }
    }

    /// Returns whether another change refutes a resource that this one tests.
    pub(super) fn is_contested(&self, confirming: &TriedIntervention) -> bool {
        // A parameter without an effect does not refute other parameters.
        let is_parameter = |code: &str| code == crate::causes::Resource::PARAMETER.code;
        let is_of_both = |refuting: &TriedIntervention| {
            let tests = confirming.changed.tests.iter().filter(|code| !is_parameter(code));
            tests.into_iter().any(|code| refuting.changed.tests.contains(code))
        };
        self.tried.iter().any(|tried| {
            tried.changed.can_refute && tried.effect.finding == Finding::Refuted && is_of_both(tried)
        })
    }

    /// Returns the changes that were not decided, each with the reason.
    fn undecided(&self) -> String {
        let words = self.tried.iter().filter_map(|tried| {
            let Finding::Undecided(why) = tried.effect.finding else { return None };
            let why = match why {
                Undecided::TooFewBlocks => "too few blocks",
                Undecided::NoRatio => "nothing was answered in a run",
                Undecided::Noise => "runs without any change differ by more than half of the effect",
                Undecided::Wide => "the interval is too wide",
            };
            Some(format!("{} ({why})", tried.words()))
        });
        words.collect::<Vec<_>>().join(", ")
    }
}

fn effects(tried: &[&TriedIntervention]) -> String {
    tried.iter().map(|tried| tried.words()).collect::<Vec<_>>().join(", ")
}
