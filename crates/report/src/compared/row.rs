//! A setting that both studies measured: its runs of one against its runs of the other.

use evidence::StudyPlace;
use judge::baseline::Side;
use judge::rates;
use record::Counts;
use stats::{ERRORS_MARGIN, MinEffect, Scale, Seen, Spread, Unpaired};

use crate::study::explained::Why;

/// What both studies say of a system and setting under a load.
pub(super) struct ComparedRow {
    /// These three may hold anything: escape them.
    pub(super) load: String,
    pub(super) system: String,
    pub(super) variant: String,
    pub(super) sides: [SideFigures; 2],
    /// Of the second against the first; `None` without figures, and without a ratio where there is to be one.
    pub(super) unpaired: Option<Unpaired>,
    pub(super) verdict: Verdict,
    /// Why one side is slower, where they differ and that is what they are compared by.
    pub(super) why: Option<Why>,
}

impl ComparedRow {
    /// Whether the second side is the better one.
    pub(super) fn is_b_ahead(&self, higher_is_better: bool) -> bool {
        let estimate = self.unpaired.and_then(|of| Some((of.estimate?, of.scale.none())));
        estimate.is_some_and(|(estimate, none)| estimate > none) == higher_is_better
    }

    /// Not judged yet.
    pub(super) fn new(load: &str, place: &StudyPlace, sides: [SideFigures; 2], scale: Scale) -> Self {
        Self {
            load: load.to_owned(),
            system: place.system.clone(),
            variant: place.variant.clone(),
            unpaired: Unpaired::of(&sides[1].figures, &sides[0].figures, scale, ALPHA),
            sides,
            verdict: Verdict::Inconclusive(None),
            why: None,
        }
    }
}

/// What one study says of it.
pub(super) struct SideFigures {
    /// Over the runs that count and have samples enough.
    pub(super) figures: Vec<f64>,
    /// Planned requests of these runs that the system did not serve, as a share; `None` if nothing was planned.
    pub(super) error_share: Option<f64>,
    /// The same, with the time for which the system was gone: what stands before speed.
    unserved_share: f64,
    /// Runs that were lost.
    pub(super) invalid: usize,
    pub(super) too_few_samples: usize,
}

/// What can be said of a row.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Verdict {
    Differs {
        below_matters: bool,
    },
    Equivalent,
    /// With a reason, if it is not only the interval.
    Inconclusive(Option<String>),
    None(String),
}

/// Fewer runs a side can never give a verdict at 5 %.
pub(super) const RUNS_MIN: usize = 4;
/// The chance of error that all rows share.
const ALPHA: f64 = 0.05;
/// From this difference on, throwing away is choosing.
const INVALID_APART: usize = 3;

impl SideFigures {
    /// Of what its runs say, and what they counted.
    pub(super) fn of<'a>(seen: impl Iterator<Item = (Seen, &'a Counts)>) -> Self {
        let mut side = Self {
            figures: Vec::new(),
            error_share: None,
            unserved_share: 0.0,
            invalid: 0,
            too_few_samples: 0,
        };
        let (mut all, mut unserved, mut all_planned) = (Counts::default(), 0u64, 0u64);
        for (run, counts) in seen {
            match run {
                Seen::Figure { value, errors, planned } => {
                    side.figures.push(value);
                    all.add(counts);
                    unserved = unserved.saturating_add(errors);
                    all_planned = all_planned.saturating_add(planned);
                }
                Seen::TooFew => side.too_few_samples += 1,
                Seen::Invalid => side.invalid += 1,
                Seen::Failed | Seen::Missing => {}
            }
        }
        side.error_share = rates::error_share(&all);
        side.unserved_share = unserved as f64 / all_planned.max(1) as f64;
        side
    }

    /// Of what was kept of its runs.
    pub(super) fn of_side(side: &Side) -> Self {
        let share = (side.planned > 0).then(|| side.errors as f64 / side.planned as f64);
        Self {
            figures: side.figures.clone(),
            error_share: share,
            unserved_share: share.unwrap_or(0.0),
            invalid: side.invalid,
            too_few_samples: side.too_few,
        }
    }

    pub(super) fn spread(&self) -> Option<Spread> {
        Spread::with_endless(self.figures.iter().copied())
    }
}

/// The comparison of two sides.
/// Judges all rows together: by Holm they share their 5 %.
pub(super) fn judge(rows: &mut [ComparedRow], matters: MinEffect, higher_is_better: bool) {
    let has_enough = |row: &ComparedRow| row.sides.iter().all(|side| side.figures.len() >= RUNS_MIN);
    let judged: Vec<usize> = (0..rows.len()).filter(|row| has_enough(&rows[*row])).collect();
    let p: Vec<f64> = judged.iter().filter_map(|row| Some(rows[*row].unpaired?.p)).collect();
    // Rows without a ratio have no p-value, and take no part.
    let judged: Vec<usize> = judged.into_iter().filter(|row| rows[*row].unpaired.is_some()).collect();
    let is_significant = stats::holm(&p, ALPHA);
    for row in rows.iter_mut() {
        row.verdict = Verdict::None(why_none(row));
    }
    let together = judged.len();
    for (row, is_significant) in judged.into_iter().zip(is_significant) {
        if let Some(unpaired) = rows[row].unpaired {
            rows[row].verdict =
                verdict(&rows[row], &unpaired, is_significant, together, matters, higher_is_better);
        }
    }
}

fn verdict(
    row: &ComparedRow,
    unpaired: &Unpaired,
    is_significant: bool,
    together: usize,
    matters: MinEffect,
    higher_is_better: bool,
) -> Verdict {
    let [a, b] = &row.sides;
    if a.invalid.abs_diff(b.invalid) >= INVALID_APART {
        return Verdict::None(format!(
            "{} runs of A and {} of B were invalid, so the remaining runs are a biased sample",
            a.invalid, b.invalid
        ));
    }
    let more_errors =
        |of: &SideFigures, than: &SideFigures| of.unserved_share > than.unserved_share + ERRORS_MARGIN;
    if is_significant {
        let (ahead, behind) = if row.is_b_ahead(higher_is_better) { (b, a) } else { (a, b) };
        return match more_errors(ahead, behind) {
            true => Verdict::None("a side with more errors is not better".to_owned()),
            false => {
                let below_matters =
                    unpaired.estimate.is_some_and(|estimate| !matters.is_reached_by(estimate));
                Verdict::Differs { below_matters }
            }
        };
    }
    if unpaired.differs() {
        let p = crate::units::decimal(unpaired.p, 3);
        return Verdict::Inconclusive(Some(format!("p = {p} would do alone, not among {together} rows")));
    }
    match unpaired.interval {
        Some(ends) if ends.iter().all(|end| !matters.is_reached_by(*end)) => {
            match more_errors(a, b) || more_errors(b, a) {
                true => {
                    Verdict::None("the configuration with more errors is not called equivalent".to_owned())
                }
                false => Verdict::Equivalent,
            }
        }
        _ => Verdict::Inconclusive(None),
    }
}

/// Why a row that takes no part has no verdict.
fn why_none(row: &ComparedRow) -> String {
    let counts = row.sides.each_ref().map(|side| side.figures.len());
    let too_few: usize = row.sides.iter().map(|side| side.too_few_samples).sum();
    if counts.iter().any(|count| *count < RUNS_MIN) {
        let few = if too_few > 0 {
            format!("; {too_few} more have too few samples for a verdict on this percentile")
        } else {
            String::new()
        };
        return format!(
            "A has {} runs that count, B has {}: it takes {RUNS_MIN} of each{few}",
            counts[0], counts[1]
        );
    }
    "a figure is zero, so there is no ratio".to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(a: &[f64], b: &[f64]) -> ComparedRow {
        let side = |figures: &[f64]| {
            let none = Counts::default();
            let one = |value: &f64| (Seen::Figure { value: *value, errors: 0, planned: 1_000 }, &none);
            SideFigures::of(figures.iter().map(one))
        };
        let row = ComparedRow::new("", &fixtures::place("web", ""), [side(a), side(b)], Scale::Ratio);
        ComparedRow { verdict: Verdict::Equivalent, ..row }
    }

    const SLOW: [f64; 6] = [100.0, 101.0, 99.0, 100.5, 99.5, 100.2];
    const FAST: [f64; 6] = [110.0, 111.0, 109.0, 110.5, 109.5, 110.2];
    const LEVEL: [f64; 6] = [100.1, 100.9, 99.1, 100.4, 99.6, 100.3];

    fn judged(mut rows: Vec<ComparedRow>, matters: f64) -> Vec<Verdict> {
        judge(&mut rows, MinEffect::share(matters), true);
        rows.into_iter().map(|row| row.verdict).collect()
    }

    #[test]
    fn rows_are_judged_together() {
        let rows = || vec![row(&SLOW, &FAST), row(&SLOW, &LEVEL), row(&SLOW[..4], &FAST[..4])];
        let verdicts = judged(rows(), 0.03);
        assert_eq!(verdicts[..2], [Verdict::Differs { below_matters: false }, Verdict::Equivalent]);
        // Four a side have p = 0.029 at best, and the strictest of the two that are left is held against 0.025.
        assert!(
            matches!(&verdicts[2], Verdict::Inconclusive(Some(why)) if why.contains("not among 3")),
            "{verdicts:?}"
        );
        assert_eq!(
            judged(vec![row(&SLOW[..4], &FAST[..4])], 0.2),
            [Verdict::Differs { below_matters: true }]
        );
    }

    #[test]
    fn three_runs_a_side_are_too_few() {
        let verdicts = judged(vec![row(&SLOW[..3], &FAST), row(&[0.0; 4], &[0.0; 4])], 0.03);
        assert!(matches!(&verdicts[0], Verdict::None(why) if why.starts_with("A has 3 runs")));
        assert!(matches!(&verdicts[1], Verdict::None(why) if why.contains("zero")));
        assert!(judged(Vec::new(), 0.03).is_empty());
    }

    #[test]
    fn errors_and_losses_stand_before_speed() {
        let mut faster = row(&SLOW, &FAST);
        faster.sides[1].unserved_share = 0.01;
        assert!(matches!(&judged(vec![faster], 0.03)[0], Verdict::None(why) if why.contains("errors")));
        let mut lost = row(&SLOW, &FAST);
        lost.sides[0].invalid = 3;
        assert!(matches!(&judged(vec![lost], 0.03)[0], Verdict::None(why) if why.contains("biased")));
    }
}
