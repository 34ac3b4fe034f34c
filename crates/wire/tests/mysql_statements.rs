//! Statements of MySQL: packets, their order, and events.

use crate::mysql_server::{MARIADB, MYSQL_8, OLD, SUCCESS, greeting, logged_in, login, packets};
use std::sync::Arc;
use wire::mysql::Session;
use wire::sql::{RowSink, Session as _, SessionEvent, Statement, Transaction, Value};
use wire::{Cancel, ErrorClass, Event, Greeting, Next, PeerFault, Ticket, Values};

const ENDED: SessionEvent = SessionEvent::Succeeded { rows: 0, has_rows: false };
const ERROR: &[u8] = b"\xff\x28\x04#42000syntax";
/// A column `n` of type BIGINT.
const NUMBER: &[u8] = b"\x03def\0\0\0\x01n\0\x0c\x3f\0\x01\0\0\0\x08\x81\0\0\0\0";
/// A column `t` of type VARCHAR.
const TEXT: &[u8] = b"\x03def\0\0\0\x01t\0\x0c\x2d\0\x01\0\0\0\xfd\0\0\0\0\0";
const END: &[u8] = &[0xfe, 0, 0, 2, 0, 0, 0];
const OLD_END: &[u8] = &[0xfe, 0, 0, 2, 0];
const SEVEN: &[u8] = &[0, 0, 7, 0, 0, 0, 0, 0, 0, 0];

/// Records the columns and values of rows, if enabled.
#[derive(Default)]
struct RowLog {
    needs_rows: bool,
    lines: Vec<String>,
}

impl RowSink for RowLog {
    fn needs_rows(&self) -> bool {
        self.needs_rows
    }

    fn column(&mut self, number: u16, name: &[u8]) {
        self.lines.push(format!("{number}:{}", name.escape_ascii()));
    }

    fn value(&mut self, column: u16, value: Option<&[u8]>) {
        let value = value.map_or("NULL".to_owned(), |value| value.escape_ascii().to_string());
        self.lines.push(format!("{column}={value}"));
    }

    fn finish_row(&mut self) {
        self.lines.push(";".to_owned());
    }
}

/// All events of these bytes, fed in pieces of this size.
fn receive_events_in(
    session: &mut Session,
    rows: &mut dyn RowSink,
    bytes: &[u8],
    size: usize,
) -> Result<Vec<SessionEvent>, PeerFault> {
    let mut all = Vec::new();
    for piece in bytes.chunks(size.max(1)).chain([&[][..]]) {
        let mut rest = piece;
        loop {
            let (used, event) = session.received(rest, rows)?;
            rest = &rest[used..];
            match event {
                SessionEvent::NeedMore => {
                    assert!(rest.is_empty());
                    break;
                }
                event => all.push(event),
            }
        }
    }
    Ok(all)
}

fn receive_events(session: &mut Session, bytes: &[u8]) -> Vec<SessionEvent> {
    receive_events_in(session, &mut (), bytes, usize::MAX).expect("no fault")
}

fn execute(session: &mut Session, number: u16, is_kept: bool, text: &str, values: &[Option<&str>]) {
    let values = &mut values.iter().map(|value| Value::from(value.map(str::as_bytes)));
    session.execute(Statement { number, text, is_kept }, values);
}

/// First packet of the reply to a prepare command.
fn prepared(id: u8, columns: u8, placeholders: u8) -> Vec<u8> {
    vec![0, id, 0, 0, 0, columns, 0, placeholders, 0, 0, 0, 0]
}

#[test]
fn query_is_one_packet_and_results_come_in_order() {
    let mut session = logged_in(MYSQL_8);
    session.query(b"begin; select 1; x");
    assert_eq!(session.outgoing(), b"\x13\0\0\0\x03begin; select 1; x");
    assert!(!session.has_begun_reply());
    let begun = &[0, 0, 0, 0x0b, 0, 0, 0];
    let more = &[0xfe, 0, 0, 0x0b, 0, 0, 0];
    let reply = packets(1, &[begun, &[1], NUMBER, b"\x011", b"\x012", more, ERROR]);
    let mut open = false;
    for size in [usize::MAX, 1, 3] {
        session.clear();
        if open {
            session.query(b"begin; select 1; x");
        }
        open = true;
        let event = receive_events_in(&mut session, &mut (), &reply, size).expect("no fault");
        let rows = SessionEvent::Succeeded { rows: 2, has_rows: true };
        assert_eq!(event, [ENDED, rows, SessionEvent::Rejected, SessionEvent::Ready]);
        assert_eq!(session.transaction(), Transaction::Open);
        let server_error = session.last_error();
        assert_eq!(
            (server_error.sqlstate.as_str(), server_error.number, server_error.text.as_str()),
            ("42000", 1064, "syntax")
        );
        assert!(!session.has_begun_reply());
    }
    session.query(b"commit");
    assert_eq!(receive_events(&mut session, &packets(1, &[SUCCESS])), [ENDED, SessionEvent::Ready]);
    assert_eq!(session.transaction(), Transaction::Idle);
}

#[test]
fn deadlock_ends_transaction() {
    let mut session = logged_in(MYSQL_8);
    session.query(b"begin");
    receive_events(&mut session, &packets(1, &[&[0, 0, 0, 1, 0, 0, 0]]));
    session.query(b"update t set a = 1");
    receive_events(&mut session, &packets(1, &[b"\xff\xb5\x04#HY000Lock wait timeout"]));
    assert_eq!(session.transaction(), Transaction::Open);
    session.query(b"update t set a = 1");
    receive_events(&mut session, &packets(1, &[b"\xff\xbd\x04#40001Deadlock"]));
    assert_eq!(session.transaction(), Transaction::Idle);
}

#[test]
fn kept_statement_is_prepared_once() {
    let mut session = logged_in(OLD);
    execute(&mut session, 3, true, "select ? from t", &[Some("a")]);
    session.sync();
    assert_eq!(session.outgoing(), b"\x10\0\0\0\x16select ? from t");
    let answer = packets(1, &[&prepared(9, 1, 1), NUMBER, OLD_END, NUMBER, OLD_END]);
    assert_eq!(receive_events(&mut session, &answer), [SessionEvent::Send]);
    let first = b"\x10\0\0\0\x17\x09\0\0\0\0\x01\0\0\0\0\x01\xfd\0\x01a";
    assert_eq!(session.outgoing(), first);
    let rows = packets(1, &[&[1], NUMBER, OLD_END, SEVEN, OLD_END]);
    assert_eq!(
        receive_events(&mut session, &rows),
        [SessionEvent::Succeeded { rows: 1, has_rows: true }, SessionEvent::Ready]
    );

    session.clear();
    execute(&mut session, 3, true, "select ? from t", &[None]);
    session.sync();
    assert_eq!(session.outgoing(), b"\x0e\0\0\0\x17\x09\0\0\0\0\x01\0\0\0\x01\x01\xfd\0", "a bit for NULL");
    assert_eq!(receive_events(&mut session, &rows).len(), 2);

    session.clear();
    execute(&mut session, 3, true, "select ? from t", &[None]);
    session.sync();
    let unknown = packets(1, &[b"\xff\xdb\x04#HY000Unknown prepared statement handler"]);
    assert_eq!(receive_events(&mut session, &unknown), [SessionEvent::Rejected, SessionEvent::Ready]);
    session.clear();
    execute(&mut session, 3, true, "select ? from t", &[None]);
    assert_eq!(session.outgoing()[4], 0x16, "prepared again");
}

#[test]
fn statement_that_cannot_be_prepared_is_sent_as_text() {
    let cannot: &[u8] =
        b"\xff\x0f\x05#HY000This command is not supported in the prepared statement protocol yet";
    let begun: &[u8] = &[0, 0, 0, 1, 0, 0, 0];
    let mut session = logged_in(MYSQL_8);
    execute(&mut session, 3, true, "begin", &[]);
    session.sync();
    assert_eq!(session.outgoing(), b"\x06\0\0\0\x16begin");
    assert_eq!(receive_events(&mut session, &packets(1, &[cannot])), [SessionEvent::Send]);
    assert_eq!(session.outgoing(), b"\x06\0\0\0\x03begin");
    assert_eq!(receive_events(&mut session, &packets(1, &[begun])), [ENDED, SessionEvent::Ready]);
    assert_eq!(session.transaction(), Transaction::Open);

    session.clear();
    execute(&mut session, 3, true, "begin", &[]);
    session.sync();
    assert_eq!(session.outgoing(), b"\x06\0\0\0\x03begin", "it is prepared once per connection only");
    assert_eq!(
        receive_events(&mut session, &packets(1, &[cannot])),
        [SessionEvent::Rejected, SessionEvent::Ready],
        "an error of the text is reported"
    );

    session.clear();
    execute(&mut session, 4, true, "do ?", &[Some("a")]);
    session.sync();
    assert_eq!(
        receive_events(&mut session, &packets(1, &[cannot])),
        [SessionEvent::Rejected, SessionEvent::Ready]
    );
}

#[test]
fn numbers_are_sent_with_types_of_their_literals() {
    let mut session = logged_in(MYSQL_8);
    let values = ["2", "18446744073709551615", "0.10", "1e+30", "x"].map(|word| Value::Bare(word.as_bytes()));
    let values = values.into_iter().chain([Value::Text(b"2"), Value::Null]);
    let statement = Statement { number: 0, text: "do ?, ?, ?, ?, ?, ?, ?", is_kept: true };
    session.execute(statement, &mut values.into_iter());
    receive_events(&mut session, &packets(1, &[&[&prepared(1, 0, 7)[..]], &[NUMBER; 7][..]].concat()));
    let sent = &session.outgoing()[14..];
    let types = b"\x40\x01\x08\0\x08\x80\xf6\0\x05\0\xfd\0\xfd\0\xfd\0";
    let double = 1e30_f64.to_le_bytes();
    let numbers = [&b"\x02\0\0\0\0\0\0\0"[..], &[0xff; 8], b"\x040.10", &double, b"\x01x\x012"].concat();
    assert_eq!(sent, [&types[..], &numbers].concat());
}

#[test]
fn unkept_statement_is_closed_with_next_command() {
    let mut session = logged_in(MYSQL_8);
    execute(&mut session, 0, false, "do 1", &[]);
    session.sync();
    assert_eq!(receive_events(&mut session, &packets(1, &[&prepared(5, 0, 0)])), [SessionEvent::Send]);
    assert_eq!(session.outgoing(), b"\x0a\0\0\0\x17\x05\0\0\0\0\x01\0\0\0");
    assert_eq!(receive_events(&mut session, &packets(1, &[SUCCESS])), [ENDED, SessionEvent::Ready]);
    session.clear();
    assert!(session.outgoing().is_empty());
    session.query(b"x");
    assert_eq!(session.outgoing(), b"\x05\0\0\0\x19\x05\0\0\0\x02\0\0\0\x03x");
}

#[test]
fn error_drops_waiting_statements_until_sync() {
    let mut session = logged_in(MYSQL_8);
    for number in 0..3 {
        execute(&mut session, number, true, "do 1", &[]);
    }
    session.sync();
    execute(&mut session, 3, true, "do 2", &[]);
    session.sync();
    let (is_prepared, ok) = (packets(1, &[&prepared(1, 0, 0)]), packets(1, &[SUCCESS]));
    assert_eq!(receive_events(&mut session, &is_prepared), [SessionEvent::Send]);
    assert_eq!(receive_events(&mut session, &ok), [ENDED, SessionEvent::Send]);
    assert_eq!(session.outgoing(), b"\x05\0\0\0\x16do 1");
    let refused = receive_events(&mut session, &packets(1, &[ERROR]));
    assert_eq!(refused, [SessionEvent::Rejected, SessionEvent::Ready, SessionEvent::Send]);
    assert_eq!(session.outgoing(), b"\x05\0\0\0\x16do 2");
    assert_eq!(receive_events(&mut session, &is_prepared), [SessionEvent::Send]);
    assert_eq!(receive_events(&mut session, &ok), [ENDED, SessionEvent::Ready]);

    // Statements between the error and the sync are dropped, too.
    session.clear();
    execute(&mut session, 9, true, "do 3", &[]);
    assert_eq!(receive_events(&mut session, &packets(1, &[ERROR])), [SessionEvent::Rejected]);
    session.clear();
    execute(&mut session, 0, true, "do 1", &[]);
    assert!(session.outgoing().is_empty());
    session.sync();
    assert_eq!(receive_events(&mut session, b""), [SessionEvent::Ready]);
    execute(&mut session, 0, true, "do 1", &[]);
    assert!(!session.outgoing().is_empty());
}

#[test]
fn rejects_wrong_number_of_values() {
    let mut session = logged_in(MYSQL_8);
    execute(&mut session, 0, true, "do ?", &[]);
    session.sync();
    let answer = packets(1, &[&prepared(5, 0, 1), NUMBER]);
    assert_eq!(receive_events(&mut session, &answer), [SessionEvent::Rejected, SessionEvent::Ready]);
    let server_error = session.last_error();
    assert_eq!((server_error.sqlstate.as_str(), server_error.number), ("07001", 0));
    assert_eq!(server_error.text, "the statement has 1 placeholders and was given 0 values");
}

#[test]
fn reads_rows_in_text_and_binary_form() {
    for (capabilities, end, is_old) in [(MYSQL_8, END, false), (OLD, OLD_END, true)] {
        let head: &[&[u8]] = if is_old { &[&[2], NUMBER, TEXT, OLD_END] } else { &[&[2], NUMBER, TEXT] };
        let text = packets(1, &[head, &[b"\x017\x02hi", b"\xfb\x00", end]].concat());
        let binary_rows: [&[u8]; 3] = [&[0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 2, b'h', b'i'], &[0, 0b100, 0], end];
        let binary = packets(1, &[head, &binary_rows].concat());
        let definitions: &[&[u8]] = if is_old { &[NUMBER, TEXT, OLD_END] } else { &[NUMBER, TEXT] };
        let answer = packets(1, &[&[&prepared(1, 2, 0)[..]], definitions].concat());
        for size in [usize::MAX, 1, 4] {
            let mut session = logged_in(capabilities);
            let mut notes = RowLog { needs_rows: true, ..RowLog::default() };
            session.query(b"select n, t");
            receive_events_in(&mut session, &mut notes, &text, size).expect("no fault");
            let expected = ["0:n", "1:t", "0=7", "1=hi", ";", "0=NULL", "1=", ";"];
            assert_eq!(notes.lines, expected);
            execute(&mut session, 0, true, "select n, t", &[]);
            session.sync();
            notes.lines.clear();
            receive_events_in(&mut session, &mut notes, &answer, size).expect("no fault");
            receive_events_in(&mut session, &mut notes, &binary, size).expect("no fault");
            assert_eq!(notes.lines, expected);
        }
    }
}

#[test]
fn reuses_cached_column_definitions() {
    let mut session = logged_in(MARIADB);
    let mut notes = RowLog::default();
    execute(&mut session, 0, true, "select n", &[]);
    session.sync();
    receive_events(&mut session, &packets(1, &[&prepared(1, 1, 0), NUMBER]));
    let ended = [SessionEvent::Succeeded { rows: 1, has_rows: true }, SessionEvent::Ready];
    let short = packets(1, &[&[1, 0], SEVEN, END]);
    assert_eq!(receive_events(&mut session, &short), ended);
    for (needs_rows, reply, lines) in [
        (true, &short, &["0:n", "0=7", ";"][..]),
        (false, &packets(1, &[&[2, 1], NUMBER, TEXT, &[0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 1, b'x'], END]), &[]),
        (true, &packets(1, &[&[2, 0], &[0, 0b1100], END]), &["0:n", "1:t", "0=NULL", "1=NULL", ";"]),
    ] {
        execute(&mut session, 0, true, "select n", &[]);
        session.sync();
        (notes.needs_rows, notes.lines) = (needs_rows, Vec::new());
        assert_eq!(receive_events_in(&mut session, &mut notes, reply, 3), Ok(ended.to_vec()));
        assert_eq!(notes.lines, lines);
        // Queries in between have their own definitions.
        session.query(b"select t");
        assert_eq!(receive_events(&mut session, &packets(1, &[&[1, 1], TEXT, b"\x01x", END])), ended);
    }
    session.query(b"select n");
    let fault = session.received(&short, &mut ()).expect_err("a text has its own definitions");
    assert!(fault.message().contains("never sent"));
}

#[test]
fn local_infile_sends_only_given_content() {
    let mut session = logged_in(MYSQL_8);
    session.query(b"load data local infile 'x' into table t");
    assert_eq!(receive_events(&mut session, &packets(1, &[b"\xfb/etc/passwd"])), [SessionEvent::Send]);
    assert_eq!(session.outgoing(), b"\0\0\0\x02");
    assert_eq!(
        receive_events(&mut session, &packets(3, &[SUCCESS])),
        [SessionEvent::Rejected, SessionEvent::Ready]
    );
    assert_eq!(session.last_error().text, "the server asked for a local file, which it was not given");
    session.local_infile(b"1\n2\n".to_vec());
    session.query(b"load data local infile 'x' into table t");
    assert_eq!(receive_events(&mut session, &packets(1, &[b"\xfbx"])), [SessionEvent::Send]);
    assert_eq!(session.outgoing(), b"\x04\0\0\x021\n2\n\0\0\0\x03");
    let loaded = SessionEvent::Succeeded { rows: 2, has_rows: false };
    assert_eq!(
        receive_events(&mut session, &packets(4, &[&[0, 2, 0, 2, 0, 0, 0]])),
        [loaded, SessionEvent::Ready]
    );

    // Rows of a statement that was rejected are not sent for the next one.
    session.clear();
    session.load(b"load data local infile 'x' into table t", b"secret".to_vec());
    assert_eq!(
        receive_events(&mut session, &packets(1, &[ERROR])),
        [SessionEvent::Rejected, SessionEvent::Ready]
    );
    session.clear();
    session.query(b"select 1");
    assert_eq!(receive_events(&mut session, &packets(1, &[b"\xfbx"])), [SessionEvent::Send]);
    assert_eq!(session.outgoing(), b"\0\0\0\x02");
    assert_eq!(
        receive_events(&mut session, &packets(3, &[SUCCESS])),
        [SessionEvent::Rejected, SessionEvent::Ready]
    );

    // Without [`Session::with_local_infile`], the content is not sent.
    let mut session = Session::new(Arc::new(login("secret")), [5; 18]);
    let hello = greeting(MYSQL_8, "8", "mysql_native_password", b"12345678901234567890");
    assert_eq!(session.greeted(&hello).map(|(_, greeting)| greeting), Ok(Greeting::Send));
    assert_eq!(session.outgoing()[4] & 0x80, 0, "the server is not told that it may ask");
    session.local_infile(b"secret".to_vec());
    session.query(b"select 1");
    assert_eq!(receive_events(&mut session, &packets(1, &[b"\xfbx"])), [SessionEvent::Send]);
    assert_eq!(session.outgoing(), b"\0\0\0\x02");
}

#[test]
fn skips_rows_of_many_packets_and_rejects_them_for_readers() {
    let mut session = logged_in(MYSQL_8);
    let full = vec![b'x'; 0xff_ffff];
    let reply = packets(1, &[&[1], TEXT, &full, &full, b"", b"\x01x", END]);
    for size in [usize::MAX, 64 * 1024] {
        session.query(b"select repeat('x', 33554430)");
        let event = receive_events_in(&mut session, &mut (), &reply, size).expect("no fault");
        assert_eq!(event, [SessionEvent::Succeeded { rows: 2, has_rows: true }, SessionEvent::Ready]);
    }
    session.query(b"select repeat('x', 33554430)");
    let mut notes = RowLog { needs_rows: true, ..RowLog::default() };
    let fault = receive_events_in(&mut session, &mut notes, &reply[..100], 7).expect_err("somebody reads it");
    assert_eq!(fault.message().split(':').next(), Some("a row that is to be kept is 16 MiB long or longer"));
}

#[test]
fn splits_long_query_and_continues_sequence() {
    let mut session = logged_in(MYSQL_8);
    session.query(&vec![b'x'; 0xff_ffff - 1]);
    let sent = session.outgoing();
    assert_eq!((&sent[..5], &sent[sent.len() - 4..]), (&b"\xff\xff\xff\0\x03"[..], &b"\0\0\0\x01"[..]));
    assert_eq!(receive_events(&mut session, &packets(2, &[SUCCESS])), [ENDED, SessionEvent::Ready]);
}

#[test]
fn cancel_kills_connection_from_another_session() {
    let mut session = logged_in(MYSQL_8);
    session.query(b"select sleep(20)");
    let killing = || {
        let Some(Cancel::Request(mut channel)) = session.cancel() else { panic!("a statement is under way") };
        assert_eq!(channel.greet(), Greeting::Await);
        let hello = greeting(MYSQL_8, "8", "mysql_native_password", b"12345678901234567890");
        assert_eq!(channel.greeted(&hello), Ok((hello.len(), Greeting::Send)));
        let welcome = packets(2, &[SUCCESS]);
        assert_eq!(channel.greeted(&welcome), Ok((welcome.len(), Greeting::Done)));
        assert_eq!(channel.begin(Ticket(0), 0, &Values::default()), Next::Send);
        assert_eq!(channel.outgoing(), b"\x07\0\0\0\x03KILL 7");
        channel
    };
    let gone = b"\xff\x46\x04#HY000Unknown thread id: 7";
    let denied = b"\xff\x47\x04#HY000You are not owner of thread 7";
    for (answer, is_refused) in [(SUCCESS, false), (gone, false), (denied, true)] {
        let ended = killing().received(&packets(1, &[answer]));
        let Ok(Some((_, Event::Replied { reply, .. }))) = ended else { panic!("{ended:?}") };
        assert_eq!(reply.rejection.is_some(), is_refused);
    }
}

#[test]
fn fatal_error_ends_all_commands() {
    for number in [1053_u16, 1077, 1079, 1080, 1927, 4031] {
        let [low, high] = number.to_le_bytes();
        let fatal_error = [b"\xff", &[low, high][..], b"#08S01Server shutdown in progress"].concat();
        // As a reply, or sent before the statement was read.
        for reply in [packets(1, &[&fatal_error]), packets(0, &[&fatal_error])] {
            let mut session = logged_in(MYSQL_8);
            session.query(b"select 1");
            session.query(b"select 2");
            assert_eq!(receive_events(&mut session, &reply), [SessionEvent::Rejected], "{number}");
            assert!(session.last_error().is_fatal);
            let mut session = logged_in(MYSQL_8);
            execute(&mut session, 0, true, "do 1", &[]);
            session.sync();
            assert_eq!(receive_events(&mut session, &reply), [SessionEvent::Rejected], "{number}");
        }
    }
}

#[test]
fn rejects_unsolicited_bytes_except_fatal_error() {
    let mut session = logged_in(MYSQL_8);
    assert_eq!(session.received(b"", &mut ()), Ok((0, SessionEvent::NeedMore)));
    let fatal_error = packets(0, &[b"\xff\xbf\x0f#HY000The client was disconnected by the server"]);
    assert_eq!(session.received(&fatal_error, &mut ()), Ok((fatal_error.len(), SessionEvent::Rejected)));
    assert!(session.last_error().is_fatal && session.last_error().text.starts_with("The client was"));
    for bytes in [packets(1, &[SUCCESS]), b"x".to_vec(), fatal_error[..9].to_vec()] {
        assert_eq!(session.received(&bytes, &mut ()).expect_err("a fault").class, ErrorClass::ExcessBytes);
    }
    assert_eq!(session.farewell(), b"\x01\0\0\0\x01");
    assert!(session.cancel().is_none(), "nothing is under way");
}
