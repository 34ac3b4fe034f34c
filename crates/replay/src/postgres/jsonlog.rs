//! The jsonlog format, from PostgreSQL 15 on: one object per line.

use std::borrow::Cow;

use serde::Deserialize;

use super::message::Message;
use super::sessions::Sessions;
use crate::formats::{Format, count_records};
use crate::instant;
use crate::output::{Output, Reader};
use crate::skipped::Reason;

/// Entry in [`crate::FORMATS`].
pub(crate) const FORMAT: Format = Format {
    name: "postgres-json",
    sentence: "PostgreSQL 15 and later, log_destination = jsonlog",
    traffic: &super::TRAFFIC,
    count: |sample| count_records(sample, is_record),
    open: |_, _| Ok(Box::new(Jsonlog::default())),
};

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

/// Whether a line is a jsonlog record.
fn is_record(line: &[u8]) -> bool {
    message(line).is_some()
}

/// Keys of a record that are used. Absent ones are null.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Record<'a> {
    #[serde(borrow)]
    timestamp: Option<Cow<'a, str>>,
    user: Option<Cow<'a, str>>,
    dbname: Option<Cow<'a, str>>,
    session_id: Option<Cow<'a, str>>,
    error_severity: Option<Cow<'a, str>>,
    state_code: Option<Cow<'a, str>>,
    message: Option<Cow<'a, str>>,
    detail: Option<Cow<'a, str>>,
    context: Option<Cow<'a, str>>,
    statement: Option<Cow<'a, str>>,
}

fn message(line: &[u8]) -> Option<Message> {
    let record: Record<'_> = serde_json::from_slice(line).ok()?;
    let text = |value: Option<Cow<'_, str>>| value.map(Cow::into_owned).unwrap_or_default();
    Some(Message {
        at_ns: Some(instant::iso(record.timestamp?.as_bytes())?.0),
        user: text(record.user),
        database: text(record.dbname),
        session: text(record.session_id),
        is_by_pid: false,
        severity: record.error_severity?.into_owned(),
        code: text(record.state_code),
        text: text(record.message),
        detail: text(record.detail),
        context: text(record.context),
        statement: text(record.statement),
    })
}
