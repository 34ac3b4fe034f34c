//! Verifies that a plant is the limit: removing the cause clearly raises the throughput, and removing a red herring hardly changes it.
//!
//! The ratios are stored in `blind/verified.json`. A later measurement of a plant replaces an earlier one.

use std::collections::BTreeMap;
use std::fs;
use std::process::ExitCode;

use anyhow::Context as _;
use harness::say::say;
use serde::{Deserialize, Serialize};

use super::plan;
use super::plants::{Kind, Plant};
use super::run::Runner;

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/blind/verified.json");
/// Min ratio of the throughput without the cause to the throughput with it.
const RATIO_MIN: f64 = 1.5;
/// Max ratio of the throughput without the red herring to the throughput with it. A herring that computes or writes takes a share of the
/// machine, so a higher ratio is fine if removing the cause gains at least `CAUSE_MIN` times as much.
const HERRING_MAX: f64 = 1.25;
const CAUSE_MIN: f64 = 4.0;

/// Throughput of a plant in requests per second, and ratios of the throughput without its causes to it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Ratios {
    per_s: f64,
    /// Ratio without all causes.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    without: Option<f64>,
    /// Ratio without the first of two causes.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    without_first: Option<f64>,
    /// Ratio without the second of two causes.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    without_second: Option<f64>,
    /// Ratio without the red herring.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    without_herring: Option<f64>,
}

impl Ratios {
    /// Returns the reason why the plant is not valid. `None` if its cause is the limit.
    fn fault(&self, plant: &Plant) -> Option<String> {
        let is_low = |ratio: Option<f64>| ratio.is_some_and(|ratio| ratio < RATIO_MIN);
        let either = [self.without_first, self.without_second].into_iter().flatten().fold(0.0, f64::max);
        if is_low(self.without) {
            Some("without the cause it is hardly faster".to_owned())
        } else if plant.kind == Kind::Two && self.without.is_some_and(|both| both < 1.2 * either) {
            Some("one of its causes hardly matters".to_owned())
        } else if self.is_herring_a_cause() {
            Some("its herring is a cause".to_owned())
        } else {
            None
        }
    }

    fn is_herring_a_cause(&self) -> bool {
        let [herring, cause] = [self.without_herring, self.without].map(|ratio| ratio.unwrap_or(1.0));
        herring > HERRING_MAX && cause < CAUSE_MIN * herring
    }

    fn measure(runner: &Runner<'_>, plant: &Plant) -> Result<Self, String> {
        let tags = plan::tags(plant);
        let per_s = runner.throughput_per_s(plant, &[])?;
        let ratio = |removed: &[char]| -> Result<Option<f64>, String> {
            if !removed.iter().all(|tag| tags.contains(tag)) {
                return Ok(None);
            }
            let ratio = runner.throughput_per_s(plant, removed)? / per_s;
            Ok(ratio.is_finite().then_some((ratio * 100.0).round() / 100.0))
        };
        let is_two = tags.contains(&'b');
        Ok(Self {
            per_s: (per_s * 10.0).round() / 10.0,
            without: ratio(if is_two { &['a', 'b'] } else { &['a'] })?,
            without_first: if is_two { ratio(&['a'])? } else { None },
            without_second: ratio(&['b'])?,
            without_herring: ratio(&['h'])?,
        })
    }
}

/// Measures the ratios of the plants, and stores them in the file.
pub(crate) fn verify(
    runner: &Runner<'_>,
    plants: &[&'static Plant],
    is_over: &dyn Fn() -> bool,
) -> anyhow::Result<ExitCode> {
    let mut faults = 0;
    for plant in plants {
        if is_over() {
            say("the time is over, or Ctrl-C came")?;
            return Ok(ExitCode::FAILURE);
        }
        match Ratios::measure(runner, plant) {
            Ok(ratios) => {
                let fault = ratios.fault(plant);
                let words = fault.as_deref().unwrap_or("ok");
                say(&format!("{:<30} {words}: {}", plant.name, serde_json::to_string(&ratios)?))?;
                faults += u32::from(fault.is_some());
                let mut all = read()?;
                all.insert(plant.name.to_owned(), ratios);
                write(&all)?;
            }
            Err(error) => {
                say(&format!("{:<30} no run: {error}", plant.name))?;
                faults += 1;
            }
        }
    }
    Ok(if faults == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn read() -> anyhow::Result<BTreeMap<String, Ratios>> {
    let text = fs::read_to_string(FILE).unwrap_or_else(|_| "{}".to_owned());
    serde_json::from_str(&text).with_context(|| format!("cannot read {FILE}"))
}

/// Writes the ratios with one line for each plant.
fn write(all: &BTreeMap<String, Ratios>) -> anyhow::Result<()> {
    let mut lines = Vec::new();
    for (name, ratios) in all {
        lines.push(format!("  {}: {}", serde_json::to_string(name)?, serde_json::to_string(ratios)?));
    }
    fs::write(FILE, format!("{{\n{}\n}}\n", lines.join(",\n")))
        .with_context(|| format!("cannot write {FILE}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blind::plants;

    #[test]
    fn every_plant_is_verified_or_states_a_reason() {
        let all = read().unwrap();
        for plant in plants::all() {
            let fault = all.get(plant.name).map_or(Some("no ratio".to_owned()), |ratios| ratios.fault(plant));
            assert!(fault.is_none() || plant.unverified.is_some(), "{}: {}", plant.name, fault.unwrap());
        }
        let names: Vec<&String> =
            all.keys().filter(|name| plants::all().all(|plant| plant.name != **name)).collect();
        assert!(names.is_empty(), "not plants: {names:?}");
    }
}
