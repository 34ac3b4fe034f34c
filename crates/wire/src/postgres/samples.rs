//! Sample replies to a simple query of one statement, valid and invalid, with the expected result of each.

use alloc::vec;
use alloc::vec::Vec;

use crate::ErrorClass;
use crate::testing::{End, Sample};

/// All samples of PostgreSQL.
pub(super) fn all() -> Vec<Sample> {
    let mut samples = replies();
    samples.extend(cut_off());
    samples.extend(lengths());
    samples.extend(turns());
    samples.extend(rows());
    samples.extend(fatal());
    samples
}

/// Encodes a message.
fn message(tag: u8, content: &[u8]) -> Vec<u8> {
    let mut bytes = vec![tag];
    bytes.extend_from_slice(&(content.len() as u32 + 4).to_be_bytes());
    bytes.extend_from_slice(content);
    bytes
}

/// RowDescription with these columns, all of type text.
fn described(names: &[&str]) -> Vec<u8> {
    let mut content = (names.len() as u16).to_be_bytes().to_vec();
    for name in names {
        content.extend_from_slice(name.as_bytes());
        content
            .extend_from_slice(&[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 25, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0]);
    }
    message(b'T', &content)
}

fn row(values: &[Option<&str>]) -> Vec<u8> {
    let mut content = (values.len() as u16).to_be_bytes().to_vec();
    for value in values {
        content.extend_from_slice(&value.map_or(-1, |value| value.len() as i32).to_be_bytes());
        content.extend_from_slice(value.unwrap_or_default().as_bytes());
    }
    message(b'D', &content)
}

fn ended(tag: &str) -> Vec<u8> {
    message(b'C', &[tag.as_bytes(), b"\0"].concat())
}

fn error(severity: &str, sqlstate: &str, text: &str) -> Vec<u8> {
    let fields = ["S", severity, "\0V", severity, "\0C", sqlstate, "\0M", text, "\0\0"];
    message(b'E', fields.concat().as_bytes())
}

fn ready() -> Vec<u8> {
    message(b'Z', b"I")
}

fn notice() -> Vec<u8> {
    message(b'N', b"SNOTICE\0VNOTICE\0C00000\0Mhear, hear\0\0")
}

fn one_row() -> Vec<u8> {
    [described(&["?column?"]), row(&[Some("1")]), ended("SELECT 1")].concat()
}

fn sample(name: &'static str, messages: &[Vec<u8>], end: End) -> Sample {
    Sample { name, bytes: messages.concat(), end }
}

fn replies() -> Vec<Sample> {
    let replied =
        |name, messages: &[Vec<u8>]| sample(name, messages, End::Replied { status: 1, reusable: true });
    let setting = message(b'S', b"TimeZone\0Asia/Tokyo\0");
    let notification = message(b'A', b"\0\0\0\x07channel\0payload\0");
    vec![
        replied("one row", &[one_row(), ready()]),
        replied("no rows", &[described(&["a", "b"]), ended("SELECT 0"), ready()]),
        replied("rows without columns", &[described(&[]), row(&[]), ended("SELECT 1"), ready()]),
        replied("a row of NULL", &[described(&["a"]), row(&[None]), ended("SELECT 1"), ready()]),
        replied("changed rows", &[ended("UPDATE 3"), message(b'Z', b"T")]),
        replied("several statements", &[ended("BEGIN"), one_row(), ended("COMMIT"), ready()]),
        replied("nothing asked", &[message(b'I', b""), ready()]),
        replied("an error", &[error("ERROR", "40P01", "deadlock detected"), message(b'Z', b"E")]),
        replied("an error among rows", &[one_row(), error("ERROR", "22012", "by zero"), ready()]),
        replied(
            "an error, and its trouble",
            &[error("ERROR", "23505", "a"), error("ERROR", "XX000", "b"), ready()],
        ),
        replied("an error without fields", &[message(b'E', b"\0"), ready()]),
        replied("an error of 9 KB", &[error("ERROR", "P0001", &"x".repeat(9000)), ready()]),
        replied("asides everywhere", &[notice(), one_row(), setting.clone(), notification, ready()]),
        replied(
            "an aside among rows",
            &[
                described(&["a"]),
                row(&[Some("1")]),
                notice(),
                setting,
                row(&[Some("2")]),
                ended("SELECT 2"),
                ready(),
            ],
        ),
        replied(
            "a copy that nobody takes",
            &[
                message(b'H', b"\0\0\x01\0\0"),
                message(b'd', b"1\n"),
                message(b'd', b"2\n"),
                message(b'c', b""),
                ended("COPY 2"),
                ready(),
            ],
        ),
    ]
}

fn cut_off() -> Vec<Sample> {
    let incomplete = |name, bytes: &[u8]| Sample { name, bytes: bytes.into(), end: End::Incomplete };
    let row = row(&[Some("a long value")]);
    vec![
        incomplete("nothing", b""),
        incomplete("a tag", b"T"),
        incomplete("half a length", b"T\0\0"),
        incomplete("no state yet", &one_row()),
        incomplete("half a state", &[one_row(), b"Z\0\0\0\x05".to_vec()].concat()),
        incomplete("half a row", &[described(&["a"]), row[..row.len() - 3].to_vec()].concat()),
        incomplete(
            "a field of 1 GiB",
            &[described(&["a"]), b"D\x40\0\0\0\0\x01\x3f\xff\xff\xf0".to_vec()].concat(),
        ),
    ]
}

fn lengths() -> Vec<Sample> {
    let fault = |name, bytes: &[u8], sentence| Sample {
        name,
        bytes: bytes.into(),
        end: End::Fault(ErrorClass::ProtocolError, sentence),
    };
    let bad = "a message of the server has a length that its kind cannot have";
    let long = "a message of the server is longer than 64 KiB";
    vec![
        fault("length 0", b"C\0\0\0\0", bad),
        fault("length -1", b"C\xff\xff\xff\xff", bad),
        fault("length 2^31", b"D\x80\0\0\0", bad),
        fault("shorter than its head", b"T\0\0\0\x03", bad),
        fault("a row without a count", b"D\0\0\0\x05", bad),
        fault("a state of two bytes", b"Z\0\0\0\x06", bad),
        fault("a tag of 2 GiB", b"C\x7f\xff\xff\xff", long),
        fault("a setting of 1 MiB", b"S\0\x10\0\0", long),
        fault("an unknown kind", b"?\0\0\0\x04", "the server sent a message of an unknown kind"),
        fault("another protocol", b"HTTP/1.1 400 Bad Request\r\n\r\n", long),
    ]
}

fn turns() -> Vec<Sample> {
    let fault = |name, messages: &[Vec<u8>], sentence| {
        sample(name, messages, End::Fault(ErrorClass::ProtocolError, sentence))
    };
    let turn = "the server sent a message out of turn";
    let no_end = "a text in a message of the server has no end";
    vec![
        fault("bound without a wish", &[message(b'2', b"")], turn),
        fault("a row without a description", &[row(&[Some("1")])], turn),
        fault("a description in a description", &[described(&["a"]), described(&["a"])], turn),
        fault("a log-in in the midst", &[one_row(), message(b'R', b"\0\0\0\0")], turn),
        fault("copied bytes without a copy", &[message(b'd', b"1\n")], turn),
        fault("a copy both ways", &[message(b'W', b"\0\0\0")], turn),
        fault("ready before the end", &[described(&["a"]), ready()], turn),
        fault("ready without an answer", &[ready()], "the server is ready again, and has not answered"),
        fault(
            "an unknown state",
            &[one_row(), message(b'Z', b"?")],
            "the server reports an unknown transaction state",
        ),
        fault("a tag without an end", &[message(b'C', b"SELECT 1")], no_end),
        fault("an error without an end", &[message(b'E', b"SERROR\0C42601\0Mno")], no_end),
        fault("bytes after the fields", &[message(b'E', b"SERROR\0\0x")], no_end),
        fault("a setting without a value", &[message(b'S', b"TimeZone\0")], no_end),
    ]
}

fn rows() -> Vec<Sample> {
    let fault = |name, messages: &[Vec<u8>], sentence| {
        sample(name, messages, End::Fault(ErrorClass::ProtocolError, sentence))
    };
    let columns = "a row has more or fewer columns than its description";
    let malformed = "a row is malformed";
    vec![
        fault("a column too few", &[described(&["a", "b"]), row(&[Some("1")])], columns),
        fault("a column too many", &[described(&["a"]), row(&[None, None])], columns),
        fault("less than its columns", &[described(&["a"]), message(b'D', b"\0\x01")], malformed),
        fault(
            "a field of -5 bytes",
            &[described(&["a"]), message(b'D', b"\0\x01\xff\xff\xff\xfb")],
            malformed,
        ),
        fault(
            "a field beyond its row",
            &[described(&["a"]), message(b'D', b"\0\x01\0\0\0\x03ab"), ended("SELECT 1"), ready()],
            malformed,
        ),
        fault(
            "a field before the end of its row",
            &[described(&["a"]), message(b'D', b"\0\x01\0\0\0\x01ab")],
            malformed,
        ),
        fault(
            "a length cut off by the end of its row",
            &[described(&["a", "b"]), message(b'D', b"\0\x02\0\0\0\x04ab\0\0\0\0")],
            malformed,
        ),
        fault(
            "no room for the columns",
            &[message(b'T', b"\0\x02a\0")],
            "the description of the rows is malformed",
        ),
    ]
}

fn fatal() -> Vec<Sample> {
    let last =
        |name, messages: &[Vec<u8>]| sample(name, messages, End::Replied { status: 1, reusable: false });
    vec![
        last("an operator stops it", &[error("FATAL", "57P01", "terminating connection")]),
        last("it crashes among rows", &[one_row(), error("FATAL", "57P02", "crash")]),
        last("panic", &[message(b'E', b"SPANIK\0VPANIC\0C53100\0Mdisk full\0\0")]),
        last("more words than are read", &[error("FATAL", "57P01", &"x".repeat(9_000))]),
        last("an old server", &[message(b'E', b"SFATAL\0C53300\0Mfull\0\0")]),
    ]
}
