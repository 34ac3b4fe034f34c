//! HTTP steps of a plan: a request, the checks of its reply, and the values to save.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::capture::{Capture, CaptureSource};
use super::checks::Checks;
use super::request::Request;
use crate::braces;
use crate::masking::{mask_query_secrets, mask_secrets};
use crate::step::{Site, Step, StepValueError, Text, Value, WrittenStep};

/// Methods that change nothing at a server (RFC 9110 §9.2.1).
const SAFE_METHODS: [&str; 4] = ["GET", "HEAD", "OPTIONS", "TRACE"];
/// Headers that are recorded with their values. The value of any other header may be a secret.
const SHOWN_HEADERS: [&str; 9] = [
    "accept",
    "accept-encoding",
    "accept-language",
    "cache-control",
    "connection",
    "content-type",
    "host",
    "range",
    "user-agent",
];
/// Key of a step with a text that includes the method.
const ANY_METHOD: &str = "request";
/// Record of a value that may be a secret.
const NOT_SHOWN: &str = "(not shown)";

/// A request with its checks and saved values. Texts may have names of variables in braces; a variable's number is its index in the
/// list of a load.
#[derive(Clone, Debug)]
pub struct HttpStep {
    /// Request to send.
    pub request: Request,
    /// Checks of the reply.
    pub checks: Checks,
    /// Values that are saved from a reply that passes the checks.
    pub captures: Vec<Capture>,
}

impl Step for HttpStep {
    fn title(&self) -> String {
        format!("{} {}", self.request.method, mask_query_secrets(&self.request.target))
    }

    fn message(&self) -> &[u8] {
        self.request.body.as_deref().unwrap_or_default()
    }

    fn record(&self, _number: u16) -> Vec<(&'static str, Option<Value>)> {
        let Self { request, checks, captures } = self;
        let path = request.target.split(['?', '#']).next().unwrap_or_default();
        let mut record = vec![
            // The query is omitted, because it may contain secrets.
            ("path", Some(text(&mask_secrets(path)))),
            ("headers", Some(headers(request))),
            ("body_bytes", request.body.as_ref().map(|body| Value::Count(body.len() as u64))),
            ("expect", Some(expect(checks))),
            ("saves", Some(Value::List(captures.iter().map(saved).collect()))),
        ];
        // Plans without cookies keep their hash.
        record.extend(request.cookies.map(|cookies| ("cookies", Some(Value::Variable(cookies.jar)))));
        let redirects = request.redirects.map(|redirects| Value::Count(redirects.max.into()));
        record.extend(redirects.map(|redirects| ("redirects", Some(redirects))));
        record
    }

    fn identity(&self) -> Option<Vec<u8>> {
        Some(self.request.encode().unwrap_or_default().into_vec())
    }

    fn method(&self) -> Option<&str> {
        Some(&self.request.method)
    }

    fn is_safe(&self) -> bool {
        SAFE_METHODS.contains(&self.request.method.as_str())
    }

    fn expects(&self) -> Option<String> {
        let followed = match self.request.redirects.map_or(0, |redirects| redirects.max) {
            0 => String::new(),
            1 => "follows 1 redirect, ".into(),
            max => format!("follows up to {max} redirects, "),
        };
        Some(format!("{followed}expects {}", words(&self.checks)))
    }

    fn saves(&self) -> Vec<u16> {
        self.captures.iter().map(|capture| capture.variable).collect()
    }

    fn parts(&self) -> Vec<String> {
        let Some(redirects) = self.request.redirects else { return Vec::new() };
        let name = |hop| if hop == 0 { "first request".into() } else { format!("redirect {hop}") };
        (0..=redirects.max).map(name).collect()
    }

    fn session(&self) -> Option<u16> {
        self.request.cookies.map(|cookies| cookies.jar)
    }

    fn at(&self, site: &Site) -> Option<Arc<dyn Step>> {
        let mut step = self.clone();
        let request = &mut step.request;
        request.host.clone_from(&site.host);
        request.other_hosts.clone_from(&site.other_hosts);
        request.target = join_path(&site.path, &request.target);
        request.keep_alive = site.keep_alive;
        request.is_secure = site.is_secure;
        if let Some(redirects) = &mut request.redirects {
            redirects.is_secure = site.is_secure;
        }
        if let Some(credentials) = &site.credentials {
            request.headers.push(("Authorization".into(), basic_authorization(credentials)));
        }
        Some(Arc::new(step))
    }
}

/// Reads the key of a step and its path, without further keys.
pub(super) fn read(written: &WrittenStep<'_>) -> Result<Arc<dyn Step>, StepValueError> {
    let wrong = |(what, help)| StepValueError { path: Vec::new(), what, help };
    let text = written.value.text().map_or("", |text| text.written.as_str());
    let (method, target) = request_line(written.key, text).map_err(wrong)?;
    path_error(target).map_or(Ok(()), Err).map_err(wrong)?;
    let request = Request { method, ..Request::get("127.0.0.1", target) };
    Ok(Arc::new(HttpStep { request, checks: Checks::default(), captures: Vec::new() }))
}

/// Method and path of a step, from its key and the text of the key.
///
/// # Errors
///
/// Error message and help.
pub(super) fn request_line<'a>(key: &str, text: &'a str) -> Result<(String, &'a str), (String, String)> {
    if key != ANY_METHOD {
        return Ok((key.to_uppercase(), text));
    }
    let parts = text.split_once(' ').map(|(method, path)| (method.into(), path.trim()));
    parts.ok_or_else(|| {
        (
            format!("`{ANY_METHOD}` requires a method and a path"),
            format!("write a method and a path, such as `{ANY_METHOD}: PURGE /items`"),
        )
    })
}

/// Error in the path of a step, and the help. `None` if there is none.
pub(super) fn path_error(path: &str) -> Option<(String, String)> {
    if path.contains("://") && !path.starts_with('/') {
        let help = "write the path here, and the host in the `url` of the plan or the system";
        Some(("the path of a step has no host".into(), help.into()))
    } else if !path.starts_with(['/', '{', '*']) {
        Some((format!("the path {path:?} does not start with /"), format!("write /{path}")))
    } else if path.contains('#') {
        Some(("the part from # on is never sent to a server".into(), "remove it, or write %23".into()))
    } else {
        None
    }
}

/// Value of the header Authorization for `name:password`. Base64 has no braces, so the value is a text of a plan, too.
pub(super) fn basic_authorization(credentials: &[u8]) -> String {
    format!("Basic {}", STANDARD.encode(credentials))
}

/// Path of a step below the path of its system's URL.
fn join_path(base: &str, target: &str) -> String {
    let base = base.split('?').next().unwrap_or_default().trim_end_matches('/');
    let base = braces::literal(base.as_bytes());
    if target == "*" { target.into() } else { format!("{}{target}", String::from_utf8_lossy(&base)) }
}

fn text(text: &str) -> Value {
    Value::Text(Text { written: text.into(), template: Vec::new() })
}

fn headers(request: &Request) -> Value {
    let headers = request.headers.iter().map(|(name, value)| {
        let is_shown = SHOWN_HEADERS.iter().any(|shown| name.eq_ignore_ascii_case(shown));
        (name.as_str(), if is_shown { value.as_str() } else { NOT_SHOWN })
    });
    let credentials = request.credentials.iter().map(|_| ("Authorization", NOT_SHOWN));
    let pair = |(name, value)| Value::List(vec![text(name), text(value)]);
    Value::List(headers.chain(credentials).map(pair).collect())
}

fn expect(checks: &Checks) -> Value {
    let names = checks.headers.iter().map(|check| text(&check.name)).collect();
    let size = checks.size.map_or(Value::Nothing, |size| {
        Value::List(vec![Value::Count(size.min_bytes), Value::Count(size.max_bytes)])
    });
    Value::Table(vec![
        ("status", text(&checks.status.to_string())),
        ("headers", Value::List(names)),
        ("body_checks", Value::Count(checks.bodies.len() as u64)),
        ("size", size),
    ])
}

fn saved(capture: &Capture) -> Value {
    let mut entries = vec![("variable", Value::Variable(capture.variable))];
    match &capture.from {
        CaptureSource::Header(name) => entries.push(("header", text(name))),
        CaptureSource::HeaderPart(name, expression) => {
            entries.extend([("header", text(name)), ("regex", text(expression.as_str()))]);
        }
        CaptureSource::Body(expression) => entries.push(("body", text(expression.as_str()))),
        CaptureSource::Json(path) => entries.push(("json", text(path.written()))),
    }
    Value::Table(entries)
}

/// Words for the checks of a reply.
fn words(checks: &Checks) -> String {
    let mut words = vec![format!("status {}", checks.status)];
    let count = |count: usize, one: &str, several: &str| match count {
        0 => None,
        1 => Some(one.into()),
        count => Some(format!("{count} {several}")),
    };
    words.extend(count(checks.headers.len(), "a header", "headers"));
    words.extend(count(checks.bodies.len(), "a text in the body", "texts in the body"));
    words.extend(checks.size.as_ref().map(|_| "a size".into()));
    words.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::step::identity;

    /// A step with only a message.
    #[derive(Debug)]
    struct Message;

    impl Step for Message {
        fn title(&self) -> String {
            String::new()
        }

        fn message(&self) -> &[u8] {
            b"PING"
        }

        fn fingerprint(&self) -> String {
            " of it".into()
        }
    }

    #[test]
    fn step_with_message_has_identity_of_a_request() {
        for keep_alive in [true, false] {
            let request = Request {
                method: "REDIS".into(),
                body: Some(b"PING".to_vec()),
                keep_alive,
                ..Request::get("127.0.0.1:1", "/")
            };
            let expected = [&request.encode().expect("a request")[..], b" of it"].concat();
            assert_eq!(identity(&Message, "REDIS", "127.0.0.1:1", keep_alive), expected);
        }
    }

    #[test]
    fn step_inherits_path_credentials_and_tls_of_its_system() {
        let step = HttpStep {
            request: Request::get("", "/a?b={c}"),
            checks: Checks::default(),
            captures: Vec::new(),
        };
        let site = Site {
            host: "h:1".into(),
            path: "/{x}/?q=1".into(),
            credentials: Some(b"u:p".to_vec()),
            is_secure: true,
            ..Site::default()
        };
        let step = step.at(&site).expect("another step");
        let request = &step.downcast::<HttpStep>().expect("a step of HTTP").request;
        assert_eq!((request.host.as_str(), request.target.as_str()), ("h:1", "/{{x}}/a?b={c}"));
        assert_eq!(request.headers, [("Authorization".to_string(), "Basic dTpw".to_string())]);
        assert!(request.is_secure && !request.keep_alive);
        assert_eq!(join_path("/x/", "*"), "*");
    }
}
