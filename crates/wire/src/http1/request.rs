//! Requests as users write them, checked and encoded once before any load.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::jar::CookieJar;
use super::redirect::Redirects;

/// A request as a user writes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The method, such as GET.
    pub method: String,
    /// Host and port for the Host header.
    pub host: String,
    /// Host and port of the further addresses of a peer with several URLs, in order. Each address gets its own Host header.
    pub other_hosts: Vec<String>,
    /// Path and query.
    pub target: String,
    /// Further headers, in order. Host, User-Agent, Accept, and Content-Length are added only if they are not given here.
    pub headers: Vec<(String, String)>,
    /// The body. `None` sends no body.
    pub body: Option<Vec<u8>>,
    /// Credentials that are sent if there is no Authorization header.
    pub credentials: Option<Credentials>,
    /// Cookie jar that the request uses unless it has a Cookie header, and that its reply updates.
    pub cookies: Option<CookieJar>,
    /// Redirect settings. `None` returns a redirect as the reply.
    pub redirects: Option<Redirects>,
    /// Whether the server uses TLS: a target that starts with a value may be an `https` URL.
    pub is_secure: bool,
    /// Whether the connection stays open after the reply.
    pub keep_alive: bool,
}

/// User and password of HTTP Basic authentication (RFC 7617).
#[derive(Clone, PartialEq, Eq)]
pub struct Credentials {
    /// User name.
    pub user: String,
    /// Password.
    pub password: String,
}

/// Shows the user, but not the password.
impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials").field("user", &self.user).finish_non_exhaustive()
    }
}

/// A body composed of values, and its type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestBody {
    /// Bytes of the body, which may contain names in braces.
    pub bytes: Vec<u8>,
    /// Content-Type to send with the body. `None` if it does not follow from the way the body was composed.
    pub content_type: Option<String>,
}

/// Error in a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RequestError {
    /// The method is not a token (RFC 9110 §5.6.2).
    Method(String),
    /// The path has a space or a control character.
    Target(String),
    /// The name of a header is not a token.
    HeaderName(String),
    /// The value of the header with this name has a line break or a NUL.
    HeaderValue(String),
    /// The header with this name is set by the body.
    Framing(String),
    /// Unknown variable with this name.
    Variable(String),
}

impl Request {
    /// A plain GET with keep-alive.
    pub fn get(host: &str, target: &str) -> Self {
        Self {
            method: "GET".to_string(),
            host: host.to_string(),
            target: target.to_string(),
            headers: Vec::new(),
            body: None,
            other_hosts: Vec::new(),
            credentials: None,
            cookies: None,
            redirects: None,
            is_secure: false,
            keep_alive: true,
        }
    }

    /// The request to one of the addresses of its system, with the Host header of the address.
    pub(super) fn at_address(&self, number: usize) -> Self {
        let further = number.checked_sub(1).and_then(|place| self.other_hosts.get(place));
        Self { host: further.unwrap_or(&self.host).clone(), ..self.clone() }
    }

    /// Whether the reply has no body, regardless of its headers.
    pub fn is_head(&self) -> bool {
        self.method == "HEAD"
    }

    /// Whether the request has an identical effect if it is sent twice (RFC 9110, 9.2.2).
    pub fn is_idempotent(&self) -> bool {
        matches!(self.method.as_str(), "GET" | "HEAD" | "PUT" | "DELETE" | "OPTIONS" | "TRACE")
    }

    /// Encodes the request unchanged, including names in braces.
    ///
    /// # Errors
    ///
    /// All errors in the request.
    pub fn encode(&self) -> Result<Box<[u8]>, Vec<RequestError>> {
        let faults = self.faults();
        if !faults.is_empty() {
            return Err(faults);
        }
        let mut head = format!("{} {} HTTP/1.1\r\n", self.method, self.target);
        let body_bytes = self.body.as_ref().map_or(0, Vec::len).to_string();
        for (name, value) in self.default_headers() {
            head.push_str(&format!("{name}: {}\r\n", value.unwrap_or(&body_bytes)));
        }
        for (name, value) in &self.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        if let Some(Credentials { user, password }) = self.credentials() {
            let text = STANDARD.encode(format!("{user}:{password}"));
            head.push_str(&format!("Authorization: Basic {text}\r\n"));
        }
        head.push_str("\r\n");
        let mut bytes = head.into_bytes();
        bytes.extend_from_slice(self.body.as_deref().unwrap_or_default());
        Ok(bytes.into_boxed_slice())
    }

    /// Required headers that are not given, in order. The value `None` means the length of the body.
    pub(super) fn default_headers(&self) -> impl Iterator<Item = (&'static str, Option<&str>)> {
        // These methods send Content-Length: 0 without a body (RFC 9110 §8.6); some servers require it.
        let has_length = self.body.is_some() || matches!(self.method.as_str(), "POST" | "PUT" | "PATCH");
        let all = [
            ("Host", Some(self.host.as_str()), true),
            ("User-Agent", Some(concat!("tenbin/", env!("CARGO_PKG_VERSION"))), true),
            ("Accept", Some("*/*"), true),
            ("Content-Length", None, has_length),
            ("Connection", Some("close"), !self.keep_alive),
        ];
        let missing = all.into_iter().filter(|(name, _, is_wanted)| *is_wanted && !self.has(name));
        missing.map(|(name, value, _)| (name, value))
    }

    /// Credentials, unless a header gives them.
    pub(super) fn credentials(&self) -> Option<&Credentials> {
        self.credentials.as_ref().filter(|_| !self.has("authorization"))
    }

    /// Whether a header with this name is given, ignoring case.
    pub fn has(&self, name: &str) -> bool {
        self.headers.iter().any(|(given, _)| given.eq_ignore_ascii_case(name))
    }

    pub(super) fn faults(&self) -> Vec<RequestError> {
        let mut faults = Vec::new();
        if !is_token(&self.method) {
            faults.push(RequestError::Method(self.method.clone()));
        }
        if self.target.is_empty() || self.target.bytes().any(|byte| byte <= b' ' || byte == 0x7f) {
            faults.push(RequestError::Target(self.target.clone()));
        }
        for (name, value) in &self.headers {
            if !is_token(name) {
                faults.push(RequestError::HeaderName(name.clone()));
            } else if name.eq_ignore_ascii_case("content-length")
                || name.eq_ignore_ascii_case("transfer-encoding")
            {
                faults.push(RequestError::Framing(name.clone()));
            }
            if value.bytes().any(|byte| matches!(byte, b'\r' | b'\n' | 0)) {
                faults.push(RequestError::HeaderValue(name.clone()));
            }
        }
        faults
    }
}

impl fmt::Display for RequestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Method(method) => write!(f, "the method {method:?} is not a word such as GET or POST"),
            Self::Target(target) => {
                write!(f, "the path {target:?} has a space or a control character; write a space as %20")
            }
            Self::HeaderName(name) => {
                write!(f, "the header name {name:?} is malformed; write \"Name: value\"")
            }
            Self::HeaderValue(name) => write!(f, "the value of header {name} has a line break or a NUL byte"),
            Self::Framing(name) => write!(f, "the header {name} follows from the body and cannot be given"),
            Self::Variable(name) => {
                write!(f, "nothing gives a value to {{{name}}}; write {{{{{name}}}}} for the text itself")
            }
        }
    }
}

impl core::error::Error for RequestError {}

/// Whether the text is a token (RFC 9110 §5.6.2).
fn is_token(text: &str) -> bool {
    !text.is_empty()
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    fn text(request: &Request) -> String {
        String::from_utf8(request.encode().unwrap().into()).unwrap()
    }

    #[test]
    fn adds_missing_headers() {
        let request = Request {
            headers: vec![("accept".to_string(), "text/html".to_string())],
            body: Some(b"abc".to_vec()),
            method: "POST".to_string(),
            keep_alive: false,
            ..Request::get("example.test:81", "/a?b=c")
        };
        let version = env!("CARGO_PKG_VERSION");
        assert_eq!(
            text(&request),
            format!(
                "POST /a?b=c HTTP/1.1\r\nHost: example.test:81\r\nUser-Agent: tenbin/{version}\r\n\
                 Content-Length: 3\r\nConnection: close\r\naccept: text/html\r\n\r\nabc"
            )
        );
    }

    #[test]
    fn rejects_injection_and_reports_every_error() {
        let request = Request {
            method: "G ET".to_string(),
            target: "/a b".to_string(),
            headers: vec![
                ("X".to_string(), "a\r\nEvil: 1".to_string()),
                ("bad name".to_string(), String::new()),
                ("Content-Length".to_string(), "5".to_string()),
            ],
            ..Request::get("h", "/")
        };
        assert_eq!(
            request.encode().unwrap_err(),
            [
                RequestError::Method("G ET".to_string()),
                RequestError::Target("/a b".to_string()),
                RequestError::HeaderValue("X".to_string()),
                RequestError::HeaderName("bad name".to_string()),
                RequestError::Framing("Content-Length".to_string()),
            ]
        );
    }
}
