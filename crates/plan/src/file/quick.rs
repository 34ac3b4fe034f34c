//! Reads the section `quick`: changes for a quick run.

use super::reading::Reading;
use super::tree::{Entry, Node, Value};

/// Changes for a quick run.
pub(crate) struct Quick<'a> {
    pub(crate) node: &'a Node,
}

impl<'a> Quick<'a> {
    /// Reads the section, and reports unknown systems and loads.
    pub(crate) fn read(root: &'a Node, reading: &mut Reading<'_>) -> Option<Self> {
        let quick = Self { node: root.get("quick")? };
        quick.check_parameters(root, reading);
        quick.check_systems(root, reading);
        quick.check_loads(root, reading);
        Some(quick)
    }

    /// Values that replace the values of a system's parameters.
    pub(crate) fn vary(&self, system: &str) -> Option<&'a Node> {
        self.node.get("vary")?.get(system).filter(|node| matches!(node.value, Value::Map(_)))
    }

    /// Values that replace the values of the plan's parameters, by name.
    pub(crate) fn parameters(&self) -> impl Iterator<Item = &'a Entry> {
        let vary = self.node.get("vary").map_or(&[][..], Node::entries);
        vary.iter().filter(|entry| !matches!(entry.value.value, Value::Map(_)))
    }

    /// `only` or `except` that replaces the system's key.
    pub(crate) fn choice(&self, system: &str, key: &str) -> Option<&'a Node> {
        self.node.get("systems")?.get(system)?.get(key)
    }

    /// Whether a quick run includes this load.
    pub(crate) fn has_load(&self, load: &Node) -> bool {
        let Some(names) = self.node.get("loads") else { return true };
        let name = load.text_of("name");
        names.items().iter().any(|chosen| chosen.text().is_some_and(|chosen| Some(chosen) == name))
    }

    fn check_parameters(&self, root: &Node, reading: &mut Reading<'_>) {
        let known = root.get("vary").map_or(&[][..], Node::entries);
        let systems = root.get("systems").map_or(&[][..], Node::entries);
        for entry in self.parameters().filter(|entry| known.iter().all(|knob| knob.key != entry.key)) {
            let what = format!("unknown parameter `{}`", entry.key);
            if systems.iter().any(|system| system.key == entry.key) {
                let help =
                    format!("write the values by parameter, as in `{}: {{ workers: [ 1 ] }}`", entry.key);
                reading.at(entry.key_at, format!("`{}` is a system, not a parameter", entry.key), help);
                continue;
            }
            let known = known.iter().map(|knob| knob.key.as_str());
            reading.findings.unknown(
                entry.key_at,
                what,
                &entry.key,
                known,
                "define it under `vary`, or write one of",
            );
        }
    }

    fn check_systems(&self, root: &Node, reading: &mut Reading<'_>) {
        let systems = root.get("systems").map_or(&[][..], Node::entries);
        let sections = ["vary", "systems"].into_iter().filter_map(|key| self.node.get(key));
        let by_system = sections.flat_map(Node::entries);
        for entry in by_system.filter(|entry| matches!(entry.value.value, Value::Map(_))) {
            if !systems.iter().any(|system| system.key == entry.key) {
                let what = format!("unknown system `{}`", entry.key);
                let known = systems.iter().map(|system| system.key.as_str());
                reading.findings.unknown(entry.key_at, what, &entry.key, known, "write one of");
            }
        }
    }

    fn check_loads(&self, root: &Node, reading: &mut Reading<'_>) {
        let Some(entry) = self.node.entry("loads") else { return };
        let loads = root.get("load").map_or(&[][..], Node::items);
        let known: Vec<&str> = loads.iter().filter_map(|load| load.text_of("name")).collect();
        if known.is_empty() {
            // Another check reports several loads without names.
            if loads.len() == 1 {
                let what = "`loads` selects loads by name, and the load of the plan has no name";
                reading.at(entry.key_at, what, "add `name: steady` to the load, or remove `loads`");
            }
            return;
        }
        let chosen = entry.value.items();
        for (number, node) in chosen.iter().enumerate() {
            let Some(name) = node.text() else { continue };
            if !known.contains(&name) {
                let what = format!("unknown load `{name}`");
                reading.findings.unknown(node.at, what, name, known.iter().copied(), "write one of");
            } else if chosen[..number].iter().any(|earlier| earlier.text() == Some(name)) {
                reading.at(node.at, format!("the load `{name}` is listed twice"), "remove one of the two");
            }
        }
    }
}
