//! Sample replies of every type, valid and invalid, with the expected result of each.

use alloc::format;
use alloc::vec::Vec;

use super::errors;
use super::reader::{
    BOOLEAN, DEPTH_MAX, LENGTH, LINE_BYTES_MAX, LINE_END, LONG_LINE, MISPLACED_PUSH, NOT_RESP, NULL, NUMBER,
    STREAMED, TOO_DEEP,
};
use crate::ErrorClass;
use crate::testing::{End, Sample};

/// All samples of Redis.
pub(super) fn all() -> Vec<Sample> {
    let mut samples = Vec::new();
    samples.extend(REPLIES.iter().map(|(name, text)| sample(name, text.as_bytes(), REPLIED)));
    samples.extend(errors::PREFIXES.iter().map(|(prefix, _)| {
        let error = format!("-{prefix} a message\r\n");
        sample(prefix, error.as_bytes(), REPLIED)
    }));
    samples.extend(INCOMPLETE.iter().map(|(name, text)| sample(name, text.as_bytes(), End::Incomplete)));
    samples.extend(FAULTS.iter().map(|(name, text, sentence)| {
        sample(name, text.as_bytes(), End::Fault(ErrorClass::ProtocolError, sentence))
    }));
    samples.extend(limits());
    samples
}

const REPLIED: End = End::Replied { status: 0, reusable: true };

fn sample(name: &'static str, bytes: &[u8], end: End) -> Sample {
    Sample { name, bytes: bytes.into(), end }
}

/// Complete replies of every type.
const REPLIES: &[(&str, &str)] = &[
    ("simple string", "+OK\r\n"),
    ("empty simple string", "+\r\n"),
    ("error", "-ERR unknown command 'X'\r\n"),
    ("error of a cluster", "-MOVED 3999 127.0.0.1:6381\r\n"),
    ("integer", ":1000\r\n"),
    ("signed integers", "*2\r\n:-1\r\n:+2\r\n"),
    ("bulk string", "$5\r\nhello\r\n"),
    ("empty bulk string", "$0\r\n\r\n"),
    ("bulk string with line ends and zeros", "$8\r\n\r\n$3\r\n\0x\r\n"),
    ("null bulk string of RESP2", "$-1\r\n"),
    ("null array of RESP2", "*-1\r\n"),
    ("null", "_\r\n"),
    ("empty array", "*0\r\n"),
    ("array of all kinds", "*5\r\n$1\r\na\r\n:1\r\n_\r\n*1\r\n+x\r\n-ERR no\r\n"),
    ("doubles", "*5\r\n,1.5\r\n,inf\r\n,-inf\r\n,nan\r\n,1e10\r\n"),
    ("booleans", "*2\r\n#t\r\n#f\r\n"),
    ("big number", "(3492890328409238509324850943850943825024385\r\n"),
    ("bulk error", "!21\r\nSYNTAX invalid syntax\r\n"),
    ("verbatim string", "=15\r\ntxt:Some string\r\n"),
    ("map", "%2\r\n+first\r\n:1\r\n+second\r\n:2\r\n"),
    ("empty map", "%0\r\n"),
    ("set", "~3\r\n+a\r\n+b\r\n:1\r\n"),
    ("push before a reply", ">2\r\n+invalidate\r\n*1\r\n$1\r\na\r\n+OK\r\n"),
    ("attribute before a reply", "|1\r\n+ttl\r\n:3600\r\n$1\r\na\r\n"),
    ("attribute before an item", "*2\r\n:1\r\n|1\r\n+ttl\r\n:3600\r\n:2\r\n"),
    ("empty attribute", "|0\r\n+OK\r\n"),
    ("attribute with a map", "|1\r\n+keys\r\n%1\r\n$1\r\na\r\n,0.1923\r\n*1\r\n:2039123\r\n"),
];

/// Beginnings of replies.
const INCOMPLETE: &[(&str, &str)] = &[
    ("nothing", ""),
    ("type alone", "+"),
    ("line without its line feed", "+OK\r"),
    ("bulk string without content", "$5\r\n"),
    ("bulk string without its end", "$5\r\nhello"),
    ("array with an item left", "*2\r\n:1\r\n"),
    ("attribute alone", "|1\r\n+ttl\r\n:3600\r\n"),
    ("longest length that is read", "$1099511627776\r\n"),
];

/// Bytes that are not a reply.
const FAULTS: &[(&str, &str, &str)] = &[
    ("HTTP", "HTTP/1.1 400 Bad Request\r\n", NOT_RESP),
    ("TLS alert", "\u{15}\u{3}\u{3}\0\u{2}\u{2}\u{28}\n", NOT_RESP),
    ("greeting of a mail server", "220 mail.example ESMTP\r\n", NOT_RESP),
    ("empty line", "\r\n", NOT_RESP),
    ("line without a carriage return", "+OK\n", LINE_END),
    ("bulk string that is too short", "$3\r\nhello\r\n", LINE_END),
    ("length below -1", "$-2\r\n", LENGTH),
    ("length of 20 digits", "$99999999999999999999\r\n", LENGTH),
    ("length above the limit", "*1099511627777\r\n", LENGTH),
    ("length that is a word", "*a\r\n", LENGTH),
    ("no length", "$\r\n", LENGTH),
    ("null attribute", "|-1\r\n", LENGTH),
    ("integer that is a word", ":ten\r\n", NUMBER),
    ("integer without digits", ":\r\n", NUMBER),
    ("double that is a word", ",ten\r\n", NUMBER),
    ("big number with a point", "(1.5\r\n", NUMBER),
    ("boolean y", "#y\r\n", BOOLEAN),
    ("null with content", "_0\r\n", NULL),
    ("streamed bulk string", "$?\r\n", STREAMED),
    ("streamed array", "*?\r\n", STREAMED),
    ("chunk of a streamed string", ";4\r\n", STREAMED),
    ("push within an array", "*1\r\n>1\r\n+x\r\n", MISPLACED_PUSH),
];

/// Replies at the limits of depth and length.
fn limits() -> Vec<Sample> {
    let nested = |depth: usize| format!("{}:1\r\n", "*1\r\n".repeat(depth)).into_bytes();
    let line = |bytes: usize| format!("+{}\r\n", "x".repeat(bytes - 3)).into_bytes();
    let (deep, long) =
        (End::Fault(ErrorClass::ProtocolError, TOO_DEEP), End::Fault(ErrorClass::ProtocolError, LONG_LINE));
    Vec::from([
        sample("deepest reply", &nested(DEPTH_MAX), REPLIED),
        sample("deeper reply", &nested(DEPTH_MAX + 1), deep),
        sample("longest line", &line(LINE_BYTES_MAX), REPLIED),
        sample("longer line", &line(LINE_BYTES_MAX + 1), long),
    ])
}

#[cfg(test)]
mod tests {
    use super::super::UNSOLICITED;
    use super::*;
    use crate::protocol::Open;

    #[test]
    fn unsolicited_bytes_are_rejected_unless_push() {
        let Open::Conversation(open) = super::super::PROTOCOL.open else { panic!("a conversation") };
        let mut conversation = open();
        conversation.received(b"+PONG\r\n").expect("a reply");
        conversation.received(b">2\r\n+invalidate\r\n_\r\n").expect("a push");
        let fault = conversation.received(b"+PONG\r\n").expect_err("a second reply");
        assert_eq!((fault.class, fault.sentence), (ErrorClass::ExcessBytes, UNSOLICITED));
    }
}
