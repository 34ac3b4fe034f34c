//! Plans of the statements that took most of the time of a replay: `EXPLAIN` after the load, with masked values.
//!
//! Statements that cannot write are run once more (`ANALYZE`), in a session that is read only. Others are only planned.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use ::replay::{Form, Item, Trace};
use evidence::{EvidenceError, Output, Run};
use loading::HeldSession;
use plan::{Database, Engine, Plan};
use record::Phase;

use crate::databases;
use crate::load_data;
use crate::time_limit::TimeLimit;

/// Number of fingerprints whose plans are queried.
const PLANS_MAX: usize = 10;
/// Time limit for all plans.
const WITHIN: Duration = Duration::from_secs(60);
/// Max bytes of a plan.
const PLAN_BYTES_MAX: usize = 16 << 10;
/// Labels in plans after which there are figures or names, and no values of statements.
const PLAIN_LABELS: [&str; 14] = [
    "Actual",
    "Batches",
    "Buckets",
    "Buffers",
    "Cache",
    "Execution",
    "Heap",
    "Hits",
    "I/O",
    "Planning",
    "Rows Removed",
    "Sort Method",
    "Timing",
    "Worker",
];

/// Plans of the fingerprints with the largest share of the time in a run. Empty for a load that replays no statements, or if the server
/// gives no plans.
pub(crate) fn slowest(plan: &Plan, run: &Run) -> Result<Vec<Output>, EvidenceError> {
    let (Some(replay), Some(database)) = (&plan.replay, plan.endpoint().load.database()) else {
        return Ok(Vec::new());
    };
    let Some(explain) = &databases::of(database.engine).explain else { return Ok(Vec::new()) };
    let mut by_time: Vec<(u128, usize)> = Vec::new();
    for place in 0..replay.fingerprints.len() {
        let tally = run.total((run.new.steps.len() + place) as u16, Phase::Measured)?;
        by_time.push((tally.service.all().sum_ns(), place));
    }
    by_time.sort_unstable_by(|a, b| b.cmp(a));
    by_time.truncate(PLANS_MAX);
    let asked = by_time.into_iter().filter(|(time, _)| *time > 0);
    let asked = asked.filter_map(|(_, place)| Some((place, statement(&replay.trace, place)?)));
    Ok(ask(database, &asked.collect::<Vec<_>>(), explain))
}

/// First statement with a fingerprint, with its values. `None` if it has several statements, or if it has no plan.
fn statement(trace: &Arc<Trace>, fingerprint: usize) -> Option<String> {
    let (item, text) = trace.sample(fingerprint)?;
    let text = text.trim().trim_end_matches(';');
    let word = text.split(|byte: char| !byte.is_ascii_alphabetic()).next()?.to_ascii_lowercase();
    let has_plan =
        ["select", "with", "values", "table", "insert", "update", "delete", "merge"].contains(&word.as_str());
    // A second statement would be run, and not planned.
    (has_plan && !text.contains(';')).then(|| with_values(text, &item)).flatten()
}

/// Statement with its values instead of placeholders. `None` if a value is missing.
fn with_values(text: &str, item: &Item) -> Option<String> {
    let Form::Execute { values, .. } = &item.form else { return Some(text.to_owned()) };
    // Only logs of PostgreSQL record values separately from their statements.
    let quoted = |value: &Option<String>| match value {
        None => "NULL".to_owned(),
        Some(value) => format!("'{}'", value.replace('\'', "''")),
    };
    let (mut out, mut rest, mut quote) = (String::with_capacity(text.len()), text, None);
    while let Some(sign) = rest.chars().next() {
        let after = &rest[sign.len_utf8()..];
        let digits = after.bytes().take_while(u8::is_ascii_digit).count();
        match (quote, sign) {
            (None, '$') if digits > 0 => {
                let number: usize = after[..digits].parse().ok()?;
                out.push_str(&quoted(values.get(number.checked_sub(1)?)?));
                rest = &after[digits..];
                continue;
            }
            (None, '\'' | '"') => quote = Some(sign),
            (Some(open), sign) if sign == open => quote = None,
            _ => {}
        }
        out.push(sign);
        rest = after;
    }
    Some(out)
}

/// Requests the plans in a separate session. Statements that the server rejects get none.
fn ask(database: &Database, statements: &[(usize, String)], explain: &databases::Explain) -> Vec<Output> {
    let is_canceled = Arc::new(AtomicBool::new(false));
    let limit = TimeLimit::start("plans", WITHIN, Arc::clone(&is_canceled));
    let mut outputs = Vec::new();
    let mut session = None;
    for (place, text) in statements {
        let open = || {
            let place = load_data::place(database).ok()?;
            let mut opened = HeldSession::open(&place, Arc::clone(&is_canceled)).ok()?;
            explain.before.iter().try_for_each(|before| opened.run(before)).ok()?;
            Some(opened)
        };
        // A session must not be used after an error.
        let Some(mut opened) = session.take().or_else(open) else { break };
        let word = match sql::text_may_write(text, database.engine) {
            true => explain.of_writes,
            false => explain.of_reads,
        };
        let Ok(rows) = opened.ask(&format!("{word} {text}")) else { continue };
        session = Some(opened);
        let lines = rows.iter().map(|row| {
            let values: Vec<&str> = row.iter().map(|value| value.as_deref().unwrap_or("NULL")).collect();
            masked(&values.join("  "), database.engine)
        });
        let mut text = lines.collect::<Vec<_>>().join("\n").into_bytes();
        let dropped_bytes = text.len().saturating_sub(PLAN_BYTES_MAX) as u64;
        text.truncate(PLAN_BYTES_MAX);
        outputs.push(Output { process: judge::plan_output(*place), text, dropped_bytes });
    }
    drop(limit);
    outputs
}

/// Line of a plan with the values of its conditions masked.
fn masked(line: &str, engine: Engine) -> String {
    match line.split_once(": ") {
        Some((label, rest)) if !PLAIN_LABELS.iter().any(|plain| label.trim_start().starts_with(plain)) => {
            format!("{label}: {}", ::replay::scan(rest, engine).fingerprint)
        }
        _ => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use ::replay::LoggedResult;

    use super::*;

    #[test]
    fn values_of_conditions_are_masked_and_figures_stay() {
        let line = |line: &str| masked(line, Engine::FOR_SCRIPTS);
        for plain in [
            "Seq Scan on t  (cost=0.00..1693.00 rows=1 width=4) (actual time=1.1..2.2 rows=1 loops=1)",
            "  Rows Removed by Filter: 99999",
            "  Buffers: shared hit=443",
            "Execution Time: 4.233 ms",
        ] {
            assert_eq!(line(plain), plain);
        }
        assert_eq!(line("  Filter: (name = 'secret'::text)"), "  Filter: (name = ?::text)");
        assert_eq!(line("  Index Cond: (id = 4711)"), "  Index Cond: (id = ?)");
    }

    #[test]
    fn placeholders_are_replaced_outside_of_quotes() {
        let item = |values: &[Option<&str>]| Item {
            at_ns: 0,
            text: 0,
            form: Form::Execute {
                values: values.iter().map(|value| value.map(str::to_owned)).collect(),
                is_named: false,
            },
            fingerprint: 0,
            is_last: true,
            result: LoggedResult::Unknown,
            rows: None,
        };
        let with = |text: &str, values: &[Option<&str>]| with_values(text, &item(values));
        assert_eq!(
            with("SELECT '$1', $2, $1", &[Some("it's"), None]).as_deref(),
            Some("SELECT '$1', NULL, 'it''s'")
        );
        assert_eq!(with("SELECT $2", &[Some("1")]), None);
    }
}
