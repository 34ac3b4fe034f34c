//! Reads `vary`, `only`, and `except`: the variants of a system.

use super::quick::Quick;
use super::reading::Reading;
use super::span::Span;
use super::tree::{Entry, Node, Value};
use crate::study::{Knob, Variant, is_name};

const VARIANTS_MAX: usize = 10_000;
const PARAMETERS_MAX: usize = 100;
const BUILT_IN: [&str; 5] = ["port", "dir", "plan", "tenbin", "system"];

/// Reads the parameters and variants of a system.
pub(crate) fn read(
    entry: &Entry,
    system: usize,
    quick: Option<&Quick<'_>>,
    reading: &mut Reading<'_>,
) -> (Vec<Knob>, Vec<Variant>) {
    let node = &entry.value;
    let found_before = reading.findings.count();
    let mut knobs = knobs(node.get("vary"), reading);
    let usual = knobs.clone();
    let other = quick.and_then(|quick| quick.vary(&entry.key));
    change(&mut knobs, other, &entry.key, reading);
    let count = knobs.iter().try_fold(1usize, |count, knob| count.checked_mul(knob.values.len()));
    if knobs.is_empty() || count.is_none_or(|count| count > VARIANTS_MAX) {
        for key in ["only", "except"] {
            if let Some(entry) = node.entry(key).filter(|_| node.entry("vary").is_none()) {
                reading.at(entry.key_at, format!("`{key}` requires `vary`"), "add `vary`");
            }
        }
        if !knobs.is_empty() {
            limit(
                count.unwrap_or(usize::MAX),
                node.entry("vary").map_or(entry.key_at, |vary| vary.key_at),
                reading,
            );
        }
        return (knobs, vec![Variant::only(system)]);
    }
    let chosen = |key: &str| quick.and_then(|quick| quick.choice(&entry.key, key));
    let (only, except) = (chosen("only").or(node.get("only")), chosen("except").or(node.get("except")));
    // `only` and `except` of the plan are checked against the usual values, not against those of a quick run.
    let known = |is_quick: bool| if is_quick { &knobs } else { &usual };
    let only = only.map(|node| choices(node, known(chosen("only").is_some()), reading));
    let except = except.map(|node| choices(node, known(chosen("except").is_some()), reading));
    let all = combinations(&knobs);
    let kept: Vec<Variant> = all
        .into_iter()
        .filter(|values| only.as_ref().is_none_or(|only| only.iter().any(|choice| choice.matches(values))))
        .filter(|values| {
            !except.as_ref().is_some_and(|except| except.iter().any(|choice| choice.matches(values)))
        })
        .map(|values| {
            let name = values.iter().map(|(name, value)| with_value(name, value));
            let name = name.collect::<Vec<_>>().join(" ");
            Variant { system, name, knobs: values }
        })
        .collect();
    if kept.is_empty() {
        let place = [node.entry("only"), node.entry("except")].into_iter().flatten().next();
        let at = other.map(|node| node.at).or(place.map(|entry| entry.key_at)).unwrap_or(entry.key_at);
        if reading.findings.count() == found_before {
            let what = format!("no variant of `{}` remains", entry.key);
            reading.at(at, what, "keep at least one combination of values");
        }
    }
    (knobs, kept)
}

/// Formats `workers=8`, or `keepalive=""`. An empty value is quoted so that it is visible.
fn with_value(name: &str, value: &str) -> String {
    if value.is_empty() { format!("{name}=\"\"") } else { format!("{name}={value}") }
}

/// Reports too many variants.
pub(crate) fn limit(count: usize, at: Span, reading: &mut Reading<'_>) {
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
fn change(knobs: &mut [Knob], other: Option<&Node>, system: &str, reading: &mut Reading<'_>) {
    for entry in other.map_or(&[][..], Node::entries) {
        let values = values(&entry.value, reading);
        match knobs.iter_mut().find(|knob| knob.name == entry.key) {
            Some(knob) => knob.values = values,
            None => unknown_knob(
                entry,
                knobs,
                &format!("unknown parameter `{}` of `{system}`", entry.key),
                reading,
            ),
        }
    }
}

fn unknown_knob(entry: &Entry, knobs: &[Knob], what: &str, reading: &mut Reading<'_>) {
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
                unknown_knob(entry, knobs, &format!("unknown parameter `{}`", entry.key), reading);
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
        assert_eq!(with_value("keepalive", ""), "keepalive=\"\"");
        assert_eq!(with_value("workers", "8"), "workers=8");
    }
}
