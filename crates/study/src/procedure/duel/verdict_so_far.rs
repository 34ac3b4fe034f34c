//! Converts the state of a duel into a [`VerdictSoFar`].

use judge::Setting;
use progress::{Standing, VerdictSoFar};
use stats::{Duel, DuelStep, Verdict};

/// Returns the state of the duel of two variants under a load.
pub(super) fn of(load: &str, variants: &[Setting; 2], duel: &Duel) -> VerdictSoFar {
    VerdictSoFar {
        load: load.to_owned(),
        variants: variants.each_ref().map(Setting::name),
        blocks: u32::try_from(duel.blocks().len()).unwrap_or(u32::MAX),
        blocks_max: duel.rules().blocks_max,
        standing: standing(duel),
        is_over: matches!(duel.next(), DuelStep::Over(_)),
    }
}

fn standing(duel: &Duel) -> Standing {
    let finding = duel.finding();
    let is_first_ahead = finding.is_first_larger() == Some(duel.rules().higher_is_better);
    match finding.verdict {
        Verdict::Differs { below_matters } => {
            Standing::Ahead { variant: usize::from(!is_first_ahead), is_small: below_matters }
        }
        Verdict::Equivalent => Standing::Equal,
        Verdict::MoreErrors(more) => Standing::MoreErrors { variant: usize::from(!more.of_first) },
        Verdict::Inconclusive | Verdict::None(_) => Standing::Open,
    }
}
