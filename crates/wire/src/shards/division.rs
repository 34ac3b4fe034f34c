//! Divides slots among shards: evenly, by ranges, or by a ring.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::{CRC16, ShardRule};

/// Division of slots among shards.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ShardMap {
    /// Equal parts. With slots, the shards have equal ranges, in order. Without slots, the shard is the hash modulo the number of
    /// shards.
    #[default]
    Even,
    /// Ranges, in order: the first slot of each shard except the first, ascending. If fewer shards are in use, the last of them also covers
    /// the ranges of the unused ones.
    Ranges(Box<[u64]>),
    /// Ring of consistent hashing (Karger et al., 1997) with this number of points per shard. A slot belongs to the shard of the next
    /// point. An additional shard takes slots from all others, and no slot moves between the others.
    Ring(u32),
}

/// Division that is prepared for look-ups.
#[derive(Debug)]
pub(super) enum Divider {
    Modulo {
        slots: Option<u64>,
    },
    /// Equal ranges of slots. `is_rounded`: the first slot of a range is rounded to the nearest number.
    EqualRanges {
        slots: u64,
        is_rounded: bool,
    },
    Ranges {
        slots: Option<u64>,
        firsts: Box<[u64]>,
    },
    /// Points of the ring in ascending order, with their shards.
    Ring {
        slots: Option<u64>,
        points: Box<[(u64, u32)]>,
    },
}

impl Divider {
    /// Prepares the division of a rule for up to `shards` shards.
    pub(super) fn new(rule: &ShardRule, shards: u32) -> Self {
        let slots = rule.slots.map(|slots| u64::from(slots).max(1));
        match (&rule.map, slots) {
            (ShardMap::Even, None) => Self::Modulo { slots },
            // redis-cli rounds the first slot of a shard to the nearest number, others round it up.
            (ShardMap::Even, Some(slots)) => Self::EqualRanges { slots, is_rounded: rule.hash.name == CRC16 },
            (ShardMap::Ranges(firsts), slots) => Self::Ranges { slots, firsts: firsts.clone() },
            (ShardMap::Ring(count), slots) => {
                let of_shard = |shard: u32| (0..*count).map(move |point| (position(shard, point), shard));
                let mut points: Vec<(u64, u32)> = (0..shards).flat_map(of_shard).collect();
                points.sort_unstable();
                Self::Ring { slots, points: points.into() }
            }
        }
    }

    /// Returns the shard of a hash, below `in_use`. `in_use` is between 1 and the number of shards.
    pub(super) fn shard(&self, hash: u64, in_use: u32) -> u32 {
        let slot = |slots: &Option<u64>| slots.map_or(hash, |slots| hash % slots);
        match self {
            Self::Modulo { slots } => (slot(slots) % u64::from(in_use)) as u32,
            Self::EqualRanges { slots, is_rounded } => {
                let (slot, shards) = (hash % slots, u64::from(in_use));
                let shard = slot * shards / slots;
                let first_of_next = (2 * (shard + 1) * slots + shards) / (2 * shards);
                (if *is_rounded && slot >= first_of_next { shard + 1 } else { shard }) as u32
            }
            Self::Ranges { slots, firsts } => {
                let slot = slot(slots);
                (firsts.partition_point(|first| *first <= slot) as u32).min(in_use - 1)
            }
            Self::Ring { slots, points } => {
                let place = mixed(slot(slots));
                let next = points.partition_point(|(position, _)| *position < place);
                let (before, after) = points.split_at(next);
                // Points of shards that are not in use are passed over, as if they were not there.
                let mut clockwise = after.iter().chain(before).map(|(_, shard)| *shard);
                clockwise.find(|shard| *shard < in_use).unwrap_or(0)
            }
        }
    }
}

/// Position of a point on the ring. It depends on the number of the shard alone, so that further shards move no points.
fn position(shard: u32, point: u32) -> u64 {
    mixed(u64::from(shard) << 32 | u64::from(point) | 1 << 63)
}

/// Finalizer of MurmurHash3 for 64 bits, which spreads similar numbers over the ring.
fn mixed(number: u64) -> u64 {
    let number = (number ^ number >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
    let number = (number ^ number >> 33).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    number ^ number >> 33
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shards::SHARD_HASHES;

    fn divider(slots: Option<u32>, map: ShardMap, shards: u32) -> Divider {
        Divider::new(&ShardRule { hash: &SHARD_HASHES[2], slots, map, ..ShardRule::default() }, shards)
    }

    #[test]
    fn divides_slots_into_equal_ranges() {
        let divider = divider(Some(10), ShardMap::Even, 3);
        let shards: Vec<u32> = (0..10).map(|slot| divider.shard(slot, 3)).collect();
        assert_eq!(shards, [0, 0, 0, 0, 1, 1, 1, 2, 2, 2]);
        assert_eq!((divider.shard(13, 3), divider.shard(19, 3)), (0, 2));
    }

    #[test]
    fn range_begins_with_its_first_slot_and_last_shard_in_use_has_the_rest() {
        let divider = divider(None, ShardMap::Ranges([100, 1_000].into()), 3);
        let shards = |in_use| [0, 99, 100, 999, 1_000, u64::MAX].map(|number| divider.shard(number, in_use));
        assert_eq!(shards(3), [0, 0, 1, 1, 2, 2]);
        assert_eq!(shards(2), [0, 0, 1, 1, 1, 1]);
        assert_eq!(shards(1), [0; 6]);
    }

    #[test]
    fn ranges_of_slots_take_the_hash_modulo_slots() {
        let divider = divider(Some(10), ShardMap::Ranges([7].into()), 2);
        assert_eq!([6, 7, 16, 19].map(|number| divider.shard(number, 2)), [0, 1, 0, 1]);
    }

    #[test]
    fn added_ring_shard_takes_its_share_and_moves_nothing_else() {
        let divider = divider(None, ShardMap::Ring(160), 4);
        let (mut moved, mut counts) = (0, [0_u32; 4]);
        for number in 0..40_000 {
            let (before, after) = (divider.shard(number, 3), divider.shard(number, 4));
            assert!(before < 3 && (after == before || after == 3), "{number}: {before} to {after}");
            moved += u32::from(before != after);
            counts[after as usize] += 1;
        }
        assert_eq!(moved, counts[3]);
        // With 160 points, the share of a shard deviates by about 8 % (one standard deviation).
        assert!(counts.iter().all(|count| (7_500..12_500).contains(count)), "{counts:?}");
    }

    #[test]
    fn ring_of_one_shard_and_of_one_point_each_has_a_shard_for_all() {
        let one = divider(None, ShardMap::Ring(1), 1);
        let three = divider(Some(16), ShardMap::Ring(1), 3);
        for number in 0..100 {
            assert_eq!(one.shard(number, 1), 0);
            assert!(three.shard(number, 3) < 3);
            assert_eq!(three.shard(number, 3), three.shard(number + 16, 3), "same slot");
        }
    }

    #[test]
    fn finalizer_matches_murmurhash3() {
        assert_eq!([mixed(0), mixed(1)], [0, 0xb456_bcfc_34c2_cb2c]);
    }
}
