//! The cookie jar of a user (RFC 6265), stored as the value of one variable.
//!
//! A jar holds cookies of one host, and uses no clock: a cookie lives until the server deletes it, or the load ends. Each cookie is
//! a line: its path, a tab, and `name=value`.

use alloc::vec::Vec;

use httparse::Header;

use super::date::Date;

/// Max bytes of all cookies of a user; the oldest are removed first.
pub(super) const JAR_BYTES_MAX: usize = 8 * 1024;
/// Max bytes of a cookie's name and value. Longer cookies are ignored, as in browsers.
const COOKIE_BYTES_MAX: usize = 4096;
/// Max cookies of a user; the oldest are removed first.
const COOKIES_MAX: usize = 50;

/// Stores the cookies of a reply to a request for a path of a host.
pub(super) fn store_cookies(jar: &mut Vec<u8>, headers: &[Header<'_>], host: &str, path: &[u8]) {
    let named =
        |name: &'static str| headers.iter().filter(move |header| header.name.eq_ignore_ascii_case(name));
    // The server's clock, which its cookies' expiry dates refer to.
    let date = named("date").next().and_then(|header| Date::read(header.value));
    for header in named("set-cookie") {
        if let Some(cookie) = SetCookie::read(header.value, host, path, date) {
            cookie.store_in(jar);
        }
    }
}

/// Variables that hold the cookies of a user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CookieJar {
    /// Number of the variable that holds the cookies.
    pub jar: u16,
    /// Number of the variable that holds the path of the request in flight.
    pub path: u16,
}

/// Max bytes of a path that is kept. Cookies of requests with a longer path belong to the whole host.
pub(super) const PATH_BYTES_MAX: usize = 4096;

/// Writes the Cookie header for a path, if any cookie matches.
pub(super) fn write(jar: &[u8], target: &[u8], out: &mut Vec<u8>) {
    let path = path_of(target);
    let mut fitting: Vec<(&[u8], &[u8])> = cookies(jar).filter(|(own, _)| path_matches(own, path)).collect();
    // Cookies with longer paths come first, and older cookies come before newer ones.
    fitting.sort_by_key(|(own, _)| core::cmp::Reverse(own.len()));
    for (number, (_, cookie)) in fitting.iter().enumerate() {
        out.extend_from_slice(if number == 0 { b"Cookie: " } else { b"; " });
        out.extend_from_slice(cookie);
    }
    if !fitting.is_empty() {
        out.extend_from_slice(b"\r\n");
    }
}

/// Path of a request that is kept for its reply's cookies: `/` if it is too long.
pub(super) fn kept_path(target: &[u8]) -> &[u8] {
    Some(path_of(target)).filter(|path| path.len() <= PATH_BYTES_MAX).unwrap_or(b"/")
}

/// Path of a target, without its query.
pub(super) fn path_of(target: &[u8]) -> &[u8] {
    target.split(|byte| *byte == b'?').next().unwrap_or_default()
}

/// Path and `name=value` of each cookie.
fn cookies(jar: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    let lines = jar.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    lines.filter_map(|line| {
        let tab = line.iter().position(|byte| *byte == b'\t')?;
        Some((&line[..tab], &line[tab + 1..]))
    })
}

fn name_of(cookie: &[u8]) -> &[u8] {
    cookie.split(|byte| *byte == b'=').next().unwrap_or_default()
}

/// Whether a request for `path` carries cookies of the path `own` (5.1.4).
fn path_matches(own: &[u8], path: &[u8]) -> bool {
    path.strip_prefix(own).is_some_and(|rest| own.ends_with(b"/") || rest.is_empty() || rest[0] == b'/')
}

/// Parsed Set-Cookie header.
struct SetCookie<'a> {
    cookie: Vec<u8>,
    path: &'a [u8],
    is_deleted: bool,
}

impl<'a> SetCookie<'a> {
    /// Parses the header's value (5.2). `None` if the cookie is ignored.
    fn read(value: &'a [u8], host: &str, request: &'a [u8], date: Option<Date>) -> Option<Self> {
        if value.iter().any(|byte| byte.is_ascii_control()) {
            return None;
        }
        let mut attributes = value.split(|byte| *byte == b';');
        let (name, content) = pair(attributes.next()?);
        let content = content?;
        if name.is_empty() || name.len() + content.len() > COOKIE_BYTES_MAX {
            return None;
        }
        let (mut path, mut ends, mut max_age) = (default_path(request), None, None);
        for (name, content) in attributes.map(pair) {
            let content = content.unwrap_or_default();
            if name.eq_ignore_ascii_case(b"path") {
                path = if content.starts_with(b"/") { content } else { default_path(request) };
            } else if name.eq_ignore_ascii_case(b"domain") && !domain_matches(content, host) {
                return None;
            } else if name.eq_ignore_ascii_case(b"max-age") {
                max_age = is_expired_by_max_age(content).or(max_age);
            } else if name.eq_ignore_ascii_case(b"expires") {
                ends = Date::read(content).or(ends);
            }
        }
        let is_deleted = max_age
            .unwrap_or_else(|| ends.is_some_and(|ends| ends <= date.unwrap_or(Date::BEFORE_ANY_REPLY)));
        Some(Self { cookie: [name, b"=", content].concat(), path, is_deleted })
    }

    /// Adds the cookie to the jar, or replaces the cookie with its name and path.
    fn store_in(&self, jar: &mut Vec<u8>) {
        let line = [self.path, b"\t", self.cookie.as_slice(), b"\n"].concat();
        let is_same =
            |path: &[u8], cookie: &[u8]| path == self.path && name_of(cookie) == name_of(&self.cookie);
        let (mut kept, mut is_new) = (Vec::with_capacity(jar.len() + line.len()), true);
        for (path, cookie) in cookies(jar) {
            if !is_same(path, cookie) {
                kept.extend_from_slice(&[path, b"\t", cookie, b"\n"].concat());
            } else if is_new && !self.is_deleted {
                kept.extend_from_slice(&line);
                is_new = false;
            }
        }
        if is_new && !self.is_deleted {
            kept.extend_from_slice(&line);
        }
        while kept.len() > JAR_BYTES_MAX || cookies(&kept).count() > COOKIES_MAX {
            let oldest = kept.iter().position(|byte| *byte == b'\n').map_or(kept.len(), |at| at + 1);
            kept.drain(..oldest);
        }
        kept.shrink_to_fit();
        *jar = kept;
    }
}

/// Splits `name=value`, and trims both. The value is `None` without an equals sign.
fn pair(text: &[u8]) -> (&[u8], Option<&[u8]>) {
    match text.iter().position(|byte| *byte == b'=') {
        Some(at) => (text[..at].trim_ascii(), Some(text[at + 1..].trim_ascii())),
        None => (text.trim_ascii(), None),
    }
}

/// Default path of a cookie: the directory of the request's path (5.1.4).
fn default_path(path: &[u8]) -> &[u8] {
    match path.iter().rposition(|byte| *byte == b'/') {
        Some(at @ 1..) if path.starts_with(b"/") && !path.iter().any(u8::is_ascii_control) => &path[..at],
        _ => b"/",
    }
}

/// Whether a cookie's domain matches a host (5.1.3).
fn domain_matches(domain: &[u8], host: &str) -> bool {
    let domain = domain.strip_prefix(b".").unwrap_or(domain);
    let host = host_without_port(host).as_bytes();
    let is_number = host.iter().all(|byte| byte.is_ascii_digit() || b".:[]".contains(byte));
    let Some(at) = host.len().checked_sub(domain.len()) else { return false };
    let is_end = host[at..].eq_ignore_ascii_case(domain);
    domain.is_empty() || (is_end && (at == 0 || (host[at - 1] == b'.' && !is_number)))
}

fn host_without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if !port.contains(']') => name,
        _ => host,
    }
}

/// Whether a Max-Age deletes its cookie. `None` if the age is not a number.
fn is_expired_by_max_age(age: &[u8]) -> Option<bool> {
    let (is_negative, digits) = match age {
        [b'-', digits @ ..] => (true, digits),
        digits => (false, digits),
    };
    let is_number = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    is_number.then(|| is_negative || digits.iter().all(|digit| *digit == b'0'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::String;
    use alloc::{format, vec};
    use proptest::prelude::*;

    fn after(jar: &mut Vec<u8>, values: &[&str], path: &str) {
        let mut headers: Vec<Header<'_>> =
            values.iter().map(|value| Header { name: "set-cookie", value: value.as_bytes() }).collect();
        headers.push(Header { name: "Date", value: b"Tue, 24 Nov 2026 10:00:00 GMT" });
        store_cookies(jar, &headers, "shop.example:8080", path.as_bytes());
    }

    fn sent(jar: &[u8], target: &str) -> String {
        let mut out = Vec::new();
        write(jar, target.as_bytes(), &mut out);
        String::from_utf8_lossy(&out).into_owned()
    }

    #[test]
    fn sends_cookies_to_matching_paths_until_deleted() {
        let mut jar = Vec::new();
        after(
            &mut jar,
            &["sid=s%3A1; Path=/; HttpOnly; SameSite=Lax", "a = 1 2 ;Secure", "b=; Max-Age=3600"],
            "/in/x",
        );
        assert_eq!(sent(&jar, "/in/y?a=b"), "Cookie: a=1 2; b=; sid=s%3A1\r\n");
        assert_eq!(sent(&jar, "/inner"), "Cookie: sid=s%3A1\r\n");
        after(&mut jar, &["sid=2; path=/"], "/");
        assert_eq!(sent(&jar, "/"), "Cookie: sid=2\r\n");
        after(
            &mut jar,
            &[
                "sid=; Path=/; Expires=Thu, 01 Jan 1970 00:00:00 GMT",
                "a=; Max-Age=0",
                "b=3; Expires=Tue, 24-Nov-26 10:00:01 GMT",
            ],
            "/in/x",
        );
        assert_eq!(sent(&jar, "/in/"), "Cookie: b=3\r\n");
        after(&mut jar, &["b=4; Max-Age=-1; Expires=Fri, 24 Nov 2090 10:00:00 GMT"], "/in/x");
        assert!(jar.is_empty());
    }

    #[test]
    fn ignores_foreign_and_malformed_cookies() {
        let mut jar = Vec::new();
        let wrong = [
            "nothing",
            "=x",
            "",
            "a=1; Domain=evil.example",
            "a=1; Domain=op.example",
            "a=1; Domain=x.shop.example",
            "a=1\u{1}",
            "a=\t1",
            "a=1; Path=/\u{7f}",
        ];
        after(&mut jar, &wrong, "/");
        after(&mut jar, &[&format!("a={}", "x".repeat(COOKIE_BYTES_MAX))], "/");
        assert_eq!(String::from_utf8_lossy(&jar), "");
        after(
            &mut jar,
            &["a=1; Domain=.Example", "b=2; Domain=SHOP.example", "c=3; Path=relative; Domain="],
            "/x",
        );
        assert_eq!(sent(&jar, "/"), "Cookie: a=1; b=2; c=3\r\n");
        let mut by_number = Vec::new();
        let header = [Header { name: "Set-Cookie", value: b"a=1; Domain=0.0.1" }];
        store_cookies(&mut by_number, &header, "127.0.0.1:80", b"/");
        assert!(by_number.is_empty());
    }

    #[test]
    fn keeps_newest_cookies_within_memory_limits() {
        let mut jar = Vec::new();
        for number in 0..200 {
            after(&mut jar, &[&format!("c{number}={number}")], "/");
        }
        assert_eq!(cookies(&jar).count(), COOKIES_MAX);
        assert!(
            sent(&jar, "/").starts_with("Cookie: c150=150; ") && sent(&jar, "/").ends_with("c199=199\r\n")
        );
        for number in 0..10 {
            after(&mut jar, &[&format!("d{number}={}", "x".repeat(4_000))], "/");
        }
        assert!(jar.len() <= JAR_BYTES_MAX && jar.capacity() <= 2 * JAR_BYTES_MAX);
        after(&mut jar, &[&format!("e=1; Path=/{}", "x".repeat(10_000))], "/");
        assert!(jar.len() <= JAR_BYTES_MAX);
    }

    proptest! {
        #[test]
        fn arbitrary_cookies_add_no_line_and_stay_within_limits(values in proptest::collection::vec(any::<Vec<u8>>(), 0..6), path in any::<Vec<u8>>()) {
            let mut jar = Vec::new();
            let headers: Vec<Header<'_>> =
                values.iter().map(|value| Header { name: "Set-Cookie", value }).collect();
            store_cookies(&mut jar, &headers, "h", path_of(&path));
            store_cookies(&mut jar, &headers, "h", b"/a");
            let mut out = vec![];
            write(&jar, b"/a", &mut out);
            let line = out.strip_suffix(b"\r\n").unwrap_or(&out);
            prop_assert!(!line.contains(&b'\n') && !line.contains(&b'\r') && !line.contains(&0));
            prop_assert!(jar.len() <= JAR_BYTES_MAX);
        }
    }
}
