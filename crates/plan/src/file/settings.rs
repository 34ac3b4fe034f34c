//! Reads the section `sql`: query mode and variables of scripts. Checks the scripts.

use std::collections::BTreeSet;

use sql::Engine;
use sql::script::variable_name;
use sql::workload::{self, Tables, styled};

use super::endpoints::Role;
use super::reading::Reading;
use super::scenario::WrittenScenario;
use super::span::Span;
use super::tree::Node;
use crate::draft::ScriptSource;
use crate::error::{Problem, Spelling, StepProblem};
use crate::scripts;
use crate::spec::SqlSpec;
use crate::system_kind::SystemKind;

/// Transactions of a plan on one system.
#[derive(Clone, Debug, Default)]
pub(crate) struct SqlText {
    pub(crate) played: Vec<ScriptSource>,
    pub(crate) spec: SqlSpec,
    /// Names of the plan's variables in scripts.
    pub(crate) bindings: Vec<String>,
}

impl SqlText {
    /// Removes values that only workloads other than the played ones have.
    pub(crate) fn remove_inapplicable(&mut self) {
        let spec = &mut self.spec;
        let workloads: Vec<_> = self
            .played
            .iter()
            .filter_map(|played| match played {
                ScriptSource::Workload(text) => workload::find(styled(text).0),
                _ => None,
            })
            .collect();
        let has = |name: &str| workloads.iter().flat_map(|one| one.variables).any(|one| one.name == name);
        spec.tables.take_if(|_| !has("tables"));
        spec.table_size.take_if(|_| !has("table_size"));
        spec.range_size.take_if(|_| !has("range_size"));
        spec.rows.take_if(|_| !has("rows"));
        spec.style.take_if(|_| !workloads.iter().any(|one| one.styles.len() > 1));
        spec.distribution.take_if(|_| !workloads.iter().any(|one| one.tables == Tables::Sbtest));
    }
}

/// Scripts on a system, each with the place of its step.
pub(crate) struct PlacedScripts {
    /// Name of the endpoint.
    pub(crate) name: String,
    pub(crate) kind: &'static SystemKind,
    pub(crate) scripts: Vec<(ScriptSource, Span)>,
}

/// Reads the section for the systems that steps talk to. `is_sound` means that the scripts have no errors so far.
pub(crate) fn read(
    root: &Node,
    played: Vec<PlacedScripts>,
    names: &[String],
    is_sound: bool,
    reading: &mut Reading<'_>,
) -> Vec<Role> {
    let section = root.entry("sql");
    let databases = played.iter().filter(|one| !one.scripts.is_empty()).count();
    if let Some(entry) = section.filter(|_| databases == 0) {
        let what = "`sql` requires a step that is a transaction";
        reading.at(entry.key_at, what, "remove `sql`, or add a step such as `- sql: SELECT 1`");
    }
    let bindings: Vec<String> = names.iter().map(|name| variable_name(name)).collect();
    let mut role = |PlacedScripts { name, kind, scripts }: PlacedScripts| {
        let (played, places): (Vec<ScriptSource>, Vec<Span>) = scripts.into_iter().unzip();
        if played.is_empty() {
            return Role { name, kind, scripts: SqlText::default() };
        }
        let spec = section.map(|entry| SqlSpec::from_node(&entry.value)).unwrap_or_default();
        let mut sql = SqlText { played, spec, bindings: bindings.clone() };
        if databases > 1 {
            sql.remove_inapplicable();
        }
        if is_sound {
            report(&sql, &places, reading);
        }
        Role { name, kind, scripts: sql }
    };
    played.into_iter().map(&mut role).collect()
}

/// Variables of all scripts: the ones that the section defines, and the ones of the workloads in use.
pub(crate) fn variables(root: &Node, scenarios: &[WrittenScenario<'_>]) -> BTreeSet<String> {
    let section = root.get("sql").and_then(|sql| sql.get("variables"));
    let defined = section.map_or(&[][..], Node::entries).iter().map(|entry| entry.key.clone());
    let steps = scenarios.iter().flat_map(WrittenScenario::leaf_steps);
    let workloads = steps.filter_map(|step| workload::find(styled(step.text_of("workload")?).0));
    let of_workloads = workloads.flat_map(|workload| workload.variables).map(|one| one.name.to_owned());
    defined.chain(of_workloads).collect()
}

/// Reports errors in the scripts.
fn report(sql: &SqlText, places: &[Span], reading: &mut Reading<'_>) {
    // The kind of database is not known yet. Errors that depend on it are reported later.
    let has_workloads = sql.played.iter().any(|played| matches!(played, ScriptSource::Workload(_)));
    let engine = if has_workloads { Engine::FOR_WORKLOADS } else { Engine::FOR_SCRIPTS };
    let mut errors = Vec::new();
    scripts::check(&sql.played, &sql.spec, engine, &mut errors);
    let whole = places.first().copied().unwrap_or(Span::new(0, 0));
    for error in errors {
        let script = match &error.problem {
            Problem::Step(StepProblem::Script { number, .. }) => places.get(*number).copied(),
            _ => None,
        };
        let at = script.or(error.at.map(|at| at.value)).unwrap_or(whole);
        if !reading.findings.has_at(at) {
            reading.at(at, error.what(Spelling::Keys), error.help(Spelling::Keys));
        }
    }
}
