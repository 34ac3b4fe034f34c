//! Cases of the comparison: loads, and the tools that generate each of them.

use anyhow::bail;

use crate::tools::{self, Tool};

/// Load, and the tools that take turns generating it.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    /// Name for `--case`.
    pub(crate) name: String,
    /// Description for reports.
    pub(crate) title: String,
    /// Load that every tool generates.
    pub(crate) load: Load,
    /// Tools in the order of their turns.
    pub(crate) tools: Vec<&'static Tool>,
}

/// Load on a database server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Load {
    /// Server under load.
    pub(crate) engine: Engine,
    /// Kind of transactions, or bulk loading of tables.
    pub(crate) work: Work,
    /// Number of connections, each with one transaction in flight.
    pub(crate) clients: u32,
}

/// Database server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Engine {
    Postgres,
    MariaDb,
}

/// Kind of work that a load does on the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    /// Select-only script of pgbench (`-S`).
    SelectOnly {
        /// Whether statements are prepared. Otherwise uses the simple query protocol.
        is_prepared: bool,
    },
    /// Default script of pgbench, over the simple query protocol.
    TpcbLike,
    /// `oltp_point_select` of sysbench.
    PointSelect,
    /// `oltp_read_write` of sysbench.
    ReadWrite,
    /// Creation and bulk loading of pgbench's tables.
    Loading,
}

/// pgbench scale factor for [`Work::Loading`]. Transactions use smaller tables, which stay in memory.
pub(crate) const LOADING_SCALE: u32 = 50;

struct Entry {
    name: &'static str,
    title: &'static str,
    engine: Engine,
    work: Work,
    tools: &'static [&'static str],
}

const PGBENCH: &[&str] = &["tenbin", "pgbench"];
const SYSBENCH: &[&str] = &["tenbin", "sysbench"];
const CLIENTS: [u32; 3] = [1, 16, 64];

const ENTRIES: &[Entry] = &[
    Entry {
        name: "select-prepared",
        title: "select-only, prepared",
        engine: Engine::Postgres,
        work: Work::SelectOnly { is_prepared: true },
        tools: PGBENCH,
    },
    Entry {
        name: "select-simple",
        title: "select-only, simple protocol",
        engine: Engine::Postgres,
        work: Work::SelectOnly { is_prepared: false },
        tools: PGBENCH,
    },
    Entry {
        name: "tpcb-simple",
        title: "TPC-B-like, simple protocol",
        engine: Engine::Postgres,
        work: Work::TpcbLike,
        tools: PGBENCH,
    },
    Entry {
        name: "pg-point",
        title: "sysbench's point selects on PostgreSQL",
        engine: Engine::Postgres,
        work: Work::PointSelect,
        tools: SYSBENCH,
    },
    Entry {
        name: "maria-point",
        title: "sysbench's point selects on MariaDB",
        engine: Engine::MariaDb,
        work: Work::PointSelect,
        tools: SYSBENCH,
    },
    Entry {
        name: "maria-read-write",
        title: "sysbench's read-write transactions on MariaDB",
        engine: Engine::MariaDb,
        work: Work::ReadWrite,
        tools: SYSBENCH,
    },
];

fn all() -> Vec<Case> {
    let loads = ENTRIES.iter().flat_map(|entry| {
        CLIENTS.iter().map(move |clients| Case {
            name: format!("{}-{clients}", entry.name),
            title: format!("{}, {clients} {}", entry.title, if *clients == 1 { "client" } else { "clients" }),
            load: Load { engine: entry.engine, work: entry.work, clients: *clients },
            tools: entry.tools.iter().filter_map(|name| tools::named(name)).collect(),
        })
    });
    let loading = Case {
        name: "loading".to_owned(),
        title: format!("pgbench's tables of scale {LOADING_SCALE}, made and filled on PostgreSQL"),
        load: Load { engine: Engine::Postgres, work: Work::Loading, clients: 1 },
        tools: PGBENCH.iter().filter_map(|name| tools::named(name)).collect(),
    };
    loads.chain([loading]).collect()
}

/// Returns the cases in `names`, or all cases if `names` is empty. A name without a client count selects every client count.
///
/// # Errors
///
/// If a name is unknown.
pub(crate) fn chosen(names: &[String]) -> anyhow::Result<Vec<Case>> {
    let is_named = |case: &Case, name: &str| {
        case.name == name || case.name.strip_prefix(name).is_some_and(|rest| rest.starts_with('-'))
    };
    let all = all();
    if let Some(name) = names.iter().find(|name| !all.iter().any(|case| is_named(case, name))) {
        let known: Vec<&str> = all.iter().map(|case| case.name.as_str()).collect();
        bail!("--case {name:?} is not known; write some of {}", known.join(","));
    }
    let is_chosen = |case: &Case| names.is_empty() || names.iter().any(|name| is_named(case, name));
    Ok(all.into_iter().filter(is_chosen).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_of_a_case_is_known() {
        for entry in ENTRIES {
            assert!(entry.tools.iter().all(|name| tools::named(name).is_some()), "{}", entry.name);
        }
        assert_eq!(all().len(), ENTRIES.len() * CLIENTS.len() + 1);
    }

    #[test]
    fn cases_are_chosen_by_name_with_or_without_clients() {
        let names = |list: &[&str]| -> Vec<String> {
            let list: Vec<String> = list.iter().map(|name| (*name).to_owned()).collect();
            chosen(&list).unwrap().into_iter().map(|case| case.name).collect()
        };
        assert_eq!(names(&["maria-point"]), ["maria-point-1", "maria-point-16", "maria-point-64"]);
        assert_eq!(names(&["loading", "tpcb-simple-16"]), ["tpcb-simple-16", "loading"]);
        let error = chosen(&["select".to_owned(), "tpcb-simple-2".to_owned()]).unwrap_err().to_string();
        assert!(error.contains("tpcb-simple-2") && error.contains("tpcb-simple-16"), "{error}");
    }
}
