//! Reads a plan once for each setting: for each combination of values of the parameters that stand outside of systems.

use std::collections::BTreeMap;

use super::kinds::Kinds;
use super::parameters::Parameters;
use super::quick::Quick;
use super::read_setting;
use super::reading::Reading;
use super::systems;
use super::tree::{Node, Value};
use super::ycsb;
use crate::study::{Settings, Study, Variant};

/// Max number of configurations, because each is a separate plan in memory.
const SETTINGS_MAX: usize = 500;

/// Reads a plan. `None` if it has errors.
pub(crate) fn read(root: &Node, title: &str, is_quick: bool, reading: &mut Reading<'_>) -> Option<Study> {
    reading.parameters = Parameters::of(root);
    let differs = ycsb::differs_between_systems(root);
    if (reading.parameters.is_empty() && !differs) || !matches!(root.value, Value::Map(_)) {
        return read_setting(root, root, title, is_quick, reading);
    }
    let [variants, others] = variants(root, is_quick, reading);
    let Some(first) = variants.first() else {
        return read_setting(root, root, title, is_quick, reading);
    };
    let mut study = read_one(root, title, is_quick, (&variants, first), reading)?;
    if !(differs || reading.parameters.has_used()) || !reading.findings.is_empty() {
        return Some(study);
    }
    // A file that only some settings read may have further parameters.
    let mut known = 0;
    while known < reading.parameters.used_count() || study.settings.list.is_empty() {
        known = reading.parameters.used_count();
        study.settings = read_all(root, title, is_quick, &variants, reading)?;
    }
    for other in others.iter().take(SETTINGS_MAX) {
        read_one(root, title, is_quick, (&others, other), reading)?;
    }
    study.hash = reading.folder.hash();
    study.secrets = reading.secrets.clone();
    Some(study)
}

/// Reads the settings of all variants. `None` if one has errors.
fn read_all(
    root: &Node,
    title: &str,
    is_quick: bool,
    variants: &[Variant],
    reading: &mut Reading<'_>,
) -> Option<Settings> {
    let mut settings = Settings::default();
    let mut numbers: BTreeMap<(usize, Vec<String>), usize> = BTreeMap::new();
    for variant in variants {
        let key = reading.parameters.key(variant);
        let number = match numbers.get(&key) {
            Some(number) => *number,
            None if settings.list.len() >= SETTINGS_MAX => {
                let at = root.entry("vary").map_or(root.at, |entry| entry.key_at);
                let what = format!(
                    "parameters outside of systems have more than {SETTINGS_MAX} combinations of values"
                );
                reading.at(at, what, "vary less, or exclude some values");
                return None;
            }
            None => {
                settings.list.push(read_one(root, title, is_quick, (variants, variant), reading)?);
                settings.list.len() - 1
            }
        };
        numbers.insert(key, number);
        settings.by_variant.push(number);
    }
    Some(settings)
}

/// Reads the configuration of a variant. `None` if it has errors.
fn read_one(
    root: &Node,
    title: &str,
    is_quick: bool,
    (variants, variant): (&[Variant], &Variant),
    reading: &mut Reading<'_>,
) -> Option<Study> {
    let before = reading.findings.list.len();
    reading.system = variant.system;
    (reading.kinds, reading.at_url, reading.pipeline_max) = (Kinds::default(), Kinds::default(), None);
    let filled = reading.parameters.fill(root, variants, variant);
    let study = read_setting(&filled, root, title, is_quick, reading);
    reading.parameters.annotate(reading.findings.list.get_mut(before..).unwrap_or_default());
    study.filter(|_| reading.findings.list.len() == before)
}

/// Variants of the plan, and variants of its other form: of the quick run, or of the full one. Their errors are reported when the systems
/// are read.
fn variants(root: &Node, is_quick: bool, reading: &mut Reading<'_>) -> [Vec<Variant>; 2] {
    let findings = std::mem::take(&mut reading.findings);
    let quick = root.get("quick").map(|node| Quick { node });
    let usual = systems::variants(root, None, reading);
    let quick = quick.map(|quick| systems::variants(root, Some(&quick), reading));
    reading.findings = findings;
    match quick {
        Some(quick) if is_quick => [quick, usual],
        Some(quick) => [usual, quick],
        None => [usual, Vec::new()],
    }
}
