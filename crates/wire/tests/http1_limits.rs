//! HTTP limits: a hostile reply cannot exceed the limits of memory and waiting.

use wire::http1::{BodyCheck, Checks, Http1, KEPT_BODY_BYTES_MAX, Request, SizeCheck, StatusSet};
use wire::{Closing, Conversation, ErrorClass, Progress, Script, Stage};

fn conversation(checks: Checks) -> wire::http1::HttpConversation {
    let mut conversation = Http1::single(&Request::get("h", "/"), checks).unwrap().open(0);
    conversation.begin(0);
    conversation
}

fn rejection(checks: Checks, reply: &[u8]) -> Option<(ErrorClass, String)> {
    let script = Http1::single(&Request::get("h", "/"), checks).unwrap();
    let mut conversation = script.open(0);
    conversation.begin(0);
    match conversation.received(reply).unwrap() {
        Progress::Replied { reply, .. } => {
            reply.rejection.map(|rejection| (rejection.class, conversation.explain(rejection)))
        }
        progress => panic!("the reply is complete: {progress:?}"),
    }
}

#[test]
fn endless_head_is_rejected_at_limit_in_any_pieces() {
    for piece in [1_000, 4_096, 70_000] {
        let mut conversation = conversation(Checks::default());
        let flood = [b"HTTP/1.1 200 OK\r\nX: ".to_vec(), vec![b'a'; 200_000]].concat();
        let mut taken = 0;
        let fault = flood.chunks(piece).find_map(|bytes| {
            taken += bytes.len();
            conversation.received(bytes).err()
        });
        assert_eq!(fault.map(|fault| fault.class), Some(ErrorClass::HeaderLimit), "in pieces of {piece}");
        assert!(taken <= 64 * 1024 + piece, "{taken} bytes were taken");
    }
}

#[test]
fn rejects_endless_status_line_and_first_line() {
    for start in ["HTTP/1.1 200 ", "\r\n\r\n\r\n"] {
        let mut conversation = conversation(Checks::default());
        let flood = [start.as_bytes().to_vec(), vec![b'x'; 200_000]].concat();
        assert!(flood.chunks(1_000).any(|bytes| conversation.received(bytes).is_err()), "{start:?}");
    }
}

#[test]
fn rejects_endless_trailers() {
    let mut conversation = conversation(Checks::default());
    conversation.received(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n").unwrap();
    let fault = (0..100_000).find_map(|_| conversation.received(b"X: y\r\n").err()).unwrap();
    assert_eq!(fault.class, ErrorClass::HeaderLimit);
}

#[test]
fn body_match_beyond_kept_limit_fails() {
    let checks = Checks { bodies: vec![BodyCheck::Contains(b"needle".to_vec())], ..Checks::default() };
    let mut conversation = conversation(checks);
    let length = KEPT_BODY_BYTES_MAX + 6;
    conversation.received(format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n").as_bytes()).unwrap();
    conversation.received(&vec![b'.'; KEPT_BODY_BYTES_MAX]).unwrap();
    let Progress::Replied { reply, .. } = conversation.received(b"needle").unwrap() else {
        panic!("complete")
    };
    assert_eq!(
        reply.rejection.map(|rejection| rejection.class),
        Some(ErrorClass::CheckBody),
        "it lay beyond what is kept"
    );
}

#[test]
fn failed_check_is_explained() {
    let reply = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 5\r\n\r\nhello";
    let header = |name: &str, contains: Option<&str>| Checks {
        headers: vec![wire::http1::HeaderCheck { name: name.into(), contains: contains.map(Into::into) }],
        ..Checks::default()
    };
    assert_eq!(rejection(header("content-type", Some("html")), reply), None);
    assert_eq!(
        rejection(header("Content-Type", Some("json")), reply),
        Some((ErrorClass::CheckHeader, "header Content-Type does not contain \"json\"".to_string()))
    );
    assert_eq!(
        rejection(header("ETag", None), reply),
        Some((ErrorClass::CheckHeader, "header ETag is missing".to_string()))
    );
    let body = |check| Checks { bodies: vec![check], ..Checks::default() };
    assert_eq!(rejection(body(BodyCheck::Contains(b"ell".to_vec())), reply), None);
    assert_eq!(
        rejection(body(BodyCheck::Matches(regex::bytes::Regex::new("^world").unwrap())), reply),
        Some((ErrorClass::CheckBody, "the body does not match /^world/".to_string()))
    );
    let size = Checks { size: Some(SizeCheck { min_bytes: 6, max_bytes: 9 }), ..Checks::default() };
    assert_eq!(
        rejection(size, reply),
        Some((ErrorClass::CheckSize, "the body does not have 6 to 9 bytes".to_string()))
    );
    let status = Checks { status: StatusSet::new([201..=201]), ..Checks::default() };
    assert_eq!(rejection(status, reply), Some((ErrorClass::Status, "status 200, expected 201".to_string())));
}

#[test]
fn reply_to_head_has_no_body() {
    let request = Request { method: "HEAD".to_string(), ..Request::get("h", "/") };
    let mut conversation = Http1::single(&request, Checks::default()).unwrap().open(0);
    conversation.begin(0);
    let reply = b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n";
    assert!(
        matches!(conversation.received(reply), Ok(Progress::Replied { used, .. }) if used == reply.len())
    );
}

#[test]
fn stage_follows_reply_and_early_close_is_empty() {
    let mut conversation = conversation(Checks::default());
    assert_eq!(conversation.stage(), Stage::FirstByte);
    conversation.received(b"HT").unwrap();
    assert_eq!(conversation.stage(), Stage::Head);
    conversation.received(b"TP/1.1 200 OK\r\nContent-Length: 3\r\n\r\na").unwrap();
    assert_eq!(conversation.stage(), Stage::Body);
    assert_eq!(conversation.peer_closed(), Closing::Incomplete);
    assert_eq!(conversation.stage(), Stage::Idle);
    conversation.begin(0);
    assert_eq!(conversation.peer_closed(), Closing::Empty);
}

#[test]
fn received_bytes_include_framing() {
    let mut conversation = conversation(Checks::default());
    let reply =
        b"HTTP/1.1 100 C\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n";
    for bytes in reply[..reply.len() - 1].chunks(7) {
        assert_eq!(conversation.received(bytes).unwrap(), Progress::NeedMore);
    }
    let Progress::Replied { reply: last, .. } = conversation.received(b"\n").unwrap() else {
        panic!("complete")
    };
    assert_eq!(last.received_bytes, reply.len() as u64);
}
