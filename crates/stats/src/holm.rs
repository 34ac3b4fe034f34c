//! Holm's procedure for several comparisons that share one error rate.

use alloc::vec;
use alloc::vec::Vec;

use crate::bounded::Bounded;
use crate::compare::{Comparison, Discards, Verdict, compare_in_family};
use crate::duel::Duel;
use crate::look::{Look, look_at, look_extended};
use crate::scale::MinEffect;

/// Marks the p-values that are significant at a family-wise error rate of `alpha` (Holm). The smallest is compared with `alpha` ÷
/// m, the next with `alpha` ÷ (m − 1), and so on up to the first that fails.
pub fn holm(p: &[f64], alpha: f64) -> Vec<bool> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|a, b| p[*a].total_cmp(&p[*b]));
    let mut is_significant = vec![false; p.len()];
    for (place, index) in order.into_iter().enumerate() {
        is_significant[index] = p[index] <= alpha / (p.len() - place) as f64;
        if !is_significant[index] {
            break;
        }
    }
    is_significant
}

/// Figures of two variants over their common blocks.
#[derive(Clone, Copy, Debug)]
pub struct Paired<'a> {
    /// Figures of the first and the second variant, in block order.
    pub pairs: &'a [(Bounded, Bounded)],
    /// Maximum number of pairs: see [`crate::look_at`].
    pub attainable: usize,
    /// Number of lost runs of each variant.
    pub discards: Discards,
    /// Number of times the study was extended after its end: see [`crate::look_extended`].
    pub extensions: u32,
    /// Scale of the comparison and the smallest difference that matters.
    pub matters: MinEffect,
}

impl Paired<'_> {
    pub(crate) fn look(&self, family: u32) -> Result<Look, u32> {
        match self.extensions {
            0 => look_at(self.pairs.len(), self.attainable, family),
            extensions => look_extended(self.pairs.len(), self.attainable, family, extensions),
        }
    }
}

/// Judges several duels together, such as several metrics of the same runs. At each look they share the error rate of that look by
/// Holm. The family size is the largest in the rules of the duels, and at least the number of duels.
///
/// A significant result has an interval as strict as its test, and so has one whose verdict is withheld; the latter relaxes no level. Every other result is judged at the strictness of the whole family,
/// so no comparison is called equivalent because its test was too lenient.
pub fn judge_together(duels: &[&Duel]) -> Vec<Comparison> {
    let family = duels.iter().map(|duel| duel.rules().family).max().unwrap_or(1);
    step_down(family, duels.len(), |place, family| duels[place].finding_in_family(family))
}

/// Like [`judge_together`], for comparisons whose blocks were all planned at once, such as several candidates against one baseline.
/// `family` may exceed the number of members that have figures.
pub fn compare_together(family: u32, all: &[Paired<'_>]) -> Vec<Comparison> {
    step_down(family, all.len(), |place, family| {
        let Paired { pairs, discards, matters, .. } = all[place];
        compare_in_family(family, all[place].look(family), pairs, matters, discards)
    })
}

/// Steps down from the strictest level: once a comparison is significant at 1 ÷ m of the error rate, the others need only 1 ÷ (m −
/// 1).
fn step_down(family: u32, members: usize, find: impl Fn(usize, u32) -> Comparison) -> Vec<Comparison> {
    let mut family = family.max(u32::try_from(members).unwrap_or(u32::MAX)).max(1);
    let mut findings: Vec<Comparison> = (0..members).map(|place| find(place, family)).collect();
    let mut open: Vec<(usize, Comparison)> = findings.iter().copied().enumerate().collect();
    loop {
        let before = open.len();
        open.retain(|(place, found)| {
            if is_found(found) || found.is_withheld() && is_replaceable(&findings[*place]) {
                findings[*place] = *found;
            }
            !is_found(found)
        });
        let held = before - open.len();
        if held == 0 || open.is_empty() {
            return findings;
        }
        family = family.saturating_sub(held as u32).max(1);
        open.iter_mut().for_each(|(place, found)| *found = find(*place, family));
    }
}

/// Returns whether a finding at a stricter level says less than a verdict that is withheld at this one.
fn is_replaceable(strict: &Comparison) -> bool {
    matches!(strict.verdict, Verdict::Inconclusive | Verdict::None(_)) && !strict.is_withheld()
}

/// Returns whether the hypothesis of no difference is rejected, regardless of errors. A withheld verdict rejects nothing.
fn is_found(found: &Comparison) -> bool {
    !matches!(found.verdict, Verdict::None(_) | Verdict::Inconclusive)
        && found.interval.is_some_and(|ends| found.scale.excludes_no_difference(ends))
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::duel::DuelRules;
    use crate::run_result::RunResult;
    use crate::slices::Slice;

    const MATTERS: MinEffect = MinEffect::share(0.03);

    /// Returns a duel of twelve blocks, of which the first `against`, with the smallest ratios, favor the other side.
    fn duel(against: usize, family: u32) -> Duel {
        let rules = DuelRules {
            matters: MATTERS,
            higher_is_better: true,
            blocks_max: 12,
            pilot_blocks: 0,
            family,
            looks_early: false,
            has_control: false,
        };
        let mut duel = Duel::new(rules);
        for block in 0..12 {
            let size = 1.0 + 0.01 * (block + 1) as f64;
            let value = if block < against { 1.0 / size } else { size };
            let run = |value| RunResult::exactly(value, 0, 10_000);
            duel.note([run(value), run(1.0)]);
        }
        duel
    }

    #[test]
    fn significant_duel_relaxes_the_level_of_the_others() {
        // Rank sums of 0, 6, and 10. At twelve blocks the first two are significant alone (critical value 8). In a family of three
        // only the first is (4), and then the second of the remaining two is not (5).
        let of = |family| [0, 3, 4].map(|against| duel(against, family));
        let [clear, fair, weak] = of(3);
        let verdicts = |duels: &[&Duel]| {
            let found = judge_together(duels);
            found.iter().map(|found| (is_found(found), found.family)).collect::<Vec<_>>()
        };
        assert_eq!(verdicts(&[&fair, &clear, &weak]), [(false, 3), (true, 3), (false, 3)]);
        assert_eq!(verdicts(&[&clear, &clear, &clear]), [(true, 3); 3]);
        assert_eq!(verdicts(&[&fair]), [(false, 3)], "the others of its family are not known");
        let [clear, fair, _] = of(2);
        assert_eq!(verdicts(&[&clear, &fair]), [(true, 2), (true, 1)], "alone in what is left");
        assert_eq!(verdicts(&[&duel(3, 1)]), [(true, 1)]);
        assert!(verdicts(&[]).is_empty());
    }

    #[test]
    fn withheld_duel_relaxes_no_level_and_may_be_withheld_at_a_relaxed_one() {
        // The second system comes first in every block, so first slices confirm nothing.
        let withheld = |against: usize| {
            let of_runs = duel(against, 2);
            let mut duel = Duel::new(*of_runs.rules());
            for runs in of_runs.blocks() {
                let slice =
                    |side: usize| Slice { seen: runs[side], is_after_other: side == 0, taken_cores: None };
                duel.note_slices(&[[slice(0), slice(1)]]);
            }
            duel
        };
        let (clear, fair) = (duel(0, 2), duel(3, 2));
        let found = judge_together(&[&withheld(0), &fair]);
        assert!(found[0].is_withheld() && !found[1].is_withheld(), "{found:?}");
        assert_eq!([found[0].family, found[1].family], [2, 2]);
        let alone = withheld(3);
        assert!(!alone.is_withheld(), "it is not conclusive by itself");
        let found = judge_together(&[&clear, &alone]);
        assert!(found[1].is_withheld() && alone.needs_lone_starts(&found[1]), "{found:?}");
        assert!(!clear.needs_lone_starts(&found[0]));
    }

    /// Returns twelve blocks with ascending ratios, of which those in `against` favor the second variant.
    fn twelve(against: &[usize]) -> Vec<(Bounded, Bounded)> {
        let size = |block: usize| Bounded::exactly(1.0 + 0.01 * block as f64);
        let one = Bounded::exactly(1.0);
        (1..=12)
            .map(|block| if against.contains(&block) { (one, size(block)) } else { (size(block), one) })
            .collect()
    }

    #[test]
    fn three_candidates_share_the_error_rate() {
        // Rank sums of 0, 5, and 8, so p is 2, 20, and 50 in 4,096. A third of 1.25 % is 17.07, a half is 25.6, and the whole is
        // 51.2 in 4,096.
        let [clear, fair, weak] = [&[][..], &[5], &[8]].map(twelve);
        let found = |family: u32, all: &[&Vec<(Bounded, Bounded)>]| {
            let discards = Discards::default();
            let all: Vec<Paired> = all
                .iter()
                .map(|pairs| Paired { pairs, attainable: 12, discards, extensions: 0, matters: MATTERS })
                .collect();
            compare_together(family, &all)
        };
        let differ = |family: u32, all: &[&Vec<(Bounded, Bounded)>]| -> Vec<bool> {
            found(family, all).iter().map(is_found).collect()
        };
        for (pairs, p) in [(&clear, 2.0), (&fair, 20.0), (&weak, 50.0)] {
            assert!((found(1, &[pairs])[0].p.unwrap() - p / 4096.0).abs() < 1e-12);
            assert_eq!(differ(1, &[pairs]), [true], "alone each differs");
        }
        // By Bonferroni (a third each), the second would not differ. By Holm it needs only a half, and the last one the whole.
        assert_eq!(differ(3, &[&fair]), [false]);
        assert_eq!(differ(3, &[&clear, &fair, &weak]), [true, true, true]);
        // Without a clear one to go first, the others stay at the strictest level: alone they differ, together they do not.
        assert_eq!(differ(3, &[&fair, &weak, &weak]), [false, false, false]);
        assert_eq!(differ(3, &[&clear, &weak, &weak]), [true, false, false]);
        // A candidate without figures is still a member of the family.
        assert_eq!(differ(4, &[&clear, &fair, &weak]), [true, false, false]);
    }

    #[test]
    fn unevenly_lost_comparison_does_not_relax_the_level() {
        let (clear, fair) = (twelve(&[]), twelve(&[8]));
        let lost = |first| Discards { first, second: 0 };
        let all = |first| {
            let clear = Paired {
                pairs: &clear,
                attainable: 12,
                discards: lost(first),
                extensions: 0,
                matters: MATTERS,
            };
            compare_together(2, &[clear, Paired { pairs: &fair, discards: lost(0), ..clear }])
        };
        assert!(is_found(&all(2)[1]) && !is_found(&all(3)[1]));
    }

    #[test]
    fn holm_matches_hand_computation() {
        assert_eq!(holm(&[0.01, 0.04, 0.03, 0.005], 0.05), [true, false, false, true]);
        assert_eq!(holm(&[0.03, 0.01], 0.05), [true, true], "0.01 at a half, then 0.03 alone");
        assert_eq!(holm(&[0.03, 0.03], 0.05), [false, false]);
        assert_eq!(holm(&[0.05], 0.05), [true]);
        assert_eq!(holm(&[f64::NAN, 0.001], 0.05), [false, true]);
        assert!(holm(&[], 0.05).is_empty());
    }
}
