//! Reduces a study to the needs of a capacity search: a single load, whose amount the search chooses.

use judge::Condition;
use ring::digest::{Context, SHA256};

use super::Study;
use crate::fault::Fault;
use crate::file::gates;
use crate::short_hash::short_hash;
use crate::units::show_duration;

/// Values of a plan that a search overrides. `None` keeps the value of the plan.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SearchOverrides {
    /// Name of the load. A plan with one load needs none.
    pub load: Option<String>,
    /// Measured duration of each run, in nanoseconds.
    pub measured_ns: Option<u64>,
    /// Warm-up of each run, in nanoseconds.
    pub warm_up_ns: Option<u64>,
    /// Seed of every random draw.
    pub seed: Option<u64>,
    /// Conditions on steps of the load, and on parts of the measured time.
    pub conditions: Vec<Condition>,
}

impl Study {
    /// The study with only the load that is searched, and without its gates, which the search replaces. The hash distinguishes
    /// searches of one plan.
    pub fn searched(mut self, asked: &SearchOverrides) -> Result<Self, Vec<Fault>> {
        let load = self.load_index(asked.load.as_deref()).map_err(|fault| vec![fault])?;
        let mut faults = self.search_obstacles(load);
        let measured_ns = asked.measured_ns.or_else(|| self.measured_ns(load));
        if measured_ns.is_none() {
            let what = "the load ends after a number of requests, and a search requires a duration";
            faults.push(Fault::new(self.place_of(load), what, "add --for, such as --for 10s"));
        }
        let Some(measured_ns) = measured_ns.filter(|_| faults.is_empty()) else { return Err(faults) };
        let wrong_steps = asked.conditions.iter().filter_map(|condition| {
            let steps = condition.check_step(self.steps_of_load(load).into_iter());
            let error = steps
                .and_then(|()| condition.check_event(self.events.iter().map(|event| event.name.as_str())))
                .err()?;
            Some(Fault::from_condition("--slo", &error))
        });
        faults.extend(wrong_steps);
        let mut searched = self.loads[load].clone();
        searched.warm_up_ns = asked.warm_up_ns.unwrap_or(searched.warm_up_ns);
        searched.run_ns = Some(searched.warm_up_ns.saturating_add(measured_ns));
        searched.words = "as much as the search asks for".to_owned();
        searched.stop_words = match searched.warm_up_ns {
            0 => show_duration(measured_ns),
            ns => format!("{} after {} of warm-up", show_duration(measured_ns), show_duration(ns)),
        };
        for condition in &asked.conditions {
            if let Some((what, help)) = gates::part_error(condition, std::slice::from_ref(&searched)) {
                faults.push(Fault::new(format!("--slo {:?}", condition.text), what, help));
            }
        }
        if !faults.is_empty() {
            return Err(faults);
        }
        if let Some(seed) = asked.seed {
            self.set_seed(seed);
        }
        self.gates.clear();
        (self.compare.blocks, self.compare.sweep) = (1, None);
        self.hash = self.hash_with(&[
            &searched.name,
            &measured_ns.to_string(),
            &searched.warm_up_ns.to_string(),
            &self.seed.to_string(),
        ]);
        for setting in &mut self.settings.list {
            let mut own = setting.loads[load].clone();
            (own.warm_up_ns, own.run_ns) = (searched.warm_up_ns, searched.run_ns);
            setting.loads = vec![own];
        }
        self.loads = vec![searched];
        Ok(self)
    }

    /// Index of the load with this name, or of the only load.
    fn load_index(&self, name: Option<&str>) -> Result<usize, Fault> {
        let names: Vec<&str> = self.loads.iter().map(|load| load.name.as_str()).collect();
        let listed = names.join(", ");
        match name {
            Some(name) => names.iter().position(|known| *known == name).ok_or_else(|| {
                Fault::new("--load", format!("unknown load {name:?}"), format!("write one of: {listed}"))
            }),
            None if names.len() == 1 => Ok(0),
            None => {
                let what = format!("the plan has {} loads, and a search uses one", names.len());
                Err(Fault::new("--load", what, format!("add --load with one of: {listed}")))
            }
        }
    }

    pub(super) fn place_of(&self, load: usize) -> String {
        format!("the load {:?}", self.loads[load].name)
    }

    pub(super) fn hash_with(&self, further: &[&str]) -> String {
        let mut hash = Context::new(&SHA256);
        for text in [self.hash.as_str()].iter().chain(further) {
            // The length separates neighboring texts.
            hash.update(&(text.len() as u64).to_le_bytes());
            hash.update(text.as_bytes());
        }
        short_hash(hash)
    }
}
