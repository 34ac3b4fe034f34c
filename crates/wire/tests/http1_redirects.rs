//! HTTP redirects: a step follows them on its own server, and checks apply to the last reply.

use wire::http1::{
    BodyCheck, Capture, CaptureSource, Checks, CookieJar, Http1, HttpStep, Redirects, Request, StatusSet,
};
use wire::{Channel, Channels, ErrorClass, Event, Next, Reply, Secrets, Ticket, Values};

const COOKIES: CookieJar = CookieJar { jar: 1, path: 2 };
const USER: Ticket = Ticket(7);

fn script(max: u8, keep_alive: bool) -> Http1 {
    let request = Request {
        method: "POST".to_owned(),
        body: Some(b"user=ada".to_vec()),
        headers: vec![("Authorization".to_owned(), "Bearer t".to_owned())],
        cookies: Some(COOKIES),
        redirects: Some(Redirects { max, location: 3, is_secure: false }),
        keep_alive,
        ..Request::get("shop.example:81", "/in/login")
    };
    let checks = Checks {
        status: StatusSet::new([200..=200]),
        bodies: vec![BodyCheck::Contains(b"welcome".to_vec())],
        ..Checks::default()
    };
    let captures = vec![Capture { variable: 0, from: CaptureSource::Header("X-Page".to_owned()) }];
    let other = Request::get("shop.example:81", "/plain");
    let steps = [
        HttpStep { request: other, checks: Checks::default(), captures: Vec::new() },
        HttpStep { request, checks, captures },
    ];
    let names = ["page", "(cookies)", "(path)", "(location)"].map(str::to_owned);
    Http1::compile(&steps, &names, &Secrets::default()).expect("a script")
}

fn begun(script: &Http1) -> Box<dyn Channel> {
    let mut channel = Channels::open(script, 0, 0);
    assert_eq!(channel.begin(USER, 1, &Values::default()), Next::Send);
    channel.sent(channel.outgoing().len());
    channel
}

/// Next request of the channel after this reply, and the step that leads to it.
fn redirected(channel: &mut dyn Channel, head: &str) -> (String, Next) {
    let bytes = format!("HTTP/1.1 {head}\r\n\r\n");
    let event = channel.received(bytes.as_bytes()).expect("it is HTTP").expect("a whole reply");
    let (used, Event::PartReplied { ticket: USER, part: Some(part), next }) = event else {
        panic!("{event:?}")
    };
    assert_eq!((used, part.rejection), (bytes.len(), None));
    if next == Next::Reopen {
        channel.forget();
        assert_eq!(channel.resume(USER), Next::Send);
    }
    let sent = String::from_utf8_lossy(channel.outgoing()).into_owned();
    channel.sent(sent.len());
    (sent, next)
}

fn replied(channel: &mut dyn Channel, bytes: &str) -> Reply {
    match channel.received(bytes.as_bytes()) {
        Ok(Some((_, Event::Replied { ticket: USER, reply }))) => reply,
        other => panic!("{other:?}"),
    }
}

#[test]
fn each_redirect_is_a_part_and_last_reply_is_checked() {
    let script = script(3, true);
    assert_eq!(Channels::parts(&script), 4);
    let mut channel = begun(&script);
    // The parts are numbered after the two steps.
    assert_eq!(channel.part(USER), Some(2));
    let first = "302 Found\r\nLocation: ../home?a\r\nSet-Cookie: sid=1; Path=/\r\nSet-Cookie: in=2\r\nX-Page: no\r\nContent-Length: 0";
    let (second, next) = redirected(&mut *channel, first);
    assert_eq!((next, channel.part(USER)), (Next::Send, Some(3)));
    assert!(second.starts_with("GET /home?a HTTP/1.1\r\nHost: shop.example:81\r\n"), "{second}");
    assert!(second.ends_with("\r\nAuthorization: Bearer t\r\nCookie: sid=1\r\n\r\n"), "{second}");
    assert!(!second.contains("Content-Length"), "{second}");
    let (third, _) = redirected(
        &mut *channel,
        "307 Temporary Redirect\r\nLocation: http://shop.example:81/in/x\r\nContent-Length: 0",
    );
    assert!(third.starts_with("GET /in/x ") && third.contains("Cookie: in=2; sid=1\r\n"), "{third}");
    let reply = replied(&mut *channel, "HTTP/1.1 200 OK\r\nX-Page: yes\r\nContent-Length: 7\r\n\r\nwelcome");
    assert_eq!((reply.status, reply.rejection, reply.reusable), (200, None, true));
    assert!(reply.received_bytes > 200, "those of all replies: {}", reply.received_bytes);
    let mut values = Values::default();
    channel.saved(USER, &mut values);
    assert_eq!(values.get(0), Some(&b"yes"[..]));
    // The next exchange of the step starts with its first request again.
    assert_eq!(channel.begin(USER, 1, &Values::default()), Next::Send);
    assert!(channel.outgoing().starts_with(b"POST /in/login "));
    assert_eq!(channel.part(USER), Some(2));
}

#[test]
fn redirect_that_closes_connection_continues_on_a_new_one() {
    for (script, head) in [
        (script(2, true), "302 Found\r\nLocation: /n\r\nConnection: close\r\nContent-Length: 0"),
        // Without a length, the body would end with the connection.
        (script(2, true), "301 Moved Permanently\r\nLocation: /n"),
        (script(2, false), "302 Found\r\nLocation: /n\r\nContent-Length: 0"),
    ] {
        let mut channel = begun(&script);
        let (sent, next) = redirected(&mut *channel, head);
        assert_eq!(next, Next::Reopen, "{head}");
        assert!(sent.starts_with("GET /n HTTP/1.1\r\n"), "{sent}");
        assert_eq!(channel.room(), 0, "it still carries the request");
        let reply =
            replied(&mut *channel, "HTTP/1.1 200 OK\r\nX-Page: 1\r\nContent-Length: 7\r\n\r\nwelcome");
        assert_eq!(reply.rejection, None);
    }
}

#[test]
fn unfollowed_redirect_is_rejected_with_its_own_class() {
    let around = "HTTP/1.1 307 Temporary Redirect\r\nLocation: /in/login\r\nContent-Length: 0\r\n\r\n";
    let mut channel = begun(&script(1, true));
    let (again, _) = redirected(&mut *channel, &around[9..around.len() - 4]);
    assert!(again.starts_with("POST /in/login ") && again.ends_with("\r\n\r\nuser=ada"), "{again}");
    let rejection = replied(&mut *channel, around).rejection.expect("it is rejected");
    assert_eq!(rejection.class, ErrorClass::RedirectLimit);
    assert_eq!(channel.explain(rejection), "more than 1 redirect in a row, the last one to \"/in/login\"");
    let mut channel = begun(&script(1, true));
    let away = "HTTP/1.1 302 Found\r\nLocation: http://evil.example/\u{1b}[31m\r\nContent-Length: 0\r\n\r\n";
    let away = away.replace('\u{1b}', "\t");
    let rejection = replied(&mut *channel, &away).rejection.expect("it is rejected");
    assert_eq!(rejection.class, ErrorClass::RedirectTarget);
    assert!(channel.explain(rejection).contains("\"http://evil.example/\\t[31m\", which is another server"));
}

#[test]
fn bytes_after_redirect_are_unsolicited() {
    let mut channel = begun(&script(2, true));
    let bytes = "HTTP/1.1 302 Found\r\nLocation: /n\r\nContent-Length: 0\r\n\r\nHTTP/1.1 200 OK\r\n\r\n";
    assert_eq!(channel.received(bytes.as_bytes()).unwrap_err().class, ErrorClass::UnsolicitedReply);
}

#[test]
fn redirect_without_location_is_the_reply() {
    let mut channel = begun(&script(2, true));
    let reply = replied(&mut *channel, "HTTP/1.1 302 Found\r\nX-Page: 1\r\nContent-Length: 0\r\n\r\n");
    assert_eq!(reply.rejection.map(|rejection| rejection.class), Some(ErrorClass::Status));
}

#[test]
fn memory_of_a_connection_is_bounded() {
    let script = script(20, true);
    let mut channel = begun(&script);
    for _ in 0..20 {
        let far = format!("302 Found\r\nLocation: {}\r\nContent-Length: 0", "x".repeat(4_000));
        let (sent, _) = redirected(&mut *channel, &far);
        assert!(sent.len() as u64 <= script.request_bytes_max(|_| 0), "{}", sent.len());
    }
}

/// Target of the request for `get: "{next}"` with this value, or the reason why it is not sent.
fn target_of_saved(value: &str, is_secure: bool, target: &str) -> Result<String, String> {
    let request = Request { is_secure, ..Request::get("shop.example:81", target) };
    let steps = [HttpStep { request, checks: Checks::default(), captures: Vec::new() }];
    let script = Http1::compile(&steps, &["next".to_owned()], &Secrets::default()).expect("a script");
    let mut values = Values::default();
    values.set(0, value.as_bytes());
    let mut channel = Channels::open(&script, 0, 0);
    match channel.begin(USER, 0, &values) {
        Next::Send => {
            let sent = String::from_utf8_lossy(channel.outgoing()).into_owned();
            Ok(sent.split(' ').nth(1).unwrap_or_default().to_owned())
        }
        Next::Done(Reply { rejection: Some(rejection), reusable: true, .. }) => {
            assert_eq!(rejection.class, ErrorClass::RedirectTarget);
            let words = channel.explain(rejection);
            values.set(0, b"/next");
            assert_eq!(channel.begin(USER, 0, &values), Next::Send, "the connection goes on");
            Err(words)
        }
        next => panic!("{next:?}"),
    }
}

#[test]
fn saved_url_of_same_server_becomes_a_path() {
    for (value, is_secure, target) in [
        ("/x?y=z", false, "/x?y=z"),
        ("http://shop.example:81/x?y=z", false, "/x?y=z"),
        ("HTTP://Shop.Example:81", false, "/"),
        ("https://shop.example:81/x", true, "/x"),
        ("//shop.example:81/x", false, "/x"),
        ("http://shop.example:81?q", false, "/?q"),
    ] {
        assert_eq!(target_of_saved(value, is_secure, "{next}").as_deref(), Ok(target), "{value}");
    }
    let below = target_of_saved("http://shop.example:81", false, "{next}/items");
    assert_eq!(below.as_deref(), Ok("/items"));
    let glued = target_of_saved("http://shop.example:81", false, "{next}.evil.test/");
    assert_eq!(glued.as_deref(), Ok("/.evil.test/"));
}

#[test]
fn saved_url_of_another_server_is_rejected_before_anything_is_sent() {
    for value in [
        "http://evil.test/x",
        "https://shop.example:81/x",
        "http://shop.example/x",
        "//evil.test/x",
        "http://shop.example:81@evil.test/",
        "file:///etc/passwd",
    ] {
        let words = target_of_saved(value, false, "{next}").expect_err(value);
        assert!(words.contains(value) && words.contains("another server"), "{words}");
    }
}
