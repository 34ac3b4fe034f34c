//! Reads `setup` and `teardown`: requests of one client before and after each load.

use super::endpoints::Endpoints;
use super::kinds::Kind;
use super::own_data;
use super::reading::Reading;
use super::scenario::WrittenScenario;
use super::step;
use super::step_reader::StepReader;
use super::tree::Node;
use super::variables::Variables;
use crate::plan::{ErrandSql, PlannedStep};
use crate::study::SqlFile;
use crate::system_kind::SystemKind;

const STEPS_MAX: usize = 100;
/// Keys that apply only to steps of a load.
const LOAD_STEP_KEYS: [&str; 6] = ["weight", "think", "once", "repeat", "if", "steps"];

/// The section as written.
pub(crate) fn written<'a>(root: &'a Node, key: &str) -> Option<WrittenScenario<'a>> {
    let entry = root.entry(key)?;
    Some(WrittenScenario::of(key, entry.key_at, &entry.value))
}

/// Keys that statements of the section may have.
const SQL_KEYS: [&str; 3] = ["sql", "endpoint", "name"];

/// Whether an item of the section has statements.
fn has_statements(node: &Node) -> bool {
    node.get("sql").is_some()
}

/// Reads the statements of the section.
pub(crate) fn read_sql(
    section: &WrittenScenario<'_>,
    endpoints: &mut Endpoints,
    reading: &mut Reading<'_>,
) -> Vec<ErrandSql> {
    let mut found = Vec::new();
    for (place, node) in section.steps.iter().enumerate().filter(|(_, node)| has_statements(node)) {
        if let Some(entry) = node.entries().iter().find(|entry| !SQL_KEYS.contains(&entry.key.as_str())) {
            let what = format!("`sql` of `{}` has no `{}`", section.name, entry.key);
            reading.at(entry.key_at, what, "remove it");
        }
        endpoints.register_statement(node, reading);
        let after_requests = section.steps[..place].iter().filter(|node| !has_statements(node)).count();
        let endpoint = node.text_of("endpoint").map(str::to_owned);
        let texts = node.get("sql").map_or(&[][..], Node::items);
        for text in texts.iter().filter_map(|item| own_data::text(item, &[], reading)) {
            let sql = SqlFile { file: text.file, text: text.text.fill(|_| None) };
            found.push(ErrandSql { after_requests, endpoint: endpoint.clone(), sql, database: None });
        }
    }
    found
}

/// Registers the systems of the requests of the section. Returns the number of each system, in the order of the requests in the section.
/// `None` for statements, and for requests with an unknown system.
pub(crate) fn systems(
    section: &WrittenScenario<'_>,
    endpoints: &mut Endpoints,
    reading: &mut Reading<'_>,
) -> Vec<Option<u16>> {
    let steps = section.steps.iter();
    let mut system = |node: &Node| {
        let kind = Kind::from_known_step(node).filter(|_| is_request(node))?;
        endpoints.register_errand(node, kind, reading)
    };
    steps.map(|node| if has_statements(node) { None } else { system(node) }).collect()
}

/// Whether an item of the section, which has no statements, is a request.
fn is_request(node: &Node) -> bool {
    !SystemKind::by_step(node).is_some_and(|kind| kind.unit.has_sessions())
}

/// Reads the requests of the section. `systems` has the number of the system of each item.
pub(crate) fn read(
    section: &WrittenScenario<'_>,
    systems: &[Option<u16>],
    endpoints: &Endpoints,
    variables: &mut Variables,
    reading: &mut Reading<'_>,
) -> Vec<PlannedStep> {
    let name = &section.name;
    if section.steps.iter().all(has_statements) && !section.steps.is_empty() {
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
    for (node, system) in section.steps.iter().zip(systems).filter(|(node, _)| !has_statements(node)) {
        if !is_request(node) {
            let what = format!("`{name}` has requests and `sql`, and this is another transaction");
            reading.at(node.at, what, "write its statements under `sql`, or remove it");
            continue;
        }
        if let Some(entry) = node.entries().iter().find(|entry| LOAD_STEP_KEYS.contains(&entry.key.as_str()))
        {
            reading.at(entry.key_at, format!("a step of `{name}` has no `{}`", entry.key), "remove it");
        }
        let number = system.unwrap_or_default();
        let endpoint = system.map_or("", |number| endpoints.errand_system(number));
        let read = step::read(node, endpoint, &mut *of_section, variables, reading);
        steps.extend(read.map(|read| read.at(number, endpoint).step));
    }
    of_section.finish(&mut StepReader { variables, reading });
    steps
}
