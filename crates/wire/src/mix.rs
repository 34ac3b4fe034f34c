//! A mix of several scripts: a user runs steps of all of them, each on a link to its own peer.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::ops::Range;

use crate::channel::{Channel, Channels, Footprint, PeerStep};
use crate::shards::Shards;
use crate::values::Values;

/// Steps of several scripts, in any order. A script has the number of its peer.
pub struct Mix {
    scripts: Vec<Box<dyn Channels>>,
    /// Peer and script step of each step, by its number.
    places: Box<[PeerStep]>,
    /// Groups of peers of which a value chooses one. Their steps have the place of the first peer.
    shards: Box<[Shards]>,
}

impl Mix {
    /// Creates a mix of scripts, with the place of each step.
    pub fn new(scripts: Vec<Box<dyn Channels>>, places: &[PeerStep]) -> Self {
        Self { scripts, places: places.into(), shards: Box::default() }
    }

    /// Adds groups of peers of which a value chooses one. Each peer has a script of its own with the same steps.
    #[must_use]
    pub fn with_shards(self, shards: Vec<Shards>) -> Self {
        Self { shards: shards.into(), ..self }
    }

    /// The shards whose first peer is `first`.
    fn shards_from(&self, first: u16) -> Option<&Shards> {
        self.shards.iter().find(|shards| shards.peers().start == first)
    }

    /// First peer of the shards that a peer belongs to, or the peer itself.
    fn first_shard(&self, peer: u16) -> u16 {
        let shards = self.shards.iter().find(|shards| shards.peers().contains(&peer));
        shards.map_or(peer, |shards| shards.peers().start)
    }

    fn script(&self, step: u16) -> Option<(&dyn Channels, u16)> {
        let place = self.places.get(usize::from(step))?;
        Some((&**self.scripts.get(usize::from(place.peer))?, place.step))
    }

    fn of(&self, peer: u16) -> &dyn Channels {
        &*self.scripts[usize::from(peer)]
    }
}

impl Channels for Mix {
    /// # Panics
    ///
    /// If there is no script with this number.
    fn open(&self, peer: u16, number: u32) -> Box<dyn Channel> {
        self.of(peer).open(0, number)
    }

    fn place(&self, step: u16) -> PeerStep {
        self.places.get(usize::from(step)).copied().unwrap_or(PeerStep { peer: 0, step })
    }

    fn has_routes(&self) -> bool {
        !self.shards.is_empty()
    }

    fn route(&self, step: u16, values: &Values) -> u16 {
        let peer = self.place(step).peer;
        self.shards_from(peer).map_or(peer, |shards| shards.choose(values))
    }

    fn peers_of(&self, step: u16) -> Range<u16> {
        let peer = self.place(step).peer;
        self.shards_from(peer).map_or(peer..peer + 1, Shards::peers)
    }

    fn parts_ahead(&self, peer: u16) -> u16 {
        let peer = self.first_shard(peer);
        let steps = self.places.iter().filter(|place| place.peer != peer).count() as u16;
        let earlier = (0..peer).filter(|earlier| self.first_shard(*earlier) == *earlier);
        let earlier = earlier.map(|earlier| self.of(earlier));
        earlier.map(|script| script.parts()).fold(steps, u16::saturating_add)
    }

    fn room(&self, peer: u16) -> u32 {
        self.of(peer).room(0)
    }

    fn is_multiplexed(&self, peer: u16) -> bool {
        self.of(peer).is_multiplexed(0)
    }

    fn is_in_process(&self, peer: u16) -> bool {
        self.of(peer).is_in_process(0)
    }

    fn needs(&self, step: u16, variable: u16) -> bool {
        let routes = self.shards_from(self.place(step).peer);
        self.script(step).is_some_and(|(script, step)| script.needs(step, variable))
            || routes.is_some_and(|shards| shards.needs(variable))
    }

    fn looks_through(&self, step: u16) -> bool {
        self.script(step).is_some_and(|(script, step)| script.looks_through(step))
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
