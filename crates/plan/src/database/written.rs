//! Splits an SQL URL into user, password, hosts, database, and parameters. Errors show nothing that may be part of a password.

use percent_encoding::percent_decode_str;
use wire::masking::{mask_query_secrets, mask_secrets};
use wire::sql::Secret;

use super::scheme;
use crate::endpoint::ClientCertificate;
use crate::fault::Fault;

/// Decoded parts of a URL. `None` marks a part that the URL omits.
pub(super) struct UrlParts {
    pub(super) scheme: &'static str,
    pub(super) user: Option<String>,
    pub(super) password: Option<Secret>,
    /// Hosts and ports, at least one entry. Parts of an entry may be `None`.
    pub(super) hosts: Vec<(Option<String>, Option<u16>)>,
    pub(super) database: Option<String>,
    pub(super) parameters: Vec<(String, String)>,
    /// Place in errors.
    pub(super) shown: String,
}

pub(super) fn read(url: &str, faults: &mut Vec<Fault>) -> Option<UrlParts> {
    let shown = format!("{:?}", redacted_url(url));
    let mut wrong = |what: &str, help: &str| faults.push(Fault::new(&shown, what, help));
    let scheme = scheme(url)?;
    let Some((_, rest)) = url.trim().split_once("://") else {
        wrong("the scheme is not followed by ://", "write postgres://USER@HOST/DATABASE");
        return None;
    };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, after) = rest.split_at(end);
    if !authority.contains('@') && after.contains('@') || rest.contains('#') {
        let help = "in a password and in parameters, write @ as %40, / as %2F, ? as %3F, and # as %23";
        wrong("a character that separates parts of a URL is in the wrong place", help);
        return None;
    }
    let (who, places) = authority.rsplit_once('@').map_or((None, authority), |(who, at)| (Some(who), at));
    let (user, password) = match who.map(|who| who.split_once(':').map_or((who, None), |(u, p)| (u, Some(p))))
    {
        Some((user, password)) => (Some(user), password),
        None => (None, None),
    };
    let (path, query) = after.split_once('?').unwrap_or((after, ""));
    let mut decoded = |text: &str, of_what: &str| match percent_decode_str(text).decode_utf8() {
        _ if has_bare_percent(text) => {
            wrong(&format!("the {of_what} has a % without two hexadecimal digits"), "write % itself as %25");
            None
        }
        Ok(text) if !text.contains('\0') => Some(text.into_owned()).filter(|text| !text.is_empty()),
        _ => {
            wrong(&format!("the {of_what} is not UTF-8"), "write it as UTF-8");
            None
        }
    };
    let user = user.and_then(|text| decoded(text, "user"));
    let password = password.and_then(|text| decoded(text, "password")).map(Secret);
    let database = decoded(path.strip_prefix('/').unwrap_or(path), "database");
    let parameters = query.split('&').filter(|pair| !pair.is_empty()).map(|pair| {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        (key.to_owned(), decoded(value, "value of a parameter").unwrap_or_default())
    });
    let parameters = parameters.collect();
    let hosts = places.split(',').map(|place| host(place, &shown, faults)).collect();
    Some(UrlParts { scheme, user, password, hosts, database, parameters, shown })
}

/// Whether a `%` is not followed by two hex digits. Programs disagree on its meaning, and the servers' clients reject it.
fn has_bare_percent(text: &str) -> bool {
    let is_hex = |byte: &u8| byte.is_ascii_hexdigit();
    text.split('%')
        .skip(1)
        .any(|after| after.as_bytes().iter().take(2).filter(|byte| is_hex(byte)).count() < 2)
}

/// Reads `host`, `host:port`, `[::1]:port`, or an empty text.
fn host(place: &str, shown: &str, faults: &mut Vec<Fault>) -> (Option<String>, Option<u16>) {
    let mut wrong = |what: &str, help: &str| faults.push(Fault::new(shown, what, help));
    let (host, port) = match place.strip_prefix('[').map(|inner| inner.split_once(']')) {
        Some(Some((host, after))) => (host, after.strip_prefix(':')),
        Some(None) => {
            wrong("the bracket before an IPv6 address is not closed", "write [::1]:5432");
            return (None, None);
        }
        None => place.split_once(':').map_or((place, None), |(host, port)| (host, Some(port))),
    };
    let port = port.filter(|port| !port.is_empty()).and_then(|port| read_port(port, shown, faults));
    if has_bare_percent(host) {
        let what = "the host has a % without two hexadecimal digits";
        faults.push(Fault::new(shown, what, "write % itself as %25"));
    }
    let host = percent_decode_str(host).decode_utf8_lossy().into_owned();
    (Some(host).filter(|host| !host.is_empty()), port)
}

/// Reads a port from a URL or from the environment.
pub(super) fn read_port(text: &str, shown: &str, faults: &mut Vec<Fault>) -> Option<u16> {
    let port = text.trim().parse().ok().filter(|port| *port != 0);
    if port.is_none() {
        // The text may be part of a password, so the error does not show it.
        let help = "write USER:PASSWORD@HOST:PORT; in a password, write : as %3A, / as %2F, and @ as %40";
        faults.push(Fault::new(shown, "the port is not a number between 1 and 65535", help));
    }
    port
}

impl UrlParts {
    /// Value of a parameter. The last one wins if it is given more than once.
    pub(super) fn parameter(&self, name: &str) -> Option<&str> {
        let mut named = self.parameters.iter().rev().filter(|(key, _)| key == name);
        named.next().map(|(_, value)| value.as_str()).filter(|value| !value.is_empty())
    }

    /// Files of a client certificate and its key. The arguments are the names of their parameters.
    pub(super) fn certificate(
        &self,
        [(cert_name, cert), (key_name, key)]: [(&str, Option<String>); 2],
        faults: &mut Vec<Fault>,
    ) -> Option<ClientCertificate> {
        if let (None, Some(_)) = (&cert, &key) {
            let what = format!("{key_name} requires a client certificate");
            self.wrong(what, &format!("add {cert_name}=FILE"), faults);
        }
        Some(ClientCertificate { cert: cert?.into(), key: key.map(Into::into) })
    }

    /// Error in the value of a parameter.
    pub(super) fn wrong(&self, what: impl Into<String>, help: &str, faults: &mut Vec<Fault>) {
        faults.push(Fault::new(&self.shown, what, help));
    }
}

/// URL for display, without a password even if the URL is malformed. A user alone is shown, unless it may be an HTTP token or part
/// of a password.
pub(crate) fn redacted_url(url: &str) -> String {
    if !url.contains("://") && url.contains('=') {
        return mask_secrets(url);
    }
    let from = url.find("://").map_or(0, |at| at + 3);
    let hidden = match url[from..].rfind('@') {
        Some(at) if is_plain_user(&url[..from], &url[from..from + at]) => url.to_owned(),
        Some(at) => format!("{}(secret){}", &url[..from], &url[from + at..]),
        None => without_invalid_port(url, from),
    };
    mask_query_secrets(&hidden)
}

fn is_plain_user(scheme: &str, who: &str) -> bool {
    !scheme.starts_with("http") && !who.contains([':', '/', '?', '#', '@', '%', '&', '='])
}

/// Removes a text in the port position that is not a number. It may be a password in a URL without a host.
fn without_invalid_port(url: &str, from: usize) -> String {
    let end = url[from..].find(['/', '?', '#', ']']).map_or(url.len(), |at| from + at);
    match url[from..end].rsplit_once(':') {
        Some((before, port)) if !before.contains('[') && !port.bytes().all(|byte| byte.is_ascii_digit()) => {
            format!("{}{before}:(secret){}", &url[..from], &url[end..])
        }
        _ => url.to_owned(),
    }
}
