//! Statements of PostgreSQL: messages, events, and hostile servers.

use std::collections::BTreeSet;
use std::sync::Arc;

use wire::ErrorClass;

use crate::postgres_server::{error, log_in, message, notice, ready};
use wire::PeerFault;
use wire::postgres::Session;
use wire::sql::{RowSink, Session as _, SessionEvent, Statement, Transaction, Value};

const READY: SessionEvent = SessionEvent::Ready;

/// RowDescription with these columns.
fn described(names: &[&str]) -> Vec<u8> {
    let mut content = (names.len() as u16).to_be_bytes().to_vec();
    for name in names {
        content.extend_from_slice(name.as_bytes());
        content.extend_from_slice(&[0; 19]);
    }
    message(b'T', &content)
}

/// DataRow.
fn row(values: &[Option<&str>]) -> Vec<u8> {
    let mut content = (values.len() as u16).to_be_bytes().to_vec();
    for value in values {
        content.extend_from_slice(&value.map_or(-1, |value| value.len() as i32).to_be_bytes());
        content.extend_from_slice(value.unwrap_or_default().as_bytes());
    }
    message(b'D', &content)
}

/// CommandComplete.
fn ended(tag: &str) -> Vec<u8> {
    message(b'C', &[tag.as_bytes(), b"\0"].concat())
}

fn session() -> Session {
    Session::new(Arc::default(), [0; 18])
}

const fn sent(rows: u64) -> SessionEvent {
    SessionEvent::Succeeded { rows, has_rows: true }
}

const fn changed(rows: u64) -> SessionEvent {
    SessionEvent::Succeeded { rows, has_rows: false }
}

fn kept(session: &mut Session, number: u16, value: Option<&str>) {
    let statement = Statement { number, text: "SELECT $1", is_kept: true };
    session.execute(statement, &mut [Value::from(value.map(str::as_bytes))].into_iter());
}

fn unnamed(session: &mut Session, text: &str) {
    session.execute(Statement { number: 0, text, is_kept: false }, &mut [].into_iter());
}

/// Records every call.
#[derive(Default)]
struct RowLog(String);

impl RowSink for RowLog {
    fn needs_rows(&self) -> bool {
        true
    }

    fn column(&mut self, number: u16, name: &[u8]) {
        self.0 += &format!("{number}:{} ", name.escape_ascii());
    }

    fn value(&mut self, column: u16, value: Option<&[u8]>) {
        let value = value.map_or("NULL".to_owned(), |value| value.escape_ascii().to_string());
        self.0 += &format!("{column}={value} ");
    }

    fn finish_row(&mut self) {
        self.0 += "/ ";
    }
}

/// All events of these bytes, fed in pieces of this size.
fn receive_events(
    session: &mut Session,
    rows: &mut dyn RowSink,
    bytes: &[u8],
    size: usize,
) -> Result<Vec<SessionEvent>, PeerFault> {
    let mut all = Vec::new();
    for piece in bytes.chunks(size) {
        let mut rest = piece;
        loop {
            let (used, event) = session.received(rest, rows)?;
            rest = &rest[used..];
            match event {
                SessionEvent::NeedMore => break,
                event => all.push(event),
            }
        }
        assert!(rest.is_empty());
    }
    Ok(all)
}

fn event(session: &mut Session, messages: &[Vec<u8>]) -> Vec<SessionEvent> {
    receive_events(session, &mut (), &messages.concat(), usize::MAX).unwrap()
}

fn fault(session: &mut Session, messages: &[Vec<u8>]) -> PeerFault {
    receive_events(session, &mut (), &messages.concat(), usize::MAX).unwrap_err()
}

/// Replies to the preparation of a kept statement.
fn prepared() -> Vec<u8> {
    [message(b'1', b""), message(b't', b"\0\x01\0\0\0\x19"), described(&["a", "b"])].concat()
}

fn bound() -> Vec<u8> {
    message(b'2', b"")
}

#[test]
fn kept_statement_is_prepared_with_first_execution() {
    let mut session = session();
    kept(&mut session, 12, Some("x"));
    session.sync();
    let bind = b"B\0\0\0\x1e\0P_aaaaaaaa_12\0\0\0\0\x01\0\0\0\x01x\0\0E\0\0\0\x09\0\0\0\0\0S\0\0\0\x04";
    let first = [&b"P\0\0\0\x1eP_aaaaaaaa_12\0SELECT $1\0\0\0D\0\0\0\x13SP_aaaaaaaa_12\0"[..], bind]
        .concat()
        .escape_ascii()
        .to_string();
    assert_eq!(session.outgoing().escape_ascii().to_string(), first);
    let reply = [prepared(), bound(), row(&[Some("1"), None]), ended("SELECT 1"), ready()];
    assert_eq!(event(&mut session, &reply), [sent(1), READY]);

    session.clear();
    kept(&mut session, 12, Some("x"));
    session.sync();
    assert_eq!(session.outgoing().escape_ascii().to_string(), bind.escape_ascii().to_string());
    let again = [bound(), ended("SELECT 0"), ready()];
    assert_eq!(event(&mut session, &again), [sent(0), READY], "it is known to send rows");

    session.forget();
    kept(&mut session, 12, Some("x"));
    session.sync();
    assert_eq!(session.outgoing().escape_ascii().to_string(), first);
}

#[test]
fn names_of_statements_differ_between_sessions() {
    let name = |session: &mut Session| {
        kept(session, 7, None);
        let sent = session.outgoing()[5..].to_vec();
        sent[..sent.iter().position(|byte| *byte == 0).unwrap()].to_vec()
    };
    let session = |nonce: [u8; 18]| Session::new(Arc::default(), nonce);
    let mut nonces = vec![[0; 18]];
    for place in 0..5 {
        for byte in [1, 0x80] {
            let mut nonce = [0; 18];
            nonce[place] = byte;
            nonces.push(nonce);
        }
    }
    let names: BTreeSet<_> = nonces.iter().map(|nonce| name(&mut session(*nonce))).collect();
    assert_eq!(names.len(), nonces.len(), "{names:?}");
    assert!(names.iter().flatten().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_'), "{names:?}");

    let mut other = session([9; 18]).with_statement_names_of(&session([5; 18]));
    assert_eq!(name(&mut other), name(&mut session([5; 18])));
}

#[test]
fn failed_preparation_is_closed_and_repeated() {
    let mut session = session();
    let puts = |session: &mut Session| {
        session.clear();
        kept(session, 1, None);
        session.sync();
        session.outgoing().iter().position(|byte| *byte == 0).map(|end| session.outgoing()[..end].to_vec())
    };
    let rejection = |state| [error("ERROR", state, "no"), ready()];
    assert_eq!(puts(&mut session).as_deref(), Some(&b"P"[..]));
    assert_eq!(event(&mut session, &rejection("42601")), [SessionEvent::Rejected, READY]);
    assert_eq!(puts(&mut session).as_deref(), Some(&b"C"[..]), "closed first");
    let reply = [message(b'3', b""), prepared(), bound(), ended("SELECT 0"), ready()];
    assert_eq!(event(&mut session, &reply), [sent(0), READY]);
    assert_eq!(puts(&mut session).as_deref(), Some(&b"B"[..]));
    // A pooler has switched to a server connection without the statement.
    assert_eq!(event(&mut session, &rejection("26000")), [SessionEvent::Rejected, READY]);
    assert_eq!(puts(&mut session).as_deref(), Some(&b"C"[..]));
}

#[test]
fn error_in_pipeline_skips_rest_until_sync() {
    let mut session = session();
    kept(&mut session, 0, Some("1"));
    kept(&mut session, 0, Some("2"));
    session.sync();
    unnamed(&mut session, "UPDATE t SET a = 1");
    kept(&mut session, 0, Some("3"));
    session.sync();
    kept(&mut session, 0, None);
    session.sync();
    let first = [prepared(), bound(), ended("SELECT 0"), bound(), ended("SELECT 0"), ready()];
    assert_eq!(event(&mut session, &first), [sent(0), sent(0), READY]);
    let second = [message(b'1', b""), bound(), error("ERROR", "40001", "again"), message(b'Z', b"E")];
    assert_eq!(event(&mut session, &second), [SessionEvent::Rejected, READY]);
    assert_eq!(session.transaction(), Transaction::Failed);
    assert_eq!(
        (session.last_error().sqlstate.as_str(), session.last_error().text.as_str()),
        ("40001", "again")
    );
    assert_eq!(event(&mut session, &[bound(), ended("SELECT 0"), ready()]), [sent(0), READY]);
    assert!(!session.has_begun_reply());
}

#[test]
fn accepts_error_at_any_message_and_notices_anywhere() {
    let parts = [message(b'1', b""), bound(), described(&["a"]), row(&[Some("1")]), ended("SELECT 1")];
    for place in 0..=parts.len() {
        let mut session = session();
        unnamed(&mut session, "SELECT 1");
        session.sync();
        let mut reply: Vec<Vec<u8>> =
            parts[..place].iter().flat_map(|part| [notice(), part.clone()]).collect();
        reply.extend([notice(), error("ERROR", "57014", "canceled"), notice(), ready()]);
        let mut expected = vec![SessionEvent::Rejected, READY];
        if place == parts.len() {
            // The error comes after the end of the statement, from the end of its transaction.
            expected.insert(0, sent(1));
        }
        assert_eq!(event(&mut session, &reply), expected, "before message {place}");
        session.query(b"SELECT 2");
        assert_eq!(event(&mut session, &[ended("UPDATE 5"), ready()]), [changed(5), READY]);
    }
}

#[test]
fn fatal_error_clears_expected_messages_even_when_idle() {
    for is_idle in [true, false] {
        let mut session = session();
        if !is_idle {
            kept(&mut session, 0, None);
            session.sync();
            session.query(b"COMMIT");
        }
        assert_eq!(
            event(&mut session, &[error("FATAL", "57P01", "shutting down")]),
            [SessionEvent::Rejected]
        );
        assert!(session.last_error().is_fatal && session.last_error().text == "shutting down");
        assert_eq!(session.has_begun_reply(), !is_idle);
        assert_eq!(fault(&mut session, &[ready()]).class, ErrorClass::ProtocolError);
    }
    let fault = fault(&mut session(), &[error("ERROR", "57014", "nobody asked")]);
    assert_eq!(fault.class, ErrorClass::ProtocolError);
}

#[test]
fn passes_rows_to_reader_in_any_pieces() {
    let text = [described(&["id", "näme"]), row(&[Some("1"), None]), row(&[Some(""), Some("x\0")])].concat();
    let reply = [text, ended("SELECT 2"), ready()].concat();
    let expected = "0:id 1:n\\xc3\\xa4me 0=1 1=NULL / 0= 1=x\\x00 / ";
    for size in [1, 3, 7, 1000] {
        let (mut session, mut told) = (session(), RowLog::default());
        session.query(b"SELECT id, name FROM t");
        assert_eq!(receive_events(&mut session, &mut told, &reply, size).unwrap(), [sent(2), READY]);
        assert_eq!(told.0, expected);
    }
    let (mut session, mut told) = (session(), RowLog::default());
    for first in [true, false] {
        kept(&mut session, 3, None);
        session.sync();
        let before = if first { prepared() } else { Vec::new() };
        let reply = [before, bound(), row(&[Some("1"), None]), ended("SELECT 1"), ready()].concat();
        assert_eq!(receive_events(&mut session, &mut told, &reply, 5).unwrap(), [sent(1), READY]);
    }
    assert_eq!(told.0, "0:a 1:b 0=1 1=NULL / 0:a 1:b 0=1 1=NULL / ", "names are sent each time");
}

#[test]
fn rejects_malformed_rows_for_readers() {
    for (description, row, sentence) in [
        (described(&["a"]), b"\0\x01\0\0\0\x05abc".to_vec(), "a row is malformed"),
        (described(&["a"]), b"\0\x01\xff\xff\xff\xfeabc".to_vec(), "a row is malformed"),
        (described(&["a"]), b"\0\x01\0\0\0\x01abc".to_vec(), "a row is malformed"),
        (
            message(b'T', &[&b"\0\x01"[..], &[b'a'; 30]].concat()),
            vec![],
            "the description of the rows is malformed",
        ),
        (
            message(b'T', &[&b"\0\x01"[..], &[0; 30]].concat()),
            vec![],
            "the description of the rows is malformed",
        ),
    ] {
        let mut session = session();
        session.query(b"SELECT 1");
        let bytes = [description, message(b'D', &row)].concat();
        assert_eq!(
            receive_events(&mut session, &mut RowLog::default(), &bytes, 3).unwrap_err().sentence,
            sentence
        );
    }
}

#[test]
fn skips_large_rows_and_rejects_them_for_readers() {
    let mut session = session();
    session.query(b"SELECT large");
    event(&mut session, &[described(&["a"])]);
    let field = 1 << 30;
    let head = [&b"D"[..], &(4u32 + 2 + 4 + field).to_be_bytes(), b"\0\x01", &field.to_be_bytes()].concat();
    event(&mut session, std::slice::from_ref(&head));
    let piece = vec![b'x'; 1 << 20];
    for _ in 0..1 << 10 {
        assert_eq!(session.received(&piece, &mut ()).unwrap(), (piece.len(), SessionEvent::NeedMore));
    }
    assert_eq!(event(&mut session, &[ended("SELECT 1"), ready()]), [sent(1), READY]);

    session.query(b"SELECT large");
    let bytes = [described(&["a"]), head].concat();
    let fault = receive_events(&mut session, &mut RowLog::default(), &bytes, 9).unwrap_err();
    assert!(
        fault.class == ErrorClass::ProtocolError && fault.sentence.contains("16 MiB"),
        "{}",
        fault.sentence
    );
}

#[test]
fn accepts_many_async_messages_even_when_idle() {
    let mut session = session();
    let setting = message(b'S', &[&b"server_version\0"[..], &[b'9'; 60_000], b"\0"].concat());
    let notification = message(b'A', b"\0\0\0\x01channel\0payload\0");
    let flood = [notice(), setting, notification].concat().repeat(100);
    for _ in 0..10 {
        assert_eq!(receive_events(&mut session, &mut (), &flood, 100_000).unwrap(), []);
    }
    assert_eq!(session.async_message_count(), 3_000);
    assert!(session.server_version().is_some_and(|version| version.len() <= 512), "what is kept is capped");
    assert!(!session.has_begun_reply());
    let late = fault(&mut session, &[log_in(0, b"")]);
    assert_eq!(
        (late.class, late.sentence),
        (ErrorClass::ProtocolError, "the server sent a message without a request")
    );
}

#[test]
fn loaded_rows_are_sent_only_for_their_own_statement() {
    let mut session = session();
    let copy = message(b'G', b"\0\0\x02\0\0\0\0");
    session.load(b"COPY t FROM STDIN", b"1\n2\n".to_vec());
    assert_eq!(session.outgoing(), b"Q\0\0\0\x16COPY t FROM STDIN\0");
    assert_eq!(event(&mut session, std::slice::from_ref(&copy)), [SessionEvent::Send]);
    assert_eq!(session.outgoing(), b"d\0\0\0\x081\n2\nc\0\0\0\x04");
    assert_eq!(event(&mut session, &[ended("COPY 2"), ready()]), [changed(2), READY]);

    session.clear();
    session.load(b"COPY t FROM STDIN", b"secret\n".to_vec());
    assert_eq!(
        event(&mut session, &[error("ERROR", "42P01", "no"), ready()]),
        [SessionEvent::Rejected, READY]
    );
    session.clear();
    session.query(b"SELECT 1");
    assert_eq!(event(&mut session, std::slice::from_ref(&copy)), [SessionEvent::Send]);
    assert!(session.outgoing().starts_with(b"f\0\0\0"), "a server that asks for them later gets no rows");
}

#[test]
fn copy_in_works_and_unexpected_copy_is_rejected() {
    let mut session = session();
    let copy = message(b'G', b"\0\0\x02\0\0\0\0");
    session.copy_in("TRUNCATE t; COPY t FROM STDIN");
    session.copy_data(b"too early");
    assert_eq!(session.outgoing()[..5], *b"Q\0\0\0\x22");
    assert_eq!(session.outgoing().len(), 1 + 0x22);
    assert_eq!(
        event(&mut session, &[ended("TRUNCATE TABLE"), copy.clone()]),
        [changed(0), SessionEvent::Send]
    );
    assert!(session.is_copy_ready() && session.outgoing().is_empty());
    session.copy_data(b"1\tone\n");
    session.copy_done();
    session.copy_data(b"too late");
    assert_eq!(session.outgoing(), b"d\0\0\0\x0a1\tone\nc\0\0\0\x04");
    assert_eq!(event(&mut session, &[ended("COPY 1"), ready()]), [changed(1), READY]);

    session.copy_in("COPY t FROM STDIN");
    assert_eq!(event(&mut session, std::slice::from_ref(&copy)), [SessionEvent::Send]);
    assert_eq!(
        event(&mut session, &[error("ERROR", "22P04", "bad"), ready()]),
        [SessionEvent::Rejected, READY]
    );
    assert!(!session.is_copy_ready());

    for is_text in [true, false] {
        session.clear();
        if is_text {
            session.query(b"COPY t FROM STDIN");
        } else {
            unnamed(&mut session, "COPY t FROM STDIN");
            session.sync();
            event(&mut session, &[message(b'1', b""), bound(), message(b'n', b"")]);
        }
        assert_eq!(event(&mut session, std::slice::from_ref(&copy)), [SessionEvent::Send]);
        assert!(session.outgoing().starts_with(b"f\0\0\0") && !session.is_copy_ready());
        assert_eq!(session.outgoing().ends_with(b"S\0\0\0\x04"), !is_text);
        assert_eq!(
            event(&mut session, &[error("ERROR", "57014", "no"), ready()]),
            [SessionEvent::Rejected, READY]
        );
        let server_error = session.last_error();
        assert_eq!(
            (server_error.sqlstate.as_str(), server_error.text.contains("COPY FROM STDIN")),
            ("0A000", true),
            "{server_error:?}"
        );
    }
    unnamed(&mut session, "COPY t FROM STDIN");
    unnamed(&mut session, "SELECT 1");
    session.sync();
    let fault = fault(&mut session, &[message(b'1', b""), bound(), message(b'n', b""), copy]);
    assert!(fault.sentence.contains("COPY"), "{}", fault.sentence);
}

#[test]
fn unsendable_statement_is_rejected_in_order() {
    let mut session = session();
    let many = || std::iter::repeat_n(Value::Text(b"1"), 70_000);
    kept(&mut session, 0, None);
    session.execute(Statement { number: 1, text: "SELECT 1", is_kept: true }, &mut many());
    session.execute(Statement { number: 2, text: "SELECT 1", is_kept: false }, &mut many());
    session.sync();
    assert!(session.outgoing().len() < 200);
    let reply = [prepared(), bound(), ended("SELECT 0"), prepared(), ready()];
    assert_eq!(event(&mut session, &reply), [sent(0), SessionEvent::Rejected, SessionEvent::Rejected, READY]);
    assert_eq!(session.last_error().sqlstate.as_str(), "54000");
}

#[test]
fn rollback_is_distinguished_from_other_command_tags() {
    let mut session = session();
    for (tag, end) in [
        ("ROLLBACK", SessionEvent::RolledBack),
        ("COMMIT", changed(0)),
        ("ROLLBACK PREPARED", changed(0)),
        ("UPDATE 3", changed(3)),
    ] {
        session.query(b"COMMIT");
        assert_eq!(event(&mut session, &[ended(tag), ready()]), [end, READY], "{tag}");
        unnamed(&mut session, "COMMIT");
        session.sync();
        let answer = [message(b'1', b""), bound(), message(b'n', b""), ended(tag), ready()];
        assert_eq!(event(&mut session, &answer), [end, READY], "{tag}");
    }
}
