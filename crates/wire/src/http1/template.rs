//! Requests with placeholders for values: filled before each exchange, or encoded once if there are no values.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::encoding::{Encoding, Text};
use super::jar::{self, CookieJar, JAR_BYTES_MAX};
use super::redirect::{self, LOCATION_BYTES_MAX, RedirectError, Redirects};
use super::request::{Credentials, Request, RequestError};
use crate::braces::{Piece, pieces};
use crate::secrets::Secrets;

/// Length of the header's name, its separator, and its line end.
const COOKIE_NAME_BYTES: usize = "Cookie: \r\n".len();
/// Digits of the longest possible Content-Length.
const ACCEPT_ENCODING: &str = "accept-encoding";
const LENGTH_DIGITS_MAX: usize = 20;

/// Request with placeholders for values.
///
/// A value cannot leave its place, because it is encoded according to `Encoding`. A value without encoding may contain delimiters, but it
/// never ends its header line, and Content-Length counts it.
#[derive(Clone, Debug)]
pub struct Template {
    is_head: bool,
    is_idempotent: bool,
    accepts_coding: bool,
    form: Form,
    cookies: Option<Box<Cookies>>,
    origin: Option<Box<Origin>>,
    own: Option<Box<OwnServer>>,
}

/// Server of a request with a target that begins with a value. A URL of another server is not sent.
#[derive(Clone, Debug)]
struct OwnServer {
    /// Hosts and ports of the plan, and of the Host header.
    hosts: Vec<String>,
    is_secure: bool,
}

/// Variables of a cookie jar, and the host that its cookies belong to.
#[derive(Clone, Debug)]
struct Cookies {
    at: CookieJar,
    host: String,
}

/// Server that redirects may lead to, and properties of the requests to it.
#[derive(Clone, Debug)]
pub(super) struct Origin {
    pub(super) redirects: Redirects,
    /// Host and port of the server.
    pub(super) host: String,
    /// Whether a connection carries more than one request.
    pub(super) keeps_alive: bool,
    /// Whether the Cookie header comes from the jar.
    pub(super) sends_cookies: bool,
}

#[derive(Clone, Debug)]
enum Form {
    /// Encoded bytes of the whole request.
    Fixed(Box<[u8]>),
    /// Parts of the request, each with its own encoding of values.
    Filled { start: Box<[u8]>, target: Vec<Part>, head: Vec<Part>, body: Vec<Part> },
}

#[derive(Clone, Debug)]
enum Part {
    Bytes(Vec<u8>),
    Value(u16, Encoding),
    /// Length of the body in digits.
    Length,
    /// Parts in Base64; they contain no length.
    Base64(Vec<Part>),
    /// Cookie header from the jar in this variable. Not sent if the request has a Cookie header.
    Cookies {
        jar: u16,
        is_sent: bool,
    },
}

impl Part {
    /// Parts within Base64, or the part itself.
    fn within(&self) -> &[Self] {
        match self {
            Self::Base64(parts) => parts,
            part => core::slice::from_ref(part),
        }
    }
}

impl Template {
    /// Compiles a request. Its target, header values, and body may have names of `variables` and of `secrets` in braces. A variable's
    /// number is its index in the list. Secrets are encoded like values, and inserted when the request is compiled.
    ///
    /// # Errors
    ///
    /// All errors in the request, including unknown names.
    pub fn compile(
        request: &Request,
        variables: &[String],
        secrets: &Secrets,
    ) -> Result<Self, Vec<RequestError>> {
        let mut reader = Reader { variables, secrets, faults: request.faults() };
        let target = reader.parts(request.target.as_bytes(), Text::TARGET);
        let mut head = Vec::new();
        push_bytes(&mut head, b" HTTP/1.1\r\n");
        let added = request.default_headers().map(|(name, value)| {
            (name, Vec::from([value.map_or(Part::Length, |value| Part::Bytes(value.into()))]))
        });
        let given = request
            .headers
            .iter()
            .map(|(name, value)| (name.as_str(), reader.parts(value.as_bytes(), Text::Header)));
        for (name, value) in added.chain(given) {
            push_bytes(&mut head, name.as_bytes());
            push_bytes(&mut head, b": ");
            head.extend(value);
            push_bytes(&mut head, b"\r\n");
        }
        if let Some(Credentials { user, password }) = request.credentials() {
            push_bytes(&mut head, b"Authorization: Basic ");
            let mut parts = reader.parts(user.as_bytes(), Text::Other);
            push_bytes(&mut parts, b":");
            parts.extend(reader.parts(password.as_bytes(), Text::Other));
            head.push(Part::Base64(parts));
            push_bytes(&mut head, b"\r\n");
        }
        if let Some(CookieJar { jar, .. }) = request.cookies {
            head.push(Part::Cookies { jar, is_sent: !request.has("cookie") });
        }
        push_bytes(&mut head, b"\r\n");
        let body = reader.parts(request.body.as_deref().unwrap_or_default(), Text::for_body(request));
        if !reader.faults.is_empty() {
            return Err(reader.faults);
        }
        let start = [request.method.as_bytes(), b" "].concat().into_boxed_slice();
        let cookies = request.cookies.map(|at| Box::new(Cookies { at, host: request.host.clone() }));
        let origin = request.redirects.map(|redirects| {
            let sends_cookies = request.cookies.is_some() && !request.has("cookie");
            let host = request.host.clone();
            Box::new(Origin { redirects, host, keeps_alive: request.keep_alive, sends_cookies })
        });
        let own = matches!(target.first(), Some(Part::Value(..))).then(|| Box::new(OwnServer::of(request)));
        let form = Form::Filled { start, target, head, body };
        let (is_head, is_idempotent) = (request.is_head(), request.is_idempotent());
        let accepts_coding = request.has(ACCEPT_ENCODING);
        let template = Self { is_head, is_idempotent, accepts_coding, form, cookies, origin, own };
        Ok(if template.variables().next().is_none() { template.fixed() } else { template })
    }

    /// Compiles a request that is sent unchanged, including names in braces.
    ///
    /// # Errors
    ///
    /// All errors in the request.
    pub fn literal(request: &Request) -> Result<Self, Vec<RequestError>> {
        let form = Form::Fixed(request.encode()?);
        let (is_head, is_idempotent) = (request.is_head(), request.is_idempotent());
        let accepts_coding = request.has(ACCEPT_ENCODING);
        Ok(Self { is_head, is_idempotent, accepts_coding, form, cookies: None, origin: None, own: None })
    }

    /// Whether the request has an `Accept-Encoding` header, so that replies with a content coding are expected.
    pub(super) fn accepts_coding(&self) -> bool {
        self.accepts_coding
    }

    /// Whether the reply has no body, regardless of its headers.
    #[inline]
    pub fn is_head(&self) -> bool {
        self.is_head
    }

    /// See [`Request::is_idempotent`].
    pub fn is_idempotent(&self) -> bool {
        self.is_idempotent
    }

    /// Numbers of the variables in the request, repeated for each occurrence.
    pub fn variables(&self) -> impl Iterator<Item = u16> {
        let parts: [&[Part]; 3] = match &self.form {
            Form::Fixed(_) => [&[], &[], &[]],
            Form::Filled { target, head, body, .. } => [target, head, body],
        };
        parts.into_iter().flatten().flat_map(Part::within).filter_map(|part| match part {
            Part::Value(variable, _) | Part::Cookies { jar: variable, .. } => Some(*variable),
            Part::Bytes(_) | Part::Length | Part::Base64(_) => None,
        })
    }

    /// Bytes of the longest request. `longest_bytes` returns the max length of a variable's value.
    pub fn bytes_max(&self, longest_bytes: impl Fn(u16) -> u64) -> u64 {
        let plain = |part: &Part| match part {
            Part::Bytes(bytes) => bytes.len() as u64,
            Part::Value(variable, encoding) => {
                longest_bytes(*variable).saturating_mul(encoding.expansion_max())
            }
            Part::Length => LENGTH_DIGITS_MAX as u64,
            Part::Base64(_) => 0,
            Part::Cookies { .. } => (JAR_BYTES_MAX + COOKIE_NAME_BYTES) as u64,
        };
        let sum = |parts: &[Part]| {
            let bytes = parts.iter().map(|part| match part {
                Part::Base64(parts) => {
                    parts.iter().map(plain).fold(2, u64::saturating_add).div_ceil(3).saturating_mul(4)
                }
                part => plain(part),
            });
            bytes.fold(1, u64::saturating_add)
        };
        // The target of a redirect replaces the target of the request.
        let location_bytes = if self.origin.is_some() { LOCATION_BYTES_MAX as u64 } else { 0 };
        match &self.form {
            Form::Fixed(bytes) => bytes.len() as u64 + location_bytes,
            Form::Filled { start, target, head, body } => [target, head, body]
                .into_iter()
                .fold(start.len() as u64 + location_bytes, |bytes, parts| bytes.saturating_add(sum(parts))),
        }
    }

    /// Bytes of the request. `None` if it has variables.
    #[inline]
    pub(super) fn fixed_bytes(&self) -> Option<&[u8]> {
        match &self.form {
            Form::Fixed(bytes) => Some(bytes),
            Form::Filled { .. } => None,
        }
    }

    /// Number of the variable at the beginning of the target. `None` if the target begins with text.
    pub(super) fn target_variable(&self) -> Option<u16> {
        match &self.form {
            Form::Filled { target, .. } => match target.first() {
                Some(Part::Value(variable, _)) => Some(*variable),
                _ => None,
            },
            Form::Fixed(_) => None,
        }
    }

    /// Replaces `out` with the request with these values.
    ///
    /// # Errors
    ///
    /// The target is a URL of another server. `out` is then empty.
    pub(super) fn fill(&self, values: &[Vec<u8>], out: &mut Vec<u8>) -> Result<(), RedirectError> {
        out.clear();
        let Form::Filled { start, target, head, body } = &self.form else { return Ok(()) };
        let value = |variable: &u16| values.get(usize::from(*variable)).map_or(&[][..], Vec::as_slice);
        let body_bytes: usize = body
            .iter()
            .map(|part| match part {
                Part::Bytes(bytes) => bytes.len(),
                Part::Value(variable, encoding) => encoding.length(value(variable)),
                Part::Length | Part::Base64(_) | Part::Cookies { .. } => 0,
            })
            .sum();
        let plain = |part: &Part, out: &mut Vec<u8>| match part {
            Part::Bytes(bytes) => out.extend_from_slice(bytes),
            Part::Value(variable, encoding) => {
                encoding.encode(value(variable), |bytes| out.extend_from_slice(bytes));
            }
            Part::Length => out.extend_from_slice(itoa::Buffer::new().format(body_bytes).as_bytes()),
            Part::Base64(_) | Part::Cookies { .. } => {}
        };
        let push = |part: &Part, out: &mut Vec<u8>| match part {
            Part::Base64(parts) => {
                let mut text = Vec::new();
                parts.iter().for_each(|part| plain(part, &mut text));
                out.extend_from_slice(STANDARD.encode(text).as_bytes());
            }
            Part::Cookies { jar, is_sent: true } => {
                let target = target_of(out).to_vec();
                jar::write(value(jar), &target, out);
            }
            part => plain(part, out),
        };
        let mut target = target.as_slice();
        out.extend_from_slice(start);
        let mut is_below_root = false;
        if let (Some(own), [Part::Value(variable, encoding), rest @ ..]) = (&self.own, target) {
            let (path, is_absolute) = own.path_of(value(variable)).inspect_err(|_| out.clear())?;
            encoding.encode(path, |bytes| out.extend_from_slice(bytes));
            (target, is_below_root) = (rest, is_absolute);
        }
        target.iter().for_each(|part| push(part, out));
        if is_below_root && out.get(start.len()) != Some(&b'/') {
            out.insert(start.len(), b'/');
        }
        if out.len() == start.len() {
            // A request line must have a target.
            out.push(b'/');
        }
        head.iter().chain(body).for_each(|part| push(part, out));
        Ok(())
    }

    /// Variables of the user's cookies. `None` if the request has no cookie jar.
    #[inline]
    pub fn cookies(&self) -> Option<CookieJar> {
        self.cookies.as_ref().map(|cookies| cookies.at)
    }

    /// Server that redirects may lead to. `None` if redirects are not followed.
    #[inline]
    pub(super) fn origin(&self) -> Option<&Origin> {
        self.origin.as_deref()
    }

    /// Host that the cookies belong to.
    pub(super) fn cookie_host(&self) -> &str {
        self.cookies.as_ref().map_or("", |cookies| &cookies.host)
    }

    fn fixed(self) -> Self {
        let mut bytes = Vec::new();
        // Cannot fail: without values, the target does not begin with one.
        let _ = self.fill(&[], &mut bytes);
        Self { form: Form::Fixed(bytes.into_boxed_slice()), ..self }
    }
}

impl OwnServer {
    fn of(request: &Request) -> Self {
        let given = request.headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("host"));
        let hosts =
            [&request.host].into_iter().chain(&request.other_hosts).chain(given.map(|(_, host)| host));
        Self { hosts: hosts.cloned().collect(), is_secure: request.is_secure }
    }

    /// Returns the part of a location after its authority, and whether it has an authority.
    fn path_of<'a>(&self, location: &'a [u8]) -> Result<(&'a [u8], bool), RedirectError> {
        redirect::after_authority(location, self.is_secure, self.hosts.iter().map(String::as_bytes))
    }
}

/// Target of an encoded request.
pub(super) fn target_of(request: &[u8]) -> &[u8] {
    request.split(|byte| *byte == b' ').nth(1).unwrap_or_default()
}

struct Reader<'a> {
    variables: &'a [String],
    secrets: &'a Secrets,
    faults: Vec<RequestError>,
}

impl Reader<'_> {
    fn parts(&mut self, written: &[u8], mut text: Text) -> Vec<Part> {
        let mut parts = Vec::new();
        for piece in pieces(written) {
            let (name, is_raw) = match piece {
                Piece::Text(bytes) => {
                    text.advance(bytes);
                    push_bytes(&mut parts, bytes);
                    continue;
                }
                Piece::Name(name) => (name, false),
                Piece::Raw(name) => (name, true),
            };
            let encoding = text.value(is_raw);
            if let Some(secret) = self.secrets.get(name) {
                encoding.encode(secret.as_bytes(), |bytes| push_bytes(&mut parts, bytes));
                continue;
            }
            match self.variables.iter().position(|known| known == name) {
                Some(number) => parts.push(Part::Value(number as u16, encoding)),
                None => self.faults.push(RequestError::Variable(name.into())),
            }
        }
        parts
    }
}

/// Appends literal bytes, to the last part if it is literal.
fn push_bytes(parts: &mut Vec<Part>, more: &[u8]) {
    match parts.last_mut() {
        Some(Part::Bytes(bytes)) => bytes.extend_from_slice(more),
        _ => parts.push(Part::Bytes(more.to_vec())),
    }
}
