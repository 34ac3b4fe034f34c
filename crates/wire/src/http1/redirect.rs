//! Redirects (RFC 9110, 15.4): builds the request that follows a reply, to the same server.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use httparse::Header;

use super::encoding::Encoding;
use super::jar;
use super::template::Origin;

/// Redirect settings of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Redirects {
    /// Max redirects in a row.
    pub max: u8,
    /// Number of the variable that holds the latest location.
    pub location: u16,
    /// Whether the server uses TLS.
    pub is_secure: bool,
}

/// Max bytes of a location, and of its target. Longer ones are not followed.
pub(super) const LOCATION_BYTES_MAX: usize = 8 * 1024;
/// Max bytes of a location in an error message.
const SHOWN_BYTES_MAX: usize = 96;

/// Reason why a redirect is not followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(super) enum RedirectError {
    TooMany,
    /// Other host, port, or scheme: the load must not leave its server.
    OtherOrigin,
    TooLong,
    /// The target begins with a saved value that is a URL of another server.
    SavedUrl,
}

/// Location of a redirect, cut after one byte more than the limit. `None` if the reply is not a redirect.
pub(super) fn location_of<'a>(status: u16, headers: &[Header<'a>]) -> Option<&'a [u8]> {
    if !matches!(status, 301 | 302 | 303 | 307 | 308) {
        return None;
    }
    let location = headers.iter().find(|header| header.name.eq_ignore_ascii_case("location"))?.value;
    // One byte above the limit marks a location that is too long.
    Some(&location[..location.len().min(LOCATION_BYTES_MAX + 1)]).filter(|location| !location.is_empty())
}

/// Error message for the code of a refusal.
pub(super) fn explain(code: u32, max: u8, location: &[u8]) -> String {
    let shown = String::from_utf8_lossy(&location[..location.len().min(SHOWN_BYTES_MAX)]);
    match code {
        code if code == RedirectError::TooMany as u32 => {
            let s = if max == 1 { "" } else { "s" };
            format!("more than {max} redirect{s} in a row, the last one to {shown:?}")
        }
        code if code == RedirectError::OtherOrigin as u32 => {
            format!("a redirect to {shown:?}, which is another server, and is not followed")
        }
        code if code == RedirectError::SavedUrl as u32 => {
            format!(
                "the path begins with the value {shown:?}, which is a URL of another server: nothing was sent"
            )
        }
        _ => format!("a redirect to a location longer than {} KiB: {shown:?}…", LOCATION_BYTES_MAX / 1024),
    }
}

/// Creates the request to the location of a reply from the request that was sent. With a jar, its cookies replace the Cookie
/// header.
pub(super) fn next_request(
    sent: &[u8],
    status: u16,
    location: &[u8],
    origin: &Origin,
    jar: Option<&[u8]>,
) -> Result<Vec<u8>, RedirectError> {
    let request = SentRequest::read(sent);
    let target = resolve(location, &request, origin)?;
    if location.len().max(target.len()) > LOCATION_BYTES_MAX {
        return Err(RedirectError::TooLong);
    }
    let method = match status {
        303 if request.method != b"HEAD" => b"GET",
        // GET instead of the original POST, as browsers do (15.4.2).
        301 | 302 if request.method == b"POST" => b"GET",
        _ => request.method,
    };
    let drops_body = method != request.method;
    let mut next = [method, b" ", &target, b" HTTP/1.1\r\n"].concat();
    for line in request.lines() {
        let name = line.split(|byte| *byte == b':').next().unwrap_or_default();
        let is_body_header = name.get(..8).is_some_and(|start| start.eq_ignore_ascii_case(b"content-"));
        let is_cookie = jar.is_some() && name.eq_ignore_ascii_case(b"cookie");
        if !(is_cookie || (drops_body && is_body_header)) {
            next.extend_from_slice(line);
        }
    }
    if let Some(jar) = jar {
        jar::write(jar, &target, &mut next);
    }
    next.extend_from_slice(b"\r\n");
    if !drops_body {
        next.extend_from_slice(request.body);
    }
    Ok(next)
}

/// A request that was sent, split into its parts.
struct SentRequest<'a> {
    method: &'a [u8],
    target: &'a [u8],
    /// Header lines with their line ends.
    headers: &'a [u8],
    body: &'a [u8],
}

impl<'a> SentRequest<'a> {
    fn read(sent: &'a [u8]) -> Self {
        let line = memchr::memmem::find(sent, b"\r\n").map_or(sent.len(), |at| at + 2);
        let head = memchr::memmem::find(sent, b"\r\n\r\n").map_or(sent.len(), |at| at + 2);
        let mut words = sent[..line].split(|byte| *byte == b' ');
        Self {
            method: words.next().unwrap_or_default(),
            target: words.next().unwrap_or(b"/"),
            headers: sent.get(line..head).unwrap_or_default(),
            body: sent.get(head + 2..).unwrap_or_default(),
        }
    }

    fn lines(&self) -> impl Iterator<Item = &'a [u8]> {
        self.headers.split_inclusive(|byte| *byte == b'\n')
    }

    /// Value of the Host header.
    fn host(&self) -> &'a [u8] {
        let of_line = |line: &'a [u8]| {
            let (name, value) = line.split_at_checked(5)?;
            name.eq_ignore_ascii_case(b"host:").then(|| value.trim_ascii())
        };
        self.lines().find_map(of_line).unwrap_or_default()
    }
}

/// Resolves a location to a target (RFC 3986, 5.2), which must be on the original server.
fn resolve(location: &[u8], request: &SentRequest<'_>, origin: &Origin) -> Result<Vec<u8>, RedirectError> {
    let to = location.split(|byte| *byte == b'#').next().unwrap_or_default();
    let own = [origin.host.as_bytes(), request.host()];
    let (path, has_authority) = after_authority(to, origin.redirects.is_secure, own.into_iter())?;
    let base = jar::path_of(request.target);
    let is_relative = !has_authority;
    let joined = match path.first() {
        None if is_relative => request.target.to_vec(),
        None => b"/".to_vec(),
        Some(b'?') if is_relative => [base, path].concat(),
        Some(b'?') => [b"/", path].concat(),
        Some(b'/') => path.to_vec(),
        Some(_) => {
            let folder = base.iter().rposition(|byte| *byte == b'/').map_or(0, |at| at + 1);
            [&base[..folder], path].concat()
        }
    };
    let mut target = Vec::with_capacity(joined.len());
    Encoding::Location.encode(&remove_dot_segments(&joined), |bytes| target.extend_from_slice(bytes));
    Ok(target)
}

/// Returns the part of a location after its authority, and whether it has an authority. The authority must be in `own`: the host of the
/// plan, or the host of the Host header. Both lead to one socket.
pub(super) fn after_authority<'a, 'b>(
    location: &'a [u8],
    is_secure: bool,
    own: impl Iterator<Item = &'b [u8]>,
) -> Result<(&'a [u8], bool), RedirectError> {
    let scheme_bytes =
        location.iter().position(|byte| !byte.is_ascii_alphanumeric() && !b"+-.".contains(byte));
    let rest = match scheme_bytes {
        Some(at @ 1..) if location[at] == b':' => {
            let scheme: &[u8] = if is_secure { b"https" } else { b"http" };
            let is_own = location[..at].eq_ignore_ascii_case(scheme);
            location[at + 1..].strip_prefix(b"//").filter(|_| is_own).ok_or(RedirectError::OtherOrigin)?
        }
        _ => match location.strip_prefix(b"//") {
            Some(rest) => rest,
            None => return Ok((location, false)),
        },
    };
    let end = rest.iter().position(|byte| b"/?\\".contains(byte)).unwrap_or(rest.len());
    let port: &[u8] = if is_secure { b":443" } else { b":80" };
    let plain = |authority: &[u8]| authority.strip_suffix(port).unwrap_or(authority).to_ascii_lowercase();
    let is_own = own.into_iter().any(|own| !own.is_empty() && plain(&rest[..end]) == plain(own));
    if is_own { Ok((&rest[end..], true)) } else { Err(RedirectError::OtherOrigin) }
}

/// Removes dot segments from the path of a target (RFC 3986, 5.2.4).
fn remove_dot_segments(target: &[u8]) -> Vec<u8> {
    let (path, query) = target.split_at(jar::path_of(target).len());
    let mut segments: Vec<&[u8]> = Vec::new();
    let mut ends_with_folder = false;
    for segment in path.strip_prefix(b"/").unwrap_or(path).split(|byte| *byte == b'/') {
        ends_with_folder = matches!(segment, b"." | b"..");
        match segment {
            b"." => {}
            b".." => drop(segments.pop()),
            segment => segments.push(segment),
        }
    }
    if ends_with_folder {
        segments.push(b"");
    }
    [b"/", segments.join(&b'/').as_slice(), query].concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const POST: &[u8] =
        b"POST /a/b?c=d HTTP/1.1\r\nHost: h:81\r\nCookie: old=1\r\nContent-Type: text/plain\r\n\
        Content-Length: 2\r\nX: y\r\n\r\nhi";

    fn origin(host: &str, is_secure: bool) -> Origin {
        let redirects = Redirects { max: 3, location: 0, is_secure };
        Origin { redirects, host: host.into(), keeps_alive: true, sends_cookies: true }
    }

    fn target(to: &str) -> Result<String, RedirectError> {
        let next = next_request(POST, 302, to.as_bytes(), &origin("127.0.0.1:81", false), None)?;
        Ok(String::from_utf8_lossy(SentRequest::read(&next).target).into_owned())
    }

    #[test]
    fn resolves_location_on_same_server_only() {
        for (to, expected) in [
            ("/x?y=z#f", "/x?y=z"),
            ("x", "/a/x"),
            ("../x", "/x"),
            ("./", "/a/"),
            ("../../../x", "/x"),
            ("?q", "/a/b?q"),
            ("http://H:81/x", "/x"),
            ("HTTP://h:81", "/"),
            ("http://h:81?q", "/?q"),
            ("http://127.0.0.1:81/x", "/x"),
            ("//h:81/x/../y", "/y"),
            ("/a b\r\nEvil: 1", "/a%20b%0D%0AEvil:%201"),
            ("/x%2F..%zz", "/x%2F..%25zz"),
            ("/x?y=a:b/../c", "/x?y=a:b/../c"),
            ("#", "/a/b?c=d"),
        ] {
            assert_eq!(target(to).as_deref(), Ok(expected), "{to}");
        }
        for to in [
            "http://h/x",
            "https://h:81/x",
            "http://evil/",
            "//evil/x",
            "//",
            "http://h:81@evil/",
            "http://user:pass@h:81/",
            "http://h:81.evil/",
            "file:///etc/passwd",
            "javascript:alert(1)",
            "http:/x",
            "http://h:81\t@evil/",
        ] {
            assert_eq!(target(to), Err(RedirectError::OtherOrigin), "{to}");
        }
        assert_eq!(target(&"x".repeat(LOCATION_BYTES_MAX + 1)), Err(RedirectError::TooLong));
        assert_eq!(target(&"é".repeat(LOCATION_BYTES_MAX / 4)), Err(RedirectError::TooLong));
        let of_port = |to: &str, host: &str, is_secure| {
            next_request(b"GET / HTTP/1.1\r\n\r\n", 302, to.as_bytes(), &origin(host, is_secure), None)
        };
        assert!(of_port("https://e:443/", "e", true).is_ok() && of_port("http://e", "e:80", false).is_ok());
        assert!(of_port("http://e:443/", "e:443", true).is_err());
    }

    #[test]
    fn redirect_status_selects_method_and_body() {
        let next = |status| {
            let jar: &[u8] = b"/\tnew=2\n";
            let next = next_request(POST, status, b"/n", &origin("h:81", false), Some(jar)).unwrap();
            String::from_utf8(next).unwrap()
        };
        for status in [301, 302, 303] {
            assert_eq!(next(status), "GET /n HTTP/1.1\r\nHost: h:81\r\nX: y\r\nCookie: new=2\r\n\r\n");
        }
        let same = "POST /n HTTP/1.1\r\nHost: h:81\r\nContent-Type: text/plain\r\nContent-Length: 2\r\nX: y\r\n\
                    Cookie: new=2\r\n\r\nhi";
        assert_eq!((next(307), next(308)), (same.into(), same.into()));
        let of = |sent: &str, status| {
            let next = next_request(sent.as_bytes(), status, b"/n", &origin("h", false), None).unwrap();
            String::from_utf8(next).unwrap()
        };
        let head = "HEAD / HTTP/1.1\r\nHost: h\r\nCookie: own=1\r\n\r\n";
        assert_eq!(of(head, 303), "HEAD /n HTTP/1.1\r\nHost: h\r\nCookie: own=1\r\n\r\n");
        let put = "PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\nx";
        assert_eq!(of(put, 302), "PUT /n HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\nx");
        assert_eq!(of(put, 303), "GET /n HTTP/1.1\r\nHost: h\r\n\r\n");
    }

    #[test]
    fn only_redirect_status_with_location_is_followed() {
        let headers = [Header { name: "LOCATION", value: b"/n" }];
        assert_eq!(location_of(302, &headers), Some(&b"/n"[..]));
        for status in [200, 201, 300, 304, 305, 306, 404] {
            assert_eq!(location_of(status, &headers), None);
        }
        assert_eq!(location_of(302, &[]), None);
        assert_eq!(location_of(302, &[Header { name: "Location", value: b"" }]), None);
    }

    proptest! {
        #[test]
        fn arbitrary_location_adds_no_header_line(to in any::<Vec<u8>>()) {
            if let Ok(next) = next_request(POST, 302, &to, &origin("h:81", false), None) {
                let lines = next.iter().filter(|byte| **byte == b'\n').count();
                prop_assert_eq!(lines, 5, "{}", next.escape_ascii());
                let line = next.split(|byte| *byte == b'\n').next().unwrap();
                prop_assert_eq!(line.iter().filter(|byte| **byte == b' ').count(), 2);
            }
        }
    }
}
