//! The smallest conversation of an SQL protocol: one statement, repeated.

use alloc::string::{String, ToString};

use super::{RowSink, Session, SessionEvent};
use crate::ErrorClass;
use crate::blame::PeerFault;
use crate::conversation::{Closing, Conversation, Greeting, Next, Progress, Rejection, Reply, Stage};

/// Conversation in which every request is one fixed text.
#[derive(Debug)]
pub struct FixedQuery<S, R = ()> {
    session: S,
    text: String,
    is_awaited: bool,
    rejection: Option<Rejection>,
    /// Number of a server error that counts as success.
    tolerated: Option<u16>,
    received_bytes: u64,
    rows: R,
}

impl<S: Session, R: RowSink + Send> FixedQuery<S, R> {
    /// Creates a conversation that sends `text` as each request, and passes the rows of replies to `rows`.
    pub fn new(session: S, text: impl Into<String>, rows: R) -> Self {
        Self {
            session,
            text: text.into(),
            is_awaited: false,
            rejection: None,
            tolerated: None,
            received_bytes: 0,
            rows,
        }
    }

    /// Treats an error with this number of the server as success.
    #[must_use]
    pub fn tolerating(self, number: u16) -> Self {
        Self { tolerated: Some(number), ..self }
    }

    /// The underlying session.
    pub fn session(&self) -> &S {
        &self.session
    }

    /// The receiver of rows.
    pub fn rows(&self) -> &R {
        &self.rows
    }

    fn end_request(&mut self, used: usize, reusable: bool) -> Progress {
        self.is_awaited = false;
        let received_bytes = self.received_bytes + used as u64;
        let reply = Reply { status: 1, rejection: self.rejection, reusable, idle_max_s: 0, received_bytes };
        Progress::Replied { used, reply }
    }
}

impl<S: Session, R: RowSink + Send> Conversation for FixedQuery<S, R> {
    fn set(&mut self, _variable: u16, _value: &[u8]) {}

    fn greet(&mut self) -> Greeting {
        self.session.greet()
    }

    fn greeted(&mut self, bytes: &[u8]) -> Result<(usize, Greeting), PeerFault> {
        self.session.greeted(bytes)
    }

    fn set_address(&mut self, address: u16) {
        self.session.set_address(address);
    }

    fn certificate(&mut self, der: &[u8]) {
        self.session.certificate(der);
    }

    fn secured(&mut self) -> Greeting {
        self.session.secured()
    }

    fn begin(&mut self, _step: u16) -> Next {
        self.session.clear();
        self.session.query(self.text.as_bytes());
        (self.is_awaited, self.rejection, self.received_bytes) = (true, None, 0);
        Next::Send
    }

    fn outgoing(&self) -> &[u8] {
        self.session.outgoing()
    }

    fn received(&mut self, bytes: &[u8]) -> Result<Progress, PeerFault> {
        let mut used = 0;
        loop {
            let (more, event) = self.session.received(&bytes[used..], &mut self.rows)?;
            used += more;
            match event {
                SessionEvent::NeedMore => {
                    self.received_bytes += used as u64;
                    return Ok(Progress::NeedMore);
                }
                SessionEvent::Send => {
                    self.received_bytes += used as u64;
                    return Ok(Progress::PartReplied { used, part: None, next: Next::Send });
                }
                SessionEvent::Succeeded { .. } | SessionEvent::RolledBack => {}
                // Errors without a request in flight concern the connection, which then ends.
                SessionEvent::Rejected | SessionEvent::Ready if !self.is_awaited => {}
                SessionEvent::Rejected if self.tolerated == Some(self.session.last_error().number) => {}
                SessionEvent::Rejected => {
                    let code = self.session.last_error().sqlstate.code();
                    self.rejection = Some(Rejection { class: ErrorClass::SqlError, code });
                    if self.session.last_error().is_fatal {
                        return Ok(self.end_request(used, false));
                    }
                }
                SessionEvent::Ready => return Ok(self.end_request(used, true)),
            }
        }
    }

    fn peer_closed(&mut self) -> Closing {
        let closing = if self.session.has_begun_reply() { Closing::Incomplete } else { Closing::Empty };
        self.forget();
        closing
    }

    fn stage(&self) -> Stage {
        match (self.is_awaited, self.session.has_begun_reply()) {
            (false, _) => Stage::Idle,
            (true, false) => Stage::FirstByte,
            (true, true) => Stage::Body,
        }
    }

    fn explain(&self, _refusal: Rejection) -> String {
        let server_error = self.session.last_error();
        [server_error.sqlstate.as_str(), ": ", &server_error.text].concat().to_string()
    }

    fn farewell(&self) -> &[u8] {
        self.session.farewell()
    }

    fn forget(&mut self) {
        self.session.forget();
        self.is_awaited = false;
    }
}
