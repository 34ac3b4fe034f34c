//! Reduces a study to the scenario that a load follows.

use judge::Condition;
use load::{Order, Scenarios};

use super::Study;
use crate::draft::ScriptSource;
use crate::plan::PlannedStep;

impl Study {
    /// The study with one scenario, and one load that follows it. Steps and their scripts are renumbered.
    pub(crate) fn with_scenario(&self, scenario: &str, load: usize) -> Self {
        let mut narrowed = self.clone();
        narrowed.loads[load].scenario = None;
        let kept = self.steps_of(scenario);
        let script = &mut narrowed.script;
        script.scenarios = Scenarios {
            list: script.scenarios.list.iter().filter(|one| one.name == scenario).cloned().collect(),
        };
        let number = |step: u16| kept.iter().position(|kept| *kept == step).unwrap_or_default() as u16;
        for scenario in &mut script.scenarios.list {
            scenario.once.iter_mut().for_each(|visit| visit.step = number(visit.step));
            match &mut scenario.order {
                Order::InTurn(visits) => visits.iter_mut().for_each(|visit| visit.step = number(visit.step)),
                Order::Mix(visits) => {
                    visits.iter_mut().for_each(|(visit, _)| visit.step = number(visit.step))
                }
            }
        }
        script.steps =
            kept.iter().filter_map(|step| self.script.steps.get(usize::from(*step)).cloned()).collect();
        for (endpoint, role) in (0..).zip(&mut script.endpoints) {
            role.scripts.played = scripts_at(&script.steps, endpoint);
            role.scripts.remove_inapplicable();
        }
        script.remove_unused_endpoints();
        narrowed
    }

    /// Gates that apply to runs of a load: those without a step, and those on steps of the load.
    pub fn gates_of(&self, load: usize) -> Vec<Condition> {
        if self.loads[load].tool.is_some() {
            // An external load generator reports figures only for the whole run.
            let is_of_all = |gate: &&Condition| gate.step.is_none() && gate.part_ns.is_none();
            return self.gates.iter().filter(is_of_all).cloned().collect();
        }
        if self.loads[load].replay.is_some() {
            return self.gates.iter().filter(|gate| gate.step.is_none()).cloned().collect();
        }
        let steps = self.steps_of_load(load);
        let has = |gate: &&Condition| gate.step.as_deref().is_none_or(|step| steps.contains(&step));
        self.gates.iter().filter(has).cloned().collect()
    }

    /// Removes gates that apply to no load.
    pub(crate) fn remove_gates_without_load(&mut self) {
        let held: Vec<Condition> = (0..self.loads.len()).flat_map(|load| self.gates_of(load)).collect();
        self.gates.retain(|gate| held.contains(gate));
    }

    /// Names of the steps of a load.
    pub(super) fn steps_of_load(&self, load: usize) -> Vec<&str> {
        let steps = self.step_names();
        match &self.loads[load].scenario {
            None => steps.collect(),
            Some(scenario) => {
                let kept = self.steps_of(scenario);
                (0..=u16::MAX)
                    .zip(steps)
                    .filter(|(number, _)| kept.contains(number))
                    .map(|(_, name)| name)
                    .collect()
            }
        }
    }

    /// Whether a load has steps in sessions of databases.
    pub(super) fn has_sessions(&self, load: usize) -> bool {
        if let Some(replay) = &self.loads[load].replay {
            return replay.traffic.unit.has_sessions();
        }
        let has_session = |step: &PlannedStep| step.unit().has_sessions();
        match &self.loads[load].scenario {
            None => self.script.unit().has_sessions(),
            Some(scenario) => {
                let steps = self.steps_of(scenario).into_iter();
                steps.filter_map(|step| self.script.steps.get(usize::from(step))).any(has_session)
            }
        }
    }

    /// Numbers of the steps of a scenario.
    fn steps_of(&self, scenario: &str) -> Vec<u16> {
        let scenarios = self.script.scenarios.list.iter().filter(|one| one.name == scenario);
        let mut steps: Vec<u16> = scenarios
            .flat_map(|one| one.once.iter().chain(one.order.visits()))
            .map(|visit| visit.step)
            .collect();
        steps.sort_unstable();
        steps.dedup();
        steps
    }
}

/// Scripts of the steps at a system, in order.
fn scripts_at(steps: &[PlannedStep], endpoint: u16) -> Vec<ScriptSource> {
    let steps = steps.iter().filter(|step| step.endpoint == endpoint);
    steps.filter_map(|step| sql::script_of(&*step.owned()?.step).cloned()).collect()
}
