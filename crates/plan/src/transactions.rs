//! What a load of SQL has in addition to its steps: a database, scripts, and a query mode.

use serde_json::{Value, json};
use sql::script::{Deck, Distribution};
use sql::{Engine, Mode, Settings};

use crate::database::Database;
use crate::secrets::sounds_secret;
use crate::units::show_duration;

/// A load of SQL. Its steps name their scripts by number.
#[derive(Clone, Debug)]
pub struct Transactions {
    /// Where to.
    pub database: Database,
    /// The scripts, read.
    pub deck: Deck,
    /// The text of each script.
    pub texts: Vec<Vec<u8>>,
    /// How statements travel, how often a transaction is tried, and what the scripts' variables are.
    pub settings: Settings,
    /// The built-in workloads among the scripts; each once.
    pub workloads: Vec<&'static str>,
    /// Whether the scale is to be read from the tables, because a built-in workload needs it and nobody gave it.
    pub is_scale_asked: bool,
    /// Connections of a closed load, if they are fewer than its users.
    pub pool: Option<u32>,
    /// Whether a connection carries more than one transaction.
    pub keep_alive: bool,
    /// Whether the server is asked if it has room for all connections.
    pub checks_room: bool,
    /// What takes longer is counted as late.
    pub latency_limit_ns: Option<u64>,
}

impl Transactions {
    /// How it is played, in words. `scale` was read from the tables, if it was.
    pub fn words(&self, scale: Option<i64>) -> String {
        let Settings { mode, max_tries, distribution, .. } = &self.settings;
        let mut words = vec![format!("query mode {}", mode_word(*mode))];
        let scale = self.settings.scale.or(scale.filter(|_| self.is_scale_asked));
        words.extend(scale.map(|scale| format!("scale {scale}")));
        if self.workloads.iter().any(|name| name.starts_with("oltp-")) {
            words.push(format!("rows drawn {}", distribution_word(*distribution)));
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

    /// What a URL of it says that has certificates checked.
    pub fn verified_by(&self) -> &'static str {
        match self.database.engine {
            Engine::MySql => "ssl-mode=VERIFY_IDENTITY",
            Engine::PostgreSql | Engine::Sqlite => "sslmode=verify-full",
        }
    }

    /// What the database is called.
    pub(crate) fn engine_name(&self) -> &'static str {
        match self.database.engine {
            Engine::PostgreSql => "PostgreSQL",
            Engine::MySql => "MySQL",
            Engine::Sqlite => "SQLite",
        }
    }

    pub(crate) fn to_json(&self) -> Value {
        let Settings { mode, max_tries, scale, variables, distribution, .. } = &self.settings;
        let variables = variables.iter().map(|(name, value)| {
            let value = if sounds_secret(name) { "(secret)" } else { value.as_str() };
            (name.clone(), json!(value))
        });
        let scripts = self
            .deck
            .scripts()
            .iter()
            .map(|script| json!({ "name": script.name(), "statements": script.statements().len() }));
        json!({
            "engine": self.engine_name(),
            "url": self.database.shown,
            "user": self.database.login.user,
            "settings": self.database.file.as_ref().map(|(_, settings)| settings),
            "workloads": self.workloads,
            "scripts": scripts.collect::<Vec<Value>>(),
            "query_mode": mode_word(*mode),
            "max_tries": max_tries,
            "scale": scale,
            "variables": variables.collect::<serde_json::Map<String, Value>>(),
            "distribution": distribution_word(*distribution),
            "keep_alive": self.keep_alive,
            "pool": self.pool,
            "latency_limit_ns": self.latency_limit_ns,
        })
    }
}

fn mode_word(mode: Mode) -> &'static str {
    Mode::NAMES.iter().find(|(_, known)| *known == mode).map_or("", |(name, _)| name)
}

/// `special`, `zipf:1.1`.
fn distribution_word(distribution: Distribution) -> String {
    match distribution {
        Distribution::Uniform => "uniform".to_owned(),
        Distribution::Special => "special".to_owned(),
        Distribution::Zipf(exponent) => format!("zipf:{exponent}"),
        Distribution::Pareto(share) => format!("pareto:{share}"),
    }
}
