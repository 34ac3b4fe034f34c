//! Checks that the tables of a workload are filled as its load assumes.
//!
//! An interrupted `tenbin prepare` leaves the table of its marks. Tables that another tool filled have no marks, so their rows are checked.
//! Small tables are counted. Counting a large one would take long, and load it into the cache before the run, so its highest key is
//! compared instead.

use plan::Transactions;
use sql::workload::{Tables, Workload};

use crate::database_check::{NotReady, ServerQueries};
use crate::prepare::Refusal;

/// Highest number of rows of all tables that are counted.
const COUNTED_ROWS_MAX: u64 = 200_000;
/// Share of the rows, in percent, that must be there. Runs that are cut off between a DELETE and its INSERT lose some rows where
/// the engine has no transactions.
const FOUND_MIN_PERCENT: u64 = 99;
/// Accounts of pgbench for each unit of its scale.
const ACCOUNTS: u64 = 100_000;
/// Workloads that need no rows, or leave fewer behind.
const WITHOUT_ROWS: [&str; 2] = ["oltp-insert", "oltp-delete"];

/// Tables in which a load addresses rows by keys from 1 to a number of rows.
#[derive(Debug, PartialEq, Eq)]
struct KeyedTables {
    names: Vec<String>,
    key: &'static str,
    /// Rows of each table.
    rows: u64,
    /// Alternative to filling the tables, as a clause that starts with a comma. May be empty.
    instead: &'static str,
}

/// Checks the tables of a workload. `scale` is the scale of the tables, and `options` are the options of `tenbin prepare` that would fill
/// them.
///
/// # Errors
///
/// [`NotReady::Unfinished`] or [`NotReady::Missing`] if rows are missing, and the errors of a first connection.
pub(crate) fn check(
    queries: &ServerQueries<'_>,
    sql: &Transactions,
    workload: &'static Workload,
    scale: Option<i64>,
    options: &str,
) -> Result<(), Refusal> {
    let prepare = || {
        format!("tenbin prepare {} --workload {}{options} --drop", sql.database.command_url(), workload.name)
    };
    if let Some(asked) = unfinished(queries, sql, workload.tables)? {
        return Err(NotReady::Unfinished { asked, prepare: prepare() }.into());
    }
    let variable = |name: &str| {
        let set = sql.settings.variables.iter().find(|(known, _)| known == name);
        let default = workload.variables.iter().find(|variable| variable.name == name);
        set.and_then(|(_, value)| value.parse().ok()).or(default.map(|variable| variable.default.into()))
    };
    let Some(tables) = keyed_tables(workload, scale, variable) else { return Ok(()) };
    // A server that cannot answer may still have all rows.
    let Ok(found) = queries.ask(&tables.query())?.answer else { return Ok(()) };
    match tables.missing(&found) {
        Some((table, found)) => {
            let what = if tables.are_counted() {
                format!("{found} rows")
            } else {
                format!("rows up to {} {found}", tables.key)
            };
            Err(NotReady::Missing {
                table,
                what,
                rows: tables.rows,
                prepare: prepare(),
                instead: tables.instead,
            }
            .into())
        }
        None => Ok(()),
    }
}

/// Options of a `tenbin prepare` of these tables that did not end. `None` if there is none.
fn unfinished(
    queries: &ServerQueries<'_>,
    sql: &Transactions,
    tables: Tables,
) -> Result<Option<String>, Refusal> {
    let [is_there, asked] = loading::mark_queries(sql.database.engine);
    if !matches!(queries.ask(&is_there)?.answer.as_deref(), Ok([Some(_), ..])) {
        return Ok(None);
    }
    let asked = queries.ask(&asked)?.answer.ok().and_then(|row| row.into_iter().next().flatten());
    Ok(asked.filter(|asked| loading::is_marked_for(asked, tables)))
}

/// Tables of a workload with keys. `None` if its load does not address rows by such keys.
fn keyed_tables(
    workload: &Workload,
    scale: Option<i64>,
    variable: impl Fn(&str) -> Option<u64>,
) -> Option<KeyedTables> {
    if WITHOUT_ROWS.contains(&workload.name) {
        return None;
    }
    match workload.tables {
        Tables::Pgbench => {
            let rows = u64::try_from(scale?).ok()?.checked_mul(ACCOUNTS)?;
            Some(KeyedTables { names: vec!["pgbench_accounts".to_owned()], key: "aid", rows, instead: "" })
        }
        Tables::Sbtest => {
            let names = (1..=variable("tables")?).map(|number| format!("sbtest{number}")).collect();
            let instead = ", or give the load their size (`--table-size`, `table-size` in a plan)";
            Some(KeyedTables { names, key: "id", rows: variable("table_size")?, instead })
        }
        Tables::SbtestEmpty | Tables::Postcodes | Tables::Accounts | Tables::Tpcc => None,
    }
}

impl KeyedTables {
    fn are_counted(&self) -> bool {
        self.rows.saturating_mul(self.names.len() as u64) <= COUNTED_ROWS_MAX
    }

    /// Question with a column for each table.
    fn query(&self) -> String {
        let figure = if self.are_counted() { "count(*)".to_owned() } else { format!("max({})", self.key) };
        let columns: Vec<String> =
            self.names.iter().map(|table| format!("(SELECT {figure} FROM {table})")).collect();
        format!("SELECT {}", columns.join(", "))
    }

    /// First table with too few rows, and its number of rows or highest key.
    fn missing(&self, answer: &[Option<String>]) -> Option<(String, u64)> {
        let found = answer.iter().map(|value| value.as_ref().map_or(Some(0), |value| value.parse().ok()));
        let is_short =
            |found: u64| u128::from(found) * 100 < u128::from(self.rows) * u128::from(FOUND_MIN_PERCENT);
        self.names.iter().zip(found).find_map(|(table, found)| {
            let found = found.filter(|found| is_short(*found))?;
            Some((table.clone(), found))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sql::workload;

    fn tables(name: &str, scale: Option<i64>, size: u64) -> Option<KeyedTables> {
        let variable = |name: &str| Some(if name == "tables" { 2 } else { size });
        keyed_tables(workload::find(name).unwrap(), scale, variable)
    }

    fn answer(values: &[&str]) -> Vec<Option<String>> {
        values.iter().map(|value| Some((*value).to_owned())).collect()
    }

    #[test]
    fn small_tables_are_counted_and_large_ones_compared_by_their_highest_key() {
        let query = |name, scale, size| tables(name, scale, size).unwrap().query();
        assert_eq!(
            query("oltp-read-only", None, 1_000),
            "SELECT (SELECT count(*) FROM sbtest1), (SELECT count(*) FROM sbtest2)"
        );
        assert_eq!(
            query("oltp-read-only", None, 1_000_000),
            "SELECT (SELECT max(id) FROM sbtest1), (SELECT max(id) FROM sbtest2)"
        );
        assert_eq!(query("tpcb-like", Some(50), 0), "SELECT (SELECT max(aid) FROM pgbench_accounts)");
        assert_eq!(tables("oltp-delete", None, 10), None);
        assert_eq!(tables("tpcb-like", None, 10), None);
    }

    #[test]
    fn table_with_too_few_rows_is_named() {
        let tables = tables("oltp-read-only", None, 1_000).unwrap();
        assert_eq!(tables.missing(&answer(&["1000", "420"])), Some(("sbtest2".to_owned(), 420)));
        assert_eq!(
            tables.missing(&[None, None]),
            Some(("sbtest1".to_owned(), 0)),
            "max() of no rows is NULL"
        );
        assert_eq!(tables.missing(&answer(&["995", "20000"])), None);
        assert_eq!(tables.missing(&answer(&["not a number", "1000"])), None);
        assert_eq!(tables.missing(&[]), None);
    }
}
