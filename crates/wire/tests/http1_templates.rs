//! HTTP templates: values are inserted in requests, and cannot leave their places.

use proptest::prelude::*;
use wire::http1::{Checks, Http1, HttpConversation, HttpStep, Request, RequestError, Step, Template};
use wire::{Conversation, Progress, Script, Secrets};

/// Bytes that could end a line, a header, or a request, and other unusual bytes.
const CANARY: &[u8] = b"a\r\nEvil: 1\r\n\r\nGET /evil HTTP/1.1\0 \t#x\"<>\\^`{|}[]\x7f\xc3\xa9%zz%2f/?&=";

fn names(count: usize) -> Vec<String> {
    ["v", "w", "x.y-z_1"].map(str::to_owned)[..count].to_vec()
}

fn request(target: &str, header: Option<&str>, body: Option<&str>) -> Request {
    Request {
        method: if body.is_some() { "POST" } else { "GET" }.to_owned(),
        headers: header.map(|value| ("X-Value".to_owned(), value.to_owned())).into_iter().collect(),
        body: body.map(|text| text.as_bytes().to_vec()),
        ..Request::get("h", target)
    }
}

fn conversation(request: &Request, variables: usize) -> HttpConversation {
    let request = Template::compile(request, &names(variables), &Secrets::default()).unwrap();
    let step = Step { request, checks: Checks::default(), captures: Vec::new() };
    Http1::new(vec![step], variables as u16).open(0)
}

/// Request with these values.
fn sent(request: &Request, values: &[&[u8]]) -> Vec<u8> {
    let mut conversation = conversation(request, values.len());
    for (variable, value) in values.iter().enumerate() {
        conversation.set(variable as u16, value);
    }
    conversation.begin(0);
    conversation.outgoing().to_vec()
}

fn text(request: &Request, values: &[&str]) -> String {
    let values: Vec<&[u8]> = values.iter().map(|value| value.as_bytes()).collect();
    String::from_utf8(sent(request, &values)).unwrap()
}

/// Lines of the head, and the body.
fn parts(bytes: &[u8]) -> (Vec<Vec<u8>>, Vec<u8>) {
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").expect("a head");
    let mut lines = vec![Vec::new()];
    let mut rest = &bytes[..end];
    while let Some(at) = rest.windows(2).position(|two| two == b"\r\n") {
        lines.last_mut().unwrap().extend_from_slice(&rest[..at]);
        lines.push(Vec::new());
        rest = &rest[at + 2..];
    }
    lines.last_mut().unwrap().extend_from_slice(rest);
    (lines, bytes[end + 4..].to_vec())
}

#[test]
fn inserts_values_in_target_header_and_body() {
    let request = request("/a/{v}?n={w}&again={v}", Some("<{w}>"), Some(r#"{"id": {w}, "v": "{v}"}"#));
    let sent = text(&request, &["x", "17"]);
    assert!(sent.starts_with("POST /a/x?n=17&again=x HTTP/1.1\r\nHost: h\r\n"), "{sent}");
    assert!(sent.contains("\r\nContent-Length: 20\r\n"), "{sent}");
    assert!(sent.contains("\r\nX-Value: <17>\r\n"), "{sent}");
    assert!(sent.ends_with("\r\n\r\n{\"id\": 17, \"v\": \"x\"}"), "{sent}");
}

#[test]
fn each_request_gets_current_values_and_unset_are_empty() {
    let mut conversation = conversation(&request("/?{v}", None, Some("{w}")), 2);
    for (value, body, expected) in [("abcdef", "0123456789", "10"), ("", "", "0"), ("b", "12", "2")] {
        conversation.set(0, value.as_bytes());
        conversation.set(1, body.as_bytes());
        conversation.begin(0);
        let sent = String::from_utf8(conversation.outgoing().to_vec()).unwrap();
        assert!(sent.starts_with(&format!("POST /?{value} HTTP/1.1\r\n")), "{sent}");
        assert!(sent.contains(&format!("\r\nContent-Length: {expected}\r\n")), "{sent}");
        assert!(sent.ends_with(&format!("\r\n\r\n{body}")), "{sent}");
        assert!(matches!(
            conversation.received(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
            Ok(wire::Progress::Replied { .. })
        ));
    }
    // Setting an unknown variable has no effect.
    conversation.set(7, b"x");
}

#[test]
fn unnamed_and_escaped_braces_are_text() {
    let request = request("/{{v}}", None, Some(r#"{"a": {}, "b": "{{w}}"}"#));
    let sent = text(&request, &["VALUE", "VALUE"]);
    assert!(sent.starts_with("POST /{v} HTTP/1.1\r\n"), "{sent}");
    assert!(sent.ends_with("\r\n\r\n{\"a\": {}, \"b\": \"{w}\"}"), "{sent}");
    let plain = Request::get("h", "/?x={y}&{v}");
    let as_written = Http1::single(&plain, Checks::default()).unwrap();
    let mut conversation = as_written.open(0);
    conversation.begin(0);
    assert!(conversation.outgoing().starts_with(b"GET /?x={y}&{v} HTTP/1.1\r\n"));
}

#[test]
fn request_without_variables_is_sent_as_written() {
    for (target, header, body) in
        [("/", None, None), ("/a?b", Some("c"), Some("d{}")), ("/{{2}", None, Some(""))]
    {
        let request = request(target, header, body);
        assert_eq!(sent(&request, &[]), request.encode().unwrap().to_vec());
    }
}

#[test]
fn reports_unknown_names_with_other_errors() {
    let mut request = request("/ {nobody}", Some("{v} {not.there}"), Some("{v}{body-less}"));
    request.method = "G ET".to_owned();
    assert_eq!(
        Template::compile(&request, &names(1), &Secrets::default()).unwrap_err(),
        [
            RequestError::Method("G ET".to_owned()),
            RequestError::Target("/ {nobody}".to_owned()),
            RequestError::Variable("nobody".to_owned()),
            RequestError::Variable("not.there".to_owned()),
            RequestError::Variable("body-less".to_owned()),
        ]
    );
}

#[test]
fn value_cannot_leave_its_place() {
    let request = request("/p/{v}/q?r={v}", Some("x {v} y"), Some("[{v}]"));
    let bytes = sent(&request, &[CANARY]);
    let (lines, body) = parts(&bytes);
    let names: Vec<&[u8]> =
        lines[1..].iter().map(|line| line.split(|byte| *byte == b':').next().unwrap()).collect();
    let expected: [&[u8]; 5] = [b"Host", b"User-Agent", b"Accept", b"Content-Length", b"X-Value"];
    assert_eq!(names, expected);
    let encoded = "a%0D%0AEvil%3A%201%0D%0A%0D%0AGET%20%2Fevil%20HTTP%2F1.1%00%20%09%23x%22%3C%3E%5C%5E%60%7B%7C%7D%5B%5D%7F\
         %C3%A9%25zz%252f%2F%3F%26%3D";
    assert_eq!(String::from_utf8_lossy(&lines[0]), format!("POST /p/{encoded}/q?r={encoded} HTTP/1.1"));
    let expected: Vec<u8> =
        CANARY.iter().map(|byte| if b"\r\n\0".contains(byte) { b' ' } else { *byte }).collect();
    assert_eq!(lines[5], [b"X-Value: x ", &expected[..], b" y"].concat());
    assert_eq!(body, [b"[", CANARY, b"]"].concat());
    assert_eq!(String::from_utf8_lossy(&lines[4]), format!("Content-Length: {}", body.len()));
}

#[test]
fn raw_value_keeps_delimiters_but_ends_no_line() {
    let request = request("/p/{v:raw}/q?r={v:raw}", Some("x {v:raw} y"), Some("[{v:raw}]"));
    let (lines, body) = parts(&sent(&request, &[CANARY]));
    let encoded = "a%0D%0AEvil:%201%0D%0A%0D%0AGET%20/evil%20HTTP/1.1%00%20%09%23x%22%3C%3E%5C%5E%60%7B%7C%7D%5B%5D%7F\
                   %C3%A9%25zz%2f/?&=";
    assert_eq!(String::from_utf8_lossy(&lines[0]), format!("POST /p/{encoded}/q?r={encoded} HTTP/1.1"));
    assert_eq!((lines.len(), body), (6, [b"[", CANARY, b"]"].concat()));
}

/// Body of a request of this type with this value.
fn body(kind: Option<&str>, text: &str, value: &str) -> String {
    let mut request = request("/", None, Some(text));
    request.headers = kind.map(|kind| ("content-Type".to_owned(), kind.to_owned())).into_iter().collect();
    let (lines, body) = parts(&sent(&request, &[value.as_bytes()]));
    let length = format!("Content-Length: {}", body.len());
    assert!(lines.iter().any(|line| line == length.as_bytes()), "{length}");
    String::from_utf8(body).unwrap()
}

#[test]
fn encodes_value_by_body_type() {
    const JSON: Option<&str> = Some("application/json; charset=utf-8");
    const FORM: Option<&str> = Some("application/x-www-form-urlencoded");
    let value = "a \"b\" \\ & c=d\n\u{1}é";
    let in_json = "a \\\"b\\\" \\\\ & c=d\\n\\u0001é";
    for (kind, text, expected) in [
        (JSON, r#"{"a": "{v}"}"#, format!(r#"{{"a": "{in_json}"}}"#)),
        (Some("application/problem+json"), r#"["{v}"]"#, format!(r#"["{in_json}"]"#)),
        (None, r#"{"a\"{v}": [{v}, "x{v}"]}"#, format!(r#"{{"a\"{in_json}": [{value}, "x{in_json}"]}}"#)),
        (JSON, r#"{"a": "{v:raw}"}"#, format!(r#"{{"a": "{value}"}}"#)),
        (JSON, "{v}", value.to_owned()),
        (FORM, "a={v}&b=1", "a=a%20%22b%22%20%5C%20%26%20c%3Dd%0A%01%C3%A9&b=1".to_owned()),
        (FORM, "{v:raw}", value.to_owned()),
        (Some("text/plain"), r#"{"a": "{v}"}"#, format!(r#"{{"a": "{value}"}}"#)),
        (None, r#"say "{v}""#, format!(r#"say "{value}""#)),
    ] {
        assert_eq!(body(kind, text, value), expected, "{kind:?} {text}");
    }
}

#[test]
fn value_stays_within_path_segment_and_parameter() {
    let line = |value: &str| {
        let text = text(&request("/a/{v}/b?c={v}", None, None), &[value]);
        text.lines().next().map(str::to_owned).unwrap()
    };
    assert_eq!(line("x y+z"), "GET /a/x%20y%2Bz/b?c=x%20y%2Bz HTTP/1.1");
    assert_eq!(line("../admin?x=1&y"), {
        let encoded = "..%2Fadmin%3Fx%3D1%26y";
        format!("GET /a/{encoded}/b?c={encoded} HTTP/1.1")
    });
    assert_eq!(line(".."), "GET /a/%2E%2E/b?c=%2E%2E HTTP/1.1");
    assert_eq!(line("50%"), "GET /a/50%25/b?c=50%25 HTTP/1.1");
}

#[test]
fn empty_target_becomes_root() {
    assert!(text(&request("{v}", None, None), &[""]).starts_with("GET / HTTP/1.1\r\n"));
    assert!(
        text(&request("{v}", None, None), &["/items/5?a=b%20c"])
            .starts_with("GET /items/5?a=b%20c HTTP/1.1\r\n")
    );
}

#[test]
fn computes_needs_and_sizes_in_advance() {
    let plain = Template::compile(&request("/", None, None), &[], &Secrets::default()).unwrap();
    let (plain_bytes, head) =
        (plain.bytes_max(|_| 1_000), Request { method: "HEAD".to_owned(), ..Request::get("h", "/{w}") });
    assert_eq!(plain_bytes, Request::get("h", "/").encode().unwrap().len() as u64);
    let head = Template::compile(&head, &names(3), &Secrets::default()).unwrap();
    assert!(head.is_head() && !plain.is_head());
    let step = |request| Step { request, checks: Checks::default(), captures: Vec::new() };
    let script = Http1::new(vec![step(plain), step(head)], 3);
    assert!(script.needs(1, 1) && !script.needs(1, 0) && !script.needs(0, 1) && !script.needs(9, 1));
    assert!(script.shared_bytes() > 2 * plain_bytes && script.shared_bytes() < 3 * plain_bytes);
    assert!(script.request_bytes_max(|_| 1_000) > 3_000);
    assert!(script.kept_bytes_max(|variable| if variable == 1 { 1_000 } else { 0 }) > 2 * 3_000 + 1_000);
    // Each connection has an entry for each variable, empty or not.
    let noted = |variables| Http1::new(Vec::new(), variables).kept_bytes_max(|_| 0);
    assert!(noted(1_000) >= noted(0) + 1_000 * size_of::<Vec<u8>>() as u64);
}

proptest! {
    #[test]
    fn any_value_round_trips_in_json_string(value in any::<String>()) {
        let sent = body(None, r#"{"a": "{v}"}"#, &value);
        let read: serde_json::Value = serde_json::from_str(&sent).expect("JSON");
        prop_assert_eq!(read["a"].as_str(), Some(&*value));
    }

    #[test]
    fn any_value_keeps_request_structure(value in proptest::collection::vec(any::<u8>(), 0..80)) {
        let request = request("/{v}", Some("{v}"), Some("{v}"));
        let bytes = sent(&request, &[&value]);
        prop_assert!(bytes.len() as u64 <= Template::compile(&request, &names(1), &Secrets::default()).unwrap().bytes_max(|_| value.len() as u64));
        let mut headers = [httparse::EMPTY_HEADER; 8];
        let mut read = httparse::Request::new(&mut headers);
        let (lines, body) = parts(&bytes);
        prop_assert_eq!(&body, &value);
        prop_assert_eq!(lines.len(), 6);
        prop_assert!(lines[0].iter().all(|byte| (b' '..0x7f).contains(byte)));
        prop_assert_eq!(lines[0].iter().filter(|byte| **byte == b' ').count(), 2);
        if !value.iter().any(|byte| matches!(byte, 1..=8 | 0xb | 0xc | 0xe..=0x1f | 0x7f)) {
            let status = read.parse(&bytes);
            prop_assert_eq!(status, Ok(httparse::Status::Complete(bytes.len() - value.len())));
        }
    }
}

#[test]
fn secret_is_encoded_for_its_place_and_not_quoted() {
    let mut secrets = Secrets::default();
    secrets.add("env.KEY", "s3cr3t /\"x\"");
    let request = Request {
        headers: vec![("Authorization".to_owned(), "Bearer {env.KEY}".to_owned())],
        body: Some(br#"{"key": "{env.KEY}"}"#.to_vec()),
        ..request("/a?key={env.KEY}", None, Some(""))
    };
    let step = HttpStep { request, checks: Checks::default(), captures: Vec::new() };
    let script = Http1::compile(&[step], &[], &secrets).unwrap().with_body_quotes();
    assert!(!Script::needs(&script, 0, 0));
    let mut conversation = Script::open(&script, 0);
    conversation.begin(0);
    let sent = String::from_utf8(conversation.outgoing().to_vec()).unwrap();
    assert!(sent.starts_with("POST /a?key=s3cr3t%20%2F%22x%22 HTTP/1.1\r\n"), "{sent}");
    assert!(sent.contains("\r\nAuthorization: Bearer s3cr3t /\"x\"\r\n"), "{sent}");
    assert!(sent.ends_with(r#"{"key": "s3cr3t /\"x\""}"#), "{sent}");
    // The secret crosses the end of the quotation.
    let body = format!("{}s3cr3t /\"x\" and more", "x".repeat(90));
    let reply = format!("HTTP/1.1 403 No\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    let Ok(Progress::Replied { reply, .. }) = conversation.received(reply.as_bytes()) else {
        panic!("no reply")
    };
    let words = conversation.explain(reply.rejection.unwrap());
    assert!(words.ends_with("xx(secre\"") && !words.contains("s3c"), "{words}");
}
