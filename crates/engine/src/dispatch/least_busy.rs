//! Indexed heap that finds the least busy of several links. It knows the position of each link, so an update costs O(log n) and no
//! allocation.

use std::ops::Range;

use crate::link::Link;

/// Links in order of load: fewest exchanges first, then links that are up, then by number.
pub(crate) struct LeastBusy {
    first: u32,
    /// Binary min-heap: the children of index `i` are at `2 * i + 1` and `2 * i + 2`.
    heap: Vec<Rank>,
    /// Index of each link in the heap, by link.
    places: Vec<u32>,
    /// Link that may have changed since it was ranked. `None` if no change was noted.
    changed: Option<u32>,
}

/// Sort key of a link in one number, so that a comparison is one instruction. From its highest bit: whether the link has no room,
/// its exchanges, whether it is down, and its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Rank(u64);

/// Bit of a link without room.
const IS_FULL: u64 = 1 << 63;
/// Place of the exchanges; a link carries fewer than 2^30.
const EXCHANGES_SHIFT: u32 = 33;
/// Bit of a link that is down.
const IS_DOWN: u64 = 1 << 32;

impl Rank {
    #[inline]
    fn from_link(link: &Link, number: u32) -> Self {
        let exchanges = (link.carried.len() as u64) << EXCHANGES_SHIFT;
        let full = if link.has_room() { 0 } else { IS_FULL };
        let down = if link.is_up() { 0 } else { IS_DOWN };
        Self(full | exchanges | down | u64::from(number))
    }

    /// Returns the rank of a link that carries nothing, is down, and has room.
    fn idle(number: u32) -> Self {
        Self(IS_DOWN | u64::from(number))
    }

    fn is_full(self) -> bool {
        self.0 & IS_FULL != 0
    }

    fn number(self) -> u32 {
        self.0 as u32
    }
}

impl LeastBusy {
    /// Creates the heap for links that carry nothing, are down, and have room.
    pub(crate) fn new(numbers: Range<u32>) -> Self {
        Self {
            first: numbers.start,
            places: (0..numbers.len() as u32).collect(),
            heap: numbers.map(Rank::idle).collect(),
            changed: None,
        }
    }

    /// Notes that the load, room, or state of a link may have changed. The link is ranked again when its position matters: a batch of
    /// replies frees and fills one link again and again.
    #[inline]
    pub(crate) fn update(&mut self, links: &[Link], number: u32) {
        if self.changed != Some(number)
            && let Some(other) = self.changed.replace(number)
        {
            self.rank(links, other);
        }
    }

    /// Updates the position of a link.
    #[inline]
    fn rank(&mut self, links: &[Link], number: u32) {
        let rank = Rank::from_link(&links[number as usize], number);
        let place = self.places[(number - self.first) as usize] as usize;
        let before = std::mem::replace(&mut self.heap[place], rank);
        if rank < before {
            self.sift_up(place);
        } else if rank > before {
            self.sift_down(place);
        }
    }

    /// Returns the least busy link. `None` if no link has room.
    #[inline]
    pub(crate) fn first(&mut self, links: &[Link]) -> Option<u32> {
        if let Some(number) = self.changed {
            let rank = Rank::from_link(&links[number as usize], number);
            // No other link comes before the top of the heap, so this one is the least busy, regardless of its position.
            if !rank.is_full() && self.heap.first().is_none_or(|first| rank <= *first) {
                return Some(number);
            }
            self.changed = None;
            self.rank(links, number);
        }
        loop {
            let first = *self.heap.first()?;
            if first.is_full() {
                return None;
            }
            let number = first.number();
            if links[number as usize].has_room() {
                return Some(number);
            }
            // The channel has less room than when the link was ranked.
            self.rank(links, number);
        }
    }

    /// Moves the link at `place` up until the one above it is not busier.
    fn sift_up(&mut self, mut place: usize) {
        let rank = self.heap[place];
        while let Some(above) = place.checked_sub(1).map(|before| before / 2)
            && rank < self.heap[above]
        {
            self.put(self.heap[above], place);
            place = above;
        }
        self.put(rank, place);
    }

    /// Moves the link at `place` down until those below it are not less busy.
    fn sift_down(&mut self, mut place: usize) {
        let rank = self.heap[place];
        loop {
            let below = 2 * place + 1;
            let Some(mut least) = self.heap.get(below).copied() else { break };
            let mut least_place = below;
            if let Some(other) = self.heap.get(below + 1).copied().filter(|other| *other < least) {
                (least, least_place) = (other, below + 1);
            }
            if rank <= least {
                break;
            }
            self.put(least, place);
            place = least_place;
        }
        self.put(rank, place);
    }

    #[inline]
    fn put(&mut self, rank: Rank, place: usize) {
        self.heap[place] = rank;
        self.places[(rank.number() - self.first) as usize] = place as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::{LinkKind, Retired, State};
    use load::chance::Chance;
    use wire::Serial;
    use wire::http1::{Checks, Http1, Request};

    fn link(number: u32) -> Link {
        let script = Http1::single(&Request::get("localhost", "/"), Checks::default()).expect("a request");
        let kind = LinkKind::default().with(LinkKind::MULTIPLEXED, true).with(LinkKind::KEEPS_ALIVE, true);
        Link::new(Box::new(Serial::new(wire::Script::open(&script, number))), 0, number, 3, kind)
    }

    /// Finds the least busy link with a linear scan, as the reference.
    fn by_scan(links: &[Link], first: u32) -> Option<u32> {
        let with_room = (first..links.len() as u32).filter(|number| links[*number as usize].has_room());
        with_room.min_by_key(|number| {
            let link = &links[*number as usize];
            (link.carried.len(), !link.is_up())
        })
    }

    #[test]
    fn first_link_equals_linear_scan_after_random_changes() {
        for count in [1, 2, 3, 7, 64] {
            let mut chance = Chance::stream(5, count);
            // The first two links go to another peer.
            let mut links: Vec<Link> = (0..count as u32 + 2).map(link).collect();
            let mut least_busy = LeastBusy::new(2..links.len() as u32);
            for user in 0..2_000 {
                let number = chance.within(2, links.len() as i64 - 1) as u32;
                let changed = &mut links[number as usize];
                match chance.within(0, 4) {
                    0 | 1 if changed.carried.len() < 3 => changed.carried.add(user),
                    2 => changed.carried.first().into_iter().for_each(|one| changed.carried.remove(one)),
                    3 => {
                        changed.retired =
                            if changed.retired == Retired::No { Retired::HungUp } else { Retired::No };
                    }
                    _ if changed.is_up() => changed.state = State::Down,
                    _ => changed.state = State::InProcess,
                }
                least_busy.update(&links, number);
                assert_eq!(least_busy.first(&links), by_scan(&links, 2), "{count} links, change {user}");
            }
        }
    }

    #[test]
    fn skips_link_that_lost_room_without_update() {
        let mut links: Vec<Link> = (0..2).map(link).collect();
        let mut least_busy = LeastBusy::new(0..2);
        links[0].retired = Retired::HungUp;
        assert_eq!(least_busy.first(&links), Some(1));
        links[1].retired = Retired::HungUp;
        assert_eq!(least_busy.first(&links), None);
    }
}
