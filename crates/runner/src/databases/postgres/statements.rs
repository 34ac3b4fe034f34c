//! Calls and execution time of statements from `pg_stat_statements` of PostgreSQL, as growth since the last reading. The statistics
//! are only read, never reset.

use std::collections::{BTreeMap, HashMap, HashSet};

use loading::{Answer, Error};

use super::watch::PREPARE;
use crate::database_watch::shape::{Quotes, shape};
use crate::database_watch::{MonitorSession, StatementGrowth, number, text};

/// Name in reports.
const STATISTICS_NAME: &str = "statement times (pg_stat_statements)";
/// Query for the schema of the extension.
const EXTENSION: &str = "\
    SELECT quote_ident(n.nspname) FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'pg_stat_statements'";
const UNAVAILABLE: &str = "the extension is not there; add pg_stat_statements to shared_preload_libraries, restart the server, and run \
                         CREATE EXTENSION pg_stat_statements in this database";
const HIDDEN: &str = "those of other roles are hidden; grant pg_read_all_stats to the role";
/// First version that separates planning time from execution time.
const SPLIT_SINCE: u32 = 130_000;
/// Maximum number of statement texts per reading.
const TEXTS_MAX: usize = 16;
/// Maximum number of known statements.
const KNOWN_MAX: usize = 1_000;
/// Number of leading characters that identify the statements of the monitor itself.
const OWN_CHARACTERS: usize = 60;

#[derive(Debug, Default)]
pub(super) struct Statements {
    /// `None` if the extension is missing or its view cannot be read.
    view: Option<View>,
    /// Calls and milliseconds at the last reading, by statement ID.
    before: HashMap<i64, [f64; 2]>,
    has_begun: bool,
    shapes: HashMap<i64, String>,
    /// Leading characters of the monitor's own statements.
    own: HashSet<String>,
}

#[derive(Debug)]
struct View {
    schema: String,
    time: &'static str,
}

impl Statements {
    /// Looks for the extension in a new session. `own` lists the statements of the monitor.
    pub(super) fn begin<'a>(
        &mut self,
        version: u32,
        own: impl Iterator<Item = &'a str>,
        asked: &mut MonitorSession<'_>,
    ) -> Result<(), Error> {
        *self = Self { own: own.map(beginning).collect(), ..Self::default() };
        let Some(answer) = asked.ask_if_allowed(STATISTICS_NAME, EXTENSION)? else { return Ok(()) };
        match answer.first().map(|row| text(row, 0)).filter(|schema| !schema.is_empty()) {
            Some(schema) => {
                let time = if version < SPLIT_SINCE { "total_time" } else { "total_exec_time" };
                self.own.extend([EXTENSION, &look(schema, time), &texts(schema, "1")].map(beginning));
                self.view = Some(View { schema: schema.to_owned(), time });
            }
            None => asked.shared.lacks(STATISTICS_NAME, UNAVAILABLE),
        }
        Ok(())
    }

    /// Growth since the last reading, longest time first. Empty at the first reading.
    pub(super) fn grown(&mut self, asked: &mut MonitorSession<'_>) -> Result<Vec<StatementGrowth>, Error> {
        let Some(View { schema, time }) = &self.view else { return Ok(Vec::new()) };
        let (look, schema) = (look(schema, time), schema.clone());
        let Some(answer) = asked.ask_if_allowed(STATISTICS_NAME, &look)? else {
            self.view = None;
            return Ok(Vec::new());
        };
        if answer.iter().any(|row| text(row, 0).is_empty()) {
            asked.shared.lacks(STATISTICS_NAME, HIDDEN);
        }
        let grown = self.growth(&answer);
        let is_new = |id: &&i64| !self.shapes.contains_key(id);
        let new: Vec<String> =
            grown.iter().map(|(id, _)| id).filter(is_new).map(i64::to_string).take(TEXTS_MAX).collect();
        if !new.is_empty()
            && let Some(answer) = asked.ask_if_allowed(STATISTICS_NAME, &texts(&schema, &new.join(", ")))?
        {
            self.learn_texts(&answer);
        }
        Ok(self.by_text(grown))
    }

    fn growth(&mut self, answer: &Answer) -> Vec<(i64, [f64; 2])> {
        let row = |row: &Vec<Option<String>>| {
            Some((text(row, 0).parse::<i64>().ok()?, [number(row, 1)?, number(row, 2)?]))
        };
        let mut grown = Vec::new();
        let has_begun = std::mem::replace(&mut self.has_begun, true);
        for (id, now) in answer.iter().filter_map(row).take(KNOWN_MAX) {
            let before = self.before.insert(id, now).unwrap_or_default();
            // Negative growth means that the statistics were reset.
            let more = [now[0] - before[0], now[1] - before[1]];
            if has_begun && more[0] > 0.0 && more[1] >= 0.0 {
                grown.push((id, more));
            }
        }
        if self.before.len() > 2 * KNOWN_MAX {
            self.before.clear();
            self.has_begun = false;
        }
        grown.sort_by(|(_, a), (_, b)| b[1].total_cmp(&a[1]));
        grown
    }

    fn learn_texts(&mut self, answer: &Answer) {
        if self.shapes.len() > KNOWN_MAX {
            self.shapes.clear();
        }
        let row = |row: &Vec<Option<String>>| {
            Some((text(row, 0).parse::<i64>().ok()?, shape(text(row, 1), Quotes::Names)))
        };
        self.shapes.extend(answer.iter().filter_map(row));
    }

    /// Sums growth by normalized text, without the statements of the monitor itself.
    fn by_text(&self, grown: Vec<(i64, [f64; 2])>) -> Vec<StatementGrowth> {
        let mut sums: BTreeMap<&str, [f64; 2]> = BTreeMap::new();
        for (id, [calls, ms]) in grown {
            let Some(statement) = self.shapes.get(&id).filter(|shape| !shape.is_empty()) else { continue };
            if !statement.starts_with(PREPARE) && !self.own.contains(&beginning(statement)) {
                let sum = sums.entry(statement).or_default();
                *sum = [sum[0] + calls, sum[1] + ms / 1e3];
            }
        }
        let grown = |(statement, [calls, time_s]): (&str, [f64; 2])| StatementGrowth {
            statement: statement.to_owned(),
            calls,
            time_s,
        };
        let mut all: Vec<StatementGrowth> = sums.into_iter().map(grown).collect();
        all.sort_by(|a, b| b.time_s.total_cmp(&a.time_s));
        all
    }
}

/// Query for the statistics without texts, which the server keeps in a file. IDs of other roles' statements are NULL if they are
/// hidden.
fn look(schema: &str, time: &str) -> String {
    format!(
        "SELECT queryid, sum(calls), sum({time}) FROM {schema}.pg_stat_statements(false) \
         WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database()) GROUP BY queryid ORDER BY 3 DESC LIMIT 1000"
    )
}

fn texts(schema: &str, ids: &str) -> String {
    format!(
        "SELECT queryid, left(query, 240) FROM {schema}.pg_stat_statements(true) WHERE queryid IN ({ids})"
    )
}

fn beginning(statement: &str) -> String {
    shape(statement, Quotes::Names).chars().take(OWN_CHARACTERS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(fields: [&str; 3]) -> Vec<Option<String>> {
        fields.map(|field| (!field.is_empty()).then(|| field.to_owned())).to_vec()
    }

    #[test]
    fn growth_is_summed_by_text_and_sorted_by_time() {
        let mut statements = Statements { own: [beginning("SELECT own")].into(), ..Statements::default() };
        let looks = |calls: [&str; 4]| {
            vec![
                row(["1", calls[0], "1000"]),
                row(["-2", calls[1], calls[2]]),
                row(["3", calls[1], "7"]),
                row(["4", "50", calls[3]]),
                row(["", "9", "9"]),
                row(["x", "NaN", ""]),
            ]
        };
        assert!(statements.growth(&looks(["10", "100", "500", "5"])).is_empty(), "what was before the run");
        let mut second = looks(["10", "140", "700", "5"]);
        second.extend([row(["5", "1", "2000"]), row(["6", "5", "1"])]);
        let grown = statements.growth(&second);
        assert_eq!(grown, [(5, [1.0, 2_000.0]), (-2, [40.0, 200.0]), (6, [5.0, 1.0]), (3, [40.0, 0.0])]);
        statements.learn_texts(&vec![
            row(["-2", "UPDATE t SET a = $1", ""]),
            row(["3", "UPDATE t SET a  = 7", ""]),
            row(["5", "SELECT own", ""]),
            row(["6", "PREPARE tenbin_watch_0 AS SELECT 1", ""]),
        ]);
        let update = StatementGrowth { statement: "UPDATE t SET a = ?".to_owned(), calls: 80.0, time_s: 0.2 };
        assert_eq!(statements.by_text(grown), [update]);
        assert!(statements.growth(&looks(["0", "3", "1", "0"])).is_empty(), "somebody has reset them");
    }

    #[test]
    fn recognizes_own_statements_by_their_first_characters() {
        let asked = look("public", "total_exec_time").replace("1000", "$1");
        assert_eq!(beginning(&asked), beginning(&look("public", "total_exec_time")));
        assert_eq!(beginning(&texts("public", "1, 2")), beginning(&texts("public", "1")));
        assert_ne!(beginning("SELECT abalance FROM pgbench_accounts"), beginning(EXTENSION));
    }
}
