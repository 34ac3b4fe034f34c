//! Systems that stay up between the slices of a block.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use evidence::{RunId, SliceRules};
use plan::Plan;

use crate::run_error::RunError;
use crate::stage::Stage;
use crate::systems::StartedSystem;

/// Variants of a block that were started, by number.
#[derive(Debug, Default)]
pub(crate) struct Block {
    number: u32,
    variants: BTreeMap<usize, StartedVariant>,
}

/// A variant that was started for a block.
#[derive(Debug)]
pub(crate) struct StartedVariant {
    /// Field order: the system is stopped before its folder is removed.
    pub(crate) system: Option<Box<dyn StartedSystem>>,
    /// Plan of a whole run.
    pub(crate) plan: Plan,
    pub(crate) stage: Stage,
    /// Slices of the variant so far, in order.
    pub(crate) slices: Vec<RunId>,
}

impl Block {
    /// Variant of a block. Systems of other blocks are stopped.
    pub(crate) fn variant(
        &mut self,
        number: u32,
        variant: usize,
        set: impl FnOnce() -> Result<(Plan, Stage), RunError>,
    ) -> Result<&mut StartedVariant, RunError> {
        if self.number != number {
            self.variants.clear();
            self.number = number;
        }
        Ok(match self.variants.entry(variant) {
            Entry::Occupied(up) => up.into_mut(),
            Entry::Vacant(place) => {
                let (plan, stage) = set()?;
                place.insert(StartedVariant { system: None, plan, stage, slices: Vec::new() })
            }
        })
    }

    /// Whether more than one variant is up.
    pub(crate) fn is_shared(&self) -> bool {
        self.variants.values().filter(|up| up.system.is_some()).count() > 1
    }

    /// Drops a variant after its last slice.
    pub(crate) fn ends(&mut self, variant: usize) {
        self.variants.remove(&variant);
    }
}

impl StartedVariant {
    /// Plan of the next slice. The first one includes the warm-up.
    pub(crate) fn plan_of_slice(&self, rules: &SliceRules, seed: u64) -> Plan {
        let left_out_s = if self.slices.is_empty() { rules.warm_up_s } else { rules.settle_s };
        let mut plan = self.plan.clone();
        (plan.seed, plan.warm_up_ns) = (seed, ns(left_out_s));
        plan.stop.at_ns = Some(plan.warm_up_ns.saturating_add(ns(rules.slice_s)));
        plan
    }

    /// Pauses the processes until the next slice. A system that cannot be paused is dropped, because it would disturb the others.
    pub(crate) fn hold(&mut self) {
        if let Some(mut system) = self.system.take()
            && system.hold()
        {
            self.system = Some(system);
        }
    }

    /// Resumes the processes.
    pub(crate) fn go_on(&mut self) {
        if let Some(system) = &mut self.system {
            system.go_on();
        }
    }
}

fn ns(seconds: f64) -> u64 {
    (seconds.max(0.0) * 1e9) as u64
}
