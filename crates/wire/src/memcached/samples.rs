//! Sample replies of every kind, valid and invalid, with the expected result of each.

use alloc::format;
use alloc::vec::Vec;

use super::reader::{DATA_END, LENGTH, LINE_BYTES_MAX, LINE_END, LONG_LINE, MIXED, NOT_MEMCACHED};
use crate::ErrorClass;
use crate::testing::{End, Sample};

const REPLIED: End = End::Replied { status: 0, reusable: true };

/// All samples of memcached.
pub(super) fn all() -> Vec<Sample> {
    let mut samples = Vec::new();
    samples.extend(REPLIES.iter().map(|(name, text)| sample(name, text.as_bytes(), REPLIED)));
    samples.extend(INCOMPLETE.iter().map(|(name, text)| sample(name, text.as_bytes(), End::Incomplete)));
    samples
        .extend(FAULTS.iter().map(|(name, text, sentence)| sample(name, text.as_bytes(), fault(sentence))));
    let line = |bytes: usize| format!("VERSION {}\r\n", "x".repeat(bytes - 10)).into_bytes();
    samples.push(sample("longest line", &line(LINE_BYTES_MAX), REPLIED));
    samples.push(sample("longer line", &line(LINE_BYTES_MAX + 1), fault(LONG_LINE)));
    samples
}

fn sample(name: &'static str, bytes: &[u8], end: End) -> Sample {
    Sample { name, bytes: bytes.into(), end }
}

fn fault(sentence: &'static str) -> End {
    End::Fault(ErrorClass::ProtocolError, sentence)
}

/// Complete replies.
const REPLIES: &[(&str, &str)] = &[
    ("stored", "STORED\r\n"),
    ("not stored", "NOT_STORED\r\n"),
    ("exists", "EXISTS\r\n"),
    ("not found", "NOT_FOUND\r\n"),
    ("deleted", "DELETED\r\n"),
    ("touched", "TOUCHED\r\n"),
    ("ok", "OK\r\n"),
    ("reset", "RESET\r\n"),
    ("version", "VERSION 1.6.18\r\n"),
    ("number", "18446744073709551615\r\n"),
    ("number with spaces after it", "9  \r\n"),
    ("miss", "END\r\n"),
    ("value", "VALUE k 0 5\r\nhello\r\nEND\r\n"),
    ("value with its unique number", "VALUE k 0 5 42\r\nhello\r\nEND\r\n"),
    ("empty value", "VALUE k 0 0\r\n\r\nEND\r\n"),
    ("value with the text of a reply", "VALUE k 0 13\r\nEND\r\nSTORED\r\n\r\nEND\r\n"),
    ("two values", "VALUE a 0 1\r\nx\r\nVALUE b 0 1\r\ny\r\nEND\r\n"),
    ("statistics", "STAT pid 1\r\nSTAT uptime 2\r\nEND\r\n"),
    ("meta value", "VA 5 c42 t-1\r\nhello\r\n"),
    ("empty meta value", "VA 0\r\n\r\n"),
    ("meta without value", "HD t60\r\n"),
    ("meta miss", "EN\r\n"),
    ("meta not stored", "NS\r\n"),
    ("meta exists", "EX\r\n"),
    ("meta not found", "NF\r\n"),
    ("meta no-op", "MN\r\n"),
    ("meta debug", "ME k exp=-1 la=2\r\n"),
    ("unknown command", "ERROR\r\n"),
    ("error of the client", "CLIENT_ERROR bad data chunk\r\n"),
    ("error of the server", "SERVER_ERROR out of memory storing object\r\n"),
    ("error after a value", "VALUE a 0 1\r\nx\r\nSERVER_ERROR out of memory writing get response\r\n"),
];

/// Beginnings of replies.
const INCOMPLETE: &[(&str, &str)] = &[
    ("nothing", ""),
    ("beginning of a word", "STO"),
    ("line without its line feed", "STORED\r"),
    ("value without data", "VALUE k 0 5\r\n"),
    ("value without its end", "VALUE k 0 5\r\nhello"),
    ("values without END", "VALUE k 0 5\r\nhello\r\n"),
    ("statistics without END", "STAT pid 1\r\n"),
    ("meta value without its end", "VA 5\r\nhello\r"),
    ("longest length that is read", "VALUE k 0 1099511627776\r\n"),
];

/// Bytes that are not a reply.
const FAULTS: &[(&str, &str, &str)] = &[
    ("HTTP", "HTTP/1.1 400 Bad Request\r\n", NOT_MEMCACHED),
    ("error of Redis", "-ERR unknown command 'mn'\r\n", NOT_MEMCACHED),
    ("greeting of a mail server", "220-mail.example ESMTP\r\n", NOT_MEMCACHED),
    ("empty line", "\r\n", NOT_MEMCACHED),
    ("word in small letters", "stored\r\n", NOT_MEMCACHED),
    ("line without a carriage return", "STORED\n", LINE_END),
    ("unknown line without a carriage return", "HELLO\n", NOT_MEMCACHED),
    ("value without a length", "VALUE k 0\r\n", LENGTH),
    ("negative length", "VALUE k 0 -1\r\n", LENGTH),
    ("length with a sign", "VALUE k 0 +1\r\n", LENGTH),
    ("length that is a word", "VALUE k 0 x\r\n", LENGTH),
    ("length of 20 digits", "VALUE k 0 99999999999999999999\r\n", LENGTH),
    ("length above the limit", "VA 1099511627777\r\n", LENGTH),
    ("value longer than its length", "VALUE k 0 3\r\nhello\r\n", DATA_END),
    ("value shorter than its length", "VALUE k 0 6\r\nhello\r\nEND\r\n", DATA_END),
    ("STORED after a value", "VALUE k 0 1\r\nx\r\nSTORED\r\n", MIXED),
];

#[cfg(test)]
mod tests {
    use super::super::UNSOLICITED;
    use super::*;
    use crate::protocol::Open;

    #[test]
    fn unsolicited_bytes_are_rejected() {
        let Open::Conversation(open) = super::super::PROTOCOL.open else { panic!("a conversation") };
        let mut conversation = open();
        conversation.received(b"MN\r\n").expect("a reply");
        let fault = conversation.received(b"MN\r\n").expect_err("a second reply");
        assert_eq!((fault.class, fault.sentence), (ErrorClass::ExcessBytes, UNSOLICITED));
    }
}
