//! Mix of several scripts: a user runs steps of all of them, each on a link to its peer.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::ops::Range;

use crate::channel::{Channel, Channels, Footprint, PeerStep};
use crate::shards::Shards;
use crate::values::Values;

/// Steps of several scripts, in any order.
pub struct Mix {
    scripts: Vec<Box<dyn Channels>>,
    /// Owner of each peer: number of its script, and number of the first peer of this script.
    owners: Box<[(u16, u16)]>,
    /// Peer and script step of each step, by its number.
    places: Box<[PeerStep]>,
    /// Shard groups: the value of a variable chooses one peer of a group. Their steps have the place of the first peer.
    shards: Box<[Shards]>,
}

impl Mix {
    /// Creates a mix of scripts, with the place of each step. The peers of a script follow those of earlier scripts.
    pub fn new(scripts: Vec<Box<dyn Channels>>, places: &[PeerStep]) -> Self {
        let mut owners = Vec::new();
        for (number, script) in (0..).zip(&scripts) {
            let first = owners.len() as u16;
            owners.extend((0..script.peers()).map(|_| (number, first)));
        }
        Self { scripts, owners: owners.into(), places: places.into(), shards: Box::default() }
    }

    /// Adds shard groups: the value of a variable chooses one peer of a group. Each peer has a separate script with equal steps.
    #[must_use]
    pub fn with_shards(self, shards: Vec<Shards>) -> Self {
        Self { shards: shards.into(), ..self }
    }

    /// Shards that start at the peer `first`.
    fn shards_from(&self, first: u16) -> Option<&Shards> {
        self.shards.iter().find(|shards| shards.peers().start == first)
    }

    /// First peer of the shards or of the script that a peer belongs to.
    fn first_shard(&self, peer: u16) -> u16 {
        let shards = self.shards.iter().find(|shards| shards.peers().contains(&peer));
        let first = self.owners.get(usize::from(peer)).map_or(peer, |(_, first)| *first);
        shards.map_or(first, |shards| shards.peers().start)
    }

    fn script(&self, step: u16) -> Option<(&dyn Channels, u16)> {
        let place = self.places.get(usize::from(step))?;
        let (script, _) = self.owners.get(usize::from(place.peer))?;
        Some((&*self.scripts[usize::from(*script)], place.step))
    }

    /// Script of a peer, and the number of the peer there.
    fn script_of_peer(&self, peer: u16) -> (&dyn Channels, u16) {
        let (script, first) = self.owners[usize::from(peer)];
        (&*self.scripts[usize::from(script)], peer - first)
    }
}

impl Channels for Mix {
    /// # Panics
    ///
    /// There is no script with this number.
    fn open(&self, peer: u16, number: u32) -> Box<dyn Channel> {
        let (script, own) = self.script_of_peer(peer);
        script.open(own, number)
    }

    fn place(&self, step: u16) -> PeerStep {
        self.places.get(usize::from(step)).copied().unwrap_or(PeerStep { peer: 0, step })
    }

    fn has_routes(&self) -> bool {
        !self.shards.is_empty() || self.scripts.iter().any(|script| script.has_routes())
    }

    fn route(&self, step: u16, values: &Values) -> u16 {
        let place = self.place(step);
        match self.shards_from(place.peer) {
            Some(shards) => shards.choose(values),
            None => place.peer + self.script_of_peer(place.peer).0.route(place.step, values),
        }
    }

    fn peers_of(&self, step: u16) -> Range<u16> {
        let PeerStep { peer, step } = self.place(step);
        let own = || {
            let own = self.script_of_peer(peer).0.peers_of(step);
            peer + own.start..peer + own.end
        };
        self.shards_from(peer).map_or_else(own, Shards::peers)
    }

    fn peers(&self) -> u16 {
        self.owners.len() as u16
    }

    fn connects_lazily(&self, peer: u16) -> bool {
        let (script, own) = self.script_of_peer(peer);
        script.connects_lazily(own)
    }

    fn note_reachable(&self, peer: u16, is_reachable: bool) {
        let (script, own) = self.script_of_peer(peer);
        script.note_reachable(own, is_reachable);
    }

    fn part_offset(&self, peer: u16) -> u16 {
        let peer = self.first_shard(peer);
        let steps = self.places.iter().filter(|place| place.peer != peer).count() as u16;
        let earlier = (0..peer).filter(|earlier| self.first_shard(*earlier) == *earlier);
        let earlier = earlier.map(|earlier| self.script_of_peer(earlier).0);
        earlier.map(|script| script.parts()).fold(steps, u16::saturating_add)
    }

    fn room(&self, peer: u16) -> u32 {
        let (script, own) = self.script_of_peer(peer);
        script.room(own)
    }

    fn is_multiplexed(&self, peer: u16) -> bool {
        let (script, own) = self.script_of_peer(peer);
        script.is_multiplexed(own)
    }

    fn is_in_process(&self, peer: u16) -> bool {
        let (script, own) = self.script_of_peer(peer);
        script.is_in_process(own)
    }

    fn needs(&self, step: u16, variable: u16) -> bool {
        let routes = self.shards_from(self.place(step).peer);
        self.script(step).is_some_and(|(script, step)| script.needs(step, variable))
            || routes.is_some_and(|shards| shards.needs(variable))
    }

    fn inspects_replies(&self, step: u16) -> bool {
        self.script(step).is_some_and(|(script, step)| script.inspects_replies(step))
    }

    fn is_idempotent(&self, step: u16) -> bool {
        self.script(step).is_some_and(|(script, step)| script.is_idempotent(step))
    }

    fn quote(&mut self) {
        self.scripts.iter_mut().for_each(|script| script.quote());
    }

    fn footprint(&self, longest_bytes: &dyn Fn(u16) -> u64) -> Footprint {
        let all = self.scripts.iter().map(|script| script.footprint(longest_bytes));
        all.fold(Footprint::default(), |sum, one| Footprint {
            kept_bytes: sum.kept_bytes.saturating_add(one.kept_bytes),
            request_bytes: sum.request_bytes.max(one.request_bytes),
            shared_bytes: sum.shared_bytes.saturating_add(one.shared_bytes),
            expressions: sum.expressions + one.expressions,
        })
    }
}
