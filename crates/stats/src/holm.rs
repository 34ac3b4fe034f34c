//! Holm's procedure: several comparisons that share one error rate.

use alloc::vec;
use alloc::vec::Vec;

use crate::compare::{Comparison, Verdict};
use crate::duel::Duel;

/// Which of several p-values are significant if all tests together may be wrong with a chance of `alpha` (Holm): the smallest
/// is held against `alpha` ÷ m, the next against `alpha` ÷ (m − 1), and so on up to the first that fails.
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

/// What several duels find together, such as several metrics of the same runs, or several candidates against one baseline: at
/// each look they share what that look may spend, by Holm. Interval and verdict of each are of the same strictness.
pub fn judge_together(duels: &[&Duel]) -> Vec<Comparison> {
    // Strictest first: if a comparison holds against a part in m, the others need hold only against a part in m − 1.
    let mut family = duels.len().max(1) as u32;
    let mut findings: Vec<Option<Comparison>> = vec![None; duels.len()];
    while findings.iter().any(Option::is_none) {
        let tried: Vec<(usize, Comparison)> = (0..duels.len())
            .filter(|place| findings[*place].is_none())
            .map(|place| (place, duels[place].finding_in(family)))
            .collect();
        let held: Vec<&(usize, Comparison)> = tried.iter().filter(|(_, found)| is_found(found)).collect();
        if held.is_empty() || family == 1 {
            tried.into_iter().for_each(|(place, found)| findings[place] = Some(found));
            break;
        }
        held.iter().for_each(|(place, found)| findings[*place] = Some(*found));
        family = family.saturating_sub(held.len() as u32).max(1);
    }
    findings.into_iter().flatten().collect()
}

/// Whether its hypothesis of no difference is rejected, whatever errors say.
fn is_found(found: &Comparison) -> bool {
    found.interval.is_some_and(|[low, high]| low > 1.0 || high < 1.0)
        || matches!(found.verdict, Verdict::Differs { .. })
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::duel::DuelRules;
    use crate::seen::Seen;

    /// A duel of twelve blocks, of which this many say the opposite, with the least ratios.
    fn duel(against: usize) -> Duel {
        let rules =
            DuelRules { matters: 0.03, higher_is_better: true, blocks_max: 12, pilot_blocks: 0, family: 3 };
        let mut duel = Duel::new(rules);
        for block in 0..12 {
            let size = 1.0 + 0.01 * (block + 1) as f64;
            let value = if block < against { 1.0 / size } else { size };
            let run = |value| Seen::Figure { value, errors: 0, ended: 10_000 };
            duel.note([run(value), run(1.0)]);
        }
        duel
    }

    #[test]
    fn one_that_holds_leaves_more_to_the_others() {
        // Rank sums of 0, 6 and 10: alone the first two hold at twelve blocks (8), in a family of three the first does (4), and of
        // the two that are left the second does not (5).
        let (clear, fair, weak) = (duel(0), duel(3), duel(4));
        let verdicts = |duels: &[&Duel]| {
            let found = judge_together(duels);
            found.iter().map(|found| (is_found(found), found.family)).collect::<Vec<_>>()
        };
        assert_eq!(verdicts(&[&fair]), [(true, 1)]);
        assert_eq!(verdicts(&[&fair, &clear, &weak]), [(false, 2), (true, 3), (false, 2)]);
        assert_eq!(verdicts(&[&clear, &fair]), [(true, 2), (true, 1)], "alone in what is left");
        assert_eq!(verdicts(&[&clear, &clear, &clear]), [(true, 3); 3]);
        assert!(verdicts(&[]).is_empty());
    }

    #[test]
    fn holm_by_hand() {
        assert_eq!(holm(&[0.01, 0.04, 0.03, 0.005], 0.05), [true, false, false, true]);
        assert_eq!(holm(&[0.03, 0.01], 0.05), [true, true], "0.01 at a half, then 0.03 alone");
        assert_eq!(holm(&[0.03, 0.03], 0.05), [false, false]);
        assert_eq!(holm(&[0.05], 0.05), [true]);
        assert_eq!(holm(&[f64::NAN, 0.001], 0.05), [false, true]);
        assert!(holm(&[], 0.05).is_empty());
    }
}
