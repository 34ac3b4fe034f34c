//! Slow commands of Redis, from its slow log, which has the latest commands above `slowlog-log-slower-than` (10 ms by default).
//!
//! The reply is a list of entries: number, time, microseconds, the words of the command, client, and name of the client. It arrives
//! without nesting, so entries are recognized by their numbers, which fall by one.

use std::collections::BTreeMap;

use crate::database_watch::Counter;

/// Query for the newest 64 entries.
pub(super) const QUESTION: &str = "SLOWLOG GET 64";
/// Items of an entry without the words of its command.
const FIXED_ITEMS: usize = 5;
/// Max number of commands that are counted separately, and max number of keys counted per command.
const NAMES_MAX: usize = 32;
const KEYS_MAX: usize = 64;

/// Sums over all entries that were read.
#[derive(Debug, Default)]
pub(super) struct SlowLog {
    /// Number of the next entry. `None` before the first reply.
    next: Option<u64>,
    commands: BTreeMap<String, SlowCommand>,
}

#[derive(Debug, Default)]
struct SlowCommand {
    calls: f64,
    time_s: f64,
    /// Calls by first argument.
    keys: BTreeMap<String, f64>,
}

/// An entry of the reply.
#[derive(Debug, PartialEq)]
struct Entry<'a> {
    number: u64,
    time_s: f64,
    words: &'a [String],
}

impl SlowLog {
    /// Adds the entries of a reply that are new. The first reply only shows which entries came before.
    pub(super) fn add(&mut self, items: &[String]) {
        let entries = entries(items);
        let newest = entries.first().map_or(0, |entry| entry.number.saturating_add(1));
        // A lower number means that the server was restarted.
        let next = self.next.replace(newest).filter(|next| *next <= newest);
        let Some(next) = next else { return };
        for entry in entries.iter().filter(|entry| entry.number >= next) {
            let name = entry.words.first().map_or(String::new(), |name| name.to_uppercase());
            let is_known = self.commands.contains_key(&name);
            let is_name =
                !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
            if !is_name || (!is_known && self.commands.len() >= NAMES_MAX) {
                continue;
            }
            let command = self.commands.entry(name).or_default();
            command.calls += 1.0;
            command.time_s += entry.time_s;
            let key = entry.words.get(1).cloned().unwrap_or_default();
            if command.keys.contains_key(&key) || command.keys.len() < KEYS_MAX {
                *command.keys.entry(key).or_default() += 1.0;
            }
        }
    }

    /// Counters by command: slow calls, their total seconds, and the seconds on the key with the most.
    pub(super) fn counters(&self) -> impl Iterator<Item = Counter> {
        self.commands.iter().flat_map(|(name, command)| {
            let on_one_key = command.keys.values().copied().fold(0.0, f64::max);
            let values = [
                ("db_slow_calls", command.calls),
                ("db_slow_s", command.time_s),
                ("db_slow_one_key_calls", on_one_key),
            ];
            values.map(|(metric, value)| Counter { metric, label: name.clone(), value, grows: true })
        })
    }
}

/// Entries of a reply, newest first.
fn entries(items: &[String]) -> Vec<Entry<'_>> {
    let (mut entries, mut rest) = (Vec::new(), items);
    while let Some((number, time_s)) = head(rest) {
        // A command has at least one word.
        let is_next =
            |at: &usize| head(&rest[*at..]).is_some_and(|(next, _)| Some(next) == number.checked_sub(1));
        let end = (FIXED_ITEMS + 1..rest.len()).find(is_next).unwrap_or(rest.len());
        let words = rest.get(3..end.saturating_sub(2)).unwrap_or_default();
        entries.push(Entry { number, time_s, words });
        rest = &rest[end..];
    }
    entries
}

/// Number and seconds of the entry that begins with these items. `None` if none does.
fn head(items: &[String]) -> Option<(u64, f64)> {
    let [number, at, micros, ..] = items else { return None };
    at.parse::<u64>().ok()?;
    Some((number.parse().ok()?, micros.parse::<u32>().ok()? as f64 * 1e-6))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn items(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn entries_are_separated_by_their_numbers() {
        // The arguments of the first command look like an entry of another number.
        let items = items(
            "7 1767323045 20000 HGETALL 3 1767323000 5 127.0.0.1:5000 - 6 1767323044 15000 KEYS * 127.0.0.1:5000 -",
        );
        let found = entries(&items);
        assert_eq!(found.len(), 2);
        assert_eq!((found[0].number, found[0].words.len(), found[1].number), (7, 4, 6));
        assert_eq!((found[1].time_s, found[1].words), (0.015, &self::items("KEYS *")[..]));
    }

    #[test]
    fn only_entries_after_the_first_reply_count() {
        let mut log = SlowLog::default();
        log.add(&items("1 1767323045 20000 KEYS * 127.0.0.1:5000 -"));
        assert_eq!(log.counters().count(), 0);
        let two = "3 1767323046 10000 get a 127.0.0.1:5000 - 2 1767323046 30000 GET b 127.0.0.1:5000 - 1 1767323045 20000 KEYS * c -";
        log.add(&items(two));
        log.add(&items(two));
        let read: Vec<(&str, String, f64)> =
            log.counters().map(|counter| (counter.metric, counter.label, counter.value)).collect();
        let expected = [("db_slow_calls", 2.0), ("db_slow_s", 0.04), ("db_slow_one_key_calls", 1.0)];
        assert_eq!(read, expected.map(|(metric, value)| (metric, "GET".to_owned(), value)));
    }

    #[test]
    fn strange_replies_are_no_entries() {
        for text in ["", "x", "1 2", "1 2 x", "18446744073709551615 1 1", "0 1 1 GET", "1 1 1 0 1 1"] {
            let mut log = SlowLog::default();
            log.add(&[]);
            log.add(&items(text));
            assert!(log.counters().all(|counter| counter.value.is_finite()), "{text}");
        }
    }
}
