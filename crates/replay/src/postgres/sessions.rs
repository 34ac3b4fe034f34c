//! Assembles statements from the messages of each session.
//!
//! A statement is open from its first message until the log reports its end: by its duration, its error, or the next message of its
//! session. A message with a duration and a text is a complete statement.

use std::collections::HashMap;
use std::sync::Arc;

use sql::Engine;

use super::message::Message;
use super::parameters;
use crate::entry::{Action, Entry, LoggedResult};
use crate::fingerprint::scan;
use crate::instant;
use crate::output::Output;
use crate::skipped::Reason;

/// Max number of sessions in memory. Without a limit, sessions with no end in the log would stay until the end of the log.
const SESSIONS_MAX: usize = 100_000;

/// Sessions that are not over.
#[derive(Debug, Default)]
pub(crate) struct Sessions {
    by_key: HashMap<String, Session>,
    next: u32,
    /// Names of users and databases, each stored once.
    names: HashMap<String, Arc<str>>,
}

#[derive(Debug)]
struct Session {
    number: u32,
    user: Arc<str>,
    database: Arc<str>,
    open: Option<Entry>,
}

impl Sessions {
    /// Takes the next message of the log.
    pub(crate) fn take(&mut self, message: &Message, out: &mut Output) {
        if message.severity == "LOG" {
            self.take_log(message, out);
        } else if message.is_error() && !message.statement.is_empty() {
            self.take_error(message, out);
        } else {
            out.skip(Reason::NoStatement);
        }
    }

    /// Passes on the open statements at the end of the log. Their results are unknown.
    pub(crate) fn end(&mut self, out: &mut Output) {
        let mut open: Vec<Session> = self.by_key.drain().map(|(_, session)| session).collect();
        open.sort_by_key(|session| session.number);
        open.into_iter().filter_map(|session| session.open).for_each(|entry| out.push(entry));
    }

    fn take_log(&mut self, message: &Message, out: &mut Output) {
        let text = message.text.as_str();
        if let Some((duration_ns, rest)) = parse_duration(text) {
            return match rest {
                "" => self.take_duration(message, duration_ns, out),
                rest if is_part(rest, "parse ") || is_part(rest, "bind ") => {
                    out.skip(Reason::PartOfExecution)
                }
                rest => self.take_statement(message, rest, Some(duration_ns), out),
            };
        }
        let begins = |words: &[&str]| words.iter().any(|word| text.starts_with(word));
        if begins(&["statement: ", "execute ", "fastpath function call: "]) {
            return self.take_statement(message, text, None, out);
        }
        if begins(&["connection received:", "connection authorized:", "disconnection:"]) {
            // If process IDs are the only identity, a message about a new connection separates two sessions of one ID.
            let may_be_new = message.is_by_pid && begins(&["connection received:"]);
            if (may_be_new || begins(&["disconnection:"]))
                && let Some(Session { open: Some(entry), .. }) = self.by_key.remove(&message.session)
            {
                out.push(Entry { result: LoggedResult::Ok, ..entry });
            }
        }
        out.skip(Reason::NoStatement);
    }

    fn take_duration(&mut self, message: &Message, duration_ns: u64, out: &mut Output) {
        match self.by_key.get_mut(&message.session).and_then(|session| session.open.take()) {
            Some(entry) => {
                out.push(Entry { duration_ns: Some(duration_ns), result: LoggedResult::Ok, ..entry });
            }
            None => out.skip(Reason::DurationOnly),
        }
    }

    /// Takes `statement: SQL` or `execute NAME: SQL`.
    fn take_statement(&mut self, message: &Message, text: &str, duration_ns: Option<u64>, out: &mut Output) {
        let Some(at_ns) = message.at_ns else { return out.skip(Reason::NoTime) };
        if message.session.is_empty() {
            return out.skip(Reason::NoSession);
        }
        // The previous statement has ended. If it had failed, its error would have been logged.
        self.close_statement(message, LoggedResult::Ok, out);
        let (action, fingerprint) = match action(text, message) {
            Ok(action) => action,
            Err(reason) => return out.skip(reason),
        };
        let session = self.session(message);
        let entry = Entry {
            session: Some(session.number),
            at_ns: at_ns.saturating_sub(duration_ns.unwrap_or(0)),
            user: Arc::clone(&session.user),
            database: Arc::clone(&session.database),
            action,
            fingerprint,
            duration_ns,
            result: if duration_ns.is_some() { LoggedResult::Ok } else { LoggedResult::Unknown },
            rows: None,
        };
        match duration_ns {
            Some(_) => out.push(entry),
            None => session.open = Some(entry),
        }
    }

    /// Takes an error with its statement, which is the open one, or else was not logged before.
    fn take_error(&mut self, message: &Message, out: &mut Output) {
        let result = LoggedResult::error(message.code.as_bytes());
        let open = self.by_key.get(&message.session).and_then(|session| session.open.as_ref());
        if open.is_some_and(|entry| entry.action.text() == message.statement) {
            return self.close_statement(message, result, out);
        }
        let Some(at_ns) = message.at_ns else { return out.skip(Reason::NoTime) };
        if message.session.is_empty() {
            return out.skip(Reason::NoSession);
        }
        self.close_statement(message, LoggedResult::Ok, out);
        match check_statement(message.statement.clone(), values_on_error(&message.context), false) {
            Ok((action, fingerprint)) => {
                let session = self.session(message);
                let (user, database) = (Arc::clone(&session.user), Arc::clone(&session.database));
                let session = Some(session.number);
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

    /// Passes on the open statement of a session, if there is one.
    fn close_statement(&mut self, message: &Message, result: LoggedResult, out: &mut Output) {
        if let Some(entry) = self.by_key.get_mut(&message.session).and_then(|session| session.open.take()) {
            out.push(Entry { result, ..entry });
        }
    }

    fn session(&mut self, message: &Message) -> &mut Session {
        if self.by_key.len() >= SESSIONS_MAX && !self.by_key.contains_key(&message.session) {
            self.by_key.retain(|_, session| session.open.is_some());
        }
        let (user, database) = (self.name(&message.user), self.name(&message.database));
        let next = &mut self.next;
        let session = self.by_key.entry(message.session.clone()).or_insert_with(|| {
            *next += 1;
            Session { number: *next - 1, user: user.clone(), database: database.clone(), open: None }
        });
        // The first messages of a session do not have them yet.
        (session.user, session.database) = (user, database);
        session
    }

    fn name(&mut self, name: &str) -> Arc<str> {
        if let Some(known) = self.names.get(name) {
            return Arc::clone(known);
        }
        if self.names.len() >= SESSIONS_MAX {
            self.names.clear();
        }
        let shared: Arc<str> = name.into();
        self.names.insert(name.to_owned(), Arc::clone(&shared));
        shared
    }
}

/// Duration at the beginning of a text, in nanoseconds, and the text after it.
fn parse_duration(text: &str) -> Option<(u64, &str)> {
    let (number, rest) = text.strip_prefix("duration: ")?.split_once(" ms")?;
    Some((instant::milliseconds(number.as_bytes())?, rest.trim_start()))
}

/// Whether a text is `WORD NAME: SQL`.
fn is_part(text: &str, word: &str) -> bool {
    text.strip_prefix(word).is_some_and(|rest| rest.contains(": "))
}

fn action(text: &str, message: &Message) -> Result<(Action, String), Reason> {
    if let Some(text) = text.strip_prefix("statement: ") {
        return check_statement(text.to_owned(), None, false);
    }
    if text.starts_with("fastpath function call: ") {
        return Err(Reason::Fastpath);
    }
    let Some(rest) = text.strip_prefix("execute ") else { return Err(Reason::NoStatement) };
    if rest.starts_with("fetch from ") {
        return Err(Reason::Fetch);
    }
    let (name, text) = rest.split_once(": ").ok_or(Reason::Cut)?;
    let values = match message.detail.split_once("arameters: ") {
        Some((_, list)) => parameters::read(list).ok_or(Reason::Cut)?,
        None => Vec::new(),
    };
    check_statement(text.to_owned(), Some(values), !name.starts_with("<unnamed>"))
}

/// Values of `unnamed portal with parameters: …` in the context of an error.
fn values_on_error(context: &str) -> Option<Vec<Option<String>>> {
    parameters::read(context.split_once("portal with parameters: ")?.1.lines().next()?)
}

/// Action for a statement that can be replayed, and its fingerprint.
fn check_statement(
    text: String,
    values: Option<Vec<Option<String>>>,
    is_named: bool,
) -> Result<(Action, String), Reason> {
    let scanned = scan(&text, Engine::PostgreSql);
    if scanned.is_cut {
        return Err(Reason::Cut);
    }
    if scanned.fingerprint.split([' ', '(']).next() == Some("copy") {
        return Err(Reason::Copy);
    }
    // EXECUTE supplies the values of placeholders in PREPARE, and callers supply the ones in functions.
    let has_own = ["prepare ", "create "].iter().any(|word| scanned.fingerprint.starts_with(word));
    if scanned.placeholders > values.as_ref().map_or(0, Vec::len) && !has_own {
        return Err(Reason::NoValues);
    }
    let action = match values {
        Some(values) => Action::Execute { text, values, is_named },
        None => Action::Query(text),
    };
    Ok((action, scanned.fingerprint))
}
