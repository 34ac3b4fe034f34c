//! Facts on how a report was made: names and values at the end of the page.

use serde_json::Value;
use units::Utc;

use super::document::Fact;
use crate::study::{self, StudyPieces, StudyView};
use crate::text::sanitize;
use crate::units::gibibytes;
use crate::view::View;
use crate::{processes, steadiness, transactions, words};

/// Maximum number of characters of a value.
const CHARACTERS_MAX: usize = 300;
/// Maximum number of facts about the machine beyond its line.
const MORE_MAX: usize = 24;
/// Facts that the line about the machine has already.
const IN_LINE: [&str; 5] = ["name", "cores", "cpu", "memory_bytes", "system"];

/// Formats a time: `2026-11-21 14:25:00 UTC`.
pub(super) fn instant(utc: Utc) -> String {
    format!("{} UTC", utc.to_second())
}

/// Facts about a study.
pub(super) fn of_study(view: &StudyView<'_>, page: &StudyPieces<'_>) -> Vec<Fact> {
    let new = &view.study.new;
    let mut facts = vec![Fact::new("study", page.study())];
    if view.capacity.is_none() {
        facts.push(Fact::new("compared", page.compared()));
    }
    facts.extend(study::of_baseline(page, view).into_iter().map(|line| Fact::new("baseline", line)));
    facts.extend(page.stopped().map(|why| Fact::new("stopped", why)));
    for load in &view.loads {
        let under = if view.loads.len() > 1 { format!("{}: ", short(load.name)) } else { String::new() };
        let of_load = study::rows_and_shards(page, view, load);
        facts.extend(of_load.map(|(name, line)| Fact::new(name, format!("{under}{line}"))));
    }
    facts.push(Fact::new("machine", page.machine()));
    facts.extend(of_host(&new.host));
    let versions = page.versions();
    if !versions.is_empty() {
        facts.push(Fact::new("versions", versions.join(", ")));
    }
    if !new.gates.is_empty() {
        facts.push(Fact::new("gates", short(&new.gates.join(", "))));
    }
    facts.push(Fact::new("seed", new.seed.to_string()));
    facts.push(Fact::new("plan", format!("hash {}", short(&new.plan_hash))));
    facts.push(Fact::new("measured by", format!("Tenbin {}", short(&new.tenbin_version))));
    facts
}

/// Facts about one run.
pub(super) fn of_run(view: &View<'_>) -> Vec<Fact> {
    let (new, ending) = (&view.run.new, view.run.ending.as_ref());
    let mut facts = vec![Fact::new("load", short(&words::load(view)))];
    facts.extend(words::identity(&view.whole).into_iter().map(|line| Fact::new(view.noun().many, line)));
    if view.unit().connects_with_log_in() {
        facts.extend(transactions::without_connect(view).map(|words| Fact::new("throughput", words)));
        facts.extend(words::connection_words(view).into_iter().map(|words| Fact::new("connected", words)));
    }
    facts.extend(transactions::facts(&view.whole).map(|(name, words)| Fact::new(name, words)));
    let mut add = |name: &str, value: Option<String>| facts.extend(value.map(|value| Fact::new(name, value)));
    add("retried", words::retried(&view.whole));
    add("outage", crate::outage::words(view));
    add("starved", crate::outage::starvation_words(view));
    add("steady", steadiness::of(view).map(|seen| short(&steadiness::words(seen))));
    add("TLS", ending.and_then(|ending| ending.tls.as_deref()).map(short));
    add("generator", ending.map(|ending| words::generator(view, &ending.generator)));
    add("start", processes::start(view));
    add("connections", processes::connections(view));
    add("rows", crate::written::words(view));
    for line in crate::pools::lines(view) {
        add("pools", Some(line));
    }
    for line in crate::shards::lines(view) {
        add("shards", Some(line));
    }
    for line in crate::system::words(view) {
        add("system", Some(line));
    }
    for line in crate::physical_cost::lines(view) {
        add("cost", Some(line));
    }
    add("cores", words::cores(view));
    add("machine", Some(words::machine(&new.host).map_or("not known".to_owned(), |words| short(&words))));
    facts.extend(of_host(&new.host));
    facts.push(Fact::new("plan", short(&format!("{} (hash {})", new.plan_text, new.plan_hash))));
    if let Some(seed) = new.plan_json["seed"].as_u64() {
        facts.push(Fact::new("seed", seed.to_string()));
    }
    facts.push(Fact::new("measured by", format!("Tenbin {}", short(&new.tenbin_version))));
    facts
}

/// Further facts about the machine.
fn of_host(host: &Value) -> Vec<Fact> {
    let Some(host) = host.as_object() else { return Vec::new() };
    let more = host.iter().filter(|(name, _)| !IN_LINE.contains(&name.as_str()));
    let more = more.filter_map(|(name, value)| {
        let value = match value {
            Value::String(text) => text.clone(),
            Value::Number(bytes) if name.ends_with("_bytes") => format!("{} GiB", gibibytes(bytes.as_u64()?)),
            Value::Number(number) => number.to_string(),
            Value::Bool(is_so) => if *is_so { "yes" } else { "no" }.to_owned(),
            _ => return None,
        };
        Some(Fact::new(&short(&name.replace('_', " ")), short(&value)))
    });
    more.take(MORE_MAX).collect()
}

pub(super) fn short(text: &str) -> String {
    sanitize(text, CHARACTERS_MAX)
}
