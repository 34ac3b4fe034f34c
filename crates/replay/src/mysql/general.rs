//! General log: commands in order of arrival, without durations and results.
//!
//! A line is `TIME<tab>ID COMMAND<tab>ARGUMENT`. MariaDB, and MySQL up to 5.6, omit the time if it is in the second of the previous line.
//! An argument of several lines continues without a mark.

use std::collections::HashMap;
use std::sync::Arc;

use crate::entry::{Action, Entry, LoggedResult};
use crate::formats::{Format, count_records};
use crate::instant;
use crate::lines;
use crate::output::{Output, Reader};
use crate::skipped::Reason;

/// Entry in [`crate::FORMATS`].
pub(crate) const FORMAT: Format = Format {
    name: "mysql-general",
    sentence: "MySQL and MariaDB, general log",
    traffic: &super::TRAFFIC,
    count: |sample| count_records(sample, is_record),
    open: |_, _| Ok(Box::new(General::default())),
};

/// Commands of the protocol, as the server names them.
const COMMANDS: [&str; 34] = [
    "Quit",
    "Init DB",
    "Query",
    "Field List",
    "Create DB",
    "Drop DB",
    "Refresh",
    "Shutdown",
    "Statistics",
    "Processlist",
    "Connect",
    "Kill",
    "Debug",
    "Ping",
    "Time",
    "Delayed insert",
    "Change user",
    "Binlog Dump",
    "Table Dump",
    "Connect Out",
    "Register Slave",
    "Register Replica",
    "Prepare",
    "Execute",
    "Long Data",
    "Close stmt",
    "Reset stmt",
    "Set option",
    "Fetch",
    "Daemon",
    "Binlog Dump GTID",
    "Reset Connection",
    "clone",
    "Error",
];

/// Max number of sessions in memory.
const SESSIONS_MAX: usize = 100_000;

/// Reader of the format.
#[derive(Debug, Default)]
pub(crate) struct General {
    sessions: HashMap<u64, Session>,
    next: u32,
    at_ns: Option<u64>,
    command: Option<Command>,
}

#[derive(Clone, Debug)]
struct Session {
    number: u32,
    user: Arc<str>,
    database: Arc<str>,
}

#[derive(Debug)]
struct Command {
    id: u64,
    at_ns: Option<u64>,
    name: &'static str,
    argument: Vec<u8>,
}

impl Reader for General {
    fn line(&mut self, line: &[u8], out: &mut Output) {
        if let Some((time, id, name, argument)) = parse(line) {
            self.finish(out);
            self.at_ns = time.or(self.at_ns);
            self.command = Some(Command { id, at_ns: self.at_ns, name, argument: argument.to_vec() });
            return;
        }
        match &mut self.command {
            _ if super::is_banner(line) => {
                self.finish(out);
                out.skip(Reason::NoStatement);
            }
            Some(command) if command.argument.len() + line.len() <= lines::BYTES_MAX => {
                command.argument.push(b'\n');
                command.argument.extend_from_slice(line);
            }
            Some(_) => {
                self.command = None;
                out.skip(Reason::TooLong);
            }
            None => out.skip(Reason::Unparsable),
        }
    }

    fn end(&mut self, out: &mut Output) {
        self.finish(out);
    }
}

impl General {
    fn finish(&mut self, out: &mut Output) {
        let Some(Command { id, at_ns, name, argument }) = self.command.take() else { return };
        match name {
            "Connect" | "Change user" => {
                out.skip(Reason::NoStatement);
                if name == "Connect" {
                    self.sessions.remove(&id);
                }
                let words = String::from_utf8_lossy(&argument).into_owned();
                if !words.starts_with("Access denied") {
                    self.log_in(id, &words);
                }
            }
            "Init DB" => {
                let database = String::from_utf8_lossy(&argument).into_owned();
                let text = format!("use `{}`", database.replace('`', "``"));
                self.session(id).database = database.into();
                self.push(id, at_ns, super::check_statement(text.as_bytes()), out);
            }
            "Query" | "Execute" => self.push(id, at_ns, super::check_statement(&argument), out),
            "Quit" => {
                self.sessions.remove(&id);
                out.skip(Reason::NoStatement);
            }
            "Prepare" | "Close stmt" | "Reset stmt" => out.skip(Reason::PartOfExecution),
            _ => out.skip(Reason::Command),
        }
    }

    /// Reads `user@host on database using TCP/IP`.
    fn log_in(&mut self, id: u64, words: &str) {
        let user: Arc<str> = words.split('@').next().unwrap_or_default().into();
        let database =
            words.split_once(" on ").map_or("", |(_, rest)| rest.split(" using ").next().unwrap_or_default());
        let session = self.session(id);
        (session.user, session.database) = (user, database.trim().into());
    }

    fn session(&mut self, id: u64) -> &mut Session {
        if self.sessions.len() >= SESSIONS_MAX && !self.sessions.contains_key(&id) {
            self.sessions.clear();
        }
        let next = &mut self.next;
        self.sessions.entry(id).or_insert_with(|| {
            *next += 1;
            Session { number: *next - 1, user: "".into(), database: "".into() }
        })
    }

    fn push(
        &mut self,
        id: u64,
        at_ns: Option<u64>,
        action: Result<(Action, String), Reason>,
        out: &mut Output,
    ) {
        let Some(at_ns) = at_ns else { return out.skip(Reason::NoTime) };
        match action {
            Ok((action, fingerprint)) => {
                let Session { number, user, database } = self.session(id).clone();
                let (session, result) = (Some(number), LoggedResult::Unknown);
                out.push(Entry {
                    session,
                    at_ns,
                    user,
                    database,
                    action,
                    fingerprint,
                    duration_ns: None,
                    result,
                    rows: None,
                });
            }
            Err(reason) => out.skip(reason),
        }
    }
}

/// Whether a line starts a command, with its time.
fn is_record(line: &[u8]) -> bool {
    parse(line).is_some_and(|(time, ..)| time.is_some())
}

/// Parses the first line of a command: its time if it has one, ID, name, and argument.
fn parse(line: &[u8]) -> Option<(Option<u64>, u64, &'static str, &[u8])> {
    let tab = memchr::memchr(b'\t', line)?;
    let (time, mut rest) = (&line[..tab], &line[tab..]);
    let time = match time {
        b"" => None,
        time => Some(instant::iso(time).map(|(ns, _)| ns).or_else(|| instant::mysql_short(time))?),
    };
    while let Some(further) = rest.strip_prefix(b"\t") {
        rest = further;
    }
    let rest = rest.trim_ascii_start();
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let id = u64::try_from(instant::number(&rest[..digits])?).ok()?;
    let rest = rest[digits..].strip_prefix(b" ")?;
    let end = memchr::memchr(b'\t', rest).unwrap_or(rest.len());
    let name = COMMANDS.iter().find(|name| name.as_bytes() == rest[..end].trim_ascii())?;
    Some((time, id, name, rest.get(end + 1..).unwrap_or_default()))
}
