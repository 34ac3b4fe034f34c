//! When a comparison may be judged, and how strictly, so that looking several times keeps the error rate.

use libm::exp2;

use crate::signed_rank::critical_value;

/// A number of blocks at which a verdict may be given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    /// Over so many first blocks.
    pub blocks: u32,
    /// A difference is found if the signed-rank sum is no larger.
    pub critical: u32,
}

/// The looks of a comparison that may go on: each spends at most a quarter of 5 %, so all their intervals together hold
/// with 95 %, whenever one stops.
pub const LOOKS: [Look; 4] = [
    Look { blocks: 8, critical: 0 },
    Look { blocks: 12, critical: 8 },
    Look { blocks: 16, critical: 20 },
    Look { blocks: 24, critical: 63 },
];

/// The one look of a comparison that can never reach the first of [`LOOKS`]: all six must agree.
pub const FIXED: Look = Look { blocks: 6, critical: 0 };

impl Look {
    /// The chance that the interval of this look covers the true ratio.
    pub fn confidence(&self) -> f64 {
        1.0 - crate::signed_rank::p_value(self.blocks, self.critical)
    }
}

/// What one look of [`LOOKS`] may spend.
const LOOK_ALPHA: f64 = 0.05 / 4.0;
/// What the only look may spend.
const FIXED_ALPHA: f64 = 0.05;
/// A larger family is judged as one of this size; the last look has room for it.
const FAMILY_MAX: u32 = 1_000;
/// More blocks than that change nothing in a comparison that was extended.
pub const EXTENDED_MAX: u32 = 200;

/// The look that so many blocks allow; or how many blocks the first look takes. `attainable` is how many blocks there can
/// ever be: what was planned, less what was lost for reasons other than the figures. A comparison is looked at either by
/// [`LOOKS`] or by [`FIXED`]: both together would spend more than 5 %.
///
/// A comparison of a `family` gets that part of what a look may spend, so that the family as a whole keeps 5 %; it may need
/// more blocks for its first look. 1: it is alone.
pub fn look_at(blocks: usize, attainable: usize, family: u32) -> Result<Look, u32> {
    let allowed = |look: &Look| look.blocks as usize <= blocks;
    let mut looks = laid_down(attainable.max(blocks), family);
    let first = looks.next().or_else(|| sequential(family).next()).ok_or(u32::MAX)?;
    if !allowed(&first) || attainable.max(blocks) < first.blocks as usize {
        return Err(first.blocks);
    }
    Ok(looks.take_while(allowed).last().unwrap_or(first))
}

/// The looks of a comparison that can have so many blocks, in their order; none if it can never be decided.
pub fn looks(attainable: usize, family: u32) -> impl Iterator<Item = Look> {
    laid_down(attainable, family).take_while(move |look| look.blocks as usize <= attainable)
}

/// The same, or the one look for which so few blocks fall short.
fn laid_down(attainable: usize, family: u32) -> impl Iterator<Item = Look> {
    let [first, second] = [LOOKS[0].blocks, LOOKS[1].blocks];
    let blocks_max = u32::try_from(attainable).unwrap_or(u32::MAX);
    // Where no second look can ever come, the only one may spend everything.
    let only = match family {
        _ if blocks_max < first => FIXED.blocks..first,
        2.. if blocks_max < second => first..second,
        _ => 0..0,
    };
    let is_only = !only.is_empty();
    let alone = only.filter_map(move |blocks| stricter(blocks, FIXED_ALPHA, family)).map(move |look| {
        // A family is never looked at more kindly than one alone.
        if look.blocks < first { look } else { Look { critical: LOOKS[0].critical, ..look } }
    });
    let many = sequential(family).filter(move |look| !is_only && look.blocks <= blocks_max);
    alone.take(1).chain(many)
}

/// The look of a comparison that was extended for the `extension`th time, from 1, at its end and nowhere else: it spends a
/// further 5 % / 2^`extension`, however many blocks were added. Or how many blocks it takes.
pub fn look_extended(blocks: usize, attainable: usize, family: u32, extension: u32) -> Result<Look, u32> {
    let alpha = FIXED_ALPHA * exp2(-f64::from(extension));
    let wanted = u32::try_from(attainable.max(blocks)).unwrap_or(u32::MAX).min(EXTENDED_MAX);
    let look = |blocks| stricter(blocks, alpha, family);
    match look(wanted) {
        Some(found) if wanted as usize <= blocks => Ok(found),
        Some(_) => Err(wanted),
        None => Err((wanted..EXTENDED_MAX).find(|blocks| look(*blocks).is_some()).unwrap_or(EXTENDED_MAX)),
    }
}

/// The chance at most that a study of no difference says `differs` at any of its ends, if it was extended so many times.
pub fn error_rate(extensions: u32) -> f64 {
    // A quotient, so that it is 0.075 and not a bit more.
    (2.0 - exp2(-f64::from(extensions))) / FIXED_ALPHA.recip()
}

/// The fewest blocks that can decide anything in a family of so many comparisons.
pub fn blocks_least(family: u32) -> u32 {
    let last = LOOKS[LOOKS.len() - 1].blocks;
    (FIXED.blocks..last).find(|blocks| looks(*blocks as usize, family).next().is_some()).unwrap_or(last)
}

fn sequential(family: u32) -> impl Iterator<Item = Look> {
    LOOKS.iter().filter_map(move |look| match family {
        0 | 1 => Some(*look),
        _ => stricter(look.blocks, LOOK_ALPHA, family),
    })
}

fn stricter(blocks: u32, alpha: f64, family: u32) -> Option<Look> {
    let critical = critical_value(blocks, alpha / f64::from(family.clamp(1, FAMILY_MAX)))?;
    Some(Look { blocks, critical })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_look_is_as_strict_as_it_must_be() {
        for look in LOOKS {
            assert_eq!(critical_value(look.blocks, 0.05 / 4.0), Some(look.critical));
        }
        assert_eq!(critical_value(FIXED.blocks, 0.05), Some(FIXED.critical));
        let spent: f64 = LOOKS.iter().map(|look| 1.0 - look.confidence()).sum();
        assert!((spent - 0.0425).abs() < 5e-5, "{spent}");
    }

    #[test]
    fn the_largest_look_that_the_blocks_allow() {
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
    fn a_family_without_a_second_look_spends_all_at_the_first() {
        let at = |blocks, attainable, family| {
            look_at(blocks, attainable, family).map(|look| (look.blocks, look.critical))
        };
        // Two in 256 are no more than a sixth of 5 %, and more than a seventh.
        assert_eq!([2, 6].map(|family| at(8, 8, family)), [Ok((8, 0)); 2]);
        assert_eq!([at(8, 8, 7), at(8, 11, 7), at(9, 9, 7)], [Err(9), Err(9), Ok((9, 0))]);
        assert_eq!([at(7, 11, 3), at(11, 11, 3), at(11, 12, 3)], [Err(8), Ok((8, 0)), Err(12)]);
        assert_eq!(at(11, 11, 1_000), Err(24));
    }

    #[test]
    fn an_extension_has_one_look_at_its_end() {
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
    fn a_family_is_looked_at_more_strictly_and_later() {
        let at = |blocks, attainable, family| {
            look_at(blocks, attainable, family).map(|look| (look.blocks, look.critical))
        };
        // Two in 256 is more than half of 1.25 %.
        assert_eq!(at(8, 24, 2), Err(12));
        assert_eq!(at(12, 24, 2), Ok((12, 5)));
        assert_eq!(at(6, 6, 2), Err(7), "six that agree have 3.1 %, more than 2.5 %");
        assert_eq!(at(7, 7, 2), Ok((7, 0)));
        assert_eq!([1, 2, 3, 4, 6, 7, 1_000].map(blocks_least), [6, 7, 7, 8, 8, 9, 24]);
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
