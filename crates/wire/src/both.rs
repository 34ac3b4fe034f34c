//! Two scripts as one: a user goes through steps of both, each over a connection to its own peer.

use alloc::string::String;
use alloc::sync::Arc;

use crate::blame::PeerFault;
use crate::conversation::{
    Cancel, Closing, Conversation, Greeting, Next, PartEnd, Progress, Refusal, Script, Stage,
};

/// Steps of two scripts, in any order. The peer of number 0 is that of the first script, 1 that of the second.
#[derive(Debug)]
pub struct Both<A, B> {
    first: A,
    second: B,
    places: Arc<Places>,
}

/// Where a step is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The number of the script, 0 or 1.
    pub script: u16,
    /// The number of the step in that script.
    pub step: u16,
}

#[derive(Debug)]
struct Places {
    /// By step.
    list: Arc<[Place]>,
    /// By how much the numbers of the parts of each script grow: their accounts follow those of all steps.
    parts_ahead: [u16; 2],
}

/// A conversation of each script, of which one is in use; a value that one of them saves is known to both.
#[derive(Debug)]
pub struct BothTalks<A, B> {
    first: A,
    second: B,
    /// Which is in use.
    script: u16,
    places: Arc<Places>,
}

impl<A, B> Both<A, B> {
    /// From two scripts and where each step is. Only one of the scripts may have parts with accounts of their own.
    pub fn new(first: A, second: B, places: &[Place]) -> Self {
        let others = |script: u16| places.iter().filter(|place| place.script != script).count() as u16;
        let places = Places { list: places.into(), parts_ahead: [others(0), others(1)] };
        Self { first, second, places: Arc::new(places) }
    }

    /// The first script.
    pub fn first(&self) -> &A {
        &self.first
    }

    /// The second script.
    pub fn second(&self) -> &B {
        &self.second
    }
}

impl<A: Script, B: Script> Script for Both<A, B> {
    type Talk = BothTalks<A::Talk, B::Talk>;

    fn open(&self, number: u32) -> Self::Talk {
        BothTalks {
            first: self.first.open(number),
            second: self.second.open(number),
            script: 0,
            places: Arc::clone(&self.places),
        }
    }

    fn peer(&self, step: u16) -> u16 {
        self.places.of(step).map_or(0, |place| place.script)
    }

    fn needs(&self, step: u16, variable: u16) -> bool {
        match self.places.of(step) {
            Some(Place { script: 0, step }) => self.first.needs(step, variable),
            Some(Place { step, .. }) => self.second.needs(step, variable),
            None => false,
        }
    }

    fn looks_through(&self, step: u16) -> bool {
        match self.places.of(step) {
            Some(Place { script: 0, step }) => self.first.looks_through(step),
            Some(Place { step, .. }) => self.second.looks_through(step),
            None => false,
        }
    }
}

impl Places {
    fn of(&self, step: u16) -> Option<Place> {
        self.list.get(usize::from(step)).copied()
    }
}

impl<A: Conversation, B: Conversation> BothTalks<A, B> {
    fn talk(&self) -> &dyn Conversation {
        if self.script == 0 { &self.first } else { &self.second }
    }

    fn talk_mut(&mut self) -> &mut dyn Conversation {
        if self.script == 0 { &mut self.first } else { &mut self.second }
    }

    /// The number of a part among the accounts of both scripts.
    fn renumbered(&self, part: u16) -> u16 {
        part.saturating_add(self.places.parts_ahead[usize::from(self.script.min(1))])
    }
}

impl<A: Conversation, B: Conversation> Conversation for BothTalks<A, B> {
    fn set(&mut self, variable: u16, value: &[u8]) {
        self.first.set(variable, value);
        self.second.set(variable, value);
    }

    fn turn_to(&mut self, peer: u16) {
        if self.script == peer {
            return;
        }
        self.script = peer;
        let (first, second) = (&mut self.first, &mut self.second);
        if peer == 0 {
            second.take_saved(&mut |variable, value| first.set(variable, value));
        } else {
            first.take_saved(&mut |variable, value| second.set(variable, value));
        }
    }

    fn greet(&mut self) -> Greeting {
        self.talk_mut().greet()
    }

    fn greeted(&mut self, bytes: &[u8]) -> Result<(usize, Greeting), PeerFault> {
        self.talk_mut().greeted(bytes)
    }

    fn secured(&mut self) -> Greeting {
        self.talk_mut().secured()
    }

    fn begin(&mut self, step: u16) -> Next {
        match self.places.of(step) {
            Some(place) => self.talk_mut().begin(place.step),
            None => Next::Broken(alloc::format!("there is no step {step}")),
        }
    }

    fn go_on(&mut self) -> Next {
        self.talk_mut().go_on()
    }

    fn outgoing(&self) -> &[u8] {
        self.talk().outgoing()
    }

    fn received(&mut self, bytes: &[u8]) -> Result<Progress, PeerFault> {
        Ok(match self.talk_mut().received(bytes)? {
            Progress::Answered { used, part, next } => {
                let part = part.map(|end| PartEnd { part: self.renumbered(end.part), ..end });
                Progress::Answered { used, part, next }
            }
            progress => progress,
        })
    }

    fn peer_closed(&mut self) -> Closing {
        self.talk_mut().peer_closed()
    }

    fn stage(&self) -> Stage {
        self.talk().stage()
    }

    fn part(&self) -> Option<u16> {
        self.talk().part().map(|part| self.renumbered(part))
    }

    fn explain(&self, refusal: Refusal) -> String {
        self.talk().explain(refusal)
    }

    fn farewell(&self) -> &[u8] {
        self.talk().farewell()
    }

    fn cancel(&self) -> Option<Cancel> {
        self.talk().cancel()
    }

    fn forget(&mut self) {
        self.talk_mut().forget();
    }
}
