//! Parts of an SQL load in addition to its steps: a database, scripts, and a query mode.

use load::xoroshiro::Xoroshiro;
use replay::Traffic;
use serde_json::{Value, json};
use sql::script::{Distribution, ScriptSet, Seeds, Statement};
use sql::{Mode, Settings};
use wire::masking::suggests_secret;

use crate::database::Database;
use crate::endpoint::{Endpoint, EndpointLoad, Peer};
use crate::fault::Fault;
use crate::plan::{OwnedAction, Plan};
use crate::study::LaunchEndpoint;
use crate::units::show_duration;

/// An SQL load. Its steps name their scripts by number.
#[derive(Clone, Debug)]
pub struct Transactions {
    /// Database that runs the transactions.
    pub database: Database,
    /// Parsed scripts.
    pub all_scripts: ScriptSet,
    /// Text of each script.
    pub texts: Vec<Vec<u8>>,
    /// Query mode, max number of tries, and the variables of scripts.
    pub settings: Settings,
    /// Built-in workloads among the scripts, each once.
    pub workloads: Vec<&'static str>,
    /// Whether to read the scale from the tables, because a built-in workload needs it and none was given.
    pub is_scale_asked: bool,
    /// Connections of a closed load, if there are fewer than users.
    pub pool: Option<u32>,
    /// Whether a connection carries more than one transaction.
    pub keep_alive: bool,
    /// Whether to ask the server first if it accepts all connections.
    pub checks_room: bool,
    /// Latency limit in nanoseconds. Slower transactions count as late.
    pub latency_limit_ns: Option<u64>,
}

impl EndpointLoad for Transactions {
    fn peers(&self) -> &[Peer] {
        &self.database.peers
    }

    fn clone_box(&self) -> Box<dyn EndpointLoad> {
        Box::new(self.clone())
    }

    fn add_address(&mut self, place: &LaunchEndpoint) -> Result<Option<String>, Vec<Fault>> {
        self.database.add(&Database::read(&place.url)?)?;
        Ok(None)
    }

    fn accepts_traffic(&self, traffic: &Traffic) -> bool {
        self.database.engine.protocol().is_some_and(|protocol| (traffic.fits)(protocol))
    }

    fn attempted_peers(&self) -> Vec<Peer> {
        self.database.attempted_peers()
    }

    fn database(&self) -> Option<&Database> {
        Some(&self.database)
    }

    fn upgrades_to_tls(&self) -> bool {
        true
    }

    fn is_in_process(&self) -> bool {
        self.database.file.is_some()
    }

    fn pool(&self) -> Option<u32> {
        self.pool
    }

    fn latency_limit_ns(&self) -> Option<u64> {
        self.latency_limit_ns
    }

    fn keep_alive(&self) -> bool {
        self.keep_alive
    }

    fn may_write(&self) -> bool {
        self.all_scripts.statements().iter().any(|statement| sql::may_write(statement, self.database.engine))
    }

    fn write_reason(&self, number: u16, _action: &OwnedAction, _is_kept: bool) -> Option<String> {
        let written = self.writing_statement(number)?;
        Some(format!("the load has {:?}", written.title().trim_end_matches(';')))
    }

    fn parts(&self, plan: &Plan, endpoint: u16) -> Vec<sql::Part> {
        let numbers: Vec<u16> = plan.steps_at(endpoint).map(|(number, _)| number).collect();
        let mut parts = sql::parts(&self.all_scripts, &plan.sql_steps(endpoint));
        parts.iter_mut().for_each(|part| part.of = numbers[usize::from(part.of)]);
        parts
    }

    fn scripts_json(&self) -> Option<Value> {
        Some(self.to_json())
    }

    fn script_texts(&self) -> &[Vec<u8>] {
        &self.texts
    }

    fn bind(&mut self, names: &[String], saves: Vec<u16>) {
        (self.settings.bindings, self.settings.saves) = (names.to_vec(), saves);
    }

    fn script_variables(&self) -> &[u16] {
        &self.settings.saves
    }

    fn make_single_client(&mut self, seed: u64) {
        (self.settings.seed, self.settings.clients, self.pool) = (seed, 1, None);
    }

    /// Seeded as in pgbench.
    fn choosers(&self, seed: u64, clients: u32) -> Option<Vec<Xoroshiro>> {
        let has_default_seed = self.settings.variables.iter().any(|(name, _)| name == "default_seed");
        let seeds = if has_default_seed { Seeds::without_default } else { Seeds::new };
        let seeds = seeds(seed, clients);
        Some((0..clients).map(|client| seeds.choose(client)).collect())
    }
}

impl Transactions {
    /// Transactions on a system. `None` if its load is of another type.
    pub fn at(endpoint: &Endpoint) -> Option<&Self> {
        endpoint.load.downcast()
    }

    /// Transactions of each database that has some, in the order of its number.
    pub fn in_plan(plan: &Plan) -> impl Iterator<Item = &Self> {
        plan.endpoints.iter().filter_map(Self::at)
    }

    /// Describes the load. `scale` is the scale that was read from the tables. `None` if it was not read.
    pub fn words(&self, scale: Option<i64>) -> String {
        let Settings { mode, max_tries, distribution, .. } = &self.settings;
        let mut words = vec![format!("query mode {}", mode_name(*mode))];
        let scale = self.settings.scale.or(scale.filter(|_| self.is_scale_asked));
        words.extend(scale.map(|scale| format!("scale {scale}")));
        if self.workloads.iter().any(|name| name.starts_with("oltp-")) {
            words.push(format!("rows drawn {}", distribution_name(*distribution)));
        }
        if self.workloads.iter().any(|name| name.starts_with("tpcc-")) {
            words.push("not TPC-C".to_owned());
        }
        match max_tries {
            0 => words.push("retried until they succeed".to_owned()),
            1 => {}
            tries => words.push(format!("up to {tries} tries")),
        }
        if !self.keep_alive {
            words.push("a new connection for each transaction".to_owned());
        }
        words.extend(self.pool.map(|pool| format!("a pool of {pool} connections")));
        words.extend(self.latency_limit_ns.map(|ns| format!("latency limit {}", show_duration(ns))));
        words.join(", ")
    }

    /// Statement of a script that may write. `None` if there is none.
    fn writing_statement(&self, script: u16) -> Option<&Statement> {
        let numbers = self.all_scripts.scripts().get(usize::from(script))?.statements();
        let mut statements =
            numbers.filter_map(|number| self.all_scripts.statements().get(usize::from(number)));
        statements.find(|statement| sql::may_write(statement, self.database.engine))
    }

    /// Parameter that turns on the verification of certificates in a URL of this database.
    pub fn verified_by(&self) -> &'static str {
        self.database.engine.verified_by()
    }

    fn to_json(&self) -> Value {
        let Settings { mode, max_tries, scale, variables, distribution, .. } = &self.settings;
        let variables = variables.iter().map(|(name, value)| {
            let value = if suggests_secret(name) { "(secret)" } else { value.as_str() };
            (name.clone(), json!(value))
        });
        let scripts = self
            .all_scripts
            .scripts()
            .iter()
            .map(|script| json!({ "name": script.name(), "statements": script.statements().len() }));
        json!({
            "engine": self.database.engine.name(),
            "url": self.database.shown,
            "user": self.database.login.user,
            "settings": self.database.file.as_ref().map(|(_, settings)| settings),
            "workloads": self.workloads,
            "scripts": scripts.collect::<Vec<Value>>(),
            "query_mode": mode_name(*mode),
            "max_tries": max_tries,
            "scale": scale,
            "variables": variables.collect::<serde_json::Map<String, Value>>(),
            "distribution": distribution_name(*distribution),
            "keep_alive": self.keep_alive,
            "pool": self.pool,
            "latency_limit_ns": self.latency_limit_ns,
        })
    }
}

fn mode_name(mode: Mode) -> &'static str {
    Mode::NAMES.iter().find(|(_, known)| *known == mode).map_or("", |(name, _)| name)
}

/// Word for a distribution: `special`, `zipf:1.1`.
fn distribution_name(distribution: Distribution) -> String {
    match distribution {
        Distribution::Uniform => "uniform".to_owned(),
        Distribution::Special => "special".to_owned(),
        Distribution::Zipf(exponent) => format!("zipf:{exponent}"),
        Distribution::Pareto(share) => format!("pareto:{share}"),
    }
}
