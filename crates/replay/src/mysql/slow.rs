//! The slow log: statements with duration and rows, written at their end.
//!
//! ```text
//! # Time: 2024-01-19T16:29:48.141142Z
//! # User@Host: app[app] @ web1 [10.0.0.5]  Id:    12
//! # Query_time: 0.000512  Lock_time: 0.000004 Rows_sent: 1  Rows_examined: 1
//! use shop;
//! SET timestamp=1705681788;
//! SELECT 1;
//! ```
//!
//! The line of the time is omitted by MySQL up to 5.6 and by MariaDB while its second lasts. Further lines with `#` belong to the
//! head until the first line without it.

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
    name: "mysql-slow",
    sentence: "MySQL and MariaDB, slow log (long_query_time = 0)",
    traffic: &super::TRAFFIC,
    count: |sample| count_records(sample, is_record),
    open: |_, _| Ok(Box::new(Slow::default())),
};

/// Max number of sessions in memory.
const SESSIONS_MAX: usize = 100_000;

/// Reader of the format.
#[derive(Debug, Default)]
pub(crate) struct Slow {
    sessions: HashMap<String, (u32, Arc<str>)>,
    next: u32,
    at_ns: Option<u64>,
    head: Option<Head>,
    text: Vec<u8>,
    has_text: bool,
}

#[derive(Debug, Default)]
struct Head {
    user: String,
    id: String,
    database: Option<String>,
    query_ns: Option<u64>,
    rows: Option<u64>,
    error: Option<u64>,
    stamp_s: Option<u64>,
}

impl Reader for Slow {
    fn line(&mut self, line: &[u8], out: &mut Output) {
        if let Some(time) = line.strip_prefix(b"# Time: ") {
            self.finish(out);
            self.at_ns = instant::iso(time).map(|(ns, _)| ns).or_else(|| instant::mysql_short(time));
            return;
        }
        if let Some(rest) = line.strip_prefix(b"# User@Host: ") {
            self.finish(out);
            let mut head = Head::default();
            head.parse_user(&String::from_utf8_lossy(rest));
            self.head = Some(head);
            return;
        }
        if super::is_banner(line) {
            self.finish(out);
            return out.skip(Reason::NoStatement);
        }
        let Some(head) = &mut self.head else { return out.skip(Reason::Unparsable) };
        match line.strip_prefix(b"# ") {
            Some(fields) if !self.has_text => {
                if fields.starts_with(b"administrator command: ") {
                    self.head = None;
                    return out.skip(Reason::Command);
                }
                head.parse_fields(&String::from_utf8_lossy(fields));
            }
            _ if self.text.len() + line.len() > lines::BYTES_MAX => {
                (self.head, self.has_text) = (None, false);
                self.text.clear();
                out.skip(Reason::TooLong);
            }
            _ => {
                self.has_text = true;
                if !head.parse_setting(line, self.text.is_empty()) {
                    self.text.extend_from_slice(line);
                    self.text.push(b'\n');
                }
            }
        }
    }

    fn end(&mut self, out: &mut Output) {
        self.finish(out);
    }
}

impl Slow {
    fn finish(&mut self, out: &mut Output) {
        let (head, text) = (self.head.take(), std::mem::take(&mut self.text));
        self.has_text = false;
        let Some(head) = head else { return };
        let text = text.trim_ascii();
        let text = text.strip_suffix(b";").unwrap_or(text);
        if let Some(command) = text.strip_prefix(b"# administrator command: ") {
            let is_quit = command.starts_with(b"Quit");
            return out.skip(if is_quit { Reason::NoStatement } else { Reason::Command });
        }
        let Some(duration_ns) = head.query_ns else { return out.skip(Reason::Cut) };
        let end_ns = self.at_ns.or_else(|| head.stamp_s?.checked_mul(1_000_000_000));
        let Some(end_ns) = end_ns else { return out.skip(Reason::NoTime) };
        if head.id.is_empty() {
            return out.skip(Reason::NoSession);
        }
        let check_statement = match super::check_statement(text) {
            Ok(check_statement) => check_statement,
            Err(reason) => return out.skip(reason),
        };
        self.push(&head, check_statement, end_ns, duration_ns, out);
    }

    fn push(
        &mut self,
        head: &Head,
        (action, fingerprint): (Action, String),
        end_ns: u64,
        duration_ns: u64,
        out: &mut Output,
    ) {
        if self.sessions.len() >= SESSIONS_MAX && !self.sessions.contains_key(&head.id) {
            self.sessions.clear();
        }
        let next = &mut self.next;
        let (session, database) = self.sessions.entry(head.id.clone()).or_insert_with(|| {
            *next += 1;
            (*next - 1, "".into())
        });
        if let Some(name) = &head.database {
            *database = name.as_str().into();
        }
        out.push(Entry {
            session: Some(*session),
            at_ns: end_ns.saturating_sub(duration_ns),
            user: head.user.as_str().into(),
            database: Arc::clone(database),
            action,
            fingerprint,
            duration_ns: Some(duration_ns),
            result: match head.error {
                Some(number) if number > 0 => LoggedResult::Error(None),
                _ => LoggedResult::Ok,
            },
            rows: head.rows,
        });
    }
}

impl Head {
    /// Reads `app[app] @ web1 [10.0.0.5]  Id:    12`.
    fn parse_user(&mut self, text: &str) {
        self.user = text.split('[').next().unwrap_or_default().trim().to_owned();
        self.parse_fields(text.split_once("] @ ").map_or("", |(_, rest)| rest));
    }

    /// Reads `NAME: VALUE` pairs with blanks between them.
    fn parse_fields(&mut self, text: &str) {
        let mut words = text.split_ascii_whitespace().peekable();
        while let Some(word) = words.next() {
            let Some(name) = word.strip_suffix(':') else { continue };
            // A value may be empty, as in `Schema:  QC_hit: No`.
            let Some(value) = words.next_if(|value| !value.ends_with(':')) else { continue };
            match name {
                "Query_time" => self.query_ns = instant::seconds(value.as_bytes()),
                "Rows_sent" => self.rows = value.parse().ok(),
                "Id" | "Thread_id" => value.clone_into(&mut self.id),
                "Schema" => self.database = Some(value.to_owned()),
                "Errno" | "Last_errno" => self.error = value.parse().ok(),
                _ => {}
            }
        }
    }

    /// Takes `use DATABASE;` and `SET timestamp=N;`, which the server writes before the statement.
    fn parse_setting(&mut self, line: &[u8], is_first: bool) -> bool {
        if !is_first {
            return false;
        }
        let text = String::from_utf8_lossy(line);
        if let Some(name) = text.strip_prefix("use ").and_then(|rest| rest.strip_suffix(';')) {
            self.database = Some(name.trim_matches('`').to_owned());
            return true;
        }
        let set = text.strip_prefix("SET ").and_then(|rest| rest.strip_suffix(';'));
        let Some((_, stamp)) = set.and_then(|rest| rest.split_once("timestamp=")) else { return false };
        self.stamp_s = stamp.parse().ok();
        self.stamp_s.is_some()
    }
}

/// Whether a line starts a statement.
fn is_record(line: &[u8]) -> bool {
    line.starts_with(b"# User@Host: ")
}
