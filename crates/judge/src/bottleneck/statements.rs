//! Statements that a database executes: those that each request repeats, and those that read whole tables.

use std::collections::BTreeMap;

use super::cause::{Bottleneck, Scope, suspected};
use super::database::{largest, quoted};
use super::evidence::Evidence;
use super::words::percent;
use super::{Coverage, Rule, Rung};
use crate::causes::Resource;
use crate::inside::DatabaseStatistics;
use crate::words::{count, decimal, one};

/// Min number of executions per request that counts as repetition.
const REPEATED_MIN: f64 = 3.0;
/// Min number of rows that table scans read per request, and min number of rows of a scan. Scanning a small table is
/// cheaper than using an index.
const ROWS_MIN: f64 = 1_000.0;
const ROWS_OF_A_SCAN_MIN: f64 = 1_000.0;
/// Min share of the response time in which sessions of the database execute statements.
const EXECUTING_MIN_SHARE: f64 = 0.2;

impl Resource {
    /// Rows that are read because no index matches.
    pub const WITHOUT_INDEX: Self =
        Self::new("without_index", "rows that the database reads without an index");
}

impl Evidence<'_> {
    /// Returns whether statistics of a database were read in any run.
    pub(super) fn is_database_read(&self) -> bool {
        self.insides().next().is_some()
    }

    fn insides(&self) -> impl Iterator<Item = &DatabaseStatistics> {
        self.runs.iter().filter_map(|run| run.signals?.inside.as_ref())
    }

    /// Returns the statement that each request executes several times, quoted, with the number of executions if known.
    /// `None` for transactions, which execute the plan's statements.
    pub(super) fn repeated_statement(&self) -> Option<String> {
        let per_s = self.ended_per_s().filter(|per_s| *per_s > 0.0)?;
        if self.together.unit.has_planned_statements() {
            return None;
        }
        let mut calls: BTreeMap<&str, f64> = BTreeMap::new();
        let runs = self.insides().count() as f64;
        for inside in self.insides() {
            let executed = inside.executed.iter().filter(|of| is_of_data(&of.statement));
            executed
                .for_each(|of| *calls.entry(&of.statement).or_default() += of.calls / inside.seconds / runs);
        }
        if let Some((statement, calls_per_s)) = calls.into_iter().max_by(|(_, a), (_, b)| a.total_cmp(b)) {
            let times = calls_per_s / per_s;
            return (times >= REPEATED_MIN)
                .then(|| format!("{} {} times", quoted(statement), decimal(times, 1)));
        }
        let of_data =
            |pairs: Vec<(String, f64)>| pairs.into_iter().filter(|(text, _)| is_of_data(text)).collect();
        let last = largest(self, |inside| of_data(inside.last.clone()));
        let waiting = |inside: &DatabaseStatistics| {
            of_data(inside.statements.iter().map(|of| (of.statement.clone(), of.sessions)).collect())
        };
        let statement = last.or_else(|| largest(self, waiting))?;
        Some(format!("{} several times", quoted(&statement)))
    }
}

/// Returns whether a statement reads or changes rows.
fn is_of_data(statement: &str) -> bool {
    let first = statement.trim_start_matches('(').split_whitespace().next().unwrap_or_default();
    ["SELECT", "INSERT", "UPDATE", "DELETE", "WITH", "MERGE", "REPLACE", "CALL", "EXECUTE"]
        .iter()
        .any(|word| word.eq_ignore_ascii_case(first))
}

pub(super) const WITHOUT_INDEX: Rule = Rule {
    finds: &[Resource::WITHOUT_INDEX],
    when: "scans of a whole table read 1,000 rows or more for each request, and 1,000 rows each, while sessions of the database executed \
           statements for 20 % of the response time",
    why: "the database counts the rows that it reads one after the other. Small tables are read so with good reason",
    refuted_by: &[],
    rung: Rung::Runtime,
    covers: Coverage::Runs,
    find: without_index,
};

/// Returns the table with the most rows read by scans: its name, which may be empty, and scans and rows per second, the
/// mean over all runs.
fn scanned(evidence: &Evidence<'_>) -> Option<(String, [f64; 2])> {
    let runs = evidence.insides().count() as f64;
    let mut tables: BTreeMap<&String, [f64; 2]> = BTreeMap::new();
    for (table, [scans, rows]) in evidence.insides().flat_map(|inside| &inside.scans) {
        let sum = tables.entry(table).or_default();
        *sum = [sum[0] + scans / runs, sum[1] + rows / runs];
    }
    let most = tables.into_iter().max_by(|(_, a), (_, b)| a[1].total_cmp(&b[1]));
    most.map(|(table, figures)| (table.clone(), figures))
}

pub(super) fn without_index(evidence: &Evidence<'_>) -> Option<Bottleneck> {
    let (table, [scans_per_s, rows_per_s]) = scanned(evidence)?;
    let per_s = evidence.ended_per_s().filter(|per_s| *per_s > 0.0)?;
    let (per_request, of_a_scan) = (rows_per_s / per_s, rows_per_s / scans_per_s.max(1e-9));
    let share = executing(evidence);
    if per_request < ROWS_MIN || of_a_scan < ROWS_OF_A_SCAN_MIN || share < EXECUTING_MIN_SHARE {
        return None;
    }
    let of_table = if table.is_empty() { String::new() } else { format!(" of {table}") };
    let because = format!(
        "the database read {} rows{of_table} one after the other for each {}, {} in each scan, and sessions executed statements for {} \
         of the response time",
        count(per_request.round() as u64),
        one(evidence.together.unit),
        count(of_a_scan.round() as u64),
        percent(share)
    );
    let short_name = table.rsplit('.').next().unwrap_or_default();
    let found = statement_of(evidence, short_name);
    let next = match &found {
        Some((_, Some(plan))) => scan_advice(plan),
        _ => "see the plan of the statement (EXPLAIN), and add an index that fits its condition".to_owned(),
    };
    let mut readings = Vec::new();
    if let Some((statement, plan)) = &found {
        readings.push(format!("statement: {}", quoted(statement)));
        readings.extend(plan.as_ref().map(|plan| format!("its plan: {plan}")));
    }
    Some(
        suspected(Resource::WITHOUT_INDEX, Scope::System, because)
            .direct(Some(share))
            .and(readings)
            .next(next),
    )
}

/// Returns the share of the response time in which sessions of the database executed statements without waiting for
/// locks or their clients.
fn executing(evidence: &Evidence<'_>) -> f64 {
    let waits = evidence.database_waits();
    let is_executing =
        |wait: &str| ["CPU", "IO", "Executing", "IPC", "BufferPin"].contains(&crate::inside::class_of(wait));
    let share: f64 = waits.iter().filter(|(wait, _)| is_executing(wait)).map(|(_, share)| share).sum();
    let active = evidence.signal(|signals| Some(signals.inside.as_ref()?.active)).unwrap_or(0.0);
    evidence.in_flight_share(share * active).unwrap_or(0.0)
}

/// Finds the statement that reads a table, with the line of its plan if known: among statements that name the table,
/// the one with the most sessions.
fn statement_of(evidence: &Evidence<'_>, table: &str) -> Option<(String, Option<String>)> {
    let plans = || evidence.insides().flat_map(|inside| &inside.plans);
    let sessions = |statement: &str| -> f64 {
        let of = evidence.insides().flat_map(|inside| &inside.statements);
        of.filter(|of| of.statement == statement).map(|of| of.sessions).sum()
    };
    let planned = plans().filter(|(_, plan)| plan.contains(table));
    let most = planned.max_by(|(one, _), (other, _)| sessions(one).total_cmp(&sessions(other)));
    if let Some((statement, plan)) = most {
        return Some((statement.clone(), Some(plan.clone())));
    }
    let naming = |inside: &DatabaseStatistics| {
        let naming =
            inside.statements.iter().filter(|of| is_of_data(&of.statement) && of.statement.contains(table));
        naming.map(|of| (of.statement.clone(), of.sessions)).collect()
    };
    largest(evidence, naming).map(|statement| (statement, None))
}

/// Returns advice for a scan with a condition on one column, such as `Seq Scan on t, filter (a = ?)`, and for any other
/// scan.
fn scan_advice(plan: &str) -> String {
    let table = plan.split_once(" on ").map(|(_, rest)| rest);
    let table = table.and_then(|rest| rest.split([',', ' ']).next()).filter(|table| !table.is_empty());
    let column = plan.split_once("filter ").map(|(_, condition)| condition.trim_start_matches('('));
    let column = column.and_then(|condition| condition.split_once(" = ")).map(|(column, _)| column);
    let is_name = |name: &&str| {
        !name.is_empty() && name.chars().all(|one| one.is_alphanumeric() || "_.\"".contains(one))
    };
    match (table, column.filter(is_name)) {
        // Plans of MariaDB and MySQL, where CREATE INDEX would need a name.
        (Some(table), Some(column)) if plan.starts_with("ALL") => {
            format!("add an index for the condition: ALTER TABLE {table} ADD INDEX ({column})")
        }
        (Some(table), Some(column)) => {
            format!("add an index for the condition: CREATE INDEX ON {table} ({column})")
        }
        _ => "add an index that fits the condition of the statement, or read fewer rows".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::planted::Planted;
    use super::*;
    use crate::inside::{StatementTime, StatementWait};

    const STATEMENT: &str = "SELECT * FROM orders WHERE customer = ?";

    fn scanning(rows_per_s: f64) -> Planted {
        let mut planted = Planted::closed(8, 100.0, 20.0);
        let statements =
            vec![StatementWait { statement: STATEMENT.to_owned(), wait: "CPU".to_owned(), sessions: 5.0 }];
        planted.signals.inside = Some(DatabaseStatistics {
            active: 6.0,
            waits: [("CPU".to_owned(), 6.0)].into(),
            scans: [
                ("public.orders".to_owned(), [100.0, rows_per_s]),
                ("public.small".to_owned(), [900.0, 900.0]),
            ]
            .into(),
            plans: [(STATEMENT.to_owned(), "Seq Scan on orders, filter (customer = ?)".to_owned())].into(),
            statements,
            ..DatabaseStatistics::default()
        });
        planted
    }

    #[test]
    fn scan_of_a_table_for_each_request_is_named_with_statement_and_index() {
        let causes = scanning(5_000_000.0).causes();
        let first = &causes[0];
        assert_eq!(first.resource.code, "without_index");
        assert!(
            first.because.contains("read 50,000 rows of public.orders one after the other for each request"),
            "{first:?}"
        );
        assert_eq!(first.next, "add an index for the condition: CREATE INDEX ON orders (customer)");
        assert!(first.for_.iter().any(|reading| reading.contains(STATEMENT)), "{first:?}");
    }

    #[test]
    fn scan_of_a_small_table_is_no_cause() {
        assert_ne!(scanning(50_000.0).said()[0], "without_index");
    }

    #[test]
    fn index_is_added_in_the_language_of_the_database() {
        let next = scan_advice("ALL on orders, filter customer = ?");
        assert_eq!(next, "add an index for the condition: ALTER TABLE orders ADD INDEX (customer)");
    }

    #[test]
    fn scan_with_another_condition_gets_no_statement_to_run() {
        for plan in [
            "Seq Scan on t",
            "Seq Scan on t, filter (lower(a) = ?)",
            "Seq Scan on t, filter ((a > ?) AND (b = ?))",
        ] {
            assert!(!scan_advice(plan).contains("CREATE"), "{plan}");
        }
    }

    #[test]
    fn repeated_statement_has_its_number_if_the_database_counts() {
        let mut planted = Planted::closed(8, 100.0, 20.0);
        let executed =
            |statement: &str, calls| StatementTime { statement: statement.to_owned(), calls, total_s: 1.0 };
        let counted = vec![executed("COMMIT", 90_000.0), executed(STATEMENT, 30_000.0)];
        planted.signals.inside =
            Some(DatabaseStatistics { seconds: 10.0, executed: counted, ..DatabaseStatistics::default() });
        let repeated = planted.with_evidence(|evidence| evidence.repeated_statement());
        assert_eq!(repeated, Some(format!("`{STATEMENT}` 30.0 times")));
        let last = vec![("COMMIT".to_owned(), 9.0), (STATEMENT.to_owned(), 3.0)];
        planted.signals.inside = Some(DatabaseStatistics { last, ..DatabaseStatistics::default() });
        assert_eq!(
            planted.with_evidence(|evidence| evidence.repeated_statement()),
            Some(format!("`{STATEMENT}` several times"))
        );
    }
}
