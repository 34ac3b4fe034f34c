//! Sample replies, valid and invalid, with the expected result of each.

use alloc::format;
use alloc::vec;
use alloc::vec::Vec;

use crate::ErrorClass;
use crate::testing::{End, Sample};

/// All samples of HTTP/1.1.
pub(super) fn all() -> Vec<Sample> {
    let mut samples = replies();
    samples.extend(lenient());
    samples.extend(faults());
    samples.extend(foreign());
    samples
}

fn sample(name: &'static str, bytes: impl AsRef<[u8]>, end: End) -> Sample {
    Sample { name, bytes: bytes.as_ref().to_vec(), end }
}

/// A reply after which the connection is reused.
fn kept(status: u16) -> End {
    End::Replied { status, reusable: true }
}

/// The last reply of a connection.
fn last(status: u16) -> End {
    End::Replied { status, reusable: false }
}

/// Replies that RFC 9112 lets a user agent accept, although a server must not send them.
fn lenient() -> Vec<Sample> {
    vec![
        sample("list of the same length", "HTTP/1.1 200 OK\r\nContent-Length: 2, 2\r\n\r\nok", kept(200)),
        sample(
            "folded header",
            "HTTP/1.1 200 OK\r\nX: a\r\n\tb\r\nContent-Length:\r\n 2\r\n \r\n\r\nok",
            kept(200),
        ),
        sample("higher minor version", "HTTP/1.2 200 OK\r\nContent-Length: 2\r\n\r\nok", kept(200)),
        sample("higher minor version with a fold", "HTTP/1.9 200 OK\nContent-Length:\n 2\n\nok", kept(200)),
        sample("status above 599", "HTTP/1.1 999 No\r\nContent-Length: 2\r\n\r\nno", kept(999)),
        sample("status below 100", "HTTP/1.1 012 No\r\nContent-Length: 2\r\n\r\nno", kept(12)),
        sample("folded token", "HTTP/1.1 200 OK\nConnection: x,\n close\nContent-Length: 2\n\nok", last(200)),
        sample("space before a colon", "HTTP/1.1 200 OK\r\nContent-Length : 2\r\n\r\nok", kept(200)),
        sample(
            "not modified with coding and length",
            "HTTP/1.1 304 N\r\nTransfer-Encoding: chunked\r\nContent-Length: 9\r\n\r\n",
            kept(304),
        ),
    ]
}

fn replies() -> Vec<Sample> {
    let at_close = |status| End::RepliedAtClose { status };
    vec![
        sample("content-length", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", kept(200)),
        sample("empty body", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", kept(200)),
        sample("bare line feeds", "HTTP/1.1 200 OK\nContent-Length: 2\n\nok", kept(200)),
        sample("no reason phrase", "HTTP/1.1 503 \r\ncontent-length: 2\r\n\r\nno", kept(503)),
        sample(
            "same length twice",
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nok",
            kept(200),
        ),
        sample("no content", "HTTP/1.1 204 No Content\r\n\r\n", kept(204)),
        sample(
            "not modified keeps its length to itself",
            "HTTP/1.1 304 N\r\nContent-Length: 99\r\n\r\n",
            kept(304),
        ),
        sample(
            "connection close",
            "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok",
            last(200),
        ),
        sample(
            "close among tokens",
            "HTTP/1.1 200 OK\r\nConnection: x, Close\r\nContent-Length: 0\r\n\r\n",
            last(200),
        ),
        sample(
            "close beats keep-alive",
            "HTTP/1.1 200 OK\r\nConnection: close, keep-alive\r\nContent-Length: 0\r\n\r\n",
            last(200),
        ),
        sample("old version closes", "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", last(200)),
        sample(
            "old version may stay",
            "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok",
            kept(200),
        ),
        sample("until close", "HTTP/1.1 200 OK\r\n\r\neverything up to the end", at_close(200)),
        sample("until close, nothing", "HTTP/1.1 200 OK\r\n\r\n", at_close(200)),
        sample(
            "coding that is not chunked ends at close",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nx",
            at_close(200),
        ),
        sample(
            "chunked",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0B;a=b\r\nhello world\r\n0\r\n\r\n",
            kept(200),
        ),
        sample(
            "chunked with trailers",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n1\r\nx\r\n0\r\nA: b\r\nC: d\r\n\r\n",
            kept(200),
        ),
        sample(
            "interim replies",
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 E\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
            kept(200),
        ),
        sample("not UTF-8", b"HTTP/1.1 200 \xff\xfe\r\nX: \xff\xfe\r\nContent-Length: 0\r\n\r\n", kept(200)),
    ]
}

fn faults() -> Vec<Sample> {
    let protocol = |sentence| End::Fault(ErrorClass::ProtocolError, sentence);
    let ok = "HTTP/1.1 200 OK\r\n";
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    let both = "the reply has both Content-Length and Transfer-Encoding";
    let bad_length = "the reply has a malformed Content-Length";
    let bad_size = "a chunk of the reply has a malformed size";
    vec![
        sample(
            "length and coding",
            format!("{ok}Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n"),
            protocol(both),
        ),
        sample(
            "coding and length",
            format!("{ok}Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n"),
            protocol(both),
        ),
        sample(
            "two lengths",
            format!("{ok}Content-Length: 3\r\nContent-Length: 4\r\n\r\n"),
            protocol("the reply has two different Content-Lengths"),
        ),
        sample("signed length", format!("{ok}Content-Length: +5\r\n\r\n"), protocol(bad_length)),
        sample("list of lengths", format!("{ok}Content-Length: 5,6\r\n\r\n"), protocol(bad_length)),
        sample(
            "length of 2^64",
            format!("{ok}Content-Length: 18446744073709551616\r\n\r\n"),
            protocol(bad_length),
        ),
        sample("length of nothing", format!("{ok}Content-Length: \r\n\r\n"), protocol(bad_length)),
        sample(
            "coding in an old version",
            "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
            protocol("a reply of HTTP/1.0 has Transfer-Encoding"),
        ),
        sample("body cut short", format!("{ok}Content-Length: 10\r\n\r\nhello"), End::Incomplete),
        sample("no last chunk", format!("{chunked}5\r\nhello\r\n"), End::Incomplete),
        sample("head cut short", "HTTP/1.1 200 OK\r\nContent-Le", End::Incomplete),
        sample("bad chunk size", format!("{chunked}5g\r\n"), protocol(bad_size)),
        sample("no chunk size", format!("{chunked}\r\n"), protocol(bad_size)),
        sample("negative chunk size", format!("{chunked}-5\r\n"), protocol(bad_size)),
        sample("line feed in an extension", format!("{chunked}5;a\nb\r\n"), protocol(bad_size)),
        sample(
            "chunk of 2^64",
            format!("{chunked}10000000000000000\r\n"),
            protocol("a chunk of the reply is larger than 2^63 bytes"),
        ),
        sample(
            "zeros without end",
            format!("{chunked}{}", "0".repeat(100)),
            protocol("a chunk of the reply is larger than 2^63 bytes"),
        ),
        sample(
            "chunk overrun",
            format!("{chunked}2\r\nabc"),
            protocol("a chunk of the reply does not end where its size says"),
        ),
        sample(
            "extension flood",
            format!("{chunked}5;{}", "x".repeat(5_000)),
            protocol("a chunk size line of the reply is longer than 4 KiB"),
        ),
        sample(
            "interim flood",
            "HTTP/1.1 100 Continue\r\n\r\n".repeat(17),
            protocol("more than 16 interim (1xx) replies to one request"),
        ),
        sample(
            "upgrade unasked",
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n",
            protocol("the peer switched protocols (101) unasked"),
        ),
    ]
}

/// Replies of other protocols, and replies beyond the limits.
fn foreign() -> Vec<Sample> {
    let protocol = |sentence| End::Fault(ErrorClass::ProtocolError, sentence);
    let limit = |sentence| End::Fault(ErrorClass::HeaderLimit, sentence);
    let ok = "HTTP/1.1 200 OK\r\n";
    let not_http = "the reply is not HTTP/1.1";
    vec![
        sample("version 2.0 in text", "HTTP/2.0 200 OK\r\n\r\n", protocol(not_http)),
        sample("two digits of a minor version", "HTTP/1.10 200 OK\r\n\r\n", protocol(not_http)),
        sample("very old HTTP", "<html>hello</html>\r\n", protocol(not_http)),
        sample("flood of empty lines", "\r\n".repeat(20), protocol(not_http)),
        sample("SSH", "SSH-2.0-OpenSSH_9.2p1\r\n", protocol("an SSH server answered: correct the port")),
        sample(
            "TLS on a plain port",
            b"\x15\x03\x01\x00\x02\x02\x46",
            protocol("the server expects TLS: write https://"),
        ),
        sample(
            "HTTP/2 on a plain port",
            b"\x00\x00\x12\x04\x00\x00\x00\x00\x00",
            protocol(
                "an HTTP/2 server answered: requests are HTTP/1.1, which the server must accept on this port",
            ),
        ),
        sample(
            "an error of Redis",
            "-ERR wrong number of arguments for 'get' command\r\n",
            protocol("a Redis server answered: correct the port, or write redis:// for a load of commands"),
        ),
        sample(
            "SMTP",
            "220 mail.example ESMTP Postfix\r\n",
            protocol("an SMTP or FTP server answered: correct the port"),
        ),
        sample(
            "NUL in a header",
            b"HTTP/1.1 200 OK\r\nX: a\0b\r\n\r\n",
            protocol("a header line of the reply is malformed"),
        ),
        sample(
            "fold before the first header",
            format!("{ok} X: a\r\n\r\n"),
            protocol("a header line of the reply is malformed"),
        ),
        sample(
            "too many headers",
            format!("{ok}{}\r\n", "X: y\r\n".repeat(300)),
            limit("the reply has more than 256 header lines"),
        ),
    ]
}
