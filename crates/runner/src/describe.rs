//! Describes a run before its load starts, and the ending of a run if its load never started.

use std::time::{SystemTime, UNIX_EPOCH};

use evidence::{Ending, Failure, Generator, Level, Model, NewRun, StepPart, Unit, Validity, Verdict};
use judge::SHARDS_OF_PLAN;
use load::values::Source;
use plan::{Plan, PlannedStep, short_hash};

/// Describes the run of a plan. `host` is the machine that generates the load.
pub(crate) fn describe(plan: &Plan, host: serde_json::Value) -> NewRun {
    let mut plan_json = plan.to_json();
    let mut hash = ring::digest::Context::new(&ring::digest::SHA256);
    // The seed only changes drawn values, so it is not part of the hash.
    let mut of_plan = plan_json.clone();
    of_plan.as_object_mut().map(|of_plan| of_plan.remove("seed"));
    // Requests are hashed below as they are sent. Earlier versions did not store the path.
    for step in of_plan["steps"].as_array_mut().into_iter().flatten() {
        step.as_object_mut().map(|step| step.remove("path"));
    }
    hash.update(of_plan.to_string().as_bytes());
    for action in plan.steps.iter().filter_map(PlannedStep::owned) {
        hash.update(&action.identity());
    }
    // The plan has only the names of scripts, so their texts are hashed.
    for text in plan.endpoints.iter().flat_map(|endpoint| endpoint.load.script_texts()) {
        hash.update(&(text.len() as u64).to_le_bytes());
        hash.update(text);
    }
    // The plan has only the sizes of tables, so their cells are hashed.
    let tables = plan.data.iter().filter_map(|data| match &data.source {
        Source::Rows { rows, .. } => Some(rows),
        _ => None,
    });
    for cell in tables.flat_map(|rows| rows.iter()).flatten() {
        hash.update(&(cell.len() as u64).to_le_bytes());
        hash.update(cell.as_bytes());
    }
    let mut title = plan.title.clone();
    // The name does not affect the requests, so it is not part of the hash.
    if let Some(system) = &plan.system {
        title = format!("{system}: {title}");
        plan_json[NewRun::SYSTEM] = serde_json::json!(system);
    }
    NewRun {
        started_at_unix_ms: unix_ms(),
        plan_text: format!("{title}: {}; {}", plan.load_words(), plan.stop_words()),
        title,
        plan_hash: short_hash(hash),
        plan_json,
        tenbin_version: env!("CARGO_PKG_VERSION").to_owned(),
        host,
        load_words: plan.unprofiled_load_words(),
        is_profiled: plan.profile.is_some() && plan.tool().is_none(),
        model: model(plan),
        users: users(plan),
        steps: plan.steps.iter().map(|step| step.name.clone()).collect(),
        units: plan.steps.iter().map(unit).collect(),
        parts: parts(plan),
        warm_up_ns: plan.warm_up_ns,
        planned_duration_ns: plan.planned_ns().map(|ns| ns - plan.warm_up_ns),
        latency_limit_ns: plan.latency_limit_ns(),
        connects_each: !plan.keep_alive(),
        stamps: plan.stamps(),
        place: None,
        system_version: None,
    }
}

/// Parts of steps that are counted separately, in the order of their counters.
pub(crate) fn parts(plan: &Plan) -> Vec<StepPart> {
    let parts = plan.parts().into_iter().chain(plan.address_parts());
    parts.map(|part| StepPart { name: part.name, of: part.of }).collect()
}

/// Records the positions of each `hash` list's addresses among the parts, so that reports can show how evenly it spreads requests.
pub(crate) fn shards(plan: &Plan, new: &mut NewRun) {
    if plan.address_parts().is_empty() {
        return;
    }
    let mut lists = Vec::new();
    for (number, endpoint) in (0..).zip(&plan.endpoints) {
        let Some(in_use) = endpoint.active_shards() else { continue };
        let steps: Vec<u16> = plan.steps_at(number).map(|(step, _)| step).collect();
        let addresses = endpoint.shards();
        let in_use = in_use.get().map_or(addresses, |count| addresses.min(count as usize));
        lists.push(serde_json::json!({
            "endpoint": endpoint.name, "steps": steps, "addresses": addresses, "in_use": in_use
        }));
    }
    if !lists.is_empty() {
        // The hash of the plan was computed before, and covers what was requested.
        new.plan_json[SHARDS_OF_PLAN] = serde_json::Value::Array(lists);
    }
}

pub(crate) fn model(plan: &Plan) -> Model {
    match plan.load {
        load::Load::Closed(_) => Model::Closed,
        load::Load::Open(_) => Model::Open,
    }
}

fn users(plan: &Plan) -> Option<u32> {
    match &plan.load {
        load::Load::Closed(closed) if plan.tool().is_none() => Some(closed.users),
        load::Load::Closed(_) | load::Load::Open(_) => None,
    }
}

pub(crate) fn unit(step: &PlannedStep) -> Unit {
    match step.unit() {
        wire::step::Unit::Request => Unit::Requests,
        wire::step::Unit::Transaction => Unit::Transactions,
    }
}

/// Ending of a run in which the load never started.
pub(crate) fn ending_without_load(verdict: Verdict, failure: Option<Failure>, rss_peak_bytes: u64) -> Ending {
    let why =
        failure.as_ref().map_or("the run was stopped before its load began", |_| "the load never began");
    let remedy = "there are no figures to believe or not";
    let cause = judge::Doubt::NO_LOAD.cause(Level::Suspect, why.to_owned(), remedy.to_owned());
    Ending {
        ended_at_unix_ms: unix_ms(),
        verdict,
        validity: Validity { verdict: Level::Suspect, causes: vec![cause], ..Validity::default() },
        generator: Generator { rss_peak_bytes, ..Generator::default() },
        failure,
        ..Ending::default()
    }
}

pub(crate) fn unix_ms() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as i64)
}

#[cfg(test)]
mod tests {
    use plan::{Draft, LoadSpec, ScriptSource};

    use super::*;

    /// Runs are comparable if their plans have the same hash. The expected hashes are those that earlier versions stored.
    #[test]
    fn plan_hash_of_owned_steps_is_stable() {
        for (query, expected) in
            [("", "aec6e1eb7984f983"), ("?send=1KiB&write=64&bytes=1", "fddd1738c90473fc")]
        {
            let load = LoadSpec { users: Some(2.into()), requests: Some(20.into()), ..LoadSpec::default() };
            let url = format!("tcp://127.0.0.1:9000{query}");
            let plan = Draft { url, load, ..Draft::default() }.check().expect("a plan");
            assert_eq!(describe(&plan, serde_json::Value::Null).plan_hash, expected, "{query}");
        }
    }

    /// Earlier versions stored the expected hash.
    #[test]
    fn plan_hash_of_transactions_is_stable() {
        let load = LoadSpec { users: Some(2.into()), requests: Some(20.into()), ..LoadSpec::default() };
        let played = vec![ScriptSource::Workload("select-only".to_owned())];
        let plan = Draft { url: "sqlite:w.sqlite".to_owned(), load, played, ..Draft::default() };
        let plan = plan.check().expect("a plan");
        let described = describe(&plan, serde_json::Value::Null);
        assert_eq!(
            (described.plan_hash.as_str(), &*described.units),
            ("f2eb4db414f8d54f", &[Unit::Transactions][..])
        );
    }
}
