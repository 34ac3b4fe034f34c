//! A request whose values are filled in each time, and which is encoded once where there are none.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::encoding::{Encoding, Text};
use super::jar::{self, CookieJar, JAR_BYTES_MAX};
use super::redirect::{self, LOCATION_BYTES_MAX, Redirects, Unfollowed};
use super::request::{Credentials, Request, RequestFault};
use crate::braces::{Piece, pieces};
use crate::secrets::Secrets;

/// The name of the header, its signs, and the end of its line.
const COOKIE_NAME_BYTES: usize = "Cookie: \r\n".len();
/// Digits of the longest Content-Length.
const LENGTH_DIGITS_MAX: usize = 20;

/// A request with places for values.
///
/// Whatever a value is, it stays one value of its place: `Encoding` says how. A raw one may be more, but never ends its
/// line, and Content-Length counts it.
#[derive(Clone, Debug)]
pub struct Template {
    is_head: bool,
    is_idempotent: bool,
    form: Form,
    cookies: Option<Box<Cookies>>,
    origin: Option<Box<Origin>>,
    own: Option<Box<Own>>,
}

/// The server of a request whose target begins with a value: a URL of another server is not sent.
#[derive(Clone, Debug)]
struct Own {
    /// Host and port of the plan, and those of the header Host.
    hosts: Vec<String>,
    is_secure: bool,
}

/// Cookies, and the host that they belong to.
#[derive(Clone, Debug)]
struct Cookies {
    at: CookieJar,
    host: String,
}

/// Where redirects may lead, and what a request there carries.
#[derive(Clone, Debug)]
pub(super) struct Origin {
    pub(super) redirects: Redirects,
    /// Host and port of the server.
    pub(super) host: String,
    /// Whether a connection carries more than one request.
    pub(super) keeps_alive: bool,
    /// Whether the header Cookie is that of the jar.
    pub(super) sends_cookies: bool,
}

#[derive(Clone, Debug)]
enum Form {
    /// The whole request.
    Fixed(Box<[u8]>),
    /// Its parts, each with its own way to take a value.
    Filled { start: Box<[u8]>, target: Vec<Part>, head: Vec<Part>, body: Vec<Part> },
}

#[derive(Clone, Debug)]
enum Part {
    Bytes(Vec<u8>),
    Value(u16, Encoding),
    /// The body's length, in digits.
    Length,
    /// Parts without a length, in Base64.
    Base64(Vec<Part>),
    /// The header with the cookies of this variable, unless another one is given.
    Cookies {
        jar: u16,
        is_sent: bool,
    },
}

impl Part {
    /// Itself, or the parts in it.
    fn within(&self) -> &[Self] {
        match self {
            Self::Base64(parts) => parts,
            part => core::slice::from_ref(part),
        }
    }
}

impl Template {
    /// From a request whose target, header values and body may have names of `variables` and of `secrets` in braces; the place
    /// in the list is a variable's number. A secret is written as a value is, once.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with the request, each unknown name included.
    pub fn compile(
        request: &Request,
        variables: &[String],
        secrets: &Secrets,
    ) -> Result<Self, Vec<RequestFault>> {
        let mut reader = Reader { variables, secrets, faults: request.faults() };
        let target = reader.parts(request.target.as_bytes(), Text::TARGET);
        let mut head = Vec::new();
        push_bytes(&mut head, b" HTTP/1.1\r\n");
        let added = request.added_headers().map(|(name, value)| {
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
        let body = reader.parts(request.body.as_deref().unwrap_or_default(), Text::of_body(request));
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
        let own = matches!(target.first(), Some(Part::Value(..))).then(|| Box::new(Own::of(request)));
        let form = Form::Filled { start, target, head, body };
        let (is_head, is_idempotent) = (request.is_head(), request.is_idempotent());
        let template = Self { is_head, is_idempotent, form, cookies, origin, own };
        Ok(if template.variables().next().is_none() { template.fixed() } else { template })
    }

    /// From a request that is sent as it is written, names in braces included.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with the request.
    pub fn literal(request: &Request) -> Result<Self, Vec<RequestFault>> {
        let form = Form::Fixed(request.encode()?);
        let (is_head, is_idempotent) = (request.is_head(), request.is_idempotent());
        Ok(Self { is_head, is_idempotent, form, cookies: None, origin: None, own: None })
    }

    /// Whether the reply has no body, whatever its header says.
    #[inline]
    pub fn is_head(&self) -> bool {
        self.is_head
    }

    /// As [`Request::is_idempotent`].
    pub fn is_idempotent(&self) -> bool {
        self.is_idempotent
    }

    /// The numbers of the variables in it, as often as they occur.
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

    /// Bytes of the longest request, if no value of a variable is longer than `longest_bytes` says.
    pub fn bytes_max(&self, longest_bytes: impl Fn(u16) -> u64) -> u64 {
        let plain = |part: &Part| match part {
            Part::Bytes(bytes) => bytes.len() as u64,
            Part::Value(variable, encoding) => longest_bytes(*variable).saturating_mul(encoding.factor()),
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
        // The target of a redirect replaces that of the request.
        let location_bytes = if self.origin.is_some() { LOCATION_BYTES_MAX as u64 } else { 0 };
        match &self.form {
            Form::Fixed(bytes) => bytes.len() as u64 + location_bytes,
            Form::Filled { start, target, head, body } => [target, head, body]
                .into_iter()
                .fold(start.len() as u64 + location_bytes, |bytes, parts| bytes.saturating_add(sum(parts))),
        }
    }

    /// The request's bytes, if it has no variables.
    #[inline]
    pub(super) fn fixed_bytes(&self) -> Option<&[u8]> {
        match &self.form {
            Form::Fixed(bytes) => Some(bytes),
            Form::Filled { .. } => None,
        }
    }

    /// The number of the variable that the target begins with.
    pub(super) fn first_of_target(&self) -> Option<u16> {
        match &self.form {
            Form::Filled { target, .. } => match target.first() {
                Some(Part::Value(variable, _)) => Some(*variable),
                _ => None,
            },
            Form::Fixed(_) => None,
        }
    }

    /// Writes the request with these values to `out`, in place of what is there.
    ///
    /// # Errors
    ///
    /// The target is a URL of another server. `out` is then empty.
    pub(super) fn fill(&self, values: &[Vec<u8>], out: &mut Vec<u8>) -> Result<(), Unfollowed> {
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
            // A request line without a target would be none.
            out.push(b'/');
        }
        head.iter().chain(body).for_each(|part| push(part, out));
        Ok(())
    }

    /// Where the cookies of its user are, if it has any.
    #[inline]
    pub fn cookies(&self) -> Option<CookieJar> {
        self.cookies.as_ref().map(|cookies| cookies.at)
    }

    /// Where redirects may lead, if they are followed.
    #[inline]
    pub(super) fn origin(&self) -> Option<&Origin> {
        self.origin.as_deref()
    }

    /// The host that its cookies belong to.
    pub(super) fn cookie_host(&self) -> &str {
        self.cookies.as_ref().map_or("", |cookies| &cookies.host)
    }

    fn fixed(self) -> Self {
        let mut bytes = Vec::new();
        // A request without values has no target that begins with one.
        let _ = self.fill(&[], &mut bytes);
        Self { form: Form::Fixed(bytes.into_boxed_slice()), ..self }
    }
}

impl Own {
    fn of(request: &Request) -> Self {
        let given = request.headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("host"));
        let hosts =
            [&request.host].into_iter().chain(&request.further_hosts).chain(given.map(|(_, host)| host));
        Self { hosts: hosts.cloned().collect(), is_secure: request.is_secure }
    }

    /// The part of a location after its authority, and whether it has one.
    fn path_of<'a>(&self, location: &'a [u8]) -> Result<(&'a [u8], bool), Unfollowed> {
        redirect::after_authority(location, self.is_secure, self.hosts.iter().map(String::as_bytes))
    }
}

/// The target of a request as it was written.
pub(super) fn target_of(request: &[u8]) -> &[u8] {
    request.split(|byte| *byte == b' ').nth(1).unwrap_or_default()
}

struct Reader<'a> {
    variables: &'a [String],
    secrets: &'a Secrets,
    faults: Vec<RequestFault>,
}

impl Reader<'_> {
    fn parts(&mut self, written: &[u8], mut text: Text) -> Vec<Part> {
        let mut parts = Vec::new();
        for piece in pieces(written) {
            let (name, is_raw) = match piece {
                Piece::Text(bytes) => {
                    text.pass(bytes);
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
                None => self.faults.push(RequestFault::Variable(name.into())),
            }
        }
        parts
    }
}

/// Adds bytes to the last part, if it is one of bytes.
fn push_bytes(parts: &mut Vec<Part>, more: &[u8]) {
    match parts.last_mut() {
        Some(Part::Bytes(bytes)) => bytes.extend_from_slice(more),
        _ => parts.push(Part::Bytes(more.to_vec())),
    }
}
