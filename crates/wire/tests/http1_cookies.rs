//! HTTP cookies: a user keeps the cookies that a server sets, and sends them back on any connection.

use wire::http1::{Checks, CookieJar, Http1, HttpStep, Request};
use wire::{Channels, Event, Next, Secrets, Ticket, Values};

const COOKIES: CookieJar = CookieJar { jar: 1, path: 2 };

fn script() -> Http1 {
    let request = |target: &str, headers: &[(&str, &str)]| Request {
        headers: headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
        cookies: Some(COOKIES),
        ..Request::get("shop.example:81", target)
    };
    let requests =
        [request("/login", &[]), request("/in/{v}?x=y", &[]), request("/", &[("cookie", "own=1")])];
    let steps = requests.map(|request| HttpStep { request, checks: Checks::default(), captures: Vec::new() });
    let names = ["v", "(cookies)", "(path)"].map(str::to_owned);
    Http1::compile(&steps, &names, &Secrets::default()).expect("a script")
}

fn sent(channel: &mut dyn wire::Channel, user: u32, step: u16, values: &Values) -> String {
    assert_eq!(channel.begin(Ticket(user), step, values), Next::Send);
    String::from_utf8_lossy(channel.outgoing()).into_owned()
}

fn answer(channel: &mut dyn wire::Channel, headers: &str) {
    let reply = format!("HTTP/1.1 302 Found\r\nContent-Length: 0\r\n{headers}\r\n");
    let Ok(Some((_, Event::Replied { reply, .. }))) = channel.received(reply.as_bytes()) else {
        panic!("no reply")
    };
    assert_eq!(reply.rejection, None);
}

#[test]
fn cookies_survive_reconnect() {
    let (mut channel, mut values) = (Channels::open(&script(), 0, 0), Values::default());
    values.set(0, b"a");
    let first = sent(&mut *channel, 0, 0, &values);
    assert!(first.starts_with("GET /login HTTP/1.1\r\n") && !first.contains("Cookie"), "{first}");
    answer(&mut *channel, "Set-Cookie: sid=1; Path=/\r\nset-cookie: evil=1; Domain=evil.example\r\n");
    let second = sent(&mut *channel, 0, 1, &values);
    assert!(second.ends_with("\r\nCookie: sid=1\r\n\r\n"), "{second}");
    answer(&mut *channel, "Set-Cookie: near=2\r\n");
    channel.forget();
    let third = sent(&mut *channel, 0, 1, &values);
    assert!(third.ends_with("\r\nCookie: near=2; sid=1\r\n\r\n"), "{third}");
    answer(&mut *channel, "Set-Cookie: sid=; Path=/; Max-Age=0\r\n");
    let other = sent(&mut *channel, 0, 0, &values);
    assert!(!other.contains("Cookie"), "a cookie belongs to its path: {other}");
    answer(&mut *channel, "");
    let own = sent(&mut *channel, 0, 2, &values);
    assert!(own.contains("cookie: own=1") && !own.contains("Cookie:"), "{own}");
}

#[test]
fn cookies_follow_only_their_user_across_connections() {
    let script = script();
    let (mut one, mut other) = (Channels::open(&script, 0, 0), Channels::open(&script, 0, 1));
    let (mut ada, mut ben) = (Values::default(), Values::default());
    for (user, values) in [(0, &mut ada), (1, &mut ben)] {
        values.set(0, b"a");
        sent(&mut *one, user, 0, values);
        answer(&mut *one, &format!("Set-Cookie: sid={user}; Path=/\r\n"));
        one.saved(Ticket(user), values);
    }
    assert!(sent(&mut *other, 0, 1, &ada).contains("Cookie: sid=0\r\n"));
    answer(&mut *other, "");
    assert!(sent(&mut *other, 1, 1, &ben).contains("Cookie: sid=1\r\n"));
    // Clears the cookies, as for a new iteration.
    ben.set(COOKIES.jar, b"");
    answer(&mut *other, "");
    assert!(!sent(&mut *other, 1, 1, &ben).contains("Cookie"));
}

#[test]
fn memory_of_a_connection_is_bounded() {
    let script = script();
    let kept_bytes = script.kept_bytes_max(|_| 10);
    let (mut channel, values) = (Channels::open(&script, 0, 0), Values::default());
    for round in 0..20 {
        sent(&mut *channel, 0, 0, &values);
        let cookies: String =
            (0..20).map(|at| format!("Set-Cookie: c{round}-{at}={}\r\n", "x".repeat(2_000))).collect();
        answer(&mut *channel, &cookies);
    }
    let last = sent(&mut *channel, 0, 0, &values);
    assert!(last.len() as u64 <= script.request_bytes_max(|_| 10) && last.len() as u64 <= kept_bytes);
    assert!(last.contains("c19-19=") && kept_bytes < 64 * 1024, "{kept_bytes}");
}
