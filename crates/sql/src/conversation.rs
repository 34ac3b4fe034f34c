//! Transactions over one connection: sends what a script player requests, and processes the replies of the server.

mod gathering;
mod literals;
mod playing;
mod queue;
mod texts;

use std::sync::Arc;

use crate::script::{Broken, Player};
use wire::sql::{ServerError, Session, SessionEvent};
use wire::{
    Cancel, Closing, Content, Conversation, ErrorClass, Greeting, Interrupt, Next, PartEnd, PeerFault,
    Progress, Rejection, Reply, Stage,
};

use crate::classes;
use crate::program::Program;
use gathering::Gathering;
use queue::Queue;
use texts::Texts;

/// Runs the transactions of one client over one connection.
///
/// ```text
///             begin()                        answered, and the script goes on
///   Nothing ──────────► Statement / Pipeline ◄──────────────────────────────┐
///      ▲                   │ answered      │ refused                        │
///      │ the script ends   │               ▼                                │ again
///      ├───────────────────┘          (transaction open?) ── ROLLBACK ──► (a try left?)
///      └──────────────────────────────────────────────────────────── no ────┘
/// ```
pub struct SqlConversation {
    program: Arc<Program>,
    session: Box<dyn Session>,
    player: Player,
    texts: Texts,
    scratch: Vec<u8>,
    queue: Queue,
    step: u16,
    state: State,
    /// True if data on its way may commit something.
    is_in_doubt: bool,
    /// While a pipeline is built: true if a transaction will be open after it.
    will_be_open: bool,
    /// Number of rows in the last result.
    rows: u64,
    /// Number of rows that the present statement loads. 0 for any other statement.
    loaded_rows: u64,
    /// Number of rows of all statements of the present try.
    try_rows: u64,
    /// Reason why the last request is rejected.
    rejection: Option<Rejection>,
    /// Error of the server for it.
    server_error: ServerError,
    /// Reason why rows cannot be stored in variables.
    broken: Option<Broken>,
    tries: u32,
    received_bytes: u64,
}

/// State of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Idle,
    Statement(u16),
    Pipeline,
    Pause,
    RollBack(Rejection),
}

impl SqlConversation {
    pub(crate) fn new(program: Arc<Program>, mut session: Box<dyn Session>, number: u32) -> Self {
        if program.lines.iter().any(|line| line.is_load) {
            session.allow_loads();
        }
        Self {
            player: program.player(number),
            texts: Texts::new(u16::try_from(program.lines.len()).unwrap_or(u16::MAX)),
            session,
            scratch: Vec::new(),
            queue: Queue::default(),
            step: 0,
            state: State::Idle,
            is_in_doubt: false,
            will_be_open: false,
            rows: 0,
            loaded_rows: 0,
            try_rows: 0,
            rejection: None,
            server_error: ServerError::default(),
            broken: None,
            tries: 0,
            received_bytes: 0,
            program,
        }
    }

    /// Takes the output of `debug()` in scripts since the last call.
    pub fn notes(&mut self) -> Vec<String> {
        self.player.notes()
    }

    fn account(&self, statement: u16) -> Option<u16> {
        self.program.steps.get(usize::from(self.step))?.account(statement)
    }

    /// True if no reply is pending.
    fn is_idle(&self) -> bool {
        matches!(self.state, State::Idle | State::Pause)
    }

    /// True if data that may commit is on its way. In a pause, the pipeline built so far has not been sent.
    fn may_be_in_doubt(&self) -> bool {
        self.is_in_doubt && self.state != State::Pause
    }

    fn gathers(&self) -> bool {
        matches!(self.state, State::Statement(number) if self.program.lines[usize::from(number)].gathers)
    }

    fn next_event(&mut self, bytes: &[u8]) -> Result<(usize, SessionEvent), PeerFault> {
        if self.gathers() {
            self.session.received(bytes, &mut Gathering(&mut self.player))
        } else {
            self.session.received(bytes, &mut ())
        }
    }

    /// Handles the end of a statement, with a refusal if it ended badly. Returns the end of its part if that is already known.
    fn ended(&mut self, rows: u64, rejection: Option<Rejection>) -> Result<Option<PartEnd>, PeerFault> {
        self.rows = rows;
        self.try_rows = self.try_rows.saturating_add(rows);
        self.rejection = self.rejection.or(rejection);
        match self.state {
            State::Statement(_) => {
                if self.gathers() {
                    self.broken = self.player.end_result().err().or(self.broken.take());
                }
                Ok(None)
            }
            State::Pipeline => {
                let number = self.queue.pop_statement().ok_or_else(unsolicited_reply)?;
                let rejection = rejection.or_else(|| self.unexpected_rows(number));
                self.rejection = self.rejection.or(rejection);
                Ok(self.account(number).map(|part| PartEnd { part, rejection }))
            }
            State::RollBack(_) => Ok(None),
            State::Idle | State::Pause => Err(unsolicited_reply()),
        }
    }

    /// Handles a rejected statement. Returns the end of its part if that is already known.
    fn on_rejected(&mut self) -> Result<Option<PartEnd>, PeerFault> {
        let rejection = classes::rejection(self.program.engine, self.session.last_error());
        if self.is_idle() {
            return Err(unsolicited_reply());
        }
        if classes::has_unknown_outcome(self.session.last_error())
            && !matches!(self.state, State::RollBack(_))
        {
            return Err(self.in_doubt("the server does not know whether the transaction was committed"));
        }
        if self.rejection.is_none() && !matches!(self.state, State::RollBack(_)) {
            self.server_error.clone_from(self.session.last_error());
        }
        self.rejection = self.rejection.or(Some(rejection));
        if self.state != State::Pipeline {
            return Ok(None);
        }
        let number = self.queue.pop_statement();
        self.queue.skip_to_sync();
        Ok(number
            .and_then(|number| self.account(number))
            .map(|part| PartEnd { part, rejection: Some(rejection) }))
    }

    /// Handles a fatal error, after which the server closes the connection and accepts no further requests.
    fn cut_off(&mut self, used: usize, part: Option<PartEnd>) -> Result<Progress, PeerFault> {
        if self.may_be_in_doubt() {
            return Err(self.in_doubt("the server ended the connection while a commit was on its way"));
        }
        let rejection = classes::rejection(self.program.engine, self.session.last_error());
        let part = part.or_else(|| self.part_end(Some(rejection)));
        let rejection = if let State::RollBack(first) = self.state { first } else { rejection };
        let reply = Reply { reusable: false, ..self.end_transaction(Some(rejection)) };
        Ok(Progress::PartReplied { used, part, next: Next::Done(reply) })
    }

    /// Error for an unknown outcome of a commit, with the last error of the server.
    fn in_doubt(&self, sentence: &'static str) -> PeerFault {
        let (engine, server_error) = (self.program.engine, self.session.last_error());
        let code = classes::rejection(engine, server_error).code;
        PeerFault::new(ErrorClass::CommitUnknown, code, sentence)
            .with_peer_message(classes::words(engine, server_error))
    }

    /// End of the part that belongs to a single statement.
    fn part_end(&self, rejection: Option<Rejection>) -> Option<PartEnd> {
        let State::Statement(number) = self.state else { return None };
        self.account(number).map(|part| PartEnd { part, rejection })
    }

    /// Handles a synchronization point, up to which all requests are answered.
    fn on_ready(&mut self, used: usize) -> Result<Progress, PeerFault> {
        let (part, next) = match self.state {
            State::Statement(number) => {
                let rejection = self.rejection.or_else(|| self.unexpected_rows(number));
                let part = self.part_end(rejection);
                (part, self.on_answered(number, rejection))
            }
            State::Pipeline => {
                if !self.queue.pop_sync() {
                    return Err(unsolicited_reply());
                }
                if !self.queue.is_empty() {
                    return Ok(Progress::PartReplied { used, part: None, next: Next::Await });
                }
                let rejection = self.rejection.take();
                (None, self.on_pipeline_end(rejection))
            }
            State::RollBack(rejection) => (None, self.rolled_back(rejection)),
            State::Idle | State::Pause => return Err(unsolicited_reply()),
        };
        Ok(match (part, next) {
            (None, Next::Done(reply)) => Progress::Replied { used, reply },
            (part, next) => Progress::PartReplied { used, part, next },
        })
    }

    /// Consumes bytes up to the next event that the engine must know.
    fn next_progress(&mut self, bytes: &[u8]) -> Result<Progress, PeerFault> {
        let mut used = 0;
        loop {
            let (more, event) = self.next_event(&bytes[used..])?;
            used += more;
            self.received_bytes += more as u64;
            let part = match event {
                SessionEvent::NeedMore => return Ok(Progress::NeedMore),
                SessionEvent::Ready => return self.on_ready(used),
                SessionEvent::Send => {
                    return Ok(Progress::PartReplied { used, part: None, next: Next::Send });
                }
                SessionEvent::Succeeded { rows, .. } => self.ended(rows, None)?,
                SessionEvent::RolledBack => self.ended(0, self.unexpected_rollback())?,
                // The end of an idle connection is handled by the engine: the close follows.
                SessionEvent::Rejected if self.state == State::Idle && self.session.last_error().is_fatal => {
                    return Ok(Progress::NeedMore);
                }
                // The server closed the connection during a pause: this error ends the transaction.
                SessionEvent::Rejected
                    if self.state == State::Pause && self.session.last_error().is_fatal =>
                {
                    self.server_error.clone_from(self.session.last_error());
                    return self.cut_off(used, None);
                }
                SessionEvent::Rejected => {
                    let part = self.on_rejected()?;
                    if self.session.last_error().is_fatal {
                        return self.cut_off(used, part);
                    }
                    part
                }
            };
            if part.is_some() {
                return Ok(Progress::PartReplied { used, part, next: Next::Await });
            }
        }
    }

    /// Turns a protocol error into an unknown commit if a commit was on its way.
    fn as_unknown_commit(&self, fault: PeerFault) -> PeerFault {
        if !self.may_be_in_doubt() || fault.class == ErrorClass::CommitUnknown {
            return fault;
        }
        let sentence = "the server broke the protocol while a commit was on its way";
        PeerFault::new(ErrorClass::CommitUnknown, fault.code, sentence).with_peer_message(fault.message())
    }
}

/// Conversation with a server. An in-process session makes calls instead of sending.
impl Conversation for SqlConversation {
    fn set(&mut self, variable: u16, value: &[u8]) {
        let Some(slot) = self.program.slot(variable) else { return };
        // PostgreSQL infers the type of a quoted literal, and would not compare a number with a text.
        if !self.program.engine.dialect().infers_quoted_types
            && self.program.settings.numbers.contains(&variable)
        {
            self.player.set_number(slot, value);
        } else {
            self.player.set(slot, value);
        }
    }

    fn saved(&mut self, take: &mut dyn FnMut(u16, &[u8])) {
        for variable in &self.program.settings.saves {
            if let Some(slot) = self.program.slot(*variable) {
                take(*variable, self.player.value(slot).unwrap_or_default());
            }
        }
    }

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

    fn begin(&mut self, step: u16) -> Next {
        let Some(plan) = self.program.steps.get(usize::from(step)) else {
            return Next::Broken(format!("there is no step {step}"));
        };
        (self.step, self.tries, self.received_bytes, self.rejection) = (step, 1, 0, None);
        self.try_rows = 0;
        self.player.begin(plan.script);
        self.play()
    }

    fn resume(&mut self) -> Next {
        self.play()
    }

    fn outgoing(&self) -> &[u8] {
        self.session.outgoing()
    }

    fn received(&mut self, bytes: &[u8]) -> Result<Progress, PeerFault> {
        self.next_progress(bytes).map_err(|fault| self.as_unknown_commit(fault))
    }

    fn content(&self) -> Content {
        Content { rows: Some(self.try_rows), ..Content::default() }
    }

    fn peer_closed(&mut self) -> Closing {
        let has_begun = self.received_bytes > 0 || self.tries > 1 || self.session.has_begun_reply();
        match self.state {
            State::Idle => Closing::Empty,
            _ if has_begun || self.may_be_in_doubt() => Closing::Incomplete,
            _ => Closing::Empty,
        }
    }

    fn stage(&self) -> Stage {
        match self.state {
            State::Idle => Stage::Idle,
            _ if self.may_be_in_doubt() => Stage::InDoubt,
            _ if self.received_bytes > 0 || self.session.has_begun_reply() => Stage::Body,
            _ => Stage::FirstByte,
        }
    }

    fn part(&self) -> Option<u16> {
        match self.state {
            State::Statement(number) => self.account(number),
            State::Pipeline => self.account(self.queue.front()?),
            State::Idle | State::Pause | State::RollBack(_) => None,
        }
    }

    fn explain(&self, rejection: Rejection) -> String {
        match rejection.class {
            ErrorClass::Rows if self.loaded_rows > 0 => {
                format!("the server took {} of {} rows", rejection.code, self.loaded_rows)
            }
            ErrorClass::Rows => {
                let plan = self.program.steps.get(usize::from(self.step));
                let expected =
                    plan.and_then(|plan| plan.expects).map_or(String::new(), |(_, rows)| rows.to_string());
                format!("{} rows, and {expected} expected", rejection.code)
            }
            ErrorClass::OpenTransaction => {
                "the script ended inside a transaction, which was rolled back".to_owned()
            }
            ErrorClass::RolledBack => {
                "the server answered COMMIT with ROLLBACK: nothing was committed".to_owned()
            }
            ErrorClass::ScriptStopped => self.server_error.text.clone(),
            _ => classes::words(self.program.engine, &self.server_error),
        }
    }

    fn farewell(&self) -> &[u8] {
        self.session.farewell()
    }

    fn cancel(&self) -> Option<Cancel> {
        self.session.cancel()
    }

    fn forget(&mut self) {
        self.session.forget();
        self.queue.clear();
        (self.state, self.is_in_doubt, self.rejection) = (State::Idle, false, None);
    }

    fn interrupt(&self) -> Option<Interrupt> {
        self.session.interrupt()
    }
}

/// Error for a reply without a request.
fn unsolicited_reply() -> PeerFault {
    let sentence = "the server sent an answer without a request";
    PeerFault::new(ErrorClass::ProtocolError, 0, sentence)
}
