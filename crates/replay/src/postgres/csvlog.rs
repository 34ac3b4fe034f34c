//! csvlog format: 22 to 26 columns with quoted texts that may contain line breaks.

use super::message::Message;
use super::sessions::Sessions;
use crate::formats::{Format, count_records};
use crate::instant;
use crate::lines;
use crate::output::{Output, Reader};
use crate::skipped::Reason;

/// Entry in [`crate::FORMATS`].
pub(crate) const FORMAT: Format = Format {
    name: "postgres-csv",
    sentence: "PostgreSQL, log_destination = csvlog",
    traffic: &super::TRAFFIC,
    count: |sample| count_records(sample, is_record),
    open: |_, _| Ok(Box::new(Csvlog::default())),
};

/// Numbers of columns, from PostgreSQL 8.4 on.
const COLUMNS: std::ops::RangeInclusive<usize> = 22..=26;

/// Reader of the format.
#[derive(Debug, Default)]
pub(crate) struct Csvlog {
    sessions: Sessions,
    /// Lines of a record with an open quote.
    record: Vec<u8>,
    has_open_quote: bool,
}

impl Reader for Csvlog {
    fn line(&mut self, line: &[u8], out: &mut Output) {
        if self.record.len() + line.len() > lines::BYTES_MAX || self.is_lost(line) {
            out.skip(Reason::TooLong);
            self.record.clear();
            self.has_open_quote = false;
        }
        if !self.record.is_empty() {
            self.record.push(b'\n');
        }
        self.record.extend_from_slice(line);
        self.has_open_quote ^= memchr::memchr_iter(b'"', line).count() % 2 == 1;
        if self.has_open_quote {
            return;
        }
        let record = std::mem::take(&mut self.record);
        match message(&record) {
            Some(message) => self.sessions.take(&message, out),
            None => out.skip(Reason::Unparsable),
        }
    }

    fn end(&mut self, out: &mut Output) {
        if !self.record.is_empty() {
            out.skip(Reason::Cut);
        }
        self.sessions.end(out);
    }
}

impl Csvlog {
    /// Whether a line starts a record although an earlier record has open quotes, because it was cut.
    fn is_lost(&self, line: &[u8]) -> bool {
        self.has_open_quote
            && line.get(4) == Some(&b'-')
            && fields(line).is_some_and(|fields| COLUMNS.contains(&fields.len()))
            && message(line).is_some()
    }
}

/// Whether a line is a csvlog record.
fn is_record(line: &[u8]) -> bool {
    let begins = fields(line).unwrap_or_default();
    let has_columns = begins.len() >= 12 && instant::iso(begins[0].as_bytes()).is_some();
    has_columns && begins[5].contains('.') && begins[3].parse::<u32>().is_ok()
}

fn message(record: &[u8]) -> Option<Message> {
    let mut fields = fields(record)?;
    if !COLUMNS.contains(&fields.len()) {
        return None;
    }
    let mut take = |column: usize| std::mem::take(&mut fields[column]);
    Some(Message {
        at_ns: Some(instant::iso(take(0).as_bytes())?.0),
        user: take(1),
        database: take(2),
        session: take(5),
        is_by_pid: false,
        severity: take(11),
        code: take(12),
        text: take(13),
        detail: take(14),
        context: take(18),
        statement: take(19),
    })
}

/// Columns of a record. `None` if quotes are misplaced.
fn fields(record: &[u8]) -> Option<Vec<String>> {
    let (mut fields, mut rest) = (Vec::with_capacity(26), record);
    loop {
        let mut field = Vec::new();
        if let Some(mut quoted) = rest.strip_prefix(b"\"") {
            loop {
                let quote = memchr::memchr(b'"', quoted)?;
                field.extend_from_slice(&quoted[..quote]);
                quoted = &quoted[quote + 1..];
                let Some(further) = quoted.strip_prefix(b"\"") else { break };
                field.push(b'"');
                quoted = further;
            }
            rest = quoted;
        } else {
            let end = memchr::memchr(b',', rest).unwrap_or(rest.len());
            field.extend_from_slice(&rest[..end]);
            rest = &rest[end..];
        }
        let text = String::from_utf8(field);
        fields.push(text.unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()));
        match rest.split_first() {
            None => return Some(fields),
            Some((b',', further)) => rest = further,
            Some(_) => return None,
        }
    }
}
