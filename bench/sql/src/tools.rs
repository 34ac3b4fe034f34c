//! Command line and output parser of each tool. To add a tool, add a file and a line in `TOOLS`.

mod pgbench;
pub(crate) mod sysbench;
mod tenbin;

use serde::Serialize;
use servers::{MariaDb, Postgres};

use crate::cases::{Engine, Load};

/// All tools, in the order of their turns.
pub(crate) const TOOLS: &[&Tool] = &[&tenbin::TOOL, &pgbench::TOOL, &sysbench::TOOL];

/// Name of the tool that all others are compared with.
pub(crate) const OURS: &str = tenbin::TOOL.name;

/// Load generator for databases.
#[derive(Debug)]
pub(crate) struct Tool {
    /// Name in cases, tables, and JSON.
    pub(crate) name: &'static str,
    /// Command that installs the tool.
    pub(crate) how_to_get: &'static str,
    /// Builds the command-line arguments of a turn.
    pub(crate) arguments: fn(&Order<'_>) -> Vec<String>,
    /// Parses the tool's standard output. Returns an error message if figures are missing.
    pub(crate) parse: fn(&str) -> Result<Measured, String>,
    /// Exit codes after which the tool's figures are valid.
    pub(crate) good_exits: &'static [i32],
}

/// Load, server, and duration of a tool's turn.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Order<'a> {
    pub(crate) load: Load,
    /// Port of the server on 127.0.0.1.
    pub(crate) port: u16,
    /// Duration of the load, in seconds.
    pub(crate) seconds: u32,
    /// Path of the store in which Tenbin saves its runs.
    pub(crate) store: &'a str,
}

/// PostgreSQL user of all tools. The server requires no password.
pub(crate) const USER_OF_POSTGRES: &str = Postgres::USER;
/// PostgreSQL database of all tools.
pub(crate) const DATABASE_OF_POSTGRES: &str = Postgres::DATABASE;
/// Number of rows in sysbench's only table.
pub(crate) const TABLE_SIZE: u32 = 100_000;

/// Figures that a tool reports about its run.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Measured {
    /// Number of successful transactions.
    pub(crate) transactions: u64,
    /// Successful transactions per second.
    pub(crate) per_s: f64,
    /// Number of failed transactions.
    pub(crate) errors: u64,
    /// Tool's objection to its own run. `None` if it has none.
    pub(crate) remark: Option<String>,
}

impl Measured {
    /// Returns the figures if they are plausible. Without this check, a run without transactions could look like a very fast one.
    ///
    /// # Errors
    ///
    /// If no transaction succeeded, or if the rate is not a positive number.
    fn checked(self) -> Result<Self, String> {
        if self.transactions == 0 {
            return Err(format!("no transaction succeeded ({} errors)", self.errors));
        }
        if !self.per_s.is_finite() || self.per_s <= 0.0 {
            return Err("its output has a rate that is no number".to_owned());
        }
        Ok(self)
    }
}

impl Order<'_> {
    /// Returns the URL of the server, with user and password.
    pub(crate) fn url(&self) -> String {
        let port = self.port;
        match self.load.engine {
            Engine::Postgres => {
                format!(
                    "postgres://{USER_OF_POSTGRES}@127.0.0.1:{port}/{DATABASE_OF_POSTGRES}?sslmode=disable"
                )
            }
            Engine::MariaDb => {
                let password = MariaDb::PASSWORD.replace(' ', "%20");
                let (user, database) = (MariaDb::USER, MariaDb::DATABASE);
                format!("mysql://{user}:{password}@127.0.0.1:{port}/{database}?ssl-mode=DISABLED")
            }
        }
    }
}

/// Returns the tool called `name`.
pub(crate) fn named(name: &str) -> Option<&'static Tool> {
    TOOLS.iter().copied().find(|tool| tool.name == name)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::cases::Work;

    pub(crate) fn order(engine: Engine, work: Work, clients: u32) -> Order<'static> {
        Order { load: Load { engine, work, clients }, port: 5_432, seconds: 5, store: "runs.sqlite" }
    }

    #[test]
    fn every_tool_is_sent_to_the_server_with_all_clients() {
        for tool in TOOLS {
            let arguments = (tool.arguments)(&order(Engine::Postgres, Work::PointSelect, 321)).join(" ");
            assert!(arguments.contains("5432") && arguments.contains("321"), "{}: {arguments}", tool.name);
        }
    }

    #[test]
    fn foreign_words_are_a_failure_of_every_tool() {
        for tool in TOOLS {
            for odd in
                ["", "{", "{}", "tps = \n", "transactions:", "number of transactions actually processed: x"]
            {
                assert!((tool.parse)(odd).is_err(), "{}: {odd:?}", tool.name);
            }
        }
    }
}
