//! Checks the rows that a load wrote: their total number on all servers, and duplicate keys.
//!
//! [`WrittenRows::begin`] counts the rows before the load, and [`WrittenRows::end`] counts them after it and reads all keys, in pages of
//! one statement each. Both store readings, which `judge::Written` compares with the outcomes of the requests.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use evidence::Reading;
use judge::{WRITTEN_AFTER, WRITTEN_BEFORE, WRITTEN_DOUBLED, WRITTEN_SUBJECT, WRITTEN_UNCHECKED};
use loading::HeldSession;
use plan::Written;
use progress::Readings;
use store::StoreError;

use crate::feed::Feed;
use crate::load_data;
use crate::time_limit::TimeLimit;

/// Time limit for all statements before, and for all after a load.
const WITHIN: Duration = Duration::from_secs(120);
/// Max keys per statement, so that an answer stays well below 1 MiB.
const PAGE_ROWS: usize = 2_000;
/// Max keys that are compared, which limits the memory to 160 MB.
const KEYS_MAX: usize = 10_000_000;

/// Rows on each server before a load.
#[derive(Debug)]
pub(crate) struct WrittenRows {
    before: Vec<u64>,
}

/// Rows on each server after a load.
struct After {
    rows: Vec<u64>,
    /// Number of keys that more than one row has, on one server or on several.
    doubled: u64,
}

impl WrittenRows {
    /// Counts the rows on each server.
    ///
    /// # Errors
    ///
    /// Returns the reason as text.
    pub(crate) fn begin(written: &Written) -> Result<Self, String> {
        let is_canceled = Arc::new(AtomicBool::new(false));
        let _limit = TimeLimit::start("written", WITHIN, Arc::clone(&is_canceled));
        let counts = written.databases.iter().map(|database| {
            let mut session = open(database, &is_canceled)?;
            count(&mut session, written)
        });
        Ok(Self { before: counts.collect::<Result<_, String>>()? })
    }

    /// Counts and compares the rows on each server, and stores the readings. Returns a note if that is not possible.
    pub(crate) fn end(self, written: &Written, feed: Feed<'_>) -> Result<Option<String>, StoreError> {
        let reading = |metric: &str, label: String, rows: u64| Reading {
            subject: WRITTEN_SUBJECT.to_owned(),
            metric: metric.to_owned(),
            label,
            value: rows as f64,
        };
        let after = match after(written) {
            Ok(after) => after,
            Err(why) => {
                let readings = vec![reading(WRITTEN_UNCHECKED, String::new(), 1)];
                feed.readings(Readings { at_ns: 0, second: 0, readings })?;
                // A note must be one line, but help is on a separate line of an error.
                let why = why.replace("\n  help: ", "; ");
                return Ok(Some(format!("the rows of {} were not checked: {why}", written.table)));
            }
        };
        let mut readings = vec![reading(WRITTEN_DOUBLED, written.step.to_string(), after.doubled)];
        for (number, (before, after)) in self.before.iter().zip(&after.rows).enumerate() {
            readings.push(reading(WRITTEN_BEFORE, number.to_string(), *before));
            readings.push(reading(WRITTEN_AFTER, number.to_string(), *after));
        }
        feed.readings(Readings { at_ns: 0, second: 0, readings })?;
        Ok(None)
    }
}

fn open(database: &plan::Database, is_canceled: &Arc<AtomicBool>) -> Result<HeldSession, String> {
    let place = load_data::place(database).map_err(|refusal| refusal.to_string())?;
    HeldSession::open(&place, Arc::clone(is_canceled)).map_err(|error| error.to_string())
}

fn count(session: &mut HeldSession, written: &Written) -> Result<u64, String> {
    let answer = session.ask(&format!("SELECT count(*) FROM {}", written.table));
    let answer = answer.map_err(|error| error.to_string())?;
    let first = answer.first().and_then(|row| row.first()?.as_deref()?.parse().ok());
    first.ok_or_else(|| format!("the number of rows of {} is no number", written.table))
}

fn after(written: &Written) -> Result<After, String> {
    let is_canceled = Arc::new(AtomicBool::new(false));
    let _limit = TimeLimit::start("written", WITHIN, Arc::clone(&is_canceled));
    let (mut rows, mut keys, mut doubled) = (Vec::new(), Vec::new(), 0);
    let begun = Instant::now();
    for database in &written.databases {
        let mut session = open(database, &is_canceled)?;
        rows.push(count(&mut session, written)?);
        doubled += read_keys(&mut session, written, &mut keys)
            .map_err(|why| if begun.elapsed() >= WITHIN { time_limit_error() } else { why })?;
        if is_canceled.load(Ordering::Relaxed) {
            return Err(time_limit_error());
        }
    }
    keys.sort_unstable();
    doubled += keys.chunk_by(|one, next| one == next).filter(|same| same.len() > 1).count() as u64;
    Ok(After { rows, doubled })
}

fn time_limit_error() -> String {
    format!("reading them took longer than {} s", WITHIN.as_secs())
}

/// Adds the fingerprint of each key of a server to `keys`. Returns the number of keys that the server has more than once.
fn read_keys(session: &mut HeldSession, written: &Written, keys: &mut Vec<u128>) -> Result<u64, String> {
    let Written { table, key, .. } = written;
    let (mut last, mut doubled): (Option<String>, u64) = (None, 0);
    loop {
        let from = match &last {
            None => format!("{key} IS NOT NULL"),
            Some(last) => format!("{key} > {}", quoted(last)?),
        };
        let query = format!(
            "SELECT {key}, count(*) FROM {table} WHERE {from} GROUP BY {key} ORDER BY {key} LIMIT {PAGE_ROWS}"
        );
        let page = session.ask(&query).map_err(|error| error.to_string())?;
        for row in &page {
            let Some(Some(text)) = row.first() else { continue };
            keys.push(fingerprint(text));
            doubled += u64::from(row.get(1).and_then(Option::as_deref) != Some("1"));
        }
        if keys.len() > KEYS_MAX {
            return Err(format!("there are more than {KEYS_MAX} keys"));
        }
        match page.last().and_then(|row| row.first()?.clone()) {
            // A page that does not move forward would repeat for ever.
            Some(next) if page.len() >= PAGE_ROWS && last.as_deref() != Some(&next) => last = Some(next),
            _ => return Ok(doubled),
        }
    }
}

/// Two hashes of 64 bits: among ten million keys, two have equal ones with a probability below 10⁻²⁴.
fn fingerprint(text: &str) -> u128 {
    let half = |salt: u64| {
        let mut hasher = DefaultHasher::new();
        (salt, text).hash(&mut hasher);
        hasher.finish()
    };
    u128::from(half(1)) << 64 | u128::from(half(2))
}

/// A key as a literal of SQL.
fn quoted(text: &str) -> Result<String, String> {
    // MySQL treats a backslash in a literal as an escape, and PostgreSQL does not.
    if text.contains(['\\', '\0']) {
        return Err("a key has a backslash or a null character".to_owned());
    }
    Ok(format!("'{}'", text.replace('\'', "''")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_quoted_and_those_that_databases_read_differently_are_rejected() {
        assert_eq!(quoted("o'neil@x").as_deref(), Ok("'o''neil@x'"));
        assert!(quoted("a\\'; DROP TABLE users; --").is_err() && quoted("a\0").is_err());
    }

    #[test]
    fn fingerprints_of_different_keys_differ() {
        assert_eq!(fingerprint("a"), fingerprint("a"));
        assert_ne!(fingerprint("a"), fingerprint("b"));
        assert_ne!(fingerprint("a") as u64, (fingerprint("a") >> 64) as u64, "the halves are independent");
    }
}
