//! Readings from inside a database in JSON.

use std::collections::BTreeMap;

use judge::{DatabaseStatistics, class_of};
use serde::Serialize;

use super::{counted, thousandths};
use crate::view::View;

/// Maximum number of statements with waits.
const STATEMENTS_MAX: usize = 32;

#[derive(Serialize)]
pub(super) struct InsideObject<'a> {
    samples: u64,
    sessions_active: f64,
    /// Mean number of sessions by state.
    sessions: BTreeMap<&'a str, f64>,
    waits: Vec<WaitObject<'a>>,
    statements: Vec<StatementObject<'a>>,
    /// Statements with the longest execution times.
    statement_times: Vec<TimeObject<'a>>,
    blocking: Vec<BlockingObject<'a>>,
    /// Growth of counters per second.
    per_s: BTreeMap<&'a str, f64>,
    buffer_hit_share: Option<f64>,
    connections: Option<f64>,
    connections_max: Option<f64>,
    asked_share: f64,
}

#[derive(Serialize)]
struct WaitObject<'a> {
    wait: &'a str,
    class: &'a str,
    sessions: f64,
    share: f64,
}

#[derive(Serialize)]
struct StatementObject<'a> {
    statement: &'a str,
    wait: &'a str,
    sessions: f64,
}

#[derive(Serialize)]
struct TimeObject<'a> {
    statement: &'a str,
    calls: u64,
    mean_ms: f64,
    total_s: f64,
    share: Option<f64>,
}

#[derive(Serialize)]
struct BlockingObject<'a> {
    session: &'a str,
    blocks: f64,
}

/// Readings of a run. `None` if its database was not sampled.
pub(super) fn of_run<'a>(view: &'a View<'_>) -> Option<InsideObject<'a>> {
    Some(InsideObject::of(view.signals.as_ref()?.inside.as_ref()?))
}

impl<'a> InsideObject<'a> {
    fn of(inside: &'a DatabaseStatistics) -> Self {
        let rounded = |figures: &'a BTreeMap<String, f64>| {
            figures.iter().map(|(name, figure)| (name.as_str(), thousandths(*figure))).collect()
        };
        let wait = |(wait, share): (&'a str, f64)| WaitObject {
            wait,
            class: class_of(wait),
            sessions: thousandths(share * inside.active),
            share: counted::share(share),
        };
        let statements = inside.statements.iter().take(STATEMENTS_MAX).map(|one| StatementObject {
            statement: &one.statement,
            wait: &one.wait,
            sessions: thousandths(one.sessions),
        });
        let times = inside.executed.iter().take(STATEMENTS_MAX).map(|one| TimeObject {
            statement: &one.statement,
            calls: one.calls as u64,
            mean_ms: thousandths(one.mean_ms()),
            total_s: thousandths(one.total_s),
            share: inside.share_of_time(one).map(counted::share),
        });
        let blocking = inside
            .blocking
            .iter()
            .map(|(session, blocks)| BlockingObject { session, blocks: thousandths(*blocks) });
        Self {
            samples: inside.samples as u64,
            sessions_active: thousandths(inside.active),
            sessions: rounded(&inside.states),
            waits: inside.ranked().into_iter().map(wait).collect(),
            statements: statements.collect(),
            statement_times: times.collect(),
            blocking: blocking.collect(),
            per_s: rounded(&inside.per_s),
            buffer_hit_share: inside.hits().map(counted::share),
            connections: inside.connections.map(|[open, _]| open),
            connections_max: inside.connections.map(|[_, max]| max),
            asked_share: counted::share(inside.asked),
        }
    }
}
