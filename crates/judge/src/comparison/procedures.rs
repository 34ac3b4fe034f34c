//! Findings of a study's own procedure for its variants.

use evidence::{EvidenceError, Study};
use stats::{CarryOver, Control, Duel, FirstSlices, TournamentFindings, VarianceComponents};

use super::variant::Variant;
use crate::compared_by::ComparedBy;
use crate::setting::Setting;

/// Duel of two variants by a metric; `None` if the study has none.
fn duel(
    study: &Study,
    load: &str,
    variants: [&Variant<'_>; 2],
    by: &ComparedBy,
) -> Result<Option<Duel>, EvidenceError> {
    let [first, second] = variants.map(Variant::setting);
    crate::duel(study, load, [&first, &second], by)
}

/// Findings of a tournament of all variants under a load, which refer to variants by index; `None` if the study has none.
pub fn tournament_findings(
    study: &Study,
    load: &str,
    variants: &[&Variant<'_>],
) -> Result<Option<TournamentFindings>, EvidenceError> {
    let Some(by) = ComparedBy::named(&study.new.compare.by) else { return Ok(None) };
    let settings: Vec<Setting> = variants.iter().map(|variant| variant.setting()).collect();
    let tournament = crate::tournament(study, load, &settings, &by)?;
    Ok(tournament.map(|tournament| tournament.finding()))
}

/// Returns the total error rate of the verdicts of a study. Each extension adds half of the rate that was added before
/// it.
pub fn error_rate(study: &Study) -> f64 {
    stats::error_rate(u32::try_from(study.extensions.len()).unwrap_or(u32::MAX))
}

/// Findings from slices, in addition to their figures.
#[derive(Clone, Copy, Debug)]
pub struct SliceFindings {
    /// Variation between starts and between slices.
    pub levels: VarianceComponents,
    /// Influence of a slice on those that follow it; `None` with too few blocks.
    pub carry_over: Option<CarryOver>,
    /// Share of the variation that the CPU time of other processes explains.
    pub control: Option<Control>,
    /// Comparison of the first slices of the blocks, if it does not confirm the difference over all slices. `None` if
    /// it does, or if there is no difference.
    pub unconfirmed: Option<FirstSlices>,
}

/// Analyzes slices under a load; `None` if the study has none, or too few.
pub fn sliced(
    study: &Study,
    load: &str,
    variants: &[&Variant<'_>],
    by: &ComparedBy,
) -> Result<Option<SliceFindings>, EvidenceError> {
    let (Some(_), [first, second]) = (study.new.compare.procedure.slices(), variants) else {
        return Ok(None);
    };
    let sliced = |duel: Duel| {
        let (levels, carry_over, control) = (duel.levels()?, duel.carry_over(), duel.control());
        let unconfirmed = duel.first_slices().filter(|_| duel.is_withheld());
        Some(SliceFindings { levels, carry_over, control, unconfirmed })
    };
    Ok(duel(study, load, [first, second], by)?.and_then(sliced))
}
