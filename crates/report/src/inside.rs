//! Readings from inside a database, such as waits and statements, as text.

use std::collections::BTreeMap;

use judge::words::{Share, percent};
use judge::{DatabaseStatistics, INSIDE, ON_CPU, class_of};

use crate::text::sanitize;
use crate::units::decimal;
use crate::view::View;

/// Maximum numbers of waits and statements in a line.
const WAITS_MAX: usize = 4;
const STATEMENTS_MAX: usize = 3;
/// Maximum number of statements with their times.
const EXECUTED_MAX: usize = 5;
/// Maximum width in columns of a statement, and of a wait's name.
const STATEMENT_COLUMNS_MAX: usize = 80;
const WAIT_COLUMNS_MAX: usize = 40;
/// Smallest share of the sessions that is reported.
const SHARE_MIN: f64 = 0.05;
/// Smallest number of active sessions, and smallest share of waiting ones, at which waits are significant.
const ACTIVE_MIN: f64 = 0.5;
const WAITING_MIN: f64 = 0.2;
/// Classes of sessions that work, or wait for their client.
const WORKING_CLASSES: [&str; 3] = [ON_CPU, "Client", "Executing"];

/// Waits on one line. `None` if too few sessions wait inside the database.
pub(crate) fn notable(view: &View<'_>) -> Option<String> {
    let inside = of(view)?;
    let working: f64 = WORKING_CLASSES.iter().map(|class| inside.class_share(class)).sum();
    (inside.active >= ACTIVE_MIN && 1.0 - working >= WAITING_MIN).then(|| waits_line(inside))
}

/// Readings that [`notable`] omits, and those that were not available, one line each.
pub(crate) fn lines(view: &View<'_>) -> Vec<String> {
    let mut lines: Vec<String> =
        // A key-value store has no sessions that wait.
        of(view)
            .filter(|inside| !inside.states.is_empty() || !inside.waits.is_empty() || inside.rate("commands").is_none())
            .map(waits_line)
            .filter(|_| notable(view).is_none())
            .into_iter()
            .collect();
    lines.extend(of(view).into_iter().flat_map(figures));
    let missing = view.run.ending.iter().flat_map(|ending| &ending.not_available);
    let of_database = missing.filter(|(probe, _)| probe.starts_with(INSIDE));
    lines.extend(of_database.map(|(probe, why)| format!("not available: {probe}: {why}")));
    lines
}

fn figures(inside: &DatabaseStatistics) -> Vec<String> {
    let mut lines = Vec::new();
    let named = inside.statements.iter().filter(|one| one.sessions >= inside.active * SHARE_MIN);
    lines.extend(named.take(STATEMENTS_MAX).map(|one| {
        let share = Share::of_measured(one.sessions, inside.active).map_or(0.0, Share::get);
        let share = percent(share, 0);
        let statement = sanitize(&one.statement, STATEMENT_COLUMNS_MAX);
        format!("{share} {}: {statement}", wait_words(&one.wait))
    }));
    lines.extend(inside.executed.iter().take(EXECUTED_MAX).map(|one| {
        let share = inside
            .share_of_time(one)
            .map_or_else(String::new, |share| format!("{} of execution time, ", percent(share, 0)));
        let (calls, mean_ms) = (decimal(one.calls, 0), decimal(one.mean_ms(), 3));
        format!("{share}{calls} calls of {mean_ms} ms: {}", sanitize(&one.statement, STATEMENT_COLUMNS_MAX))
    }));
    let hits = inside.hits().map(|hits| format!("{} of blocks found in memory", percent(hits, 1)));
    let hits =
        hits.or_else(|| inside.key_hit_ratio().map(|hits| format!("{} of keys found", percent(hits, 1))));
    let connections = inside.connections.map(|[open, max]| format!("{open} of {max} connections open"));
    let figures: Vec<String> = hits.into_iter().chain(connections).collect();
    if !figures.is_empty() {
        lines.push(figures.join(", "));
    }
    lines
}

fn of<'a>(view: &'a View<'_>) -> Option<&'a DatabaseStatistics> {
    view.signals.as_ref()?.inside.as_ref()
}

fn waits_line(inside: &DatabaseStatistics) -> String {
    let ranked = inside.ranked();
    let mut named = ranked.iter().filter(|(_, share)| *share >= SHARE_MIN).take(WAITS_MAX);
    let Some((first, share)) = named.next() else { return "no session was active".to_owned() };
    let active = decimal(inside.active, 1);
    let mut words = format!("{} of {active} active sessions {}", percent(*share, 0), wait_words(first));
    for (wait, share) in named {
        words += &format!(", {} {}", percent(*share, 0), wait_words(wait));
    }
    if class_of(first) == "Lock" {
        words.extend(
            blocking_sentence(inside)
                .map(|who| format!("; most wait for {}", sanitize(&who, STATEMENT_COLUMNS_MAX))),
        );
    }
    words
}

/// Session that blocks the majority of waiting sessions. If there is none, the activity of blocking sessions that take turns.
/// `None` if no activity has a majority either.
fn blocking_sentence(inside: &DatabaseStatistics) -> Option<String> {
    let most = inside.blocking.iter().map(|(_, sessions)| sessions).sum::<f64>() / 2.0;
    let mut by_deed: BTreeMap<&str, f64> = BTreeMap::new();
    for (who, sessions) in &inside.blocking {
        if *sessions > most {
            return Some(who.clone());
        }
        let deed = who.split_once(", ").map_or("", |(_, deed)| deed);
        *by_deed.entry(deed).or_default() += sessions;
    }
    let (deed, _) = by_deed.into_iter().find(|(deed, sessions)| *sessions > most && !deed.is_empty())?;
    Some(format!("changing sessions, {deed}"))
}

fn wait_words(wait: &str) -> String {
    match wait {
        ON_CPU => "on CPU".to_owned(),
        wait => format!("in {}", sanitize(wait, WAIT_COLUMNS_MAX)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inside(blocking: &[(&str, f64)]) -> DatabaseStatistics {
        let waits = [("Lock:transactionid", 3.0), ("CPU", 1.0), ("IO:x\u{202e}y", 0.5), ("rare", 0.01)];
        DatabaseStatistics {
            active: 5.0,
            waits: waits.map(|(wait, sessions)| (wait.to_owned(), sessions)).into(),
            blocking: blocking.iter().map(|(who, sessions)| ((*who).to_owned(), *sessions)).collect(),
            ..DatabaseStatistics::default()
        }
    }

    #[test]
    fn waits_have_shares_and_blocking_session() {
        let line =
            waits_line(&inside(&[("session 7, idle in transaction", 9.0), ("session 8, active: x", 2.0)]));
        assert!(
            line.starts_with("60 % of 5.0 active sessions in Lock:transactionid, 20 % on CPU, 10 % in IO:x"),
            "{line}"
        );
        assert!(
            line.ends_with("; most wait for session 7, idle in transaction") && !line.contains('\u{202e}'),
            "{line}"
        );
        assert!(!line.contains("rare"));
        assert_eq!(waits_line(&DatabaseStatistics::default()), "no session was active");
    }

    #[test]
    fn sessions_that_block_in_turn_are_grouped_by_activity() {
        let in_turn =
            ["session 1, active: COMMIT", "session 2, active: COMMIT", "session 3, idle in transaction"];
        let blocking = in_turn.map(|who| (who, 2.0));
        assert_eq!(
            blocking_sentence(&inside(&blocking)).as_deref(),
            Some("changing sessions, active: COMMIT")
        );
        assert_eq!(blocking_sentence(&inside(&blocking[1..])), None, "there is no majority");
        assert_eq!(blocking_sentence(&inside(&[])), None);
    }
}
