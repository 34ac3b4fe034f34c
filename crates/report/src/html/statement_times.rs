//! Execution times of statements in a database, by row, for the page.

use std::collections::BTreeMap;

use super::document::{StatementTime, StatementTimes};
use super::of_run::text;
use crate::text::sanitize;
use crate::units::{count, decimal};
use crate::view::View;

/// Maximum numbers of statements of a row, and of characters of one.
const STATEMENTS_MAX: usize = 10;
const CHARACTERS_MAX: usize = 300;

/// Execution times of one row, from its runs. `None` if no server reported any.
pub(super) fn of_row<'v, 'a: 'v>(
    row: usize,
    views: impl Iterator<Item = &'v View<'a>>,
) -> Option<StatementTimes> {
    let (mut sums, mut runs): (BTreeMap<&str, [f64; 2]>, usize) = (BTreeMap::new(), 0);
    for inside in views.filter_map(|view| view.signals.as_ref()?.inside.as_ref()) {
        runs += usize::from(!inside.executed.is_empty());
        for one in &inside.executed {
            let [calls, total_s] = sums.entry(&one.statement).or_default();
            (*calls, *total_s) = (*calls + one.calls, *total_s + one.total_s);
        }
    }
    let all_s: f64 = sums.values().map(|[_, total_s]| total_s).sum();
    let share = |total_s: f64| Some(total_s / all_s).filter(|share| share.is_finite());
    let mut statements: Vec<StatementTime> = sums
        .into_iter()
        .filter(|(_, [calls, _])| *calls > 0.0)
        .map(|(statement, [calls, total_s])| StatementTime {
            statement: text(&sanitize(statement, CHARACTERS_MAX)),
            calls: count(calls as u64),
            mean: format!("{} ms", decimal(total_s * 1e3 / calls, 3)),
            total_s,
            total: format!("{} s", decimal(total_s, 2)),
            share: share(total_s),
        })
        .collect();
    statements.sort_by(|one, other| other.total_s.total_cmp(&one.total_s));
    let left_out = statements.len().saturating_sub(STATEMENTS_MAX);
    statements.truncate(STATEMENTS_MAX);
    (!statements.is_empty()).then_some(StatementTimes { row, runs, statements, left_out })
}
