//! Statements of a replayed log in JSON, compared between variants.

use judge::{ComparedStatement, FingerprintComparison};
use serde::Serialize;

use super::thousandths;

/// Statements of two variants. `a` is the reference.
#[derive(Serialize)]
pub(super) struct StatementsObject {
    blocks: usize,
    blocks_needed: u32,
    /// Number of exact tests that share the error rate.
    tests: usize,
    family_error_rate: f64,
    statements: Vec<StatementObject>,
}

#[derive(Serialize)]
struct StatementObject {
    text: String,
    /// Figures that differ: `time`, `errors`, `rows`, `contents`.
    differs: Vec<&'static str>,
    is_regression: bool,
    p: Option<f64>,
    count_a: u64,
    count_b: u64,
    errors_a: u64,
    errors_b: u64,
    mean_us_a: Option<f64>,
    mean_us_b: Option<f64>,
    rows_each_a: Option<f64>,
    rows_each_b: Option<f64>,
    /// Ratio of mean times, b to a.
    ratio: Option<f64>,
    /// Time that `b` needs more for all of these statements of a replay.
    extra_us: f64,
    /// Newest plans, with masked values. `None` if the statement does not differ, or if none was stored.
    plan_a: Option<String>,
    plan_b: Option<String>,
}

impl StatementsObject {
    pub(super) fn of(comparison: &FingerprintComparison) -> Self {
        Self {
            blocks: comparison.blocks,
            blocks_needed: comparison.blocks_needed,
            tests: comparison.family,
            family_error_rate: judge::FAMILY_ERROR_RATE,
            statements: comparison.statements.iter().map(StatementObject::of).collect(),
        }
    }
}

impl StatementObject {
    fn of(statement: &ComparedStatement) -> Self {
        let us = |ns: Option<f64>| ns.map(|ns| thousandths(ns / 1e3));
        let ([mean_us_a, mean_us_b], [rows_each_a, rows_each_b]) =
            (statement.mean_ns.map(us), statement.rows);
        let [plan_a, plan_b] =
            statement.plans.each_ref().map(|plan| plan.as_deref().map(crate::visible_lines));
        Self {
            text: crate::visible(&statement.text),
            differs: statement.differs.iter().map(|aspect| aspect.name()).collect(),
            is_regression: statement.is_regression(),
            p: statement.p,
            count_a: statement.counts[0],
            count_b: statement.counts[1],
            errors_a: statement.errors[0],
            errors_b: statement.errors[1],
            mean_us_a,
            mean_us_b,
            rows_each_a,
            rows_each_b,
            ratio: statement.ratio,
            extra_us: thousandths(statement.extra_ns / 1e3),
            plan_a,
            plan_b,
        }
    }
}
