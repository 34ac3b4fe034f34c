//! HTTP replies and their serialization.

use std::io::Write;

/// Filler of large bodies: the repeated alphabet, so that every offset has a known byte.
pub(crate) static FILLER: [u8; FILLER_BYTES] = filler();
/// Length of [`FILLER`]: a multiple of the alphabet, so that blocks join seamlessly.
pub(crate) const FILLER_BYTES: usize = 26 * 2520;

/// Maximum length of a body that is sent with its head in one write.
const SMALL_BODY_BYTES_MAX: u64 = 16 * 1024;

const fn filler() -> [u8; FILLER_BYTES] {
    let mut block = [0; FILLER_BYTES];
    let mut at = 0;
    while at < FILLER_BYTES {
        block[at] = b'a' + (at % 26) as u8;
        at += 1;
    }
    block
}

/// Reply to a request.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    /// Header names in lower case. Values never come from a peer.
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: Body,
}

/// Body of a reply.
#[derive(Debug)]
pub(crate) enum Body {
    Fixed(&'static [u8]),
    Owned(Vec<u8>),
    /// Number of bytes of [`FILLER`], generated while they are sent.
    Filler(u64),
}

/// Connection header of a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Connection {
    Keep,
    /// Confirms to an HTTP/1.0 peer that the connection is kept.
    KeepSaid,
    Close,
}

impl Reply {
    pub(crate) fn fixed(status: u16, body: &'static str) -> Self {
        Self { status, headers: Vec::new(), body: Body::Fixed(body.as_bytes()) }
    }

    pub(crate) fn text(status: u16, body: impl Into<String>) -> Self {
        Self { status, headers: Vec::new(), body: Body::Owned(body.into().into_bytes()) }
    }

    pub(crate) fn with(mut self, header: &'static str, value: impl ToString) -> Self {
        self.headers.push((header, value.to_string()));
        self
    }

    /// Appends the reply to `out`. Returns the number of filler bytes that must follow.
    pub(crate) fn render(&self, out: &mut Vec<u8>, head_only: bool, connection: Connection) -> u64 {
        let body_bytes = self.body.len();
        // Writing to a Vec cannot fail.
        let _ = write!(out, "HTTP/1.1 {} {}\r\n", self.status, reason(self.status));
        let bare = matches!(self.status, 204 | 304);
        if !bare {
            let _ = write!(out, "content-length: {body_bytes}\r\ncontent-type: text/plain\r\n");
        }
        for (name, value) in &self.headers {
            let _ = write!(out, "{name}: {value}\r\n");
        }
        out.extend_from_slice(match connection {
            Connection::Keep => b"\r\n",
            Connection::KeepSaid => b"connection: keep-alive\r\n\r\n",
            Connection::Close => b"connection: close\r\n\r\n",
        });
        if bare || head_only {
            return 0;
        }
        match &self.body {
            Body::Fixed(bytes) => out.extend_from_slice(bytes),
            Body::Owned(bytes) => out.extend_from_slice(bytes),
            Body::Filler(n) if *n <= SMALL_BODY_BYTES_MAX => out.extend_from_slice(&FILLER[..*n as usize]),
            Body::Filler(n) => return *n,
        }
        0
    }
}

impl Body {
    fn len(&self) -> u64 {
        match self {
            Body::Fixed(bytes) => bytes.len() as u64,
            Body::Owned(bytes) => bytes.len() as u64,
            Body::Filler(n) => *n,
        }
    }
}

/// Returns the standard reason phrase. Empty for rare statuses, which HTTP allows.
fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        201 => "Created",
        204 => "No Content",
        304 => "Not Modified",
        400 => "Bad Request",
        404 => "Not Found",
        405 => "Method Not Allowed",
        409 => "Conflict",
        413 => "Content Too Large",
        429 => "Too Many Requests",
        431 => "Request Header Fields Too Large",
        500 => "Internal Server Error",
        501 => "Not Implemented",
        503 => "Service Unavailable",
        505 => "HTTP Version Not Supported",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rendered(reply: &Reply, head_only: bool) -> (String, u64) {
        let mut out = Vec::new();
        let filler = reply.render(&mut out, head_only, Connection::Keep);
        (String::from_utf8(out).expect("replies are text here"), filler)
    }

    #[test]
    fn head_reply_has_content_length_but_no_body() {
        let (text, filler) = rendered(&Reply::fixed(200, "hello"), true);
        assert!(text.contains("content-length: 5\r\n") && text.ends_with("\r\n\r\n"));
        assert_eq!(filler, 0);
    }

    #[test]
    fn statuses_without_body_have_no_content_length() {
        for status in [204, 304] {
            let (text, _) = rendered(&Reply::fixed(status, "hello"), false);
            assert!(!text.contains("content-length") && text.ends_with("\r\n\r\n"));
        }
    }

    #[test]
    fn only_large_filler_is_sent_separately() {
        let of = |n| Reply { status: 200, headers: Vec::new(), body: Body::Filler(n) };
        let (text, filler) = rendered(&of(28), false);
        assert!(text.ends_with("\r\n\r\nabcdefghijklmnopqrstuvwxyzab"));
        assert_eq!(filler, 0);
        assert_eq!(rendered(&of(1 << 20), false).1, 1 << 20);
    }
}
