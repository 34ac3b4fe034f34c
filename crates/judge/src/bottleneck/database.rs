//! Waits of sessions inside a database, as the database reports them.

use std::collections::BTreeMap;

use stats::median;

use super::cause::{Bottleneck, Refutation, Scope, suspected};
use super::disks::NOTHING_WAITED;
use super::evidence::{Evidence, RunEvidence};
use super::words::percent;
use super::{Coverage, Rule, Rung, in_process};
use crate::causes::Resource;
use crate::inside::{BLOCKING_SEPARATOR, DatabaseStatistics, class_of};
use crate::signals::Signals;
use crate::words::decimal;

/// Min share of active sessions that wait for a resource.
const WAITING_MIN_SHARE: f64 = 0.3;
/// Min number of waiting sessions; fewer are noise.
const WAITING_SESSIONS_MIN: f64 = 0.5;
/// Min buffer hit ratio; below it, the buffers are too small.
const BUFFER_HIT_MIN_SHARE: f64 = 0.95;
/// Min number of blocks read per answer; fewer do not delay answers.
const READS_PER_ANSWER_MIN: f64 = 0.1;
/// Min block size of a database, in bytes.
const BLOCK_BYTES: f64 = 4096.0;
/// Min share of blocks read from a disk instead of the kernel's page cache.
const DISK_READS_MIN_SHARE: f64 = 0.1;
/// Max length of a statement excerpt in a sentence, in characters.
const STATEMENT_CHARS_MAX: usize = 80;

impl Resource {
    /// Locks of transactions, and locks inside the server.
    pub const DATABASE_LOCK: Self = Self::new("database_lock", "locks inside the database");
    /// The log of the database (WAL, redo).
    pub const DATABASE_LOG: Self = Self::new("database_log", "the log of the database (WAL, redo)").next(
        "commit less often or several changes at once, put the log on a faster disk, or, where the last transactions may be lost, do not \
         wait for it (synchronous_commit=off, innodb_flush_log_at_trx_commit=2)",
    );
    /// Reads that miss the buffers of the database.
    pub const DATABASE_CACHE: Self = Self::new("database_cache", "reads of the database that miss its buffers").next(
        "enlarge the buffers (shared_buffers, innodb_buffer_pool_size), or add an index so that fewer blocks are read",
    );
}

pub(super) const WAITS_INSIDE: Rule = Rule {
    finds: &[Resource::DATABASE_LOCK, Resource::DATABASE_LOG, Resource::DATABASE_CACHE],
    when: "30 % of the active sessions of the database waited for locks, for its log, or for reads of data files",
    why: "the database itself says so. Less than half a session is chance",
    refuted_by: &[],
    rung: Rung::Runtime,
    covers: Coverage::Any,
    find: waits_inside,
};

/// Maps a wait to its resource. `None` for a wait that is no bottleneck, such as a wait for the client. PostgreSQL 12
/// and earlier use other names for some light-weight locks.
fn kind(wait: &str) -> Option<Resource> {
    match wait {
        "LWLock:WALWrite"
        | "LWLock:WALWriteLock"
        | "LWLock:WALInsert"
        | "LWLock:wal_insert"
        | "LWLock:WALBufMapping"
        | "LWLock:WALBufMappingLock"
        | "IO:WALSync"
        | "IO:WALWrite"
        | "IO:WALInitSync"
        | "IO:WALInitWrite"
        | "IO:fsync" => Some(Resource::DATABASE_LOG),
        "IO:DataFileRead"
        | "IO:DataFilePrefetch"
        | "IPC:BufferIO"
        | "LWLock:BufferIO"
        | "LWLock:buffer_io" => Some(Resource::DATABASE_CACHE),
        wait => match class_of(wait) {
            "Lock" | "LWLock" => Some(Resource::DATABASE_LOCK),
            "Commit" => Some(Resource::DATABASE_LOG),
            _ => None,
        },
    }
}

/// Returns the share of active sessions that waited for a resource: the median over all runs. Medians of single waits
/// do not add up to a share.
fn share_of_sessions(evidence: &Evidence<'_>, resource: Resource) -> f64 {
    let of_run = |signals: &Signals| {
        let waits = signals.inside.as_ref()?.ranked().into_iter();
        Some(waits.filter(|(wait, _)| kind(wait) == Some(resource)).map(|(_, share)| share).sum())
    };
    evidence.signal(of_run).unwrap_or(0.0)
}

pub(super) fn waits_inside(evidence: &Evidence<'_>) -> Option<Bottleneck> {
    let active = evidence.signal(|signals| Some(signals.inside.as_ref()?.active))?;
    let waits = evidence.database_waits();
    let of = |resource: Resource| {
        let most = waits.iter().find(|(wait, _)| kind(wait) == Some(resource));
        (resource, share_of_sessions(evidence, resource), most)
    };
    let all = [Resource::DATABASE_LOCK, Resource::DATABASE_LOG, Resource::DATABASE_CACHE].map(of);
    let (resource, share, most) = all.into_iter().max_by(|one, other| one.1.total_cmp(&other.1))?;
    if share < WAITING_MIN_SHARE || share * active < WAITING_SESSIONS_MIN {
        return None;
    }
    let wait = &most?.0;
    let waiting = most_waiting_statement(evidence, resource);
    let of_statement =
        waiting.as_ref().map_or_else(String::new, |statement| format!(", mostly in {statement}"));
    let because = format!(
        "{} of the {} active sessions of the database waited for it ({wait}){of_statement}",
        percent(share),
        decimal(active, 1),
    );
    let counted = evidence.counted_lock_waits().filter(|_| resource == Resource::DATABASE_LOCK);
    let blocker = main_blocker(evidence).filter(|_| resource == Resource::DATABASE_LOCK);
    let cause = suspected(resource, Scope::DatabaseWait(wait.clone()), because)
        .direct(evidence.in_flight_share(share * active))
        .and(blocker.as_ref().map(|(state, statement)| {
            format!("sessions that blocked others were mostly {state} in {statement}")
        }))
        .and(counted);
    if evidence.is_in_process() {
        return Some(cause.next(in_process::wait_advice(resource)));
    }
    Some(if resource == Resource::DATABASE_LOCK { cause.next(lock_advice(wait, blocker)) } else { cause })
}

/// Returns advice to shorten the time for which the lock is held.
fn lock_advice(wait: &str, blocker: Option<(String, String)>) -> String {
    if class_of(wait) == "LWLock" {
        return format!(
            "use fewer connections at once, as with a pooler: {wait} is a lock inside the server, held only while it computes"
        );
    }
    match blocker {
        Some((state, statement)) if state.starts_with("idle") => format!(
            "end the transaction sooner: its locks are held while the client does something else after {statement}"
        ),
        Some((_, statement)) => format!(
            "shorten the transaction that holds the lock, which was mostly in {statement}, lock as late in it as possible, or spread \
             changes over more rows"
        ),
        None => "see which session blocks (pg_blocking_pids, or sys.innodb_lock_waits), then shorten its transaction, or spread \
                 changes over more rows"
            .to_owned(),
    }
}

/// Finds the statement in which most sessions waited for `resource`. Shared reports have no statements.
fn most_waiting_statement(evidence: &Evidence<'_>, resource: Resource) -> Option<String> {
    let of_run = |inside: &DatabaseStatistics| {
        let waits = inside.statements.iter().filter(|of| kind(&of.wait) == Some(resource));
        waits.map(|of| (of.statement.clone(), of.sessions)).collect()
    };
    largest(evidence, of_run).map(|statement| quoted(&statement))
}

/// Returns state and statement of the sessions that blocked most others.
fn main_blocker(evidence: &Evidence<'_>) -> Option<(String, String)> {
    let of_run = |inside: &DatabaseStatistics| {
        let blocking = inside.blocking.iter().filter_map(|(session, blocked)| {
            let (session, statement) = session.split_once(BLOCKING_SEPARATOR)?;
            let (_, state) = session.split_once(", ")?;
            // A session that waits in the same queue blocks those behind it, but does not hold the lock yet. An idle
            // session does not wait, even if others wait in its last statement.
            let is_waiting = !state.starts_with("idle")
                && inside
                    .statements
                    .iter()
                    .any(|of| of.statement == statement && kind(&of.wait) == Some(Resource::DATABASE_LOCK));
            (!is_waiting).then(|| (format!("{state}{BLOCKING_SEPARATOR}{statement}"), *blocked))
        });
        blocking.collect()
    };
    let most = largest(evidence, of_run)?;
    let (state, statement) = most.split_once(BLOCKING_SEPARATOR)?;
    Some((state.to_owned(), quoted(statement)))
}

/// Returns the text with the largest sum over all runs; `None` if there is none, or if it is empty.
pub(super) fn largest(
    evidence: &Evidence<'_>,
    of_run: impl Fn(&DatabaseStatistics) -> Vec<(String, f64)>,
) -> Option<String> {
    let mut sums: BTreeMap<String, f64> = BTreeMap::new();
    let insides = evidence.runs.iter().filter_map(|run| run.signals?.inside.as_ref());
    insides.flat_map(of_run).for_each(|(text, count)| *sums.entry(text).or_default() += count);
    let (text, _) = sums.into_iter().max_by(|(_, one), (_, other)| one.total_cmp(other))?;
    (!text.is_empty()).then_some(text)
}

pub(super) fn quoted(statement: &str) -> String {
    let mut short: String = statement.chars().take(STATEMENT_CHARS_MAX).collect();
    if short.len() < statement.len() {
        short.push('…');
    }
    format!("`{short}`")
}

/// Reads served by the kernel's page cache cost little.
const READ_FROM_MEMORY: Refutation = Refutation {
    when: "the system read less from disks than a tenth of these blocks hold",
    is_read: |evidence| {
        let blocks = evidence.signal(|signals| signals.inside.as_ref()?.rate("blocks_read"));
        let read = evidence.disk_bytes_per_s().map(|[read, _]| read);
        read.zip(blocks).is_some_and(|(read, blocks)| read < DISK_READS_MIN_SHARE * blocks * BLOCK_BYTES)
    },
};

fn reads_per_answer(evidence: &Evidence<'_>) -> Option<f64> {
    let of_run = |run: &RunEvidence<'_>| {
        let reads_per_s = run.signals?.inside.as_ref()?.rate("blocks_read")?;
        Some(reads_per_s / run.measured.window?.ended_per_s()).filter(|reads| reads.is_finite())
    };
    median(evidence.runs.iter().filter_map(of_run))
}

pub(super) const BUFFERS_TOO_SMALL: Rule = Rule {
    finds: &[Resource::DATABASE_CACHE],
    when: "less than 95 % of the blocks that statements asked for were in the buffers of the database, a block was read for every tenth \
           answer, and something waited for disks 20 % of the time",
    why: "a server that does not report what its sessions wait for still counts what it reads",
    refuted_by: &[NOTHING_WAITED, READ_FROM_MEMORY],
    rung: Rung::Runtime,
    covers: Coverage::Runs,
    find: buffer_misses,
};

fn buffer_misses(evidence: &Evidence<'_>) -> Option<Bottleneck> {
    let inside = |figure: fn(&DatabaseStatistics) -> Option<f64>| {
        evidence.signal(|signals| figure(signals.inside.as_ref()?))
    };
    let hits = inside(DatabaseStatistics::hits).filter(|hits| *hits < BUFFER_HIT_MIN_SHARE)?;
    let per_answer = reads_per_answer(evidence)?;
    let waited = evidence.disk_pressure();
    let share = evidence.disk_sleep_share().max(waited.map_or(0.0, |waited| waited.share));
    if per_answer < READS_PER_ANSWER_MIN || share < 0.2 {
        return None;
    }
    let because = format!(
        "{} of the blocks that statements asked for were in its buffers: {} were read for each answer",
        percent(hits),
        decimal(per_answer, 2)
    );
    let waited = waited.map(|waited| format!("{} of the time", waited.words("disks")));
    let cause = suspected(Resource::DATABASE_CACHE, Scope::System, because);
    Some(cause.direct(Some(share)).without_share().and(waited))
}

#[cfg(test)]
mod tests {
    use super::super::planted::Planted;
    use super::*;

    #[test]
    fn names_of_earlier_versions_mean_the_same_resource() {
        for (earlier, now) in [
            ("LWLock:WALWriteLock", "LWLock:WALWrite"),
            ("LWLock:wal_insert", "LWLock:WALInsert"),
            ("LWLock:WALBufMappingLock", "LWLock:WALBufMapping"),
            ("LWLock:buffer_io", "LWLock:BufferIO"),
        ] {
            assert!(kind(now).is_some_and(|resource| resource != Resource::DATABASE_LOCK), "{now}");
            assert_eq!(kind(earlier), kind(now), "{earlier}");
        }
    }

    #[test]
    fn sessions_that_wait_are_a_share_of_all_although_runs_differ() {
        let runs = [["Lock:a", "Lock:b"], ["Lock:a", "Lock:c"], ["Lock:b", "Lock:c"]].map(|waits| {
            let mut planted = Planted::closed(16, 200.0, 20.0);
            let waits = waits.map(|wait| (wait.to_owned(), 2.0)).into();
            planted.signals.inside =
                Some(DatabaseStatistics { active: 4.0, waits, ..DatabaseStatistics::default() });
            planted
        });
        let evidence = Evidence {
            runs: runs.iter().map(Planted::evidence).collect(),
            together: runs[0].together.clone(),
            has_failed: false,
        };
        assert_eq!(share_of_sessions(&evidence, Resource::DATABASE_LOCK), 1.0);
        let because = waits_inside(&evidence).expect("a lock").because;
        assert!(because.starts_with("100 % of the 4.0 active sessions"), "{because}");
    }
}
