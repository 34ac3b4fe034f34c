//! What a study's own procedure says of its rows.

use evidence::{EvidenceError, Study};
use judge::{ComparedBy, Setting};
use stats::{CarryOver, Control, Duel, Levels, TournamentFindings};

use super::rows::VariantRow;

/// The duel of two rows by a metric; `None` if the study has no duel.
pub(super) fn duel(
    study: &Study,
    load: &str,
    rows: [&VariantRow<'_>; 2],
    by: &ComparedBy,
) -> Result<Option<Duel>, EvidenceError> {
    let [first, second] = rows.map(|row| Setting::of(row.place));
    judge::duel(study, load, [&first, &second], by)
}

/// What a tournament of all rows of a load has found, each under its place in them; `None` if the study has none.
pub(super) fn tournament(
    study: &Study,
    load: &str,
    rows: &[VariantRow<'_>],
) -> Result<Option<TournamentFindings>, EvidenceError> {
    let Some(by) = ComparedBy::named(&study.new.compare.by) else { return Ok(None) };
    let settings: Vec<Setting> = rows.iter().map(|row| Setting::of(row.place)).collect();
    let tournament = judge::tournament(study, load, &settings, &by)?;
    Ok(tournament.map(|tournament| tournament.finding()))
}

/// What slices say beyond their figures.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sliced {
    /// How much varies between starts and between slices.
    pub(crate) levels: Levels,
    /// Whether slices change those that follow them; `None` with too few blocks.
    pub(crate) carry_over: Option<CarryOver>,
    /// What others that take CPU time explain.
    pub(crate) control: Option<Control>,
}

/// What slices of a load say beyond their figures; `None` if the study was not made in slices, or there is too little of it.
pub(super) fn sliced(
    study: &Study,
    load: &str,
    rows: &[VariantRow<'_>],
    by: &ComparedBy,
) -> Result<Option<Sliced>, EvidenceError> {
    let (Some(_), [first, second]) = (study.new.compare.procedure.slices(), rows) else { return Ok(None) };
    let sliced = |duel: Duel| {
        let (levels, carry_over, control) = (duel.levels()?, duel.carry_over(), duel.control());
        Some(Sliced { levels, carry_over, control })
    };
    Ok(duel(study, load, [first, second], by)?.and_then(sliced))
}
