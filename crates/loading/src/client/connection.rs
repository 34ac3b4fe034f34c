//! Sends statements over one connection, and reads replies.

use std::fs::File;
use std::io::{self, Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use engine::{BlockingConnection, Peer};
use wire::sql::{RowSink, Session, SessionEvent};

use super::Answer;
use crate::error::Error;

/// Timeout for connecting and logging in.
pub const LOGIN_TIMEOUT: Duration = Duration::from_secs(10);
/// Timeout for a silent server. Building the index of a very large table takes hours.
const SILENCE_MAX: Duration = Duration::from_secs(24 * 60 * 60);
/// Interval at which the flag for giving up is checked.
const FLAG_CHECK_INTERVAL: Duration = Duration::from_millis(50);
const BUFFER_BYTES: usize = 64 * 1024;
/// Maximum length of a reply in bytes if the wait can be aborted.
const ANSWER_BYTES_MAX: usize = 1 << 20;

/// A connection with a logged-in session.
pub(crate) struct Connection<S: Session> {
    pub(crate) session: S,
    line: BlockingConnection,
    buffer: Vec<u8>,
    from: usize,
    to: usize,
    is_canceled: Option<Arc<AtomicBool>>,
}

fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}

/// Random nonce for authentication.
pub(crate) fn nonce() -> Result<[u8; 18], Error> {
    let mut nonce = [0; 18];
    let read = File::open("/dev/urandom").and_then(|mut file| file.read_exact(&mut nonce));
    read.map_err(|error| Error::Connect { reason: format!("/dev/urandom: {error}") })?;
    Ok(nonce)
}

impl<S: Session> Connection<S> {
    /// Connects and logs in: to one of the peer's addresses, chosen by connection number, or to the first one that takes the log-in
    /// if the peer fails over.
    pub(crate) fn open(peer: &Peer, mut session: S, number: u32) -> Result<Self, Error> {
        let peer = match peer.selection.fails_over() {
            true => peer.clone(),
            false => peer.at(number as usize % peer.endpoints.len()),
        };
        let line = BlockingConnection::open_logged_in(&peer, &mut session, LOGIN_TIMEOUT);
        let mut line = line.map_err(|error| Error::Connect { reason: error.to_string() })?;
        let silence = line.set_timeout(Some(SILENCE_MAX));
        silence.map_err(|error| Error::Connect { reason: format!("{}: {error}", line.endpoint()) })?;
        Ok(Self { session, line, buffer: vec![0; BUFFER_BYTES], from: 0, to: 0, is_canceled: None })
    }

    /// Sends the pending output of the session.
    pub(crate) fn flush(&mut self, doing: &str) -> Result<(), Error> {
        let sent = self.line.write_all(self.session.outgoing());
        self.session.clear();
        sent.map_err(|error| broken(doing, error.to_string()))
    }

    fn fill(&mut self) -> io::Result<()> {
        loop {
            // Also aborts if a server never stops sending.
            if self.is_canceled.as_ref().is_some_and(|is_canceled| is_canceled.load(Ordering::Relaxed)) {
                return Err(io::Error::other("it was given up"));
            }
            match self.line.read(&mut self.buffer) {
                Ok(0) => return Err(io::Error::other("the server closed the connection")),
                Ok(count) => {
                    (self.from, self.to) = (0, count);
                    return Ok(());
                }
                Err(error) if is_timeout(&error) && self.keeps_waiting() => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Sets a flag that ends the wait for a silent server.
    pub(crate) fn set_cancel_flag(&mut self, is_canceled: Arc<AtomicBool>) -> Result<(), Error> {
        self.is_canceled = Some(is_canceled);
        let listening = self.line.set_timeout(Some(FLAG_CHECK_INTERVAL));
        listening.map_err(|error| Error::Connect { reason: error.to_string() })
    }

    fn keeps_waiting(&self) -> bool {
        self.is_canceled.as_ref().is_some_and(|is_canceled| !is_canceled.load(Ordering::Relaxed))
    }

    /// Waits for the next event.
    pub(crate) fn next_event(&mut self, rows: &mut dyn RowSink, doing: &str) -> Result<SessionEvent, Error> {
        loop {
            let heard = self.session.received(&self.buffer[self.from..self.to], rows);
            let (used, heard) = heard.map_err(|fault| broken(doing, fault.message()))?;
            self.from += used;
            match heard {
                SessionEvent::NeedMore => self.fill().map_err(|error| broken(doing, error.to_string()))?,
                heard => return Ok(heard),
            }
        }
    }

    /// Waits for the end of the reply. Returns the number of rows that its last statement returned or changed, or the first error
    /// of the server.
    pub(crate) fn finish(&mut self, rows: &mut dyn RowSink, doing: &str) -> Result<u64, Error> {
        let (mut refused, mut count) = (None, 0);
        loop {
            match self.next_event(rows, doing) {
                Ok(SessionEvent::Ready) => return refused.map_or(Ok(count), Err),
                Ok(SessionEvent::Rejected) => refused = Some(self.refused(doing)),
                Ok(SessionEvent::Send) => self.flush(doing)?,
                Ok(SessionEvent::Succeeded { rows, .. }) => count = rows,
                Ok(SessionEvent::RolledBack) => {
                    let said = "the server rolled the transaction back".to_owned();
                    refused = Some(Error::Refused { doing: doing.to_owned(), said });
                }
                Ok(SessionEvent::NeedMore) => {}
                Err(error) => return Err(refused.unwrap_or(error)),
            }
        }
    }

    /// Last error of the server.
    pub(crate) fn refused(&self, doing: &str) -> Error {
        let said = self.session.last_error();
        let said = format!("{}: {}", said.sqlstate.as_str(), said.text);
        Error::Refused { doing: doing.to_owned(), said }
    }

    /// Sends a text, and waits for the end of its reply.
    pub(crate) fn run(&mut self, text: &[u8], rows: &mut dyn RowSink, doing: &str) -> Result<(), Error> {
        self.session.clear();
        self.session.query(text);
        self.flush(doing)?;
        self.finish(rows, doing).map(|_| ())
    }

    /// Runs a statement, and returns its rows. If the wait can be aborted, the reply is limited to 1 MiB.
    pub(crate) fn ask(&mut self, sql: &str, doing: &str) -> Result<Answer, Error> {
        let mut rows = AnswerBuffer { is_canceled: self.is_canceled.clone(), ..AnswerBuffer::default() };
        let answered = self.run(sql.as_bytes(), &mut rows, doing);
        if rows.is_too_long() {
            return Err(broken(doing, "the server answers with more than 1 MiB"));
        }
        answered.map(|()| rows.rows)
    }
}

impl<S: Session> Drop for Connection<S> {
    fn drop(&mut self) {
        // Best effort: the server may be gone.
        let _ = self.line.write_all(self.session.farewell());
    }
}

/// Error for a connection that cannot be used any more.
pub(crate) fn broken(doing: &str, reason: impl Into<String>) -> Error {
    Error::Broken { doing: doing.to_owned(), reason: reason.into() }
}

#[derive(Default)]
struct AnswerBuffer {
    rows: Answer,
    row: Vec<Option<String>>,
    bytes: usize,
    is_canceled: Option<Arc<AtomicBool>>,
}

impl AnswerBuffer {
    fn is_too_long(&self) -> bool {
        self.is_canceled.is_some() && self.bytes > ANSWER_BYTES_MAX
    }
}

impl RowSink for AnswerBuffer {
    fn needs_rows(&self) -> bool {
        true
    }

    fn value(&mut self, _column: u16, value: Option<&[u8]>) {
        self.bytes += size_of::<Option<String>>() + value.map_or(0, <[u8]>::len);
        if self.is_too_long() {
            self.is_canceled.iter().for_each(|is_canceled| is_canceled.store(true, Ordering::Relaxed));
            return;
        }
        self.row.push(value.map(|bytes| String::from_utf8_lossy(bytes).into_owned()));
    }

    fn finish_row(&mut self) {
        if !self.is_too_long() {
            self.rows.push(std::mem::take(&mut self.row));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_long_reply_is_given_up() {
        let is_canceled = Arc::new(AtomicBool::new(false));
        let mut rows =
            AnswerBuffer { is_canceled: Some(Arc::clone(&is_canceled)), ..AnswerBuffer::default() };
        for _ in 0..ANSWER_BYTES_MAX {
            rows.value(0, Some(b"x"));
            rows.finish_row();
        }
        assert!(is_canceled.load(Ordering::Relaxed));
        assert!(rows.rows.len() < ANSWER_BYTES_MAX / 16, "{}", rows.rows.len());
    }
}
