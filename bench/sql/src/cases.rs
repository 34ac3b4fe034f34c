//! What is compared: a list of loads, and who takes part in each.

use anyhow::bail;

use crate::tools::{self, Tool};

/// A load, and the tools that take turns with it.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    /// What `--case` calls it.
    pub(crate) name: String,
    /// In words.
    pub(crate) title: String,
    /// Everybody gets the same.
    pub(crate) load: Load,
    /// In the order of their turns.
    pub(crate) tools: Vec<&'static Tool>,
}

/// A load on a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Load {
    /// On which server.
    pub(crate) engine: Engine,
    /// Which transactions, or the loading of tables.
    pub(crate) work: Work,
    /// Connections, each with one transaction at a time.
    pub(crate) clients: u32,
}

/// A database server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Engine {
    /// PostgreSQL.
    Postgres,
    /// MariaDB.
    MariaDb,
}

/// What is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    /// pgbench's `-S`.
    SelectOnly {
        /// Prepared statements, or texts.
        is_prepared: bool,
    },
    /// pgbench's default, as texts.
    TpcbLike,
    /// sysbench's `oltp_point_select`.
    PointSelect,
    /// sysbench's `oltp_read_write`.
    ReadWrite,
    /// pgbench's tables, made and filled.
    Loading,
}

/// Scale of pgbench's tables while they are loaded; what transactions work on is smaller, so that it stays in memory.
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

/// The named cases; of an empty list, all. A name without its number of clients stands for all of them.
///
/// # Errors
///
/// A name that is not known.
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
