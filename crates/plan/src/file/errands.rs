//! Reads `setup` and `teardown`: requests of one client before and after each load.

use super::own_step;
use super::reading::Reading;
use super::scenario::Written;
use super::step;
use super::step_reader::StepReader;
use super::tree::Node;
use super::variables::Variables;
use crate::plan::PlannedStep;

const STEPS_MAX: usize = 100;
/// Keys that apply only to steps of a load.
const LOAD_STEP_KEYS: [&str; 7] = ["weight", "think", "once", "repeat", "if", "steps", "endpoint"];

/// The section as written.
pub(crate) fn written<'a>(root: &'a Node, key: &str) -> Option<Written<'a>> {
    let entry = root.entry(key)?;
    Some(Written::of(key, entry.key_at, &entry.value))
}

/// Reads the steps of the section.
pub(crate) fn read(
    section: &Written<'_>,
    variables: &mut Variables,
    reading: &mut Reading<'_>,
) -> Vec<PlannedStep> {
    let name = &section.name;
    if !reading.is_http {
        let what = format!("`{name}` requires a scenario with requests, and these are transactions");
        reading.at(section.at, what, "remove it; `prepare` makes the tables of a database");
        return Vec::new();
    }
    if let Some(share) = section.share {
        reading.at(share.at, format!("`{name}` has no `share`"), "remove it");
    }
    if section.steps.len() > STEPS_MAX {
        reading.at(section.at, format!("`{name}` has more than {STEPS_MAX} steps"), "use fewer");
        return Vec::new();
    }
    let Some(mut of_section) = step::begin(section.node, variables, reading) else { return Vec::new() };
    let mut steps = Vec::new();
    for node in section.steps {
        if sql::is_transaction(node) {
            reading.at(node.at, format!("`{name}` has requests, and this is a transaction"), "remove it");
            continue;
        }
        if let Some(own) = own_step::owner(node).and_then(|(_, protocol)| protocol.own_steps()) {
            let noun = wire::step::requests().noun();
            let what = format!("`{name}` has requests of {noun}, and this is {}", own.noun);
            reading.at(node.at, what, "remove it");
            continue;
        }
        if let Some(entry) = node.entries().iter().find(|entry| LOAD_STEP_KEYS.contains(&entry.key.as_str()))
        {
            reading.at(entry.key_at, format!("a step of `{name}` has no `{}`", entry.key), "remove it");
        }
        steps.extend(step::read(node, "", &mut *of_section, variables, reading).map(|read| read.step));
    }
    of_section.finish(&mut StepReader { variables, reading });
    steps
}
