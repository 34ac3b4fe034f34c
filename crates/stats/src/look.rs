//! When a comparison may be judged, and how strictly, so that looking several times keeps the error rate.

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
        1.0 - crate::p_value(self.blocks, self.critical)
    }
}

/// The look that so many blocks allow; or how many blocks the first look takes. `attainable` is how many blocks there can
/// ever be: what was planned, less what was lost for reasons other than the figures. A comparison is looked at either by
/// [`LOOKS`] or by [`FIXED`]: both together would spend more than 5 %.
pub fn look_at(blocks: usize, attainable: usize) -> Result<Look, u32> {
    let allowed = |look: &&Look| look.blocks as usize <= blocks;
    if attainable.max(blocks) < LOOKS[0].blocks as usize {
        return Some(&FIXED).filter(allowed).copied().ok_or(FIXED.blocks);
    }
    LOOKS.iter().rev().find(allowed).copied().ok_or(LOOKS[0].blocks)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::signed_rank::critical_value;

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
        let at = |blocks, attainable| look_at(blocks, attainable).map(|look| look.blocks);
        assert_eq!([5, 6, 7].map(|blocks| at(blocks, 7)), [Err(6), Ok(6), Ok(6)]);
        assert_eq!([5, 6, 7, 8].map(|blocks| at(blocks, 8)), [Err(8), Err(8), Err(8), Ok(8)]);
        assert_eq!(
            [11, 12, 23, 24, 100].map(|blocks| at(blocks, 24)),
            [Ok(8), Ok(12), Ok(16), Ok(24), Ok(24)]
        );
        assert_eq!(at(0, 0), Err(6));
    }
}
