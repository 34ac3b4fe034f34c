//! Reads `vary`, `only`, and `except`, of the plan and of a system: the variants of a system.

use super::quick::Quick;
use super::reading::Reading;
use super::span::Span;
use super::tree::{Entry, Node, Value};
use crate::study::{Knob, Variant, is_name};

const VARIANTS_MAX: usize = 10_000;
const PARAMETERS_MAX: usize = 100;
const BUILT_IN: [&str; 5] = ["port", "dir", "plan", "tenbin", "system"];

/// System whose parameters and variants are read.
pub(crate) struct VariedSystem<'a> {
    /// Whole plan. Its parameters apply to every system.
    pub(crate) root: &'a Node,
    /// Entry of the system. `None` for a system that is named by `url` of the plan.
    pub(crate) entry: Option<&'a Entry>,
    /// Index of the system.
    pub(crate) number: usize,
}

/// Reads the parameters and variants of a system. Parameters of the plan come before those of the system.
pub(crate) fn read(
    of: &VariedSystem<'_>,
    quick: Option<&Quick<'_>>,
    reading: &mut Reading<'_>,
) -> (Vec<Knob>, Vec<Variant>) {
    let findings_before = reading.findings.count();
    let (usual, knobs) = all_knobs(of, quick, reading);
    let count = knobs.iter().try_fold(1usize, |count, knob| count.checked_mul(knob.values.len()));
    if knobs.is_empty() || count.is_none_or(|count| count > VARIANTS_MAX) {
        if !knobs.is_empty() {
            check_count(count.unwrap_or(usize::MAX), of.vary_at(), reading);
        }
        return (knobs, vec![Variant::only(of.number)]);
    }
    let choices = Choices::read(of, quick, (&usual, &knobs), reading);
    let kept: Vec<Variant> = combinations(&knobs)
        .into_iter()
        .filter(|values| choices.keep(values))
        .map(|values| {
            let name = values.iter().map(|(name, value)| format_value(name, value));
            let name = name.collect::<Vec<_>>().join(" ");
            Variant { system: of.number, name, knobs: values }
        })
        .collect();
    if kept.is_empty() && reading.findings.count() == findings_before {
        let node = of.entry.map_or(of.root, |entry| &entry.value);
        let place = [node, of.root].into_iter().flat_map(|node| [node.entry("only"), node.entry("except")]);
        let place = place.flatten().next().map(|entry| entry.key_at);
        let quick = of.entry.and_then(|entry| quick?.vary(&entry.key)).map(|node| node.at);
        let what = of.entry.map_or_else(
            || "no variant remains".to_owned(),
            |entry| format!("no variant of `{}` remains", entry.key),
        );
        let at = quick.or(place).unwrap_or(of.vary_at());
        reading.at(at, what, "keep at least one combination of values");
    }
    (knobs, kept)
}

impl VariedSystem<'_> {
    fn name(&self) -> &str {
        self.entry.map_or("url", |entry| &entry.key)
    }

    /// Place of `vary`, or else of the system.
    fn vary_at(&self) -> Span {
        let own = self.entry.and_then(|entry| entry.value.entry("vary"));
        let vary = own.or(self.root.entry("vary")).map(|vary| vary.key_at);
        vary.or(self.entry.map(|entry| entry.key_at)).unwrap_or(self.root.at)
    }
}

/// Parameters of the plan and of a system: as the plan has them, and as a quick run changes them.
fn all_knobs(
    of: &VariedSystem<'_>,
    quick: Option<&Quick<'_>>,
    reading: &mut Reading<'_>,
) -> (Vec<Knob>, Vec<Knob>) {
    let mut shared = knobs(of.root.get("vary"), reading);
    let own_node = of.entry.map(|entry| &entry.value);
    let mut own = knobs(own_node.and_then(|node| node.get("vary")), reading);
    for knob in own.iter().filter(|knob| shared.iter().any(|known| known.name == knob.name)) {
        let entry = own_node.and_then(|node| node.get("vary")?.entry(&knob.name));
        let what = format!("`{}` is a parameter of the whole plan already", knob.name);
        reading.at(entry.map_or(of.vary_at(), |entry| entry.key_at), what, "remove one of the two");
    }
    own.retain(|knob| shared.iter().all(|known| known.name != knob.name));
    for (node, knobs) in [(Some(of.root), &shared), (own_node, &own)] {
        let stray = ["only", "except"].into_iter().filter_map(|key| node?.entry(key));
        let stray: Vec<&Entry> = stray
            .filter(|_| {
                knobs.is_empty() && (node.is_some_and(|node| node.at == of.root.at) || shared.is_empty())
            })
            .collect();
        for entry in stray {
            reading.at(entry.key_at, format!("`{}` requires `vary`", entry.key), "add `vary`");
        }
    }
    let usual = [shared.clone(), own.clone()].concat();
    if let Some(quick) = quick {
        for entry in quick.parameters() {
            // Unknown ones are reported once, with the section `quick`.
            if let Some(knob) = shared.iter_mut().find(|knob| knob.name == entry.key) {
                knob.values = values(&entry.value, reading);
            }
        }
        apply_quick(&mut own, of.entry.and_then(|entry| quick.vary(&entry.key)), of.name(), reading);
    }
    (usual, [shared, own].concat())
}

/// Conditions that the combinations of a system's values must meet.
struct Choices {
    /// Each list has a choice that a combination must match.
    only: Vec<Vec<Choice>>,
    except: Vec<Choice>,
}

impl Choices {
    /// The parameters are the usual ones and the ones of the run: `only` and `except` of the plan are checked against the usual values, not
    /// against the values of a quick run.
    fn read(
        of: &VariedSystem<'_>,
        quick: Option<&Quick<'_>>,
        (usual, knobs): (&[Knob], &[Knob]),
        reading: &mut Reading<'_>,
    ) -> Self {
        let node = of.entry.map(|entry| &entry.value);
        let chosen = |key: &str| of.entry.and_then(|entry| quick?.choice(&entry.key, key));
        let shared = knobs_of(of.root, usual);
        let mut read = |key: &str| -> Vec<Vec<Choice>> {
            let of_plan = of.root.get(key).map(|node| choices(node, &shared, reading));
            let of_system = match chosen(key) {
                Some(node) => Some(choices(node, knobs, reading)),
                None => node.and_then(|node| node.get(key)).map(|node| choices(node, usual, reading)),
            };
            of_plan.into_iter().chain(of_system).collect()
        };
        let (only, except) = (read("only"), read("except"));
        Self { only, except: except.into_iter().flatten().collect() }
    }

    fn keep(&self, values: &[(String, String)]) -> bool {
        self.only.iter().all(|only| only.iter().any(|choice| choice.matches(values)))
            && !self.except.iter().any(|choice| choice.matches(values))
    }
}

/// Parameters that a mapping defines itself under `vary`.
fn knobs_of(node: &Node, knobs: &[Knob]) -> Vec<Knob> {
    let is_own = |knob: &&Knob| node.get("vary").is_some_and(|vary| vary.entry(&knob.name).is_some());
    knobs.iter().filter(is_own).cloned().collect()
}

/// Formats `workers=8`, or `keepalive=""`. An empty value is quoted so that it is visible.
fn format_value(name: &str, value: &str) -> String {
    if value.is_empty() { format!("{name}=\"\"") } else { format!("{name}={value}") }
}

/// Reports too many variants.
pub(crate) fn check_count(count: usize, at: Span, reading: &mut Reading<'_>) {
    if count > VARIANTS_MAX {
        let what = format!("there are more than {VARIANTS_MAX} variants");
        reading.at(at, what, "vary less, or exclude some values");
    }
}

fn knobs(vary: Option<&Node>, reading: &mut Reading<'_>) -> Vec<Knob> {
    let mut knobs = Vec::new();
    for entry in vary.map_or(&[][..], Node::entries) {
        if knobs.len() >= PARAMETERS_MAX {
            reading.at(entry.key_at, format!("there are more than {PARAMETERS_MAX} parameters"), "vary less");
            break;
        }
        if BUILT_IN.contains(&entry.key.as_str()) || entry.key.starts_with("port.") {
            let what = format!("the name {{{}}} is reserved", entry.key);
            reading.at(entry.key_at, what, "choose another name");
        } else if !is_name(&entry.key) {
            let what = format!("{:?} is not a valid name", entry.key);
            reading.at(entry.key_at, what, "use letters, digits, _, ., and -, and begin with a letter");
        }
        knobs.push(Knob { name: entry.key.clone(), values: values(&entry.value, reading) });
    }
    knobs
}

fn values(node: &Node, reading: &mut Reading<'_>) -> Vec<String> {
    let mut values: Vec<String> = Vec::new();
    for item in node.items() {
        let Some(value) = item.text() else { continue };
        if value.chars().any(char::is_control) || value.len() > 1_000 {
            reading.at(
                item.at,
                "the value is too long for the name of a variant, or has control characters",
                "write one short line",
            );
        }
        if values.len() > VARIANTS_MAX {
            break;
        }
        if values.iter().rev().take(1_000).any(|known| known == value) {
            reading.at(item.at, format!("{value:?} is listed twice"), "remove one of the two");
        } else {
            values.push(value.to_owned());
        }
    }
    if values.is_empty() { vec![String::new()] } else { values }
}

/// Replaces values of parameters for a quick run.
fn apply_quick(knobs: &mut [Knob], other: Option<&Node>, system: &str, reading: &mut Reading<'_>) {
    for entry in other.map_or(&[][..], Node::entries) {
        let values = values(&entry.value, reading);
        match knobs.iter_mut().find(|knob| knob.name == entry.key) {
            Some(knob) => knob.values = values,
            None => report_unknown_knob(
                entry,
                knobs,
                &format!("unknown parameter `{}` of `{system}`", entry.key),
                reading,
            ),
        }
    }
}

fn report_unknown_knob(entry: &Entry, knobs: &[Knob], what: &str, reading: &mut Reading<'_>) {
    let names = knobs.iter().map(|knob| knob.name.as_str());
    reading.findings.unknown(entry.key_at, what, &entry.key, names, "write one of");
}

/// Values that a combination must have to be selected.
struct Choice(Vec<(String, Vec<String>)>);

impl Choice {
    fn matches(&self, values: &[(String, String)]) -> bool {
        self.0
            .iter()
            .all(|(knob, wanted)| values.iter().any(|(name, value)| name == knob && wanted.contains(value)))
    }
}

fn choices(node: &Node, knobs: &[Knob], reading: &mut Reading<'_>) -> Vec<Choice> {
    let mut choices = Vec::new();
    for item in node.items().iter().filter(|item| matches!(item.value, Value::Map(_))) {
        let mut wanted = Vec::new();
        for entry in item.entries() {
            let Some(knob) = knobs.iter().find(|knob| knob.name == entry.key) else {
                report_unknown_knob(entry, knobs, &format!("unknown parameter `{}`", entry.key), reading);
                continue;
            };
            let mut values = Vec::new();
            for node in entry.value.items() {
                let Some(value) = node.text() else { continue };
                if !knob.values.iter().any(|known| known == value) {
                    let what = format!("`{}` never has the value {value}", knob.name);
                    let known = knob.values.iter().map(String::as_str);
                    reading.findings.unknown(node.at, what, value, known, "write one of");
                }
                values.push(value.to_owned());
            }
            wanted.push((entry.key.clone(), values));
        }
        choices.push(Choice(wanted));
    }
    choices
}

/// All combinations. The last parameter changes fastest.
fn combinations(knobs: &[Knob]) -> Vec<Vec<(String, String)>> {
    let mut all: Vec<Vec<(String, String)>> = vec![Vec::new()];
    for knob in knobs {
        all = all
            .into_iter()
            .flat_map(|values| {
                knob.values.iter().map(move |value| {
                    let mut values = values.clone();
                    values.push((knob.name.clone(), value.clone()));
                    values
                })
            })
            .collect();
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_value_is_quoted_in_name_of_variant() {
        assert_eq!(format_value("keepalive", ""), "keepalive=\"\"");
        assert_eq!(format_value("workers", "8"), "workers=8");
    }
}
