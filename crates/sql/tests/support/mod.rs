//! Fake session with a simple protocol, and a scripted server.
//!
//! Every server message has two bytes: `E3` a statement changed 3 rows, `S3` it returned 3, `B.` it rolled back, `R` and a letter
//! an error of [`ERRORS`], `Cx` a column, `Vx` a value, `N.` a NULL, `W.` the end of a row, `ZI`, `ZT`, `ZF` ready with no, an
//! open, or a failed transaction, and `M.` a request for more data.
#![allow(dead_code, reason = "each test file uses its own part")]

use std::fmt::Write as _;

use sql::script::{Allow, Language, ScriptSet};
use sql::{Engine, Settings, Sql, SqlConversation, TransactionStep};
use wire::sql::{RowSink, ServerError, Session, SessionEvent, SqlState, Statement, Transaction, Value};
use wire::{
    Cancel, Conversation, ErrorClass, Greeting, Next, PartEnd, PeerFault, Progress, Rejection, Reply, Script,
};

/// Letter of an error, its SQLSTATE, and true if it ends the connection.
pub(crate) const ERRORS: [(u8, &[u8; 5], bool); 8] = [
    (b's', b"40001", false),
    (b'd', b"40P01", false),
    (b'u', b"23505", false),
    (b'b', b"42601", false),
    (b'k', b"57P01", true),
    (b'i', b"25P03", true),
    (b'l', b"55P03", false),
    (b'c', b"40003", false),
];

#[derive(Debug, Default)]
pub(crate) struct FakeSession {
    out: String,
    transaction: Transaction,
    server_error: ServerError,
    has_begun: bool,
    /// First byte of an incomplete message.
    half: Option<u8>,
}

impl FakeSession {
    fn message(
        &mut self,
        kind: u8,
        what: u8,
        rows: &mut dyn RowSink,
    ) -> Result<Option<SessionEvent>, PeerFault> {
        let count = u64::from(what.wrapping_sub(b'0'));
        Ok(Some(match kind {
            b'E' => SessionEvent::Succeeded { rows: count, has_rows: false },
            b'S' => SessionEvent::Succeeded { rows: count, has_rows: true },
            b'B' => SessionEvent::RolledBack,
            b'R' => {
                let known = ERRORS.iter().find(|(letter, ..)| *letter == what);
                let (_, state, is_fatal) = known.copied().unwrap_or((what, b"XX000", false));
                let text = format!("error {}", char::from(what));
                self.server_error =
                    ServerError { sqlstate: SqlState(*state), text, is_fatal, ..ServerError::default() };
                SessionEvent::Rejected
            }
            b'Z' => {
                self.transaction = match what {
                    b'T' => Transaction::Open,
                    b'F' => Transaction::Failed,
                    _ => Transaction::Idle,
                };
                SessionEvent::Ready
            }
            b'M' => {
                self.out = "more\n".to_owned();
                SessionEvent::Send
            }
            b'C' | b'V' | b'N' | b'W' => {
                take(kind, what, rows);
                return Ok(None);
            }
            _ => {
                let sentence = "the bytes are no message";
                return Err(PeerFault::new(ErrorClass::ProtocolError, 0, sentence));
            }
        }))
    }
}

impl Session for FakeSession {
    fn greet(&mut self) -> Greeting {
        Greeting::Done
    }

    fn greeted(&mut self, _bytes: &[u8]) -> Result<(usize, Greeting), PeerFault> {
        Ok((0, Greeting::Done))
    }

    fn secured(&mut self) -> Greeting {
        Greeting::Done
    }

    fn outgoing(&self) -> &[u8] {
        self.out.as_bytes()
    }

    fn clear(&mut self) {
        self.out.clear();
    }

    fn query(&mut self, text: &[u8]) {
        self.has_begun = false;
        let _ = writeln!(self.out, "{}", String::from_utf8_lossy(text));
    }

    fn execute(&mut self, statement: Statement<'_>, values: &mut dyn Iterator<Item = Value<'_>>) {
        self.has_begun = false;
        let Statement { number, text, is_kept } = statement;
        let _ = if is_kept { write!(self.out, "#{number} {text}") } else { write!(self.out, "{text}") };
        for value in values {
            let _ = write!(self.out, " | {}", value.text().map_or("NULL".into(), String::from_utf8_lossy));
        }
        self.out.push('\n');
    }

    fn sync(&mut self) {
        self.out.push_str("sync\n");
    }

    fn received(&mut self, bytes: &[u8], rows: &mut dyn RowSink) -> Result<(usize, SessionEvent), PeerFault> {
        for (at, byte) in bytes.iter().enumerate() {
            self.has_begun = true;
            let Some(kind) = self.half.take() else {
                self.half = Some(*byte);
                continue;
            };
            if let Some(event) = self.message(kind, *byte, rows)? {
                return Ok((at + 1, event));
            }
        }
        Ok((bytes.len(), SessionEvent::NeedMore))
    }

    fn transaction(&self) -> Transaction {
        self.transaction
    }

    fn last_error(&self) -> &ServerError {
        &self.server_error
    }

    fn has_begun_reply(&self) -> bool {
        self.has_begun
    }

    fn farewell(&self) -> &[u8] {
        b"bye"
    }

    fn cancel(&self) -> Option<Cancel> {
        Some(Cancel::Bytes([7; 16]))
    }

    fn forget(&mut self) {
        *self = Self::default();
    }
}

fn take(kind: u8, what: u8, rows: &mut dyn RowSink) {
    if !rows.needs_rows() {
        return;
    }
    match kind {
        b'C' => rows.column(0, &[what]),
        b'V' => rows.value(0, Some(&[what])),
        b'N' => rows.value(0, None),
        _ => rows.finish_row(),
    }
}

/// A deck of scripts, each named by its number.
pub(crate) fn all_scripts(scripts: &[&str]) -> ScriptSet {
    let mut all_scripts = ScriptSet::new();
    for (number, script) in scripts.iter().enumerate() {
        let added =
            all_scripts.add(&number.to_string(), script.as_bytes(), Language::Extended, Allow::Nothing);
        assert_eq!(added.map(usize::from), Ok(number));
    }
    all_scripts
}

/// A step per script.
pub(crate) fn steps(all_scripts: &ScriptSet) -> Vec<TransactionStep> {
    let numbers = 0..all_scripts.scripts().len() as u16;
    numbers.map(|script| TransactionStep { name: format!("step {script}"), script, expects: None }).collect()
}

pub(crate) fn sql(scripts: &[&str], settings: Settings) -> Sql {
    let all_scripts = all_scripts(scripts);
    let steps = steps(&all_scripts);
    Sql::new(all_scripts, &steps, settings, Engine::PostgreSql, |_| Box::new(FakeSession::default())).unwrap()
}

/// Conversation of the first connection.
pub(crate) fn conversation(script: &str, settings: Settings) -> SqlConversation {
    sql(&[script], settings).open(0)
}

/// Runs a step against a server with these replies, one per request. Returns a transcript.
pub(crate) fn play(conversation: &mut SqlConversation, step: u16, answers: &[&str]) -> String {
    play_in_pieces(conversation, step, answers, usize::MAX)
}

/// Like [`play`], with replies in pieces of this many bytes.
pub(crate) fn play_in_pieces(
    conversation: &mut SqlConversation,
    step: u16,
    answers: &[&str],
    piece: usize,
) -> String {
    let mut told = String::new();
    let mut answers = answers.iter();
    let mut next = conversation.begin(step);
    let mut rest: &[u8] = &[];
    for _ in 0..1_000 {
        let Some(progress) = go(conversation, &mut told, next, &mut answers, &mut rest, piece) else {
            return told;
        };
        match progress {
            Ok(Progress::PartReplied { used, part, next: then }) => {
                rest = &rest[used..];
                if let Some(PartEnd { part, rejection }) = part {
                    let _ = writeln!(told, "part {part}: {}", shown(conversation, rejection));
                }
                next = then;
            }
            Ok(Progress::Replied { used, reply }) => {
                rest = &rest[used..];
                next = Next::Done(reply);
            }
            Ok(Progress::NeedMore) => {
                let _ = writeln!(
                    told,
                    "waiting: {:?}, {:?}, part {:?}",
                    conversation.stage(),
                    conversation.peer_closed(),
                    conversation.part()
                );
                return told;
            }
            Ok(Progress::Redirected { .. }) => panic!("a database names no other peer"),
            Err(fault) => {
                let _ = writeln!(told, "fault {}: {}", fault.class, fault.message());
                return told;
            }
        }
    }
    panic!("it does not end:\n{told}");
}

/// Performs the next action. Returns the following data of the server.
fn go<'a>(
    conversation: &mut SqlConversation,
    told: &mut String,
    mut next: Next,
    answers: &mut std::slice::Iter<'_, &'a str>,
    rest: &mut &'a [u8],
    piece: usize,
) -> Option<Result<Progress, PeerFault>> {
    if let Next::Pause { ns } = next {
        let _ = writeln!(told, "pause {ns}");
        next = conversation.resume();
        return go(conversation, told, next, answers, rest, piece);
    }
    match next {
        Next::Send => {
            if !rest.is_empty() {
                told.push_str("early: an answer came before its question\n");
                return None;
            }
            for line in String::from_utf8_lossy(conversation.outgoing()).lines() {
                let _ = writeln!(told, "> {line}");
            }
            *rest = answers.next().map_or(&[][..], |answer| answer.as_bytes());
        }
        Next::Await => {}
        Next::Reopen => told.push_str("reopen\n"),
        Next::Done(Reply { status, rejection, reusable, idle_max_s: _, received_bytes: _ }) => {
            let end = if reusable { "" } else { ", connection lost" };
            let _ = writeln!(told, "try {status}: {}{end}", shown(conversation, rejection));
            if !rest.is_empty() {
                told.push_str("an answer is left over\n");
            }
            return None;
        }
        Next::Broken(words) => {
            let _ = writeln!(told, "broken: {words}");
            return None;
        }
        Next::Pause { .. } => unreachable!("it was made above"),
    }
    loop {
        let (now, later) = rest.split_at(piece.min(rest.len()));
        let progress = conversation.received(now);
        if progress != Ok(Progress::NeedMore) || later.is_empty() {
            return Some(progress);
        }
        *rest = later;
    }
}

fn shown(conversation: &SqlConversation, rejection: Option<Rejection>) -> String {
    match rejection {
        None => "ok".to_owned(),
        Some(rejection) => format!("{} ({})", rejection.class, conversation.explain(rejection)),
    }
}

/// Compares two transcripts line by line. Ignores indentation of the expected one, and semicolons.
#[track_caller]
pub(crate) fn assert_transcript(told: &str, expected: &str) {
    let plain = |line: &str| line.trim().replace(';', "");
    let lines = |text: &str| text.lines().map(plain).filter(|line| !line.is_empty()).collect::<Vec<_>>();
    let (told, expected) = (lines(told), lines(expected));
    assert_eq!(told, expected, "\n{}", told.join("\n"));
}
