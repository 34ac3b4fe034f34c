//! Facts about this machine that are stored with a study: its description, and its measured figures since the last boot.

use std::path::Path;

use machine::{Effort, Figure, Site};
use plan::{Study, StudyPin};
use runner::{Machine, Programs};
use serde_json::{Value, json};
use store::Store;

use crate::commands::this_program;

/// Min planned time of a study that measures the machine, in ns. The trials take about 1 s.
const STUDY_MIN_NS: u64 = 60_000_000_000;
/// Max studies, newest first, that are searched for machine figures.
const STUDIES_MAX: u32 = 20;
/// Key of the measured figures.
const MEASURED_KEY: &str = "can";

/// Key of the cores that the system and the generator are pinned to.
const CORES_KEY: &str = "pin";

/// Key of the hashes of the programs that the study starts, by file name.
const PROGRAMS_KEY: &str = "programs";

/// Facts about this machine, and the cores that the study is pinned to.
///
/// The figures are those of an earlier study since the last boot, if the store has any. Otherwise, a study of a minute or more
/// measures them.
pub(crate) fn gather(store: &Store, study: &Study) -> Value {
    let mut facts = Machine::here().facts;
    if let (StudyPin::Cores { system, generator }, Some(facts)) = (&study.pin, facts.as_object_mut()) {
        facts.insert(CORES_KEY.to_owned(), json!({ "system": system, "generator": generator }));
    }
    if let (Some(facts), Ok(tenbin)) = (facts.as_object_mut(), this_program()) {
        facts.insert(PROGRAMS_KEY.to_owned(), json!(runner::programs(study, &tenbin)));
    }
    let Some(boot) = boot() else { return facts };
    let figures =
        known(store, &boot).or_else(|| (study.min_duration_ns() >= STUDY_MIN_NS).then(|| measured(&boot)));
    if let (Some(facts), Some(figures)) = (facts.as_object_mut(), figures) {
        facts.insert(MEASURED_KEY.to_owned(), figures);
    }
    facts
}

/// Pins a resumed study with `pin: auto` to the cores that it began with, as [`gather`] stored them.
pub(crate) fn restore_cores(study: &mut Study, facts: &Value) {
    let list = |side: &str| -> Option<Vec<usize>> {
        let numbers = facts[CORES_KEY][side].as_array()?.iter();
        numbers.map(|core| usize::try_from(core.as_u64()?).ok()).collect()
    };
    if study.pin == StudyPin::Auto
        && let (Some(system), Some(generator)) = (list("system"), list("generator"))
    {
        study.pin = StudyPin::Cores { system, generator };
    }
}

/// Names of programs of a resumed study that differ from the files that [`gather`] found. Removed programs are omitted.
pub(crate) fn replaced_programs(study: &Study, facts: &Value) -> anyhow::Result<Vec<String>> {
    let Ok(before) = serde_json::from_value::<Programs>(facts[PROGRAMS_KEY].clone()) else {
        return Ok(Vec::new());
    };
    let now = runner::programs(study, &this_program()?);
    let is_other = |(name, hashes): &(String, _)| before.get(name).is_some_and(|before| before != hashes);
    Ok(now.into_iter().filter(is_other).map(|(name, _)| name).collect())
}

/// Identifier of the current boot. `None` if the kernel does not report it.
fn boot() -> Option<String> {
    let text = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    Some(text.trim().to_owned()).filter(|id| !id.is_empty())
}

/// Stored figures of this boot. A store that cannot be read is reported when the study begins, not here.
fn known(store: &Store, boot: &str) -> Option<Value> {
    let hosts = store.newest_hosts(STUDIES_MAX).ok()?;
    hosts
        .into_iter()
        .filter_map(|mut host| host.get_mut(MEASURED_KEY).map(Value::take))
        .find(|can| can["boot"] == boot)
}

fn measured(boot: &str) -> Value {
    let site = Site { dir: Path::new("/"), effort: Effort::BRIEF, is_stopped: &|| false };
    let findings = machine::brief(&site);
    let figures: Vec<Value> = findings.figures.iter().filter_map(figure).collect();
    json!({ "boot": boot, "figures": figures })
}

fn figure(figure: &Figure) -> Option<Value> {
    let (definition, (min, max)) = (figure.definition()?, figure.range());
    // A key with parts begins with the definition, followed by the method.
    let title = match figure.key.split('.').nth(1) {
        Some(method) => format!("{}, {method}", definition.title),
        None => definition.title.to_owned(),
    };
    let (unit, median) = (definition.unit.name(), figure.median());
    Some(json!({ "key": figure.key, "title": title, "unit": unit, "median": median, "min": min, "max": max }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn title_of_stored_figure_has_the_method() {
        let kept = figure(&Figure::new("shift.memmove.forward.int32.2900000", [1.0, 3.0]).unwrap()).unwrap();
        assert_eq!((&kept["title"], &kept["median"]), (&"shift by one element, memmove".into(), &2.0.into()));
        assert_eq!((&kept["unit"], &kept["min"], &kept["max"]), (&"GB/s".into(), &1.0.into(), &3.0.into()));
        assert_eq!(figure(&Figure::new("unknown", [1.0]).unwrap()), None);
    }
}
