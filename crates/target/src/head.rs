//! Head of a request: the work, the framing of the body, and rejection of ambiguous heads.

use crate::chunked::Chunked;
use crate::endpoints;
use crate::reply::{Connection, Reply};
use crate::request::{BODY_BYTES, ParsedRequest, too_long};

/// Content of a head, before the body is read.
pub(crate) struct Head {
    pub(crate) parsed_request: ParsedRequest,
    pub(crate) framing: Option<Framing>,
    pub(crate) expects_continue: bool,
}

impl Head {
    pub(crate) fn read(request: &httparse::Request<'_, '_>) -> Result<Self, Reply> {
        let method = request.method.unwrap_or_default();
        let old = request.version == Some(0);
        let fields = Fields::read(request.headers)?;
        if !old && fields.hosts != 1 {
            return Err(Reply::fixed(400, "an HTTP/1.1 request needs exactly one Host field\n"));
        }
        let framing = match (fields.length, fields.chunked) {
            (Some(_), true) => {
                return Err(Reply::fixed(400, "Content-Length together with Transfer-Encoding\n"));
            }
            (None, true) if old => return Err(Reply::fixed(400, "HTTP/1.0 knows no Transfer-Encoding\n")),
            (None, true) => Some(Framing::Chunked(Chunked::default())),
            (Some(length), false) if length > BODY_BYTES as u64 => return Err(too_long()),
            (Some(0) | None, false) => None,
            (Some(length), false) => Some(Framing::Length(length as usize)),
        };
        let connection = match (old, fields.close, fields.keep) {
            (_, true, _) | (true, _, false) => Connection::Close,
            (true, false, true) => Connection::KeepSaid,
            (false, false, _) => Connection::Keep,
        };
        let work = endpoints::route(method, request.path.unwrap_or_default());
        let parsed_request =
            ParsedRequest { work, head_only: method == "HEAD", connection, body: Vec::new() };
        Ok(Self { parsed_request, expects_continue: fields.expects_continue && framing.is_some(), framing })
    }
}

/// Framing of a body.
pub(crate) enum Framing {
    /// Remaining length in bytes; never 0.
    Length(usize),
    Chunked(Chunked),
}

/// Header fields that affect the framing.
#[derive(Default)]
struct Fields {
    hosts: usize,
    length: Option<u64>,
    chunked: bool,
    close: bool,
    keep: bool,
    expects_continue: bool,
}

impl Fields {
    fn read(headers: &[httparse::Header<'_>]) -> Result<Self, Reply> {
        let mut fields = Self::default();
        for header in headers {
            let is = |name: &str| header.name.eq_ignore_ascii_case(name);
            if is("host") {
                fields.hosts += 1;
            } else if is("content-length") {
                let length =
                    length(header.value).ok_or_else(|| Reply::fixed(400, "Content-Length is no number\n"))?;
                if fields.length.replace(length).is_some() {
                    return Err(Reply::fixed(400, "more than one Content-Length\n"));
                }
            } else if is("transfer-encoding") {
                if fields.chunked || !header.value.eq_ignore_ascii_case(b"chunked") {
                    return Err(Reply::fixed(501, "the only known Transfer-Encoding is one chunked\n"));
                }
                fields.chunked = true;
            } else if is("connection") {
                for option in header.value.split(|&byte| byte == b',').map(<[u8]>::trim_ascii) {
                    fields.close |= option.eq_ignore_ascii_case(b"close");
                    fields.keep |= option.eq_ignore_ascii_case(b"keep-alive");
                }
            } else if is("expect") {
                fields.expects_continue |= header.value.eq_ignore_ascii_case(b"100-continue");
            }
        }
        Ok(fields)
    }
}

/// Parses a Content-Length of digits only, because other parsers may read a sign or a list differently.
fn length(value: &[u8]) -> Option<u64> {
    let digits = !value.is_empty() && value.iter().all(u8::is_ascii_digit);
    digits.then(|| std::str::from_utf8(value).ok()?.parse().ok()).flatten()
}
