//! HTTP client session: cookies, redirects, saved values, and compressed bodies.

use std::sync::OnceLock;

use regex::bytes::Regex;
use wire::{Next, Progress, step};

use crate::BYTES_MAX;

const DEFAULT_PATH: &str = "$.a[-1]";
/// Maximum number of requests per input.
const REQUESTS_MAX: usize = 8;
/// Number of lines in the head of the second request, without cookies.
const HEAD_LINES: usize = 6;

/// Regular expressions that save values, compiled once.
static EXPRESSIONS: OnceLock<[Regex; 2]> = OnceLock::new();

/// Returns seed inputs, each a path and an HTTP reply, separated by a zero byte.
pub(crate) fn replies() -> Vec<Vec<u8>> {
    let replies: [&[u8]; 6] = [
        b"$.a[-1]\0HTTP/1.1 200 OK\r\nX-Token: t=1\r\nSet-Cookie: s=1; Path=/\r\nContent-Length: 9\r\n\r\n{\"a\":[1]}",
        b"$['a']\0HTTP/1.1 303 See Other\r\nLocation: /b?c#d\r\nSet-Cookie: s=; Max-Age=0\r\nContent-Length: 0\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na",
        b"/a/0\0HTTP/1.1 307 X\r\nLocation: //other.example:80/\r\nContent-Length: 0\r\n\r\n",
        b"\0HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 42\r\n\r\n\x1f\x8b\x08\0\0\0\0\0\0\x03\xab\x56\x2a\xc9\xcf\x4e\xcd\x53\xb2\x52\x50\x2a\x48\x4c\xce\x4e\x4d\x51\x38\xbc\x52\xa9\x16\0\x6c\x6c\x53\x1b\x16\0\0\0",
        b"\0HTTP/1.1 200 OK\r\nContent-Encoding: br\r\nContent-Length: 26\r\n\r\n\x8b\x0a\x80\x7b\x22\x74\x6f\x6b\x65\x6e\x22\x3a\x20\x22\x70\x61\x63\x6b\x65\x64\x20\xc3\xa9\x22\x7d\x03",
        b"\0HTTP/1.1 200 OK\r\nContent-Encoding: zstd\r\nContent-Length: 31\r\n\r\n\x28\xb5\x2f\xfd\0\x58\xb1\0\0\x7b\x22\x74\x6f\x6b\x65\x6e\x22\x3a\x20\x22\x70\x61\x63\x6b\x65\x64\x20\xc3\xa9\x22\x7d",
    ];
    replies.map(<[u8]>::to_vec).to_vec()
}

/// Feeds bytes to a session as replies, and asserts that saved values cannot change the structure of the next request.
pub(crate) fn feed(bytes: &[u8]) {
    let bytes = &bytes[..bytes.len().min(BYTES_MAX)];
    let at = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    let further = step::requests().extra_keys().expect("requests have further keys");
    let expressions = EXPRESSIONS
        .get_or_init(|| ["t=(.+)", "(?s)(.{0,100})"].map(|text| Regex::new(text).expect("an expression")));
    let open = |path: &str| (further.sample_session)(path, expressions);
    let path = std::str::from_utf8(&bytes[..at]).ok();
    let mut conversation = path.and_then(open).or_else(|| open(DEFAULT_PATH)).expect("a path");
    let mut rest = bytes.get(at + 1..).unwrap_or_default();
    conversation.begin(0);
    for _ in 0..REQUESTS_MAX {
        match conversation.received(rest) {
            Ok(Progress::NeedMore | Progress::Redirected { .. }) | Err(_) => break,
            Ok(Progress::Replied { used, reply }) => {
                reply.rejection.into_iter().for_each(|rejection| drop(conversation.explain(rejection)));
                rest = &rest[used..];
                conversation.begin(0);
            }
            Ok(Progress::PartReplied { used, next, .. }) => {
                rest = &rest[used..];
                if matches!(next, Next::Reopen) {
                    conversation.resume();
                }
            }
        }
    }
    conversation.peer_closed();
    conversation.begin(1);
    assert_shape(conversation.outgoing());
}

/// Asserts that saved values added no header line and no second request.
fn assert_shape(request: &[u8]) {
    let text = String::from_utf8_lossy(request);
    let (head, _) = text.split_once("\r\n\r\n").expect("a head");
    let lines: Vec<&str> = head.split("\r\n").filter(|line| !line.starts_with("Cookie: ")).collect();
    assert_eq!(lines.len(), HEAD_LINES, "{head}");
    assert!(lines.iter().all(|line| !line.contains(['\r', '\n', '\0'])), "{head:?}");
    assert_eq!(lines[0].split(' ').count(), 3, "{head}");
}
