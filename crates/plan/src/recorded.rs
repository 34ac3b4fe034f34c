//! A plan as JSON, for the record and its hash, without secrets.

use load::values::{RowOrder, Source};
use load::{
    Arrival, DataSource, Guard, Load, Order, Recording, Scenario, Schedule, Subject, Test, ThinkTime, Visit,
};
use ring::digest::{Context, SHA256};
use serde_json::{Value, json};
use wire::masking::mask_secrets;
use wire::step::Value as StepValue;
use wire::{ShardMap, ShardRule};

use crate::endpoint::{Endpoint, EndpointLoad, Select, Trust};
use crate::plan::{Action, OwnedAction, Pin, Plan, PlannedStep, ToolAction};
use crate::short_hash::short_hash;

impl Plan {
    /// The whole plan as JSON, for the record and its hash. Secrets are replaced.
    pub fn to_json(&self) -> Value {
        let mut stop = json!({ "at_ns": self.stop.at_ns, "requests": self.stop.requests });
        if self.extend > 0 {
            stop["extend"] = json!(self.extend);
        }
        let mut plan = json!({
            "title": self.title,
            "steps": self.steps.iter().enumerate().map(|(number, step)| self.step_json(self.number_at_endpoint(number), step, &self.endpoints)).collect::<Vec<Value>>(),
            "scenarios": self.scenarios.list.iter().map(scenario_json).collect::<Vec<Value>>(),
            "variables": self.variables,
            "data": self.data.iter().map(data_json).collect::<Vec<Value>>(),
            "unix_socket": self.endpoint().peer().unix_socket.as_ref().map(|path| path.display().to_string()),
            "tls": self.endpoint().peer().tls.as_ref().map(trust_name),
            "sql": self.loads().find_map(EndpointLoad::scripts_json),
            "load": self.load_words(),
            "stop": stop,
            "warm_up_ns": self.warm_up_ns,
            "timeout_ns": self.timeout_ns,
            "connect_timeout_ns": self.connect_timeout_ns,
            "threads": self.threads,
            "pin": match &self.pin {
                Pin::No => json!("no"),
                Pin::Auto => json!("auto"),
                Pin::Cores(cores) => json!(cores),
            },
            "seed": self.seed,
            "log_per_second": self.log_per_second,
        });
        // Absent keys keep the hashes of older plans valid. Addresses are omitted, because ports differ in every run.
        if !self.figures.is_empty() {
            let names = self.figures.iter().map(|figure| figure.figure.stored_name());
            plan[judge::FIGURES_OF_PLAN] = json!(names.collect::<Vec<_>>());
        }
        if self.endpoints.iter().any(|endpoint| !endpoint.name.is_empty()) {
            plan["endpoints"] = json!(self.endpoints.iter().map(endpoint_json).collect::<Vec<Value>>());
        }
        let unnamed = self.endpoints.iter().find(|endpoint| endpoint.name.is_empty());
        if let Some(select) = unnamed.and_then(select_json) {
            plan["select"] = select;
        }
        if let Some(recording) = self.recording() {
            plan["recorded"] = recording_json(recording);
        }
        if let Some(replay) = &self.replay {
            plan["replay"] = replay.to_json();
        }
        if let Some(lifetime_ns) = self.connection_lifetime_ns {
            plan["connection_lifetime_ns"] = json!(lifetime_ns);
        }
        if self.peers().any(|peer| peer.resumes_tls) {
            plan["resume_tls"] = json!(true);
        }
        if self.retry_stale {
            plan["retry_stale"] = json!(true);
        }
        if let Some(stacks) = self.profile {
            plan["profile"] = json!(stacks.name());
        }
        for (key, steps) in [("setup", &self.errands.setup), ("teardown", &self.errands.teardown)] {
            if !steps.is_empty() {
                let steps =
                    (0..).zip(steps).map(|(number, step)| self.step_json(number, step, &self.errands.at));
                plan[key] = json!(steps.collect::<Vec<Value>>());
            }
        }
        plan
    }

    fn recording(&self) -> Option<&Recording> {
        let schedule = match &self.load {
            Load::Open(open) => Some(&open.schedule),
            Load::Closed(closed) => closed.schedule.as_ref(),
        };
        match schedule? {
            Schedule::Rate(..) | Schedule::Streamed(_) => None,
            Schedule::Recorded(recording) => Some(recording),
        }
    }

    /// Records a step. `number` is its number within its system.
    fn step_json(&self, number: u16, step: &PlannedStep, endpoints: &[Endpoint]) -> Value {
        let mut step_json = self.action_json(number, step);
        let endpoint = endpoints.get(usize::from(step.endpoint));
        if let Some(endpoint) = endpoint.filter(|endpoint| !endpoint.name.is_empty()) {
            step_json["endpoint"] = json!(endpoint.name);
        }
        step_json
    }

    fn action_json(&self, number: u16, step: &PlannedStep) -> Value {
        match &step.action {
            Action::Owned(action) => {
                let mut step_json = match action.step.is_recorded_as_request() {
                    true => request_json(&step.name, action),
                    false => json!({ "name": step.name }),
                };
                for (key, value) in action.step.record(number) {
                    step_json[key] = value.as_ref().map_or(Value::Null, |value| self.value_json(value));
                }
                step_json
            }
            // The command is recorded as written, because ports differ in every run.
            Action::Tool(ToolAction { tool, written, .. }) => json!({
                "name": step.name,
                "tool": tool.name,
                "command": written.iter().map(|word| mask_secrets(word)).collect::<Vec<String>>(),
            }),
        }
    }

    fn value_json(&self, value: &StepValue) -> Value {
        match value {
            StepValue::Text(text) => json!(text.written),
            StepValue::Bytes(bytes) => json!(String::from_utf8_lossy(bytes)),
            StepValue::Size(size) => json!(size.bytes),
            StepValue::Count(count) => json!(count),
            StepValue::Truth(truth) => json!(truth),
            StepValue::Variable(number) => json!(self.variables.get(usize::from(*number))),
            StepValue::Nothing => Value::Null,
            StepValue::Named(entries) => {
                entries.iter().map(|(name, value)| (name.clone(), self.value_json(value))).collect()
            }
            StepValue::List(items) => items.iter().map(|item| self.value_json(item)).collect(),
            StepValue::Table(entries) => {
                entries.iter().map(|(key, value)| ((*key).to_owned(), self.value_json(value))).collect()
            }
        }
    }
}

/// Records a request of any protocol in the fields of an HTTP request, to which its protocol adds others. The record of a plan of an
/// earlier version has these fields.
fn request_json(name: &str, action: &OwnedAction) -> Value {
    json!({
        "name": name,
        "method": action.method(),
        "path": "/",
        "host": action.host,
        "headers": [],
        "body_bytes": action.step.message().len(),
        "keep_alive": action.keep_alive,
        "expect": { "status": "200–399", "headers": [], "body_checks": 0, "size": null },
        "saves": [],
    })
}

fn trust_name(trust: &Trust) -> &'static str {
    match trust {
        Trust::System => "system",
        Trust::Authorities(_) => "cacert",
        Trust::AnyName(_) => "any-name",
        Trust::Anything => "insecure",
    }
}

fn scenario_json(scenario: &Scenario) -> Value {
    let visits: Vec<Value> = match &scenario.order {
        Order::InTurn(visits) => visits.iter().map(|visit| visit_json(visit, None)).collect(),
        Order::Mix(visits) => visits.iter().map(|(visit, weight)| visit_json(visit, Some(*weight))).collect(),
    };
    let mut json = json!({ "name": scenario.name, "share": scenario.share, "visits": visits });
    if !scenario.once.is_empty() {
        json["once"] =
            json!(scenario.once.iter().map(|visit| visit_json(visit, None)).collect::<Vec<Value>>());
    }
    json
}

/// Number of arrivals, and 16 hex digits over their times and sessions.
fn recording_json(recording: &Recording) -> Value {
    let mut hash = Context::new(&SHA256);
    for Arrival { at_ns, session } in recording.arrivals() {
        hash.update(&at_ns.to_le_bytes());
        hash.update(&session.map_or(u64::MAX, u64::from).to_le_bytes());
    }
    json!({ "arrivals": recording.arrivals().len(), "hash": short_hash(hash) })
}

fn endpoint_json(endpoint: &Endpoint) -> Value {
    let mut json = json!({
        "name": endpoint.name,
        "protocol": endpoint.protocol().map(|protocol| protocol.name),
        "sql": endpoint.load.scripts_json(),
    });
    if let Some(select) = select_json(endpoint) {
        json["select"] = select;
    }
    // Plans without it keep their hash.
    if let Some(pool) = endpoint.pool {
        json["pool"] = json!(pool);
    }
    json
}

/// Selection rule and number of addresses. `None` if there is no list of URLs.
fn select_json(endpoint: &Endpoint) -> Option<Value> {
    let addresses = endpoint.peers().len();
    Some(match endpoint.select.as_ref()? {
        Select::InTurn => json!({ "rule": "in-turn", "addresses": addresses }),
        Select::First => json!({ "rule": "first", "addresses": addresses }),
        Select::Cluster(_) => json!({ "rule": "cluster", "addresses": addresses }),
        Select::Hash(text, rule) => {
            let mut json = json!({ "rule": "hash", "text": text, "addresses": addresses });
            // Plans with the default rule keep their hash.
            if *rule != ShardRule::default() {
                (json["by"], json["slots"]) = (json!(rule.hash.name), json!(rule.slots));
            }
            match &rule.map {
                ShardMap::Even => {}
                ShardMap::Ranges(firsts) => json["ranges"] = json!(firsts),
                ShardMap::Ring(points) => json["ring"] = json!(points),
            }
            if let Some(shards) = rule.in_use.get() {
                json["shards"] = json!(shards);
            }
            json
        }
    })
}

fn visit_json(visit: &Visit, weight: Option<f64>) -> Value {
    let think = match visit.think {
        ThinkTime::None => Value::Null,
        ThinkTime::Constant { ns } => json!({ "ns": ns }),
        ThinkTime::Uniform { min_ns, max_ns } => json!({ "min_ns": min_ns, "max_ns": max_ns }),
        ThinkTime::Exponential { constant_ns: 0, mean_ns } => json!({ "mean_ns": mean_ns }),
        ThinkTime::Exponential { constant_ns, mean_ns } => {
            json!({ "constant_ns": constant_ns, "mean_ns": mean_ns })
        }
    };
    let mut visit_json = json!({ "step": visit.step, "weight": weight, "think": think });
    if !visit.guards.is_empty() {
        visit_json["if"] = json!(visit.guards.iter().map(guard_json).collect::<Vec<Value>>());
    }
    visit_json
}

/// A condition. Its constant may be any bytes, and is short.
fn guard_json(guard: &Guard) -> Value {
    let subject = match guard.condition.subject {
        Subject::Status => json!("status"),
        Subject::Variable(variable) => json!(variable),
    };
    let (test, text) = match &guard.condition.test {
        Test::Is(text) => ("is", Some(String::from_utf8_lossy(text))),
        Test::IsNot(text) => ("is not", Some(String::from_utf8_lossy(text))),
        Test::Present => ("is present", None),
        Test::Absent => ("is absent", None),
    };
    json!({ "of": subject, "test": test, "text": text, "visits": guard.visits })
}

/// A source of values. For a table only its size is recorded, because its content may be secret.
fn data_json(data: &DataSource) -> Value {
    json!({ "fills": data.fills, "from": source_json(&data.source) })
}

fn source_json(source: &Source) -> Value {
    match source {
        Source::Sequence { from, until, by } => json!({ "sequence": [from, until], "by": by }),
        Source::Uniform { min, max } => json!({ "uniform": [min, max] }),
        Source::Zipf { min, max, exponent, is_scattered: false } => {
            json!({ "zipf": [min, max], "exponent": exponent })
        }
        Source::Zipf { min, max, exponent, is_scattered: true } => {
            json!({ "zipf": [min, max], "exponent": exponent, "scatter": true })
        }
        Source::Latest { min, max, exponent, grows_with } => {
            json!({ "latest": [min, max], "exponent": exponent, "grows_with": grows_with })
        }
        Source::Hashed { prefix, numbers } => json!({ "hash": prefix, "of": source_json(numbers) }),
        Source::Text { length, alphabet } => json!({ "text": length, "of": alphabet }),
        Source::Uuid => json!({ "uuid": 4 }),
        Source::TimeUuid => json!({ "uuid": 7 }),
        Source::Timestamp { unit_ns } => json!({ "timestamp_unit_ns": unit_ns }),
        Source::Words { words } => json!({ "words": words.len() }),
        Source::Moment { from_s, until_s } => json!({ "timestamp": [from_s, until_s] }),
        Source::Rows { rows, order } => {
            json!({ "rows": rows.len(), "order": if *order == RowOrder::InTurn { "in-turn" } else { "random" } })
        }
    }
}
