//! Sample replies, valid and invalid, with the expected result of each.

use alloc::vec::Vec;

use super::bson;
use super::reader::{
    DEEP, DEPTH_MAX, DOCUMENT, FLAGS, KIND, LENGTH, NAME, NAME_BYTES_MAX, NOT_MESSAGE, OP_MSG, OTHER_REPLY,
    SECTION, TEXT,
};
use crate::ErrorClass;
use crate::testing::{End, Sample};

const REPLIED: End = End::Replied { status: 0, reusable: true };

/// Number of the request that samples answer.
const REQUEST: u32 = 1;

fn sample(name: &'static str, bytes: Vec<u8>, end: End) -> Sample {
    Sample { name, bytes, end }
}

fn fault(sentence: &'static str) -> End {
    End::Fault(ErrorClass::ProtocolError, sentence)
}

/// Document of these elements.
fn document(elements: &[&[u8]]) -> Vec<u8> {
    let elements = elements.concat();
    [&(elements.len() as u32 + 5).to_le_bytes()[..], &elements, &[0]].concat()
}

/// Element of a type with a name and an encoded value.
fn element(kind: u8, name: &str, value: &[u8]) -> Vec<u8> {
    [&[kind][..], name.as_bytes(), &[0], value].concat()
}

fn text(value: &str) -> Vec<u8> {
    [&(value.len() as u32 + 1).to_le_bytes()[..], value.as_bytes(), &[0]].concat()
}

/// Message with these parts of its header.
fn message(length: u32, answers: u32, operation: u32, flags: u32, section: u8, rest: &[u8]) -> Vec<u8> {
    let numbers = [length, 7, answers, operation, flags];
    let head: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    [&head[..], &[section], rest].concat()
}

/// Message with one document.
fn reply(elements: &[&[u8]]) -> Vec<u8> {
    let document = document(elements);
    message(document.len() as u32 + 21, REQUEST, OP_MSG, 0, 0, &document)
}

fn ok() -> Vec<u8> {
    element(bson::DOUBLE, "ok", &1f64.to_le_bytes())
}

/// All samples of MongoDB.
pub(super) fn all() -> Vec<Sample> {
    [replies(), cursors(), incomplete(), faults(), broken_documents(), limits()].concat()
}

fn replies() -> Vec<Sample> {
    let number = |name: &str| element(bson::INT32, name, &1i32.to_le_bytes());
    let words = element(bson::REGEX, "r", b"^a\0i\0");
    let code = document(&[]);
    let scoped = [&15u32.to_le_bytes()[..], &text("x"), &code].concat();
    let scoped = [&(scoped.len() as u32).to_le_bytes()[..], &scoped[4..]].concat();
    let all = [
        ok(),
        element(bson::STRING, "a", &text("hello")),
        element(bson::STRING, "empty", &text("")),
        element(bson::STRING, "zero", &text("a\0b")),
        element(bson::DOCUMENT, "d", &document(&[&number("x")])),
        element(bson::ARRAY, "l", &document(&[&number("0"), &number("1")])),
        element(bson::BINARY, "b", &[3, 0, 0, 0, 0, 1, 2, 3]),
        element(bson::BINARY, "nothing", &[0; 5]),
        element(bson::UNDEFINED, "u", &[]),
        element(bson::OBJECT_ID, "i", &[9; 12]),
        element(bson::BOOLEAN, "t", &[1]),
        element(bson::DATE, "when", &[0; 8]),
        element(bson::NULL, "n", &[]),
        words,
        element(bson::POINTER, "p", &[&text("db")[..], &[1; 12]].concat()),
        element(bson::CODE, "c", &text("f()")),
        element(bson::SYMBOL, "s", &text("s")),
        element(bson::SCOPED_CODE, "w", &scoped),
        element(bson::TIMESTAMP, "ts", &[0; 8]),
        element(bson::INT64, "long", &[0; 8]),
        element(bson::DECIMAL, "dec", &[0; 16]),
        element(bson::MIN_KEY, "min", &[]),
        element(bson::MAX_KEY, "max", &[]),
        element(bson::INT32, "", &[0; 4]),
    ];
    let all: Vec<&[u8]> = all.iter().map(Vec::as_slice).collect();
    let failed = element(bson::INT32, "ok", &[0; 4]);
    let code = element(bson::INT32, "code", &59i32.to_le_bytes());
    let message = element(bson::STRING, "errmsg", &text("no such command: 'x'"));
    let write_error = document(&[&element(bson::INT32, "code", &11000i32.to_le_bytes())]);
    let write_errors = document(&[&element(bson::DOCUMENT, "0", &write_error)]);
    Vec::from([
        sample("ok", reply(&[&ok()]), REPLIED),
        sample("every type", reply(&all), REPLIED),
        sample("error", reply(&[&failed, &message, &code]), REPLIED),
        sample(
            "error of a write",
            reply(&[&ok(), &element(bson::ARRAY, "writeErrors", &write_errors)]),
            REPLIED,
        ),
        sample("empty document", reply(&[]), REPLIED),
        sample("counts", reply(&[&number("n"), &number("nModified"), &ok()]), REPLIED),
    ])
}

/// Cursor with a batch of two documents.
fn cursor(id: i64) -> Vec<u8> {
    let one = document(&[&element(bson::INT32, "_id", &[1, 0, 0, 0])]);
    let (first, second) = (element(bson::DOCUMENT, "0", &one), element(bson::DOCUMENT, "1", &one));
    let batch = element(bson::ARRAY, "firstBatch", &document(&[&first, &second]));
    let id = element(bson::INT64, "id", &id.to_le_bytes());
    element(bson::DOCUMENT, "cursor", &document(&[&batch, &id, &element(bson::STRING, "ns", &text("db.c"))]))
}

fn cursors() -> Vec<Sample> {
    Vec::from([
        sample("batch of a cursor", reply(&[&cursor(0), &ok()]), REPLIED),
        // The samples do not use find, because its cursor would be read to its end.
        sample("cursor that is open", reply(&[&cursor(77), &ok()]), REPLIED),
        sample("negative cursor", reply(&[&cursor(-1), &ok()]), REPLIED),
    ])
}

fn incomplete() -> Vec<Sample> {
    let whole = reply(&[&ok()]);
    let part = |bytes: usize| whole[..bytes].to_vec();
    let long = message(48_000_000, REQUEST, OP_MSG, 0, 0, &(48_000_000u32 - 21).to_le_bytes());
    Vec::from([
        sample("nothing", Vec::new(), End::Incomplete),
        sample("half of a header", part(8), End::Incomplete),
        sample("header alone", part(21), End::Incomplete),
        sample("half of a value", part(34), End::Incomplete),
        sample("all but the end", part(whole.len() - 1), End::Incomplete),
        sample("longest message", long, End::Incomplete),
    ])
}

fn faults() -> Vec<Sample> {
    let ok = document(&[&ok()]);
    let length = ok.len() as u32 + 21;
    let with =
        |length, answers, operation, flags, section| message(length, answers, operation, flags, section, &ok);
    Vec::from([
        sample("HTTP", b"HTTP/1.1 400 Bad Request\r\n\r\n".into(), fault(NOT_MESSAGE)),
        sample("greeting of SSH", b"SSH-2.0-OpenSSH_9.2p1 Debian\r\n".into(), fault(NOT_MESSAGE)),
        sample("reply to a query (OP_REPLY)", with(length, REQUEST, 1, 0, 0), fault(NOT_MESSAGE)),
        sample("compressed message", with(length, REQUEST, 2012, 0, 0), fault(NOT_MESSAGE)),
        sample("length of zero", with(0, REQUEST, OP_MSG, 0, 0), fault(LENGTH)),
        sample("length above the limit", with(48_000_001, REQUEST, OP_MSG, 0, 0), fault(LENGTH)),
        sample("negative length", with(u32::MAX, REQUEST, OP_MSG, 0, 0), fault(LENGTH)),
        sample("reply to another request", with(length, 2, OP_MSG, 0, 0), fault(OTHER_REPLY)),
        sample("reply to no request", with(length, 0, OP_MSG, 0, 0), fault(OTHER_REPLY)),
        sample("checksum that was not asked for", with(length, REQUEST, OP_MSG, 1, 0), fault(FLAGS)),
        sample("more messages to come", with(length, REQUEST, OP_MSG, 2, 0), fault(FLAGS)),
        sample("unknown section", with(length, REQUEST, OP_MSG, 0, 1), fault(SECTION)),
        sample("document shorter than the message", with(length + 1, REQUEST, OP_MSG, 0, 0), fault(DOCUMENT)),
        sample("document longer than the message", with(length - 1, REQUEST, OP_MSG, 0, 0), fault(DOCUMENT)),
    ])
}

fn broken_documents() -> Vec<Sample> {
    let long = |length: u32| [&length.to_le_bytes()[..], b"x\0"].concat();
    let early = [&ok()[..], &[0]].concat();
    Vec::from([
        sample("unknown type", reply(&[&element(20, "a", &[])]), fault(KIND)),
        sample("type above those of numbers", reply(&[&element(128, "a", &[])]), fault(KIND)),
        sample("document that ends early", reply(&[&early]), fault(DOCUMENT)),
        sample("document that ends late", reply(&[&ok()[..9]]), fault(DOCUMENT)),
        sample("text of no bytes", reply(&[&element(bson::STRING, "a", &long(0))]), fault(TEXT)),
        sample(
            "text longer than its document",
            reply(&[&element(bson::STRING, "a", &long(u32::MAX))]),
            fault(DOCUMENT),
        ),
        sample("text without its end", reply(&[&element(bson::STRING, "a", &long(1))]), fault(TEXT)),
        sample(
            "binary data longer than its document",
            reply(&[&element(bson::BINARY, "a", &[255, 255, 255, 255, 0])]),
            fault(DOCUMENT),
        ),
        sample(
            "inner document longer than the outer",
            reply(&[&element(bson::DOCUMENT, "a", &[99, 0, 0, 0, 0])]),
            fault(DOCUMENT),
        ),
        sample(
            "inner document of four bytes",
            reply(&[&element(bson::DOCUMENT, "a", &[4, 0, 0, 0, 0])]),
            fault(DOCUMENT),
        ),
        sample("name without its end", reply(&[b"\x10abc"]), fault(DOCUMENT)),
    ])
}

/// Documents at the limits of depth and of the length of names.
fn limits() -> Vec<Sample> {
    // If there are no checks, only the content of `cursor` is read.
    let nested = |depth: usize| {
        let inner =
            (2..depth).fold(document(&[]), |inner, _| document(&[&element(bson::DOCUMENT, "a", &inner)]));
        reply(&[&element(bson::DOCUMENT, "cursor", &inner), &ok()])
    };
    let named = |bytes: usize| {
        let name: alloc::string::String = core::iter::repeat_n('x', bytes).collect();
        reply(&[&element(bson::NULL, &name, &[]), &ok()])
    };
    Vec::from([
        sample("deepest reply", nested(DEPTH_MAX), REPLIED),
        sample("deeper reply", nested(DEPTH_MAX + 1), fault(DEEP)),
        sample("longest name", named(NAME_BYTES_MAX), REPLIED),
        sample("longer name", named(NAME_BYTES_MAX + 1), fault(NAME)),
    ])
}

#[cfg(test)]
mod tests {
    use super::super::UNSOLICITED;
    use super::*;
    use crate::protocol::Open;

    #[test]
    fn unsolicited_bytes_are_rejected() {
        let Open::Conversation(open) = super::super::PROTOCOL.open else { panic!("a conversation") };
        let mut conversation = open();
        conversation.received(&reply(&[&ok()])).expect("a reply");
        let fault = conversation.received(&reply(&[&ok()])).expect_err("a second reply");
        assert_eq!((fault.class, fault.sentence), (ErrorClass::ExcessBytes, UNSOLICITED));
    }
}
