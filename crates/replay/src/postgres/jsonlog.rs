//! The jsonlog format, from PostgreSQL 15 on: one object per line.

use serde_json::{Map, Value};

use super::message::Message;
use super::sessions::Sessions;
use crate::instant;
use crate::output::{Output, Reader};
use crate::skipped::Reason;

/// Reader of the format.
#[derive(Debug, Default)]
pub(crate) struct Jsonlog {
    sessions: Sessions,
}

impl Reader for Jsonlog {
    fn line(&mut self, line: &[u8], out: &mut Output) {
        match message(line) {
            Some(message) => self.sessions.take(&message, out),
            None => out.skip(Reason::Unparsable),
        }
    }

    fn end(&mut self, out: &mut Output) {
        self.sessions.end(out);
    }
}

/// Whether a line is a record of this format.
pub(crate) fn is_record(line: &[u8]) -> bool {
    message(line).is_some()
}

fn message(line: &[u8]) -> Option<Message> {
    let mut object: Map<String, Value> = serde_json::from_slice(line).ok()?;
    let mut take = |key: &str| match object.remove(key) {
        Some(Value::String(text)) => text,
        _ => String::new(),
    };
    let at_ns = Some(instant::iso(take("timestamp").as_bytes())?.0);
    let severity = take("error_severity");
    if severity.is_empty() {
        return None;
    }
    Some(Message {
        at_ns,
        user: take("user"),
        database: take("dbname"),
        session: take("session_id"),
        is_by_pid: false,
        severity,
        code: take("state_code"),
        text: take("message"),
        detail: take("detail"),
        context: take("context"),
        statement: take("statement"),
    })
}
