//! Runs of a study in the order in which its procedure requested them.

use std::collections::{BTreeMap, BTreeSet};

use evidence::{Ending, Run, Study, StudyPlace};

/// A planned place and its finished run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot<'a> {
    pub(crate) place: &'a StudyPlace,
    /// Finished run of the place; `None` if there is none.
    pub(crate) run: Option<&'a Run>,
}

/// Planned places of a study that belong together, such as a block.
#[derive(Clone, Debug)]
pub(crate) struct Block<'a> {
    pub(crate) stage: &'a str,
    pub(crate) slots: Vec<Slot<'a>>,
}

/// Planned places and finished runs of a study, in order.
pub(crate) struct RunOrder<'a> {
    study: &'a Study,
    done: BTreeMap<u32, &'a Run>,
    /// Positions of slices that do not share one start with the others of their block. They must be repeated.
    torn: BTreeSet<u32>,
}

impl<'a> RunOrder<'a> {
    pub(crate) fn of(study: &'a Study) -> Self {
        let is_done = |run: &&Run| run.ending.as_ref().is_some_and(Ending::is_done);
        let position = |run: &'a Run| Some((run.new.place.as_ref()?.1.position, run));
        let slices = study.new.compare.procedure.slices();
        let torn =
            slices.map_or_else(BTreeSet::new, |_| study.missing().map(|place| place.position).collect());
        Self { study, done: study.runs.iter().filter(is_done).filter_map(position).collect(), torn }
    }

    /// Returns the places with an answer for the procedure: their run is finished, the study continued without it, or
    /// the study ended before it.
    pub(crate) fn answered_slots(&self) -> impl Iterator<Item = Slot<'a>> {
        let last_done = self.done.keys().next_back().copied();
        let is_over = self.study.ending.as_ref().is_some_and(|ending| ending.why.is_some());
        let places = self.study.new.planned.iter();
        places.take_while(move |place| is_over || last_done.is_some_and(|last| place.position <= last)).map(
            |place| {
                let run = self.done.get(&place.position).copied();
                Slot { place, run: run.filter(|_| !self.torn.contains(&place.position)) }
            },
        )
    }

    /// Returns the complete blocks under a load that have an answer for the procedure.
    pub(crate) fn blocks(&self, load: &str) -> Vec<Block<'a>> {
        let key = |place: &'a StudyPlace| (place.stage.as_str(), place.block);
        let mut left: BTreeMap<(&str, u32), usize> = BTreeMap::new();
        for place in self.study.new.planned.iter().filter(|place| place.load == load) {
            *left.entry(key(place)).or_default() += 1;
        }
        let (mut blocks, mut open) = (Vec::new(), BTreeMap::<_, Vec<Slot<'a>>>::new());
        for slot in self.answered_slots().filter(|slot| slot.place.load == load) {
            let key = key(slot.place);
            let slots = open.entry(key).or_default();
            slots.push(slot);
            if left.get(&key) == Some(&slots.len()) {
                blocks.push(Block { stage: key.0, slots: std::mem::take(slots) });
            }
        }
        blocks
    }
}
