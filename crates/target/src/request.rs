//! Incremental parser of requests, without I/O.

use crate::chunked;
use crate::endpoints::Work;
use crate::head::{Framing, Head};
use crate::reply::{Connection, Reply};

/// Maximum length of a head with its request line, in bytes.
pub(crate) const HEAD_BYTES: usize = 16 * 1024;
/// Maximum length of a body, in bytes.
pub(crate) const BODY_BYTES: usize = 1024 * 1024;
/// Maximum number of header fields.
const FIELDS: usize = 64;

/// Complete parsed request: the work, and how to reply.
#[derive(Debug)]
pub(crate) struct ParsedRequest {
    pub(crate) work: Work,
    pub(crate) head_only: bool,
    pub(crate) connection: Connection,
    /// Body; empty if the work does not need it.
    pub(crate) body: Vec<u8>,
}

/// Result of parsing a piece of input.
#[derive(Debug)]
pub(crate) enum RequestProgress {
    /// All input is consumed, and the request is incomplete.
    NeedMore,
    /// The peer waits for `100 Continue` before it sends the body.
    Continue,
    /// One request is complete. Bytes after the consumed ones belong to the next.
    Complete(ParsedRequest),
    /// The input is not a valid request: send this reply and close.
    Bad(Reply),
}

/// Incomplete request of one connection. It owns no memory while idle.
#[derive(Default)]
pub(crate) struct RequestParser {
    head: Vec<u8>,
    pending: Option<Box<Pending>>,
}

/// Request with a complete head and an incomplete body.
struct Pending {
    parsed_request: ParsedRequest,
    framing: Framing,
    received_bytes: usize,
}

impl RequestParser {
    /// Consumes bytes from the front of `input` until a request is complete. Returns the number of consumed bytes.
    pub(crate) fn take(&mut self, input: &[u8]) -> (usize, RequestProgress) {
        if self.pending.is_some() {
            return self.take_body(input);
        }
        if self.head.is_empty() {
            let (taken, step) = self.take_head(input);
            if matches!(step, RequestProgress::NeedMore) && self.pending.is_none() {
                self.head.extend_from_slice(input);
                return (input.len(), step);
            }
            return self.continue_with_body(input, taken, step);
        }
        let known = self.head.len();
        let fresh = input.len().min(HEAD_BYTES + 1 - known);
        let mut head = std::mem::take(&mut self.head);
        head.extend_from_slice(&input[..fresh]);
        let (taken, step) = self.take_head(&head);
        if matches!(step, RequestProgress::NeedMore) && self.pending.is_none() {
            self.head = head;
            return (fresh, step);
        }
        self.continue_with_body(input, taken.saturating_sub(known), step)
    }

    /// Returns true if a request has begun but is incomplete.
    pub(crate) fn is_incomplete(&self) -> bool {
        self.pending.is_some() || !self.head.is_empty()
    }

    /// Continues after the head with the part of the body that was already received.
    fn continue_with_body(
        &mut self,
        input: &[u8],
        taken: usize,
        step: RequestProgress,
    ) -> (usize, RequestProgress) {
        if self.pending.is_none() || input.len() == taken {
            return (taken, step);
        }
        let (more, step) = self.take_body(&input[taken..]);
        (taken + more, step)
    }

    /// Parses the head at the front of `bytes`. If a body follows, the request is left in `pending`.
    fn take_head(&mut self, bytes: &[u8]) -> (usize, RequestProgress) {
        let mut fields = [httparse::EMPTY_HEADER; FIELDS];
        let mut request = httparse::Request::new(&mut fields);
        let head_bytes = match request.parse(bytes) {
            Ok(httparse::Status::Complete(n)) if n <= HEAD_BYTES => n,
            Ok(httparse::Status::Partial) if bytes.len() <= HEAD_BYTES => {
                return (0, RequestProgress::NeedMore);
            }
            Ok(_) => {
                return (
                    0,
                    RequestProgress::Bad(Reply::text(431, format!("the head exceeds {HEAD_BYTES} bytes\n"))),
                );
            }
            Err(error) => return (0, RequestProgress::Bad(error_reply(error))),
        };
        match Head::read(&request) {
            Err(reply) => (head_bytes, RequestProgress::Bad(reply)),
            Ok(Head { parsed_request, framing: None, .. }) => {
                (head_bytes, RequestProgress::Complete(parsed_request))
            }
            Ok(Head { parsed_request, framing: Some(framing), expects_continue }) => {
                self.pending = Some(Box::new(Pending { parsed_request, framing, received_bytes: 0 }));
                (
                    head_bytes,
                    if expects_continue { RequestProgress::Continue } else { RequestProgress::NeedMore },
                )
            }
        }
    }

    fn take_body(&mut self, input: &[u8]) -> (usize, RequestProgress) {
        let Some(mut pending) = self.pending.take() else { return (0, RequestProgress::NeedMore) };
        match pending.take(input) {
            Err(reply) => (input.len(), RequestProgress::Bad(reply)),
            Ok((taken, true)) => (taken, RequestProgress::Complete(pending.parsed_request)),
            Ok((taken, false)) => {
                self.pending = Some(pending);
                (taken, RequestProgress::NeedMore)
            }
        }
    }
}

impl Pending {
    /// Consumes body bytes. Returns their number, and true if the body is complete.
    fn take(&mut self, input: &[u8]) -> Result<(usize, bool), Reply> {
        let keep = self.parsed_request.work.wants_body();
        let Self { parsed_request, framing, received_bytes } = self;
        let mut keep_piece = |piece: &[u8]| {
            *received_bytes += piece.len();
            if keep {
                parsed_request.body.extend_from_slice(piece);
            }
            *received_bytes <= BODY_BYTES
        };
        match framing {
            Framing::Length(left) => {
                let taken = input.len().min(*left);
                keep_piece(&input[..taken]);
                *left -= taken;
                Ok((taken, *left == 0))
            }
            Framing::Chunked(chunked) => match chunked.take(input, keep_piece) {
                Ok(progress) => Ok(progress),
                Err(chunked::Fault::TooLong) => Err(too_long()),
                Err(chunked::Fault::Malformed) => Err(Reply::fixed(400, "malformed chunked body\n")),
            },
        }
    }
}

pub(crate) fn too_long() -> Reply {
    Reply::text(413, format!("the body exceeds {BODY_BYTES} bytes\n"))
}

fn error_reply(error: httparse::Error) -> Reply {
    match error {
        httparse::Error::TooManyHeaders => Reply::text(431, format!("more than {FIELDS} header fields\n")),
        httparse::Error::Version => Reply::fixed(505, "speaks HTTP/1.1 and HTTP/1.0\n"),
        other => Reply::text(400, format!("not an HTTP request: {other}\n")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Feeds `input` in pieces of `size` bytes. Returns the bodies of complete requests, and the status of a rejection.
    fn feed(input: &[u8], size: usize) -> (Vec<String>, Option<u16>) {
        let (mut intake, mut bodies) = (RequestParser::default(), Vec::new());
        for piece in input.chunks(size) {
            let mut rest = piece;
            while !rest.is_empty() {
                let (taken, step) = intake.take(rest);
                rest = &rest[taken..];
                match step {
                    RequestProgress::Complete(parsed_request) => {
                        bodies.push(String::from_utf8(parsed_request.body).expect("text"))
                    }
                    RequestProgress::Bad(reply) => return (bodies, Some(reply.status)),
                    RequestProgress::NeedMore => {
                        assert!(rest.is_empty(), "asked for more while more was there")
                    }
                    RequestProgress::Continue => {}
                }
            }
        }
        (bodies, None)
    }

    /// Feeds the input whole, in halves, and byte by byte, and asserts equal results.
    fn feed_three_ways(input: &[u8]) -> (Vec<String>, Option<u16>) {
        let whole = feed(input, input.len());
        assert_eq!(feed(input, input.len().div_ceil(2)), whole);
        assert_eq!(feed(input, 1), whole);
        whole
    }

    #[test]
    fn pipelined_requests_come_out_one_by_one() {
        let input = b"POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc\
            GET /status HTTP/1.1\r\nHost: a\r\n\r\n\
            POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2;x=y\r\nde\r\n1\r\nf\r\n0\r\nt: u\r\n\r\n";
        let (bodies, refused) = feed_three_ways(input);
        assert_eq!(bodies, ["abc", "", "def"]);
        assert_eq!(refused, None);
    }

    #[test]
    fn ambiguous_or_broken_framing_is_rejected() {
        let head = "POST /echo HTTP/1.1\r\nHost: a\r\n";
        for (rest, status) in [
            ("Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
            ("Content-Length: 1\r\nContent-Length: 1\r\n\r\n", 400),
            ("Content-Length: +1\r\n\r\n", 400),
            ("Content-Length: 99999999999999999999\r\n\r\n", 400),
            ("Content-Length: 1048577\r\n\r\n", 413),
            ("Transfer-Encoding: gzip, chunked\r\n\r\n", 501),
            ("Transfer-Encoding: chunked\r\n\r\nzz\r\n", 400),
            ("Transfer-Encoding: chunked\r\n\r\n2\r\nabc\r\n", 400),
            ("Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n", 400),
            ("Transfer-Encoding: chunked\r\n\r\n100001\r\n", 413),
            ("Host: b\r\n\r\n", 400),
        ] {
            let input = format!("{head}{rest}");
            assert_eq!(feed_three_ways(input.as_bytes()).1, Some(status), "{rest:?}");
        }
    }

    #[test]
    fn heads_are_limited_in_bytes_and_fields() {
        let long = format!("GET /{} HTTP/1.1\r\nHost: a\r\n\r\n", "x".repeat(HEAD_BYTES));
        assert_eq!(feed_three_ways(long.as_bytes()).1, Some(431));
        let many = format!("GET / HTTP/1.1\r\nHost: a\r\n{}\r\n", "a: b\r\n".repeat(FIELDS));
        assert_eq!(feed_three_ways(many.as_bytes()).1, Some(431));
    }

    #[test]
    fn version_decides_if_the_connection_is_kept() {
        let of = |input: &str| match RequestParser::default().take(input.as_bytes()).1 {
            RequestProgress::Complete(parsed_request) => parsed_request.connection,
            other => panic!("{other:?}"),
        };
        assert_eq!(of("GET / HTTP/1.1\r\nHost: a\r\n\r\n"), Connection::Keep);
        assert_eq!(of("GET / HTTP/1.1\r\nHost: a\r\nConnection: x, Close\r\n\r\n"), Connection::Close);
        assert_eq!(of("GET / HTTP/1.0\r\n\r\n"), Connection::Close);
        assert_eq!(of("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n"), Connection::KeepSaid);
    }

    #[test]
    fn waiting_peer_gets_100_continue() {
        let head = b"POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n";
        let mut intake = RequestParser::default();
        assert!(matches!(intake.take(head), (_, RequestProgress::Continue)));
        assert!(matches!(intake.take(b"hi"), (2, RequestProgress::Complete(_))));
        assert!(!intake.is_incomplete());
    }
}
