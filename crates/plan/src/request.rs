//! From a URL and flags to the request, its peer and its checks.

use std::fs;
use std::net::Ipv6Addr;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use percent_encoding::percent_decode_str;
use regex::bytes::RegexBuilder;
use url::{Host, Url};
use wire::braces;
use wire::http1::{BodyCheck, Checks, HeaderCheck, Request, SizeCheck, StatusSet};

use crate::database::presentable;
use crate::draft::Draft;
use crate::fault::Fault;
use crate::plan::{Peer, Trust};
use crate::units;

/// A request body is held once in memory, and sent from there.
const BODY_BYTES_MAX: u64 = 64 * 1024 * 1024;
const REGEX_BYTES_MAX: usize = 1 << 20;

/// Title, step name, peer and request.
pub(crate) type Target = (String, String, Peer, Request);

pub(crate) fn target(draft: &Draft, faults: &mut Vec<Fault>) -> Option<Target> {
    let url = url(&draft.url, faults)?;
    let tls = trust(draft, &url, faults);
    let host = match url.host()? {
        Host::Domain(name) => name.to_owned(),
        Host::Ipv4(address) => address.to_string(),
        Host::Ipv6(address) => Ipv6Addr::to_string(&address),
    };
    let port = url.port_or_known_default().unwrap_or(80);
    let peer = Peer { host, port, unix_socket: draft.unix_socket.clone(), tls };

    let path = &url[url::Position::BeforePath..url::Position::AfterQuery];
    let authority = &url[url::Position::BeforeHost..url::Position::AfterPort];
    let body = body(draft, faults);
    let method =
        draft.method.clone().unwrap_or_else(|| if body.is_some() { "POST" } else { "GET" }.to_owned());
    let mut headers = headers(&draft.headers, "-H", faults);
    if let Some(credentials) = credentials(&url) {
        if headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("authorization")) {
            let what = "both the URL and a header say who is asking";
            faults.push(Fault::new("-H Authorization", what, "leave the name and password out of the URL"));
        }
        headers.push(("Authorization".to_owned(), format!("Basic {}", STANDARD.encode(credentials))));
    }
    if method == "HEAD" && !(draft.expect_body.is_empty() && draft.expect_body_regex.is_empty()) {
        let what = "the reply to HEAD has no body";
        faults.push(Fault::new("--expect-body", what, "leave it out, or use another method"));
    }
    let request = Request {
        method: method.clone(),
        host: authority.to_owned(),
        target: path.to_owned(),
        headers,
        body,
        keep_alive: !draft.no_keepalive,
    };
    if let Err(wrong) = request.encode() {
        let way_out = "see the example: -m POST -H 'Name: value' -b 'body'";
        faults.extend(wrong.iter().map(|fault| Fault::new("request", fault.to_string(), way_out)));
    }
    let place = draft.unix_socket.as_ref().map_or(String::new(), |path| format!(" over {}", path.display()));
    let shown = without_secrets(&url);
    let title = format!("{method} {}://{authority}{shown}{place}", url.scheme());
    Some((title, format!("{method} {shown}"), peer, literal(request)))
}

/// A planned request that sends exactly this: on the command line, braces are only braces.
fn literal(request: Request) -> Request {
    let text = |text: &str| String::from_utf8_lossy(&braces::literal(text.as_bytes())).into_owned();
    Request {
        target: text(&request.target),
        headers: request.headers.iter().map(|(name, value)| (name.clone(), text(value))).collect(),
        body: request.body.as_deref().map(braces::literal),
        ..request
    }
}

/// `name:password` of a URL, decoded.
fn credentials(url: &Url) -> Option<Vec<u8>> {
    if url.username().is_empty() && url.password().is_none() {
        return None;
    }
    let decoded = |text: &str| percent_decode_str(text).collect::<Vec<u8>>();
    Some([decoded(url.username()), b":".to_vec(), decoded(url.password().unwrap_or_default())].concat())
}

/// Path and query as they may be shown: values whose keys sound like secrets are replaced.
fn without_secrets(url: &Url) -> String {
    let Some(query) = url.query() else { return url.path().to_owned() };
    let shown = query.split('&').map(|pair| match pair.split_once('=') {
        Some((key, _)) if sounds_secret(key) => format!("{key}=(secret)"),
        _ => pair.to_owned(),
    });
    format!("{}?{}", url.path(), shown.collect::<Vec<_>>().join("&"))
}

/// Whether the name of a parameter or a header suggests that its value is nobody's business.
pub(crate) fn sounds_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    [
        "auth",
        "key",
        "token",
        "secret",
        "passw",
        "pwd",
        "sig",
        "session",
        "cookie",
        "credential",
        "csrf",
        "jwt",
    ]
    .iter()
    .any(|part| name.contains(part))
}

fn url(text: &str, faults: &mut Vec<Fault>) -> Option<Url> {
    let way_out = "write http://HOST[:PORT]/PATH or https://…; `tenbin --help` lists the commands";
    let schemes = [&["http", "https"][..], &crate::database::SCHEMES].concat();
    let wrong = |what: String| Some(Fault::new(format!("{:?}", presentable(text)), what, way_out));
    let fault = match Url::parse(text) {
        Ok(url) if url.host_str().is_none_or(str::is_empty) || !schemes.contains(&url.scheme()) => {
            wrong(format!("this URL's scheme is none of {}", schemes.join(", ")))
        }
        Ok(url) if url.port() == Some(0) => wrong("port 0 is no port to connect to".to_owned()),
        Ok(url) => return Some(url),
        Err(url::ParseError::RelativeUrlWithoutBase) => {
            wrong("this is neither a command nor a URL".to_owned())
        }
        Err(error) => wrong(format!("this is not a URL: {error}")),
    };
    faults.extend(fault);
    None
}

fn trust(draft: &Draft, url: &Url, faults: &mut Vec<Fault>) -> Option<Trust> {
    let is_secure = url.scheme() == "https";
    if !is_secure && (draft.insecure || draft.cacert.is_some()) {
        let flag = if draft.insecure { "--insecure" } else { "--cacert" };
        faults.push(Fault::new(
            flag,
            "the URL is http: there is no certificate",
            "leave it out, or write https://",
        ));
    }
    match (&draft.cacert, draft.insecure) {
        (Some(_), true) => {
            let what = "one checks certificates and the other does not";
            faults.push(Fault::new("--cacert and --insecure", what, "give only one of them"));
            None
        }
        _ if !is_secure => None,
        (Some(path), false) => Some(Trust::Authorities(path.clone())),
        (None, true) => Some(Trust::Anything),
        (None, false) => Some(Trust::System),
    }
}

fn body(draft: &Draft, faults: &mut Vec<Fault>) -> Option<Vec<u8>> {
    match (&draft.body, &draft.body_file) {
        (Some(_), Some(_)) => {
            faults.push(Fault::new("--body and --body-file", "both name the body", "give only one of them"));
            None
        }
        (Some(text), None) => Some(text.clone().into_bytes()),
        (None, Some(path)) => match read_body(path) {
            Ok(body) => Some(body),
            Err(what) => {
                faults.push(Fault::new("--body-file", what, "name a readable file of at most 64 MiB"));
                None
            }
        },
        (None, None) => None,
    }
}

fn read_body(path: &Path) -> Result<Vec<u8>, String> {
    let shown = path.display();
    let about = fs::metadata(path).map_err(|error| format!("{shown}: {error}"))?;
    if !about.is_file() {
        return Err(format!("{shown} is not a regular file"));
    }
    if about.len() > BODY_BYTES_MAX {
        return Err(format!("{shown} has {} bytes", about.len()));
    }
    fs::read(path).map_err(|error| format!("{shown}: {error}"))
}

fn headers(lines: &[String], flag: &str, faults: &mut Vec<Fault>) -> Vec<(String, String)> {
    let mut headers = Vec::new();
    for line in lines {
        match line.split_once(':') {
            Some((name, value)) => headers.push((name.trim().to_owned(), value.trim().to_owned())),
            None => {
                // The rest may be a secret.
                let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
                let dots = if rest.is_empty() { "" } else { " …" };
                let what = format!("\"{}{dots}\" has no colon", word.escape_debug());
                faults.push(Fault::new(flag, what, "write -H 'Name: value'"));
            }
        }
    }
    headers
}

pub(crate) fn checks(draft: &Draft, faults: &mut Vec<Fault>) -> Checks {
    let mut bodies: Vec<_> =
        draft.expect_body.iter().map(|text| BodyCheck::Contains(text.clone().into_bytes())).collect();
    for expression in &draft.expect_body_regex {
        match RegexBuilder::new(expression).size_limit(REGEX_BYTES_MAX).build() {
            Ok(regex) => bodies.push(BodyCheck::Matches(regex)),
            Err(error) => {
                let what = error.to_string().lines().last().unwrap_or_default().trim().to_owned();
                let way_out = "see the syntax of Rust's regex crate: no look-around, no back-references";
                faults.push(Fault::new("--expect-body-regex", format!("{expression:?}: {what}"), way_out));
            }
        }
    }
    let headers = draft.expect_header.iter().map(|line| match line.split_once(':') {
        Some((name, value)) => HeaderCheck { name: name.trim().into(), contains: Some(value.trim().into()) },
        None => HeaderCheck { name: line.trim().into(), contains: None },
    });
    Checks {
        status: draft.expect_status.as_deref().map_or_else(StatusSet::default, |text| statuses(text, faults)),
        headers: headers.collect(),
        bodies,
        size: draft.expect_size.as_deref().and_then(|text| size(text, faults)),
    }
}

/// `200,201`, `2xx`, `200-299`.
fn statuses(text: &str, faults: &mut Vec<Fault>) -> StatusSet {
    let one = |text: &str| text.parse::<u16>().ok().filter(|status| (100..600).contains(status));
    let range = |part: &str| {
        if let Some((from, to)) = part.split_once('-') {
            return Some(one(from.trim())?..=one(to.trim())?).filter(|range| !range.is_empty());
        }
        match part.strip_suffix("xx") {
            Some(class) => one(&format!("{class}00")).map(|from| from..=from + 99),
            None => one(part).map(|status| status..=status),
        }
    };
    let ranges: Option<Vec<_>> = text.split(',').map(|part| range(part.trim())).collect();
    StatusSet::new(ranges.unwrap_or_else(|| {
        let what = format!("{text:?} is not a list of statuses between 100 and 599");
        faults.push(Fault::new("--expect-status", what, "write 200,201 or 2xx or 200-299"));
        Vec::new()
    }))
}

/// `100`, `1KiB..2KiB`.
fn size(text: &str, faults: &mut Vec<Fault>) -> Option<SizeCheck> {
    let (min, max) = text.split_once("..").unwrap_or((text, text));
    let bound =
        |text: &str, open: u64| if text.trim().is_empty() { Ok(open) } else { units::size_bytes(text) };
    let check =
        bound(min, 0).and_then(|min_bytes| Ok(SizeCheck { min_bytes, max_bytes: bound(max, u64::MAX)? }));
    match check {
        Ok(check) if check.min_bytes <= check.max_bytes => Some(check),
        Ok(_) => {
            faults.push(Fault::new(
                "--expect-size",
                format!("{text:?} ends before it begins"),
                "write 1KiB..2KiB",
            ));
            None
        }
        Err(what) => {
            faults.push(Fault::new("--expect-size", what, "write 1024, or 1KiB..2KiB"));
            None
        }
    }
}
