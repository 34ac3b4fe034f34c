//! Statements of MariaDB and MySQL: calls and execution time from `performance_schema`, as growth since the last reading, and the part
//! of a plan that reads a whole table.

use std::collections::{HashMap, HashSet};

use loading::{Answer, Error};

use crate::database_watch::shape::{Quotes, shape};
use crate::database_watch::{
    Counter, MonitorSession, StatementGrowth, StatementPlan, StatementTexts, number, text,
};

/// Names in reports.
const TIMES_NAME: &str = "statement times (performance_schema)";
const PLANS_NAME: &str = "plans of statements";
const UNAVAILABLE: &str = "performance_schema is off; start the server with performance_schema=ON";
const IS_ON: &str = "SELECT @@performance_schema";
/// Statements of this database, longest time first. Times are picoseconds on the server.
const DIGESTS: &str = "\
    SELECT DIGEST, LEFT(DIGEST_TEXT, 240), COUNT_STAR, SUM_TIMER_WAIT / 1e12 \
    FROM performance_schema.events_statements_summary_by_digest \
    WHERE SCHEMA_NAME <=> DATABASE() AND DIGEST IS NOT NULL ORDER BY 4 DESC LIMIT 200";
/// Statements that sessions of this user are executing.
const RUNNING: &str = "\
    SELECT INFO FROM information_schema.PROCESSLIST WHERE ID <> CONNECTION_ID() AND DB <=> DATABASE() \
    AND USER = SUBSTRING_INDEX(CURRENT_USER(), '@', 1) AND COMMAND <> 'Sleep' AND INFO IS NOT NULL LIMIT 64";
/// Parts of the monitor's own statements.
const OWN_MARKERS: [&str; 5] =
    ["EXPLAIN", "performance_schema", "information_schema", "SHOW GLOBAL STATUS", "@@"];
/// Min number of rows read by table scans per second above which statements are explained.
const ROWS_MIN: f64 = 5_000.0;
/// Max number of statements that are explained per session.
const PLANS_MAX: usize = 6;
/// Maximum number of known statements.
const KNOWN_MAX: usize = 1_000;

#[derive(Debug, Default)]
pub(super) struct Statements {
    is_counted: bool,
    has_begun: bool,
    /// Calls and seconds at the last reading, by digest.
    before: HashMap<String, [f64; 2]>,
    /// Rows that scans of tables had read at the last reading.
    rows_before: Option<f64>,
    reads_tables: bool,
    tried: HashSet<String>,
}

impl Statements {
    /// Checks in a new session whether the server counts statements.
    pub(super) fn begin(&mut self, asked: &mut MonitorSession<'_>) -> Result<(), Error> {
        let answer = asked.ask_if_allowed(TIMES_NAME, IS_ON)?;
        let is_on = answer.is_some_and(|answer| answer.first().is_some_and(|row| text(row, 0) == "1"));
        if !is_on {
            asked.shared.lacks(TIMES_NAME, UNAVAILABLE);
        }
        *self = Self { is_counted: is_on, ..Self::default() };
        Ok(())
    }

    /// Growth since the last reading, longest time first. Empty at the first reading.
    pub(super) fn grown(&mut self, asked: &mut MonitorSession<'_>) -> Result<Vec<StatementGrowth>, Error> {
        if !self.is_counted {
            return Ok(Vec::new());
        }
        let answer = asked.ask_if_allowed(TIMES_NAME, DIGESTS)?;
        self.is_counted = answer.is_some();
        Ok(answer.map_or_else(Vec::new, |answer| self.growth(&answer)))
    }

    fn growth(&mut self, answer: &Answer) -> Vec<StatementGrowth> {
        if self.before.len() > KNOWN_MAX {
            self.before.clear();
            self.has_begun = false;
        }
        let has_begun = std::mem::replace(&mut self.has_begun, true);
        let mut grown = Vec::new();
        for row in answer.iter().filter(|row| OWN_MARKERS.iter().all(|own| !text(row, 1).contains(own))) {
            let Some(now) = number(row, 2).zip(number(row, 3)) else { continue };
            let before = self.before.insert(text(row, 0).to_owned(), [now.0, now.1]).unwrap_or_default();
            let [calls, time_s] = [now.0 - before[0], now.1 - before[1]];
            // Negative growth means that the statistics were reset.
            if has_begun && calls > 0.0 && time_s >= 0.0 {
                let statement = shape(&text(row, 1).replace('`', ""), Quotes::Values);
                grown.push(StatementGrowth { statement, calls, time_s });
            }
        }
        grown.sort_by(|a, b| b.time_s.total_cmp(&a.time_s));
        grown
    }

    /// Remembers whether scans of tables read many rows since the last reading.
    pub(super) fn note_rows(&mut self, rows: Option<&Counter>) {
        let rows = rows.map(|one| one.value);
        self.reads_tables = rows.zip(self.rows_before).is_some_and(|(now, before)| now - before >= ROWS_MIN);
        self.rows_before = rows;
    }

    /// Statements in execution, and the plan of a new one that reads a whole table.
    pub(super) fn texts(&mut self, asked: &mut MonitorSession<'_>) -> Result<StatementTexts, Error> {
        let Some(answer) = asked.ask_if_allowed("last statements of sessions", RUNNING)? else {
            return Ok(StatementTexts::default());
        };
        let last = answer.iter().map(|row| shape(text(row, 0), Quotes::Values)).collect();
        let plans = self.explain(&answer, asked)?.into_iter().collect();
        Ok(StatementTexts { last, plans })
    }

    fn explain(
        &mut self,
        running: &Answer,
        asked: &mut MonitorSession<'_>,
    ) -> Result<Option<StatementPlan>, Error> {
        if !self.reads_tables || self.tried.len() >= PLANS_MAX {
            return Ok(None);
        }
        let new = running
            .iter()
            .map(|row| text(row, 0).trim().trim_end_matches([';', ' ']))
            .filter(|query| is_explainable(query))
            .map(|query| (query, shape(query, Quotes::Values)))
            .find(|(_, statement)| !self.tried.contains(statement));
        let Some((query, statement)) = new else { return Ok(None) };
        self.tried.insert(statement.clone());
        // The server rejects texts with placeholders.
        match asked.ask(&format!("EXPLAIN {query}")) {
            Ok(answer) => Ok(whole_table(&answer, &statement).map(|plan| StatementPlan { statement, plan })),
            Err(Error::Refused { said, .. }) => {
                asked.shared.lacks(PLANS_NAME, &said);
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }
}

/// Whether a text is a single query. A semicolon may start another statement.
fn is_explainable(query: &str) -> bool {
    let first = query.split_whitespace().next().unwrap_or_default();
    first.eq_ignore_ascii_case("SELECT") && !query.contains(';')
}

/// Line for the table that a plan reads as a whole, with the condition of the statement: `ALL on t, filter a = ?`.
fn whole_table(answer: &Answer, statement: &str) -> Option<String> {
    let row = answer.iter().find(|row| (3..=4).any(|place| text(row, place) == "ALL"))?;
    let table = text(row, 2);
    let condition = statement.split_once(" WHERE ").map(|(_, rest)| rest);
    let condition = condition.map(|rest| rest.split([')', '(']).next().unwrap_or_default().trim());
    let condition = condition.filter(|condition| !condition.is_empty());
    Some(format!("ALL on {table}{}", condition.map_or_else(String::new, |one| format!(", filter {one}"))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(fields: &[&str]) -> Vec<Option<String>> {
        fields.iter().map(|field| (!field.is_empty()).then(|| (*field).to_owned())).collect()
    }

    #[test]
    fn growth_of_a_digest_is_reported_without_own_statements() {
        let mut statements = Statements::default();
        let look = |calls: &str| {
            vec![
                row(&["a", "SELECT `v` FROM `t` WHERE `id` = ?", calls, "1.5"]),
                row(&["b", "SELECT `x` FROM `performance_schema` . `y`", calls, "9"]),
                row(&["c", "COMMIT", "", ""]),
            ]
        };
        assert!(statements.growth(&look("10")).is_empty(), "what was before the run");
        let grown = statements.growth(&look("40"));
        let expected = StatementGrowth {
            statement: "SELECT v FROM t WHERE id = ?".to_owned(),
            calls: 30.0,
            time_s: 0.0,
        };
        assert_eq!(grown, [expected]);
        assert!(statements.growth(&look("3")).is_empty(), "somebody has reset them");
    }

    #[test]
    fn table_that_is_read_as_a_whole_has_the_condition() {
        let statement = "SELECT * FROM orders WHERE customer = ?";
        let maria = vec![row(&["1", "SIMPLE", "orders", "ALL", "", "", "", "", "99500", "Using where"])];
        assert_eq!(whole_table(&maria, statement).as_deref(), Some("ALL on orders, filter customer = ?"));
        let mysql = vec![row(&["1", "SIMPLE", "orders", "", "ALL", "", "", "", "", "99500"])];
        assert_eq!(whole_table(&mysql, "SELECT 1 FROM orders").as_deref(), Some("ALL on orders"));
        let indexed = vec![row(&["1", "SIMPLE", "orders", "ref", "i", "i", "4", "const", "1", ""])];
        assert_eq!(whole_table(&indexed, statement), None);
    }

    #[test]
    fn only_a_single_query_is_explained() {
        assert!(is_explainable("select * from t where a = 5"));
        for query in ["SELECT 1; DROP TABLE t", "UPDATE t SET a = 1", "EXPLAIN SELECT 1", ""] {
            assert!(!is_explainable(query), "{query}");
        }
    }
}
