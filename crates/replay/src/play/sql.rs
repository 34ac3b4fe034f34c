//! Plays the sessions of a slot over one SQL connection.

use std::fmt;
use std::sync::Arc;

use sql::Engine;
use wire::sql::{Session, SessionEvent, Statement, Transaction, Value};
use wire::{
    Cancel, Closing, Conversation, ErrorClass, Footprint, Greeting, Next, PartEnd, PeerFault, Progress,
    Rejection, Reply, Script, Stage,
};

use super::outcomes::{Outcomes, Replayed};
use super::part;
use super::row_hash::RowHash;
use crate::sharing::Role;
use crate::trace::{Form, Item, SlotReader, Trace};

/// Max number of texts with prepared statements. Further ones are prepared for each execution.
const KEPT_STATEMENTS_MAX: u32 = 4_096;
/// Upper bound of the memory of a connection in bytes: a partial reply, and a message of the server.
const KEPT_BYTES: u64 = 256 * 1024;

/// Creates the session of a connection. Connections are numbered from 0.
pub type OpenSession = Box<dyn Fn(u32) -> Box<dyn Session> + Send + Sync>;

/// The statements of a trace as a load. The connection with a slot's number sends the slot.
pub struct SqlPlay {
    shared: Arc<Shared>,
    open: OpenSession,
}

struct Shared {
    trace: Arc<Trace>,
    outcomes: Arc<Outcomes>,
    /// Fingerprints that end a transaction.
    ends_transaction: Box<[bool]>,
    longest_bytes: u64,
    engine: Engine,
}

impl fmt::Debug for SqlPlay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqlPlay").field("trace", &self.shared.trace).finish_non_exhaustive()
    }
}

impl SqlPlay {
    /// Creates the load. `fingerprints` are the texts of all fingerprints, by number.
    pub fn new(
        trace: Arc<Trace>,
        outcomes: Arc<Outcomes>,
        fingerprints: &[&str],
        engine: Engine,
        open: OpenSession,
    ) -> Self {
        let ends_transaction = fingerprints.iter().map(|text| Role::of(text) == Role::Ends).collect();
        let longest_bytes = trace.longest_text_bytes() as u64;
        Self { shared: Arc::new(Shared { trace, outcomes, ends_transaction, longest_bytes, engine }), open }
    }
}

impl Script for SqlPlay {
    type Conversation = SqlPlayer;

    fn open(&self, number: u32) -> SqlPlayer {
        SqlPlayer {
            shared: Arc::clone(&self.shared),
            session: (self.open)(number),
            slot: number as usize,
            reader: None,
            current: None,
            was_last: None,
            error: None,
            rows: None,
            row_hash: RowHash::new(false),
            received_bytes: 0,
            has_lost_transaction: false,
        }
    }

    fn needs(&self, _step: u16, _variable: u16) -> bool {
        false
    }

    fn inspects_replies(&self, _step: u16) -> bool {
        false
    }

    fn parts(&self) -> u16 {
        self.shared.ends_transaction.len() as u16
    }

    fn footprint(&self, _longest_bytes: &dyn Fn(u16) -> u64) -> Footprint {
        Footprint { kept_bytes: KEPT_BYTES, request_bytes: self.shared.longest_bytes, ..Footprint::default() }
    }
}

/// Statements of one slot over one connection.
pub struct SqlPlayer {
    shared: Arc<Shared>,
    session: Box<dyn Session>,
    slot: usize,
    /// Reader of the slot. `None` before the first item.
    reader: Option<SlotReader>,
    /// Item that awaits a reply.
    current: Option<Item>,
    /// Whether the previous item ended its session. `None` before the first item.
    was_last: Option<bool>,
    error: Option<Rejection>,
    rows: Option<u64>,
    row_hash: RowHash,
    received_bytes: u64,
    /// Whether the connection was lost within a transaction, so that the rest of the transaction is skipped.
    has_lost_transaction: bool,
}

impl SqlPlayer {
    /// Takes the next item of the slot.
    fn take(&mut self) -> Result<(Item, Arc<str>), String> {
        let (trace, slot) = (&self.shared.trace, self.slot);
        let reader = self.reader.get_or_insert_with(|| trace.reader(slot));
        match reader.next_item() {
            Ok(Some(next)) => Ok(next),
            Ok(None) => Err("the trace has no further statement".to_owned()),
            Err(error) => Err(format!("the temporary file of the trace cannot be read: {error}")),
        }
    }

    fn send(&mut self, item: Item, text: &str) {
        self.session.clear();
        match &item.form {
            Form::Query | Form::Command | Form::Request(_) => self.session.query(text.as_bytes()),
            Form::Execute { values, is_named } => {
                let is_kept = *is_named && item.text < KEPT_STATEMENTS_MAX;
                let statement = Statement { number: item.text as u16, text, is_kept };
                let values = values.iter().map(|value| Value::from(value.as_deref().map(str::as_bytes)));
                self.session.execute(statement, &mut values.into_iter());
                self.session.sync();
            }
        }
        self.row_hash = RowHash::new(self.shared.outcomes.hashes_rows());
        (self.current, self.error, self.rows, self.received_bytes) = (Some(item), None, None, 0);
    }

    /// Ends the item in flight with what the server replied.
    fn end_item(&mut self, used: usize, is_closed: bool) -> Progress {
        let Some(item) = &self.current.take() else { return Progress::NeedMore };
        let (rejection, rows) = (self.error.take(), self.rows.take());
        let replayed = match rejection {
            Some(_) => {
                let error = self.session.last_error();
                let class = sql::classes::rejection(self.shared.engine, error).class;
                Replayed::Error(error.sqlstate.0, class)
            }
            None => Replayed::Ok(rows),
        };
        self.shared.outcomes.count_result(item, replayed);
        if self.shared.outcomes.hashes_rows() {
            self.shared.outcomes.add_rows(item, self.row_hash.sum());
        }
        let reply = Reply {
            status: 1,
            rejection,
            reusable: !is_closed && !item.is_last,
            idle_max_s: 0,
            received_bytes: self.received_bytes,
        };
        let part = Some(PartEnd { part: part(item.fingerprint), rejection });
        Progress::PartReplied { used, part, next: Next::Done(reply) }
    }
}

impl Conversation for SqlPlayer {
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
        let (item, text) = match self.take() {
            Ok(next) => next,
            Err(why) => return Next::Broken(why),
        };
        self.was_last = Some(item.is_last);
        if self.has_lost_transaction {
            let is_end = self.shared.ends_transaction.get(usize::from(item.fingerprint)) == Some(&true);
            self.shared.outcomes.count_skipped(&item);
            self.has_lost_transaction = !(is_end || item.is_last);
            let rejection = Some(Rejection { class: ErrorClass::OpenTransaction, code: 0 });
            return Next::Done(Reply {
                status: 1,
                rejection,
                reusable: true,
                idle_max_s: 0,
                received_bytes: 0,
            });
        }
        self.send(item, &text);
        Next::Send
    }

    fn outgoing(&self) -> &[u8] {
        self.session.outgoing()
    }

    fn received(&mut self, bytes: &[u8]) -> Result<Progress, PeerFault> {
        let mut used = 0;
        loop {
            let (more, event) = self.session.received(&bytes[used..], &mut self.row_hash)?;
            used += more;
            self.received_bytes += more as u64;
            match event {
                SessionEvent::NeedMore => return Ok(Progress::NeedMore),
                SessionEvent::Send => {
                    return Ok(Progress::PartReplied { used, part: None, next: Next::Send });
                }
                SessionEvent::Succeeded { rows, has_rows } => {
                    if has_rows {
                        self.rows = Some(self.rows.unwrap_or(0).saturating_add(rows));
                    }
                }
                SessionEvent::RolledBack => {}
                // Errors without a statement in flight concern the connection, which then ends.
                SessionEvent::Rejected | SessionEvent::Ready if self.current.is_none() => {}
                SessionEvent::Rejected => {
                    let code = self.session.last_error().sqlstate.code();
                    self.error = Some(Rejection { class: ErrorClass::SqlError, code });
                    if self.session.last_error().is_fatal {
                        return Ok(self.end_item(used, true));
                    }
                }
                SessionEvent::Ready => return Ok(self.end_item(used, false)),
            }
        }
    }

    fn peer_closed(&mut self) -> Closing {
        if self.session.has_begun_reply() || self.received_bytes > 0 {
            Closing::Incomplete
        } else {
            Closing::Empty
        }
    }

    fn stage(&self) -> Stage {
        match &self.current {
            None => Stage::Idle,
            Some(_) if self.received_bytes > 0 || self.session.has_begun_reply() => Stage::Body,
            Some(_) => Stage::FirstByte,
        }
    }

    fn part(&self) -> Option<u16> {
        self.current.as_ref().map(|item| part(item.fingerprint))
    }

    fn explain(&self, rejection: Rejection) -> String {
        match rejection.class {
            ErrorClass::OpenTransaction => "not sent: the connection was lost in its transaction".to_owned(),
            // The message of the server may quote values.
            _ => format!("SQLSTATE {}", self.session.last_error().sqlstate.as_str()),
        }
    }

    fn farewell(&self) -> &[u8] {
        self.session.farewell()
    }

    fn cancel(&self) -> Option<Cancel> {
        self.session.cancel()
    }

    fn forget(&mut self) {
        let was_open = self.session.transaction() != Transaction::Idle;
        if let Some(item) = self.current.take() {
            self.shared.outcomes.count_result(&item, Replayed::Lost);
        }
        if let Some(was_last) = self.was_last {
            self.has_lost_transaction = !was_last && (self.has_lost_transaction || was_open);
        }
        self.session.forget();
    }
}
