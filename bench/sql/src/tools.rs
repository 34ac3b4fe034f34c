//! The tools: how each is started, and how its output is read. A new one is a file and a line in `TOOLS`.

mod pgbench;
pub(crate) mod sysbench;
mod tenbin;

use serde::Serialize;
use servers::{MariaDb, Postgres};

use crate::cases::{Engine, Load};

/// Every tool, in the order of their turns.
pub(crate) const TOOLS: &[&Tool] = &[&tenbin::TOOL, &pgbench::TOOL, &sysbench::TOOL];

/// The one that the others are compared with.
pub(crate) const OURS: &str = tenbin::TOOL.name;

/// A load tester for databases.
#[derive(Debug)]
pub(crate) struct Tool {
    /// What it is called here.
    pub(crate) name: &'static str,
    /// How to get it.
    pub(crate) how_to_get: &'static str,
    /// Its arguments for a turn.
    pub(crate) arguments: fn(&Order<'_>) -> Vec<String>,
    /// Reads its standard output; the error is a sentence.
    pub(crate) parse: fn(&str) -> Result<Measured, String>,
    /// Exit codes with which its figures stand.
    pub(crate) good_exits: &'static [i32],
}

/// The load that a tool makes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Order<'a> {
    pub(crate) load: Load,
    /// The server's port on the loopback address.
    pub(crate) port: u16,
    /// How long.
    pub(crate) seconds: u32,
    /// A file that Tenbin may keep its runs in.
    pub(crate) store: &'a str,
}

/// Who works on PostgreSQL, where nobody is asked for a password.
pub(crate) const USER_OF_POSTGRES: &str = Postgres::USER;
/// Where.
pub(crate) const DATABASE_OF_POSTGRES: &str = Postgres::DATABASE;
/// Rows of sysbench's one table.
pub(crate) const TABLE_SIZE: u32 = 100_000;

/// What a tool says of its own run.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Measured {
    /// Transactions that succeeded.
    pub(crate) transactions: u64,
    /// The same a second.
    pub(crate) per_s: f64,
    /// Transactions that did not.
    pub(crate) errors: u64,
    /// What it has against its own run.
    pub(crate) remark: Option<String>,
}

impl Measured {
    /// The same, if it can be true.
    ///
    /// # Errors
    ///
    /// No transaction, or a rate that is none: a run without transactions must not look like a very fast one.
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
    /// The server as a URL.
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

/// The tool of this name.
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
