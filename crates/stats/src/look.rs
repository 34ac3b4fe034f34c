//! Schedule of looks: the numbers of blocks at which a comparison may be judged, and how strictly, so that repeated looks keep the
//! error rate.

use libm::exp2;

use crate::signed_rank::critical_value;

/// Number of blocks at which a verdict is allowed, and its critical value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    /// Number of leading blocks that are judged.
    pub blocks: u32,
    /// Largest signed-rank sum that counts as a difference.
    pub critical: u32,
}

/// Looks of a sequential comparison. Each spends at most a quarter of 5 %, so all their intervals hold together at 95 %, whichever
/// look ends the comparison.
pub const LOOKS: [Look; 4] = [
    Look { blocks: 8, critical: 0 },
    Look { blocks: 12, critical: 8 },
    Look { blocks: 16, critical: 20 },
    Look { blocks: 24, critical: 63 },
];

/// Single look of a comparison that can never reach the first of [`LOOKS`]. All six blocks must agree.
pub const FIXED: Look = Look { blocks: 6, critical: 0 };

/// Look before the first of [`LOOKS`], at which all seven blocks must agree. It spends 1.56 %.
///
/// Together with [`LOOKS`] that is less than 5 %, because it overlaps with them: eight blocks that agree begin with seven that do, and if
/// seven agree, at least 2 of the 32 signs of the next five blocks give a rank sum of at most 8. The union spends at most 1.56 % + (1.22 %
/// − 2/128 · 2/32) + 1.10 % + 1.15 % = 4.94 %.
pub const EARLY: Look = Look { blocks: 7, critical: 0 };

impl Look {
    /// Returns the coverage probability of the interval at this look.
    pub fn confidence(&self) -> f64 {
        1.0 - crate::signed_rank::p_value(self.blocks, self.critical)
    }
}

/// Error rate that one of [`LOOKS`] may spend.
const LOOK_ALPHA: f64 = 0.05 / 4.0;
/// Error rate that a single look may spend.
const FIXED_ALPHA: f64 = 0.05;
/// Largest family size. Larger families are judged at this size, for which the last look still has a critical value.
const FAMILY_MAX: u32 = 1_000;
/// Maximum number of blocks of an extended comparison. More blocks change nothing.
pub const EXTENDED_MAX: u32 = 200;

/// Returns the look that `blocks` blocks allow, or the number of blocks that the first look needs.
///
/// `attainable` is the maximum number of blocks: planned blocks minus blocks lost for reasons other than the figures. A comparison uses
/// either [`LOOKS`] or [`FIXED`], because both together would spend more than 5 %.
///
/// A comparison in a `family` gets its part of the error rate of a look, so that the family as a whole keeps 5 %. It may need more
/// blocks for its first look. A `family` of 1 is a single comparison.
pub fn look_at(blocks: usize, attainable: usize, family: u32) -> Result<Look, u32> {
    let allowed = |look: &Look| look.blocks as usize <= blocks;
    let mut looks = planned_looks(attainable.max(blocks), family);
    let first = looks.next().or_else(|| sequential_looks(family).next()).ok_or(u32::MAX)?;
    if !allowed(&first) || attainable.max(blocks) < first.blocks as usize {
        return Err(first.blocks);
    }
    Ok(looks.take_while(allowed).last().unwrap_or(first))
}

/// Returns the looks, in order, of a comparison that can have `attainable` blocks. Empty if it can never be decided.
pub fn looks(attainable: usize, family: u32) -> impl Iterator<Item = Look> {
    planned_looks(attainable, family).take_while(move |look| look.blocks as usize <= attainable)
}

/// Returns the looks of a comparison with `attainable` blocks, or a single look if it is too short for several.
fn planned_looks(attainable: usize, family: u32) -> impl Iterator<Item = Look> {
    let [first, second] = [LOOKS[0].blocks, LOOKS[1].blocks];
    let blocks_max = u32::try_from(attainable).unwrap_or(u32::MAX);
    // A comparison without a second look may spend the whole error rate at its only one.
    let only = match family {
        _ if blocks_max < first => FIXED.blocks..first,
        2.. if blocks_max < second => first..second,
        _ => 0..0,
    };
    let is_only = !only.is_empty();
    let alone =
        only.filter_map(move |blocks| look_for_family(blocks, FIXED_ALPHA, family)).map(move |look| {
            // A family is never judged more leniently than a single comparison.
            if look.blocks < first { look } else { Look { critical: LOOKS[0].critical, ..look } }
        });
    let many = sequential_looks(family).filter(move |look| !is_only && look.blocks <= blocks_max);
    alone.take(1).chain(many)
}

/// Returns the single look at the end of a comparison that was extended for the `extension`th time, counted from 1, or the number
/// of blocks that it needs. It spends another 5 % / 2^`extension`, however many blocks were added.
pub fn look_extended(blocks: usize, attainable: usize, family: u32, extension: u32) -> Result<Look, u32> {
    let alpha = FIXED_ALPHA * exp2(-f64::from(extension));
    let wanted = u32::try_from(attainable.max(blocks)).unwrap_or(u32::MAX).min(EXTENDED_MAX);
    let look = |blocks| look_for_family(blocks, alpha, family);
    match look(wanted) {
        Some(found) if wanted as usize <= blocks => Ok(found),
        Some(_) => Err(wanted),
        None => Err((wanted..EXTENDED_MAX).find(|blocks| look(*blocks).is_some()).unwrap_or(EXTENDED_MAX)),
    }
}

/// Returns the upper bound of the probability that a study without a difference reports `differs` at any of its ends, after this many
/// extensions.
pub fn error_rate(extensions: u32) -> f64 {
    // A division, so that the result is exactly 0.075 without a rounding error.
    (2.0 - exp2(-f64::from(extensions))) / FIXED_ALPHA.recip()
}

/// Returns the number of blocks at the first look of a duel, which is [`EARLY`] if the duel qualifies. `None` if it can never be
/// decided.
pub fn first_look(blocks_max: u32, family: u32) -> Option<u32> {
    if allows_early_look(blocks_max, family) {
        return Some(EARLY.blocks);
    }
    looks(blocks_max as usize, family).next().map(|look| look.blocks)
}

/// Returns whether a duel of up to `blocks_max` blocks may have the look [`EARLY`]. Its part of the error rate does not suffice in a
/// family. A duel that cannot reach the first of [`LOOKS`] has only one look.
pub(crate) fn allows_early_look(blocks_max: u32, family: u32) -> bool {
    family <= 1 && blocks_max >= LOOKS[0].blocks
}

/// Returns the smallest number of blocks that can decide a comparison in a family of this size.
pub fn min_blocks(family: u32) -> u32 {
    let last = LOOKS[LOOKS.len() - 1].blocks;
    (FIXED.blocks..last).find(|blocks| looks(*blocks as usize, family).next().is_some()).unwrap_or(last)
}

fn sequential_looks(family: u32) -> impl Iterator<Item = Look> {
    LOOKS.iter().filter_map(move |look| match family {
        0 | 1 => Some(*look),
        _ => look_for_family(look.blocks, LOOK_ALPHA, family),
    })
}

fn look_for_family(blocks: u32, alpha: f64, family: u32) -> Option<Look> {
    let critical = critical_value(blocks, alpha / f64::from(family.clamp(1, FAMILY_MAX)))?;
    Some(Look { blocks, critical })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_spend_at_most_their_error_rate() {
        for look in LOOKS {
            assert_eq!(critical_value(look.blocks, 0.05 / 4.0), Some(look.critical));
        }
        assert_eq!(critical_value(FIXED.blocks, 0.05), Some(FIXED.critical));
        let spent: f64 = LOOKS.iter().map(|look| 1.0 - look.confidence()).sum();
        assert!((spent - 0.0425).abs() < 5e-5, "{spent}");
    }

    #[test]
    fn early_look_and_the_others_spend_five_percent_together() {
        let share = |look: Look| 1.0 - look.confidence();
        // Signs of five more blocks, which have the largest ranks, that keep the rank sum within the critical value at twelve.
        let kept = (0..32u32).filter(|signs| {
            (0..5).filter(|block| signs >> block & 1 == 1).map(|block| 8 + block).sum::<u32>()
                <= LOOKS[1].critical
        });
        let overlap = share(EARLY) * kept.count() as f64 / 32.0;
        let spent = share(EARLY) + LOOKS[1..].iter().map(|look| share(*look)).sum::<f64>() - overlap;
        assert!(spent < 0.0494, "{spent}");
        assert_eq!(
            [(6, 1), (7, 1), (8, 1), (24, 2), (5, 1)].map(|(blocks, family)| first_look(blocks, family)),
            [Some(6), Some(6), Some(7), Some(12), None]
        );
    }

    #[test]
    fn picks_the_largest_look_that_the_blocks_allow() {
        let at = |blocks, attainable| look_at(blocks, attainable, 1).map(|look| look.blocks);
        assert_eq!([5, 6, 7].map(|blocks| at(blocks, 7)), [Err(6), Ok(6), Ok(6)]);
        assert_eq!([5, 6, 7, 8].map(|blocks| at(blocks, 8)), [Err(8), Err(8), Err(8), Ok(8)]);
        assert_eq!(
            [11, 12, 23, 24, 100].map(|blocks| at(blocks, 24)),
            [Ok(8), Ok(12), Ok(16), Ok(24), Ok(24)]
        );
        assert_eq!(at(0, 0), Err(6));
    }

    #[test]
    fn family_without_a_second_look_spends_all_at_the_first() {
        let at = |blocks, attainable, family| {
            look_at(blocks, attainable, family).map(|look| (look.blocks, look.critical))
        };
        // 2 in 256 is at most a sixth of 5 %, and more than a seventh.
        assert_eq!([2, 6].map(|family| at(8, 8, family)), [Ok((8, 0)); 2]);
        assert_eq!([at(8, 8, 7), at(8, 11, 7), at(9, 9, 7)], [Err(9), Err(9), Ok((9, 0))]);
        assert_eq!([at(7, 11, 3), at(11, 11, 3), at(11, 12, 3)], [Err(8), Ok((8, 0)), Err(12)]);
        assert_eq!(at(11, 11, 1_000), Err(24));
    }

    #[test]
    fn extension_has_one_look_at_its_end() {
        let at = |blocks, attainable, extension| {
            look_extended(blocks, attainable, 1, extension).map(|look| (look.blocks, look.critical))
        };
        assert_eq!([at(7, 8, 1), at(8, 8, 1), at(8, 8, 2)], [Err(8), Ok((8, 2)), Ok((8, 0))]);
        assert_eq!([at(12, 12, 1), at(6, 6, 1), at(0, 0, 1)], [Ok((12, 10)), Err(7), Err(7)]);
        assert_eq!([at(11, 24, 1), at(5_000, 5_000, 1).map(|look| (look.0, 0))], [Err(24), Ok((200, 0))]);
        for (extension, family) in (1..9).flat_map(|extension| [(extension, 1), (extension, 7)]) {
            let blocks = look_extended(0, 0, family, extension).unwrap_err() as usize;
            let look = look_extended(blocks, blocks, family, extension).unwrap();
            let spent = (1.0 - look.confidence()) * f64::from(family);
            assert!(spent <= 0.05 / f64::from(1 << extension), "{extension} {family}: {spent}");
        }
        assert_eq!([0, 1, 2].map(error_rate), [0.05, 0.075, 0.0875]);
    }

    #[test]
    fn family_is_judged_more_strictly_and_later() {
        let at = |blocks, attainable, family| {
            look_at(blocks, attainable, family).map(|look| (look.blocks, look.critical))
        };
        // 2 in 256 is more than half of 1.25 %.
        assert_eq!(at(8, 24, 2), Err(12));
        assert_eq!(at(12, 24, 2), Ok((12, 5)));
        assert_eq!(at(6, 6, 2), Err(7), "six that agree have 3.1 %, more than 2.5 %");
        assert_eq!(at(7, 7, 2), Ok((7, 0)));
        assert_eq!([1, 2, 3, 4, 6, 7, 1_000].map(min_blocks), [6, 7, 7, 8, 8, 9, 24]);
        assert_eq!([looks(5, 1).count(), looks(6, 2).count(), looks(7, 2).count()], [0, 0, 1]);
        for (family, attainable) in
            [2, 3, 6, 7, 40].into_iter().flat_map(|family| (6..12).map(move |a| (family, a)))
        {
            let spent: f64 = looks(attainable, family).map(|look| 1.0 - look.confidence()).sum();
            assert!(spent * f64::from(family) <= 0.05, "{family} {attainable}: {spent}");
        }
        for family in [2, 3, 10, 1_000, u32::MAX] {
            let looks: alloc::vec::Vec<Look> = looks(24, family).collect();
            assert_eq!(looks.last().map(|look| look.blocks), Some(24));
            let spent: f64 = looks.iter().map(|look| 1.0 - look.confidence()).sum();
            assert!(spent * f64::from(family.min(FAMILY_MAX)) <= 0.05, "{family}: {spent}");
        }
    }
}
