//! HTTP captures: a value of one reply is sent in the next request, or the reply is rejected with a reason.

use regex::bytes::Regex;
use wire::http1::{
    BodyCheck, CAPTURED_BYTES_MAX, Capture, CaptureSource, Checks, Http1, JsonPath, KEPT_BODY_BYTES_MAX,
    Request, Step, Template,
};
use wire::{Conversation, ErrorClass, Progress, Rejection, Script, Secrets};

fn header(name: &str) -> CaptureSource {
    CaptureSource::Header(name.to_owned())
}

fn body(expression: &str) -> CaptureSource {
    CaptureSource::Body(Regex::new(expression).unwrap())
}

fn json(path: &str) -> CaptureSource {
    CaptureSource::Json(JsonPath::read(path).unwrap())
}

fn part(name: &str, expression: &str) -> CaptureSource {
    CaptureSource::HeaderPart(name.to_owned(), Regex::new(expression).unwrap())
}

/// Two steps: step 0 captures into variables 0, 1, …, and step 1 sends the first two of them.
fn script(from: Vec<CaptureSource>, checks: Checks) -> Http1 {
    let names = ["a".to_owned(), "b".to_owned()];
    let step = |request: &Request| Template::compile(request, &names, &Secrets::default()).unwrap();
    let captures = (0..).zip(from).map(|(variable, from)| Capture { variable, from }).collect();
    let second = Request { body: Some(b"{a}|{b}".to_vec()), ..Request::get("h", "/") };
    Http1::new(
        vec![
            Step { request: step(&Request::get("h", "/")), checks, captures },
            Step { request: step(&second), checks: Checks::default(), captures: Vec::new() },
        ],
        2,
    )
}

fn reply(headers: &str, body: &str) -> Vec<u8> {
    format!("HTTP/1.1 200 OK\r\n{headers}Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

/// Rejection of the first reply, and body of the second request. Asserts an equal result for the reply in small pieces.
fn after(script: &Http1, reply: &[u8]) -> (Option<Rejection>, String) {
    let tell = |size: usize| {
        let mut conversation = script.open(0);
        conversation.begin(0);
        let mut rejection = None;
        for piece in reply.chunks(size) {
            if let Progress::Replied { reply, .. } = conversation.received(piece).unwrap() {
                rejection = reply.rejection;
            }
        }
        conversation.begin(1);
        let sent = String::from_utf8_lossy(conversation.outgoing()).into_owned();
        (rejection, sent.split("\r\n\r\n").nth(1).unwrap_or_default().to_owned())
    };
    let whole = tell(reply.len());
    assert_eq!(tell(7), whole);
    whole
}

/// Asserts that a reply is rejected by its capture, with this message.
fn assert_rejected(from: CaptureSource, reply: &[u8], words: &str) {
    let script = script(vec![from], Checks::default());
    let rejection = after(&script, reply).0.expect("a refusal");
    let mut conversation = script.open(0);
    conversation.begin(0);
    assert_eq!((rejection.class, conversation.explain(rejection).as_str()), (ErrorClass::Capture, words));
}

#[test]
fn captures_values_and_sends_them() {
    let reply =
        reply("Location: /items/5\r\nlocation: /second\r\n", r#"{"data": {"token": "x\"y", "n": 1.50}}"#);
    for (from, expected) in [
        (vec![header("LOCATION"), json("/data/token")], "/items/5|x\"y"),
        (vec![json("/data/n"), body(r#""n": ([\d.]+)"#)], "1.50|1.50"),
        (vec![body("tok.n"), body("(nothing)?data")], "token|data"),
        (vec![part("location", "[0-9]+"), json("$.data['n']")], "5|1.50"),
        // Several headers of one name: the first that matches.
        (vec![part("Location", "^/(s[a-z]+)"), header("location")], "second|/items/5"),
    ] {
        let expected = (None, expected.to_owned());
        assert_eq!(after(&script(from, Checks::default()), &reply), expected);
    }
}

#[test]
fn missing_capture_is_rejected_with_reason() {
    let plain = reply("X: y\r\n", "hello");
    assert_rejected(header("Location"), &plain, "header Location, to be saved, is missing");
    assert_rejected(part("Location", "x"), &plain, "header Location, to be saved, is missing");
    assert_rejected(part("x", "^z"), &plain, "no header x matches /^z/, to be saved");
    assert_rejected(body("^world"), &plain, "nothing in the body matches /^world/, to be saved");
    assert_rejected(json("/a"), &plain, "the body is not JSON, so that \"/a\" cannot be saved");
    let object = reply("", r#"{"a": {"b": [1, null]}}"#);
    assert_rejected(json("/b"), &object, "the body has no \"/b\", to be saved");
    for pointer in ["/a", "/a/b", "/a/b/1", ""] {
        let words = format!("the value of {pointer:?} is neither text, number, true nor false");
        assert_rejected(json(pointer), &object, &words);
    }
}

#[test]
fn rejects_capture_above_limit_and_accepts_at_limit() {
    let text = "x".repeat(CAPTURED_BYTES_MAX + 1);
    assert_rejected(
        body("x+"),
        &reply("", &text),
        "the value of /x+/ is longer than 64 KiB, and is not saved",
    );
    let (rejection, sent) = after(&script(vec![body("x+")], Checks::default()), &reply("", &text[1..]));
    assert_eq!((rejection, sent.len()), (None, CAPTURED_BYTES_MAX + 1));
}

#[test]
fn rejects_capture_beyond_kept_body_with_reason() {
    let long = format!("[{}1]", "0,".repeat(KEPT_BODY_BYTES_MAX / 2));
    for (from, place) in [(json("/0"), "\"/0\""), (body("1"), "/1/")] {
        let words = format!("{place}, to be saved, is not found in the first 1 MiB of the body");
        assert_rejected(from, &reply("", &long), &words);
    }
    let found_early = script(vec![body("0,")], Checks::default());
    assert_eq!(after(&found_early, &reply("", &long)).0, None);
}

#[test]
fn failed_check_precedes_capture_and_interim_head_is_skipped() {
    let checks = Checks { bodies: vec![BodyCheck::Contains(b"fine".to_vec())], ..Checks::default() };
    let with_check = script(vec![header("Location")], checks);
    let rejection = after(&with_check, &reply("", "bad")).0.expect("a refusal");
    assert_eq!(rejection.class, ErrorClass::CheckBody);
    let failed = b"HTTP/1.1 500 X\r\nContent-Length: 0\r\n\r\n";
    assert_eq!(after(&with_check, failed).0, Some(Rejection { class: ErrorClass::Status, code: 500 }));
    let interim = [&b"HTTP/1.1 103 Early\r\nLocation: /early\r\n\r\n"[..], &reply("", "")].concat();
    assert_rejected(header("Location"), &interim, "header Location, to be saved, is missing");
}

#[test]
fn counts_expressions_of_checks_and_captures() {
    let bodies = vec![BodyCheck::Contains(b"x".to_vec()), BodyCheck::Matches(Regex::new("x").unwrap())];
    let checks = Checks { bodies, ..Checks::default() };
    assert_eq!(script(vec![body("a"), json("/a"), header("A"), part("b", "b")], checks).expressions(), 3);
    assert_eq!(script(Vec::new(), Checks::default()).expressions(), 0);
}

#[test]
fn connections_keep_their_own_values() {
    let script = script(vec![header("X")], Checks::default());
    let mut first = script.open(0);
    let second = {
        let mut conversation = script.open(0);
        conversation.begin(0);
        conversation
    };
    first.begin(0);
    first.received(&reply("X: secret\r\n", "")).unwrap();
    let mut second = second;
    second.received(&reply("X: other\r\n", "")).unwrap();
    first.begin(1);
    second.begin(1);
    assert!(first.outgoing().ends_with(b"\r\n\r\nsecret|") && second.outgoing().ends_with(b"\r\n\r\nother|"));
}

/// Step 0 captures a header. Step 1 has a check, but no captures.
#[test]
fn failed_capture_does_not_reject_another_step() {
    let step = |captures, bodies| Step {
        request: Template::compile(&Request::get("h", "/"), &[], &Secrets::default()).unwrap(),
        checks: Checks { bodies, ..Checks::default() },
        captures,
    };
    let capturing = step(vec![Capture { variable: 0, from: header("X-Token") }], Vec::new());
    let checking = step(Vec::new(), vec![BodyCheck::Contains(b"fine".to_vec())]);
    let script = Http1::new(vec![capturing, checking], 1);
    // A reply that is rejected for its status, so that captures do not apply, and a reply that is cut short.
    let no_token = b"HTTP/1.1 500 X\r\nContent-Length: 0\r\n\r\n";
    let cut_off = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab";
    for before in [&no_token[..], cut_off] {
        let mut conversation = script.open(0);
        conversation.begin(0);
        conversation.received(before).unwrap();
        conversation.forget();
        conversation.begin(1);
        match conversation.received(&reply("", "fine")).unwrap() {
            Progress::Replied { reply, .. } => assert_eq!(reply.rejection, None),
            progress => panic!("the reply is complete: {progress:?}"),
        }
    }
}

#[test]
fn captures_values_with_every_body_framing() {
    let chunked =
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n8\r\n{\"token\"\r\n6\r\n: \"x\"}\r\n0\r\n\r\n";
    let both = || script(vec![json("/token"), body("[a-z]+\"}")], Checks::default());
    assert_eq!(after(&both(), chunked), (None, "x|x\"}".to_owned()));
    // An empty body has no values, but its head may have.
    for empty in
        [&b"HTTP/1.1 204 No\r\nX: \xe9\xff y\r\n\r\n"[..], b"HTTP/1.1 304 No\r\nX: \xe9\xff y\r\n\r\n"]
    {
        assert_rejected(json("/token"), empty, "the body is not JSON, so that \"/token\" cannot be saved");
        assert_rejected(body("x"), empty, "nothing in the body matches /x/, to be saved");
        let (rejection, sent) = after(&script(vec![header("x")], Checks::default()), empty);
        assert_eq!((rejection, sent.as_str()), (None, "\u{fffd}\u{fffd} y|"));
    }
    // The close ends the body, which then has the value.
    let by_close = both();
    let mut conversation = by_close.open(0);
    conversation.begin(0);
    conversation.received(b"HTTP/1.1 200 OK\r\n\r\n{\"token\": \"until\"}").unwrap();
    assert!(matches!(conversation.peer_closed(), wire::Closing::Replied(reply) if reply.rejection.is_none()));
    conversation.begin(1);
    assert!(conversation.outgoing().ends_with(b"\r\n\r\nuntil|until\"}"));
}

const GZIP: &[u8] =
    b"\x1f\x8b\x08\0\0\0\0\0\0\x03\xab\x56\x2a\xc9\xcf\x4e\xcd\x53\xb2\x52\x50\x2a\x48\x4c\xce\x4e\x4d\
    \x51\x38\xbc\x52\xa9\x16\0\x6c\x6c\x53\x1b\x16\0\0\0";

fn coded(coding: &str, body: &[u8]) -> Vec<u8> {
    let head = format!("HTTP/1.1 200 OK\r\n{coding}Content-Length: {}\r\n\r\n", body.len());
    [head.as_bytes(), body].concat()
}

#[test]
fn decodes_compressed_body_for_checks_and_captures() {
    let checks = Checks { bodies: vec![BodyCheck::Contains(b"packed".to_vec())], ..Checks::default() };
    let script = script(vec![json("$.token"), body("pack(ed)")], checks);
    let reply = coded("Content-Encoding: gzip\r\n", GZIP);
    assert_eq!(after(&script, &reply), (None, "packed \u{e9}|ed".to_owned()));
}

#[test]
fn undecodable_body_is_checked_as_received_with_hint() {
    let checks = Checks { bodies: vec![BodyCheck::Contains(b"hello".to_vec())], ..Checks::default() };
    let script = Http1::single(&Request::get("h", "/"), checks).unwrap();
    let (mut conversation, hint) = (script.open(0), "compressed (Content-Encoding)");
    for (coding, sent, is_told) in [
        ("Content-Encoding: gzip\r\n", &b"\x1f\x08x"[..], true),
        ("Content-Encoding: compress\r\n", b"x", true),
        ("Content-Encoding: gzip\r\n", GZIP, false),
        ("Content-Encoding: identity\r\n", b"x", false),
        ("", b"x", false),
    ] {
        conversation.begin(0);
        let Ok(Progress::Replied { reply, .. }) = conversation.received(&coded(coding, sent)) else {
            panic!("{coding}")
        };
        let rejection = reply.rejection.expect("a refusal");
        let words = conversation.explain(rejection);
        assert!(
            rejection.class == ErrorClass::CheckBody && words.contains("does not contain \"hello\""),
            "{words}"
        );
        assert_eq!(words.contains(hint), is_told, "{coding}: {words}");
    }
}

#[test]
fn json_check_holds_for_the_value_at_its_path() {
    let check = |path: &str, value: Option<&str>, body: &str| {
        let path = JsonPath::read(path).unwrap();
        let bodies = vec![BodyCheck::Json(path, value.map(wire::http1::Expected::from))];
        let http = Http1::single(&Request::get("h", "/"), Checks { bodies, ..Checks::default() }).unwrap();
        let mut conversation = http.open(0);
        conversation.begin(0);
        let reply = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len());
        match conversation.received(reply.as_bytes()) {
            Ok(Progress::Replied { reply, .. }) => reply.rejection.map(|rejection| {
                assert_eq!(rejection.class, ErrorClass::CheckBody);
                conversation.explain(rejection)
            }),
            other => panic!("{other:?}"),
        }
    };
    let body = r#"{"status": "ok", "items": [{"id": 3}], "none": null}"#;
    for (path, value) in [
        ("$.status", Some("ok")),
        ("$.items[0].id", Some("3")),
        ("/items/0/id", Some("3")),
        ("$.none", None),
        ("$.items", None),
    ] {
        assert_eq!(check(path, value, body), None, "{path}");
    }
    for (path, value, body, message) in [
        ("$.status", Some("o"), body, "the body has no \"$.status\" with the value \"o\""),
        ("$.none", Some(""), body, "the body has no \"$.none\" with the value \"\""),
        ("$.other", None, body, "the body has no \"$.other\""),
        ("$.status", Some("ok"), "no JSON", "the body has no \"$.status\" with the value \"ok\""),
    ] {
        assert_eq!(check(path, value, body).as_deref(), Some(message), "{path}");
    }
}
