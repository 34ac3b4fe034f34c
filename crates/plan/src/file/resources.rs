//! Reads `resources`: the limits of a system.

use std::collections::BTreeSet;

use super::reading::Reading;
use super::tree::Node;
use crate::study::{LimitKind, Limits, LimitsText, Variant};

/// Context that the values of limits depend on.
#[derive(Clone, Copy)]
pub(crate) struct LimitContext<'a> {
    /// Variants of the system.
    pub(crate) variants: &'a [Variant],
    /// `pin` of the plan.
    pub(crate) pin: Option<&'a Node>,
}

/// Reads the key of a system. A value with parameters is checked with the values of each variant.
pub(crate) fn read(system: &Node, around: LimitContext<'_>, reading: &mut Reading<'_>) -> LimitsText {
    let Some(node) = system.get("resources") else { return LimitsText::default() };
    read_values(node, around, reading)
}

/// Reads the limits of a mapping.
pub(crate) fn read_values(node: &Node, around: LimitContext<'_>, reading: &mut Reading<'_>) -> LimitsText {
    let LimitContext { variants, pin } = around;
    let known: Vec<String> = variants
        .first()
        .map(|variant| variant.knobs.iter().map(|(name, _)| name.clone()).collect())
        .unwrap_or_default();
    let pinned: Option<BTreeSet<usize>> = pin
        .and_then(|pin| pin.get("system"))
        .map(|cores| cores.items().iter().filter_map(|core| core.text()?.parse().ok()).collect());
    let mut texts = Vec::new();
    for (kind, section, key) in LimitKind::ALL {
        let section = match section {
            Some(section) => node.get(section),
            None => Some(node),
        };
        let Some(value) = section.and_then(|section| section.get(key)) else { continue };
        for item in value.items() {
            let Some(text) = item.text() else { continue };
            let findings_before = reading.findings.count();
            let braced = reading.braced(item, text, &known);
            if reading.findings.count() == findings_before {
                check(item, kind, &LimitsText(vec![(kind, braced.clone())]), variants, &pinned, reading);
            }
            texts.push((kind, braced));
        }
    }
    LimitsText(texts)
}

/// Reports the first variant whose value is not a valid limit.
fn check(
    node: &Node,
    kind: LimitKind,
    text: &LimitsText,
    variants: &[Variant],
    pinned: &Option<BTreeSet<usize>>,
    reading: &mut Reading<'_>,
) {
    let Some(braced) =
        text.texts().next().filter(|braced| braced.names().next().is_some() || kind == LimitKind::Core)
    else {
        // The check of forms covers a value without parameters.
        return;
    };
    for variant in variants {
        let value =
            |name: &str| variant.knobs.iter().find(|(knob, _)| knob == name).map(|(_, value)| value.clone());
        let mut limits = Limits::default();
        if let Err(wrong) = kind.set(&mut limits, &braced.fill(value)) {
            // The check of forms reports a value without parameters.
            if braced.names().next().is_none() {
                return;
            }
            let help = "change the values of the parameter under `vary`";
            reading.at(node.at, format!("with {}: {wrong}", variant.name), help);
            return;
        }
        let outside =
            limits.cores.iter().find(|core| pinned.as_ref().is_some_and(|pinned| !pinned.contains(*core)));
        if let Some(core) = outside {
            let what = format!("core {core} is not among the cores of `pin: system`");
            reading.at(
                node.at,
                what,
                format!("add {core} to `pin: {{ system: […] }}`, or choose another core"),
            );
            return;
        }
    }
}
