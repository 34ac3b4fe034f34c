//! Output of MONITOR: `SECONDS [DATABASE CLIENT] "COMMAND" "ARGUMENT" …`, with words quoted as redis-cli quotes them.
//!
//! A client is identified by its address, so a connection that reuses the port of an earlier one continues its session. Commands that
//! scripts call have the client `lua`: they are part of the preceding EVAL. The output has neither replies nor durations.

use std::collections::HashMap;
use std::sync::Arc;

use wire::redis::recorded_words;

use crate::entry::{Action, Entry, LoggedResult};
use crate::formats::{Format, count_records};
use crate::instant;
use crate::output::{Output, Reader};
use crate::skipped::Reason;

/// Entry in [`crate::FORMATS`].
pub(crate) const FORMAT: Format = Format {
    name: "monitor",
    sentence: "Redis, output of MONITOR",
    traffic: &super::TRAFFIC,
    count: |sample| count_records(sample, is_record),
    open: |_, _| Ok(Box::new(Monitor::default())),
};

/// Max number of sessions in memory.
const SESSIONS_MAX: usize = 100_000;
/// Client of the commands that scripts call.
const SCRIPT: &str = "lua";
/// Log-in commands, and commands after which commands and replies no longer correspond one to one.
const SKIPPED: [&str; 15] = [
    "auth",
    "hello",
    "select",
    "quit",
    "reset",
    "client",
    "monitor",
    "subscribe",
    "psubscribe",
    "ssubscribe",
    "unsubscribe",
    "punsubscribe",
    "sunsubscribe",
    "sync",
    "psync",
];
/// Number of arguments that a fingerprint shows.
const ARGUMENTS_MAX: usize = 4;

/// Reader of the format.
#[derive(Debug, Default)]
pub(crate) struct Monitor {
    /// Numbers of the sessions by client.
    sessions: HashMap<Arc<str>, u32>,
    next: u32,
}

/// A line of the output.
struct Line<'a> {
    at_ns: u64,
    database: &'a str,
    client: &'a str,
    /// Words with their quotes.
    command: &'a str,
}

impl Reader for Monitor {
    fn line(&mut self, line: &[u8], out: &mut Output) {
        // MONITOR is answered with OK, which redis-cli prints.
        if line == b"OK" || line.is_empty() {
            return out.skip(Reason::NoStatement);
        }
        let Some(line) = parse(line) else { return out.skip(Reason::Unparsable) };
        if line.client == SCRIPT {
            return out.skip(Reason::PartOfScript);
        }
        let Some(words) = recorded_words(line.command.as_bytes()) else {
            return out.skip(Reason::Unparsable);
        };
        let name = String::from_utf8_lossy(&words[0]).to_lowercase();
        if SKIPPED.contains(&name.as_str()) {
            return out.skip(Reason::Command);
        }
        let database = line.database.into();
        out.push(Entry {
            session: Some(self.session(line.client)),
            at_ns: line.at_ns,
            user: "".into(),
            database,
            action: Action::Command(line.command.to_owned()),
            fingerprint: fingerprint(&name, words.len() - 1),
            duration_ns: None,
            result: LoggedResult::Unknown,
            rows: None,
        });
    }

    fn end(&mut self, _out: &mut Output) {}
}

impl Monitor {
    fn session(&mut self, client: &str) -> u32 {
        if let Some(number) = self.sessions.get(client) {
            return *number;
        }
        if self.sessions.len() >= SESSIONS_MAX {
            self.sessions.clear();
        }
        self.next += 1;
        self.sessions.insert(client.into(), self.next - 1);
        self.next - 1
    }
}

/// Name of a command, with its arguments masked.
fn fingerprint(name: &str, arguments: usize) -> String {
    let shown = " ?".repeat(arguments.min(ARGUMENTS_MAX));
    format!("{name}{shown}{}", if arguments > ARGUMENTS_MAX { " …" } else { "" })
}

/// Whether a line is a command.
fn is_record(line: &[u8]) -> bool {
    parse(line).is_some()
}

/// Returns the words of a line's command. `None` for other lines, and for commands that a script called.
pub fn monitored_words(line: &[u8]) -> Option<Vec<Vec<u8>>> {
    let line = parse(line).filter(|line| line.client != SCRIPT)?;
    recorded_words(line.command.as_bytes())
}

fn parse(line: &[u8]) -> Option<Line<'_>> {
    let line = str::from_utf8(line).ok()?;
    let (time, rest) = line.split_once(" [")?;
    let (database, rest) = rest.split_once(' ')?;
    let (client, command) = rest.split_once("] ")?;
    let is_number = !database.is_empty() && database.bytes().all(|byte| byte.is_ascii_digit());
    let is_command = is_number && database.len() <= 9 && command.starts_with('"');
    is_command.then_some(Line { at_ns: instant::epoch(time.as_bytes())?, database, client, command })
}
