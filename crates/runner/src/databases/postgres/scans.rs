//! Statements that read a whole table: the table, and the line of the plan that reads it. A statement is explained, never executed, and
//! only if the role of this session runs it itself.

use std::collections::{HashMap, HashSet};

use loading::{Answer, Error};

use crate::database_watch::shape::{Quotes, shape};
use crate::database_watch::{Counter, MonitorSession, StatementPlan, number, text};

/// Name in reports.
const PLANS_NAME: &str = "plans of statements";
/// Tables with the most rows read by scans.
pub(super) const TABLES: &str = "\
    SELECT schemaname || '.' || relname, seq_scan, seq_tup_read FROM pg_stat_user_tables \
    WHERE seq_tup_read > 0 ORDER BY seq_tup_read DESC LIMIT 8";
/// Last statements of the sessions of this role. A text of the longest length may be cut off.
pub(super) const LAST: &str = "\
    SELECT query, state <> 'idle' AS is_active, octet_length(query) >= pg_size_bytes(current_setting('track_activity_query_size')) - 1 \
    FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND usename = current_user \
    AND backend_type = 'client backend' AND query <> '' ORDER BY 2 DESC LIMIT 64";
/// Min number of rows read by scans of a table per second above which its statements are explained.
const ROWS_MIN: f64 = 5_000.0;
/// Max number of statements that are explained per session.
const PLANS_MAX: usize = 6;
/// First version that plans a statement for any value of its parameters.
const GENERIC_SINCE: u32 = 160_000;
/// First version with `plan_cache_mode`, which makes plans independent of the values of parameters.
const PREPARED_SINCE: u32 = 120_000;
/// Beginnings of statements that can be explained.
const EXPLAINED: [&str; 4] = ["SELECT", "UPDATE", "DELETE", "WITH"];

#[derive(Debug, Default)]
pub(super) struct Scans {
    /// Rows that scans of a table had read at the last reading.
    before: HashMap<String, f64>,
    /// Table that grew most, without its schema. `None` if none grew much.
    busiest: Option<String>,
    tried: HashSet<String>,
}

impl Scans {
    /// Converts an answer to [`TABLES`], and remembers the table with the most growth.
    pub(super) fn counters(&mut self, answer: &Answer, counters: &mut Vec<Counter>) {
        let mut busiest: Option<(f64, String)> = None;
        for row in answer {
            let (Some(scans), Some(rows)) = (number(row, 1), number(row, 2)) else { continue };
            let table = text(row, 0).to_owned();
            let grown = self.before.insert(table.clone(), rows).map_or(0.0, |before| rows - before);
            if grown >= ROWS_MIN && busiest.as_ref().is_none_or(|(most, _)| grown > *most) {
                let name = table.rsplit('.').next().unwrap_or_default();
                busiest = Some((grown, name.to_owned()));
            }
            let counter = |metric, value| Counter { metric, label: table.clone(), value, grows: true };
            counters.extend([counter("db_table_scans", scans), counter("db_table_rows", rows)]);
        }
        self.busiest = busiest.map(|(_, name)| name);
    }

    /// Explains a statement that uses the table with the most growth, at most one per call.
    pub(super) fn explain(
        &mut self,
        version: u32,
        last: &Answer,
        asked: &mut MonitorSession<'_>,
    ) -> Result<Vec<StatementPlan>, Error> {
        let Some(table) = &self.busiest else { return Ok(Vec::new()) };
        if self.tried.len() >= PLANS_MAX {
            return Ok(Vec::new());
        }
        let whole = last.iter().filter(|row| text(row, 2) != "t").map(|row| text(row, 0).trim());
        let new = whole
            .filter(|query| query.contains(table.as_str()) && is_explainable(query))
            .map(|query| (query.trim_end_matches([';', ' ']), shape(query, Quotes::Names)))
            .find(|(_, statement)| !self.tried.contains(statement));
        let Some((query, statement)) = new else { return Ok(Vec::new()) };
        self.tried.insert(statement.clone());
        let Some(answer) = plan(version, query, asked)? else { return Ok(Vec::new()) };
        let plan = whole_table(&answer, table);
        Ok(plan.map(|plan| StatementPlan { statement, plan }).into_iter().collect())
    }
}

/// Whether a text is one statement that can be explained. A semicolon may start another one.
fn is_explainable(query: &str) -> bool {
    let first = query.split_whitespace().next().unwrap_or_default();
    let is_one = !query.trim_end_matches([';', ' ']).contains(';');
    is_one && EXPLAINED.iter().any(|word| word.eq_ignore_ascii_case(first))
}

/// Explains a statement in a transaction that can change nothing. `None` if the server rejects it.
fn plan(version: u32, query: &str, asked: &mut MonitorSession<'_>) -> Result<Option<Answer>, Error> {
    let parameters = parameters(query);
    let (prepare, explain) = match parameters {
        0 => (None, format!("EXPLAIN (COSTS OFF) {query}")),
        _ if version >= GENERIC_SINCE => (None, format!("EXPLAIN (GENERIC_PLAN, COSTS OFF) {query}")),
        _ if version < PREPARED_SINCE => return Ok(None),
        parameters => {
            let nulls = vec!["NULL"; parameters].join(", ");
            let prepare = format!("PREPARE tenbin_watch_plan AS {query}");
            (Some(prepare), format!("EXPLAIN (COSTS OFF) EXECUTE tenbin_watch_plan({nulls})"))
        }
    };
    asked.ask("BEGIN READ ONLY")?;
    let answer = explained(prepare.as_deref(), &explain, asked);
    // If a transaction failed, the session reports its end as a rejection.
    end(asked.ask("COMMIT"))?;
    if prepare.is_some() {
        // If the server rejected the statement, it does not have this name.
        end(asked.ask("DEALLOCATE tenbin_watch_plan"))?;
    }
    answer
}

/// Accepts a rejection.
fn end(answer: Result<Answer, Error>) -> Result<(), Error> {
    match answer {
        Ok(_) | Err(Error::Refused { .. }) => Ok(()),
        Err(error) => Err(error),
    }
}

fn explained(
    prepare: Option<&str>,
    explain: &str,
    asked: &mut MonitorSession<'_>,
) -> Result<Option<Answer>, Error> {
    // Does not wait for a locked table.
    if asked.ask_if_allowed(PLANS_NAME, "SET LOCAL lock_timeout = 100")?.is_none() {
        return Ok(None);
    }
    if let Some(prepare) = prepare {
        let generic = asked.ask_if_allowed(PLANS_NAME, "SET LOCAL plan_cache_mode = force_generic_plan")?;
        if generic.is_none() || asked.ask_if_allowed(PLANS_NAME, prepare)?.is_none() {
            return Ok(None);
        }
    }
    asked.ask_if_allowed(PLANS_NAME, explain)
}

/// Highest number of a parameter such as `$2`, or 0 if there is none.
fn parameters(query: &str) -> usize {
    let after = query.split('$').skip(1);
    let digits = after.map(|rest| rest.chars().take_while(char::is_ascii_digit).collect::<String>());
    digits.filter_map(|digits| digits.parse().ok()).filter(|number| *number <= 64).max().unwrap_or(0)
}

/// Line of a plan that reads the whole table, with its condition: `Seq Scan on t, filter (a = ?)`.
fn whole_table(answer: &Answer, table: &str) -> Option<String> {
    let lines: Vec<&str> =
        answer.iter().map(|row| text(row, 0).trim_start_matches([' ', '-', '>'])).collect();
    let is_scan = |line: &&str| {
        let scanned = line.split_once("Seq Scan on ").map(|(_, rest)| rest);
        scanned.is_some_and(|rest| rest.split(' ').next().is_some_and(|name| name.trim_matches('"') == table))
    };
    let at = lines.iter().position(is_scan)?;
    let filter = lines.get(at + 1).and_then(|line| line.trim().strip_prefix("Filter: "));
    let filter = filter.map_or_else(String::new, |filter| format!(", filter {}", without_types(filter)));
    Some(format!("{}{filter}", lines[at].trim()))
}

/// Condition of a plan without values and without their casts.
fn without_types(condition: &str) -> String {
    let mut shaped = shape(condition, Quotes::Names);
    while let Some(at) = shaped.find("?::") {
        let end = shaped[at + 3..].find(|one: char| !(one.is_alphanumeric() || "_\"".contains(one)));
        shaped.replace_range(at + 1..end.map_or(shaped.len(), |end| at + 3 + end), "");
    }
    shaped
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(lines: &[&str]) -> Answer {
        lines.iter().map(|line| vec![Some((*line).to_owned())]).collect()
    }

    #[test]
    fn line_that_reads_the_whole_table_has_its_condition_without_values() {
        let plan = answer(&[
            "Limit",
            "  ->  Parallel Seq Scan on orders",
            "        Filter: (customer = '5'::bigint)",
        ]);
        assert_eq!(
            whole_table(&plan, "orders").as_deref(),
            Some("Parallel Seq Scan on orders, filter (customer = ?)")
        );
        assert_eq!(whole_table(&plan, "order"), None);
        let plan = answer(&["Seq Scan on orders o"]);
        assert_eq!(whole_table(&plan, "orders").as_deref(), Some("Seq Scan on orders o"));
        assert_eq!(whole_table(&answer(&["Index Scan using orders_pkey on orders"]), "orders"), None);
    }

    #[test]
    fn only_a_single_statement_is_explained() {
        for query in ["SELECT 1", "select * from t where a = 5;", "WITH a AS (SELECT 1) SELECT * FROM a"] {
            assert!(is_explainable(query), "{query}");
        }
        for query in
            ["SELECT 1; DROP TABLE t", "EXPLAIN ANALYZE SELECT 1", "COPY t TO STDOUT", "", "VACUUM t", ";"]
        {
            assert!(!is_explainable(query), "{query}");
        }
        assert_eq!(["SELECT 1", "SELECT $2 + $1", "SELECT '$9999999'"].map(parameters), [0, 2, 0]);
    }

    #[test]
    fn table_with_the_most_new_rows_is_the_busiest() {
        let row = |table: &str, rows: &str| [table, "5", rows].map(|field| Some(field.to_owned())).to_vec();
        let (mut scans, mut counters) = (Scans::default(), Vec::new());
        scans.counters(&vec![row("public.a", "1000000"), row("public.b", "10")], &mut counters);
        assert_eq!((counters.len(), scans.busiest.as_deref()), (4, None), "what was before the run");
        scans.counters(&vec![row("public.a", "1000005"), row("public.b", "90000")], &mut counters);
        assert_eq!(scans.busiest.as_deref(), Some("b"));
    }
}
