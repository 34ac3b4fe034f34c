//! Checks the URL of a system, which has its address and nothing else.

use url::Url;
use wire::Protocol;
use wire::step::requests;

use super::kinds::{Kind, Kinds};
use super::reading::Reading;
use super::secret;
use super::tree::Node;
use crate::request::{access_of, corrected_url, read_url};
use crate::system_kind::SystemKind;

/// Protocol of a scheme, if it owns its steps.
fn owner(scheme: &str) -> Option<&'static Protocol> {
    wire::find_scheme(scheme).map(|(protocol, _)| protocol).filter(|protocol| protocol.has_single_keys())
}

/// Checks a URL in which variables are replaced by placeholders.
pub(crate) fn check(node: &Node, filled: &str, has_socket: bool, reading: &mut Reading<'_>) {
    (SystemKind::by_url(filled).check_url)(node, filled, has_socket, reading);
}

/// Checks the URL of a system that accepts requests.
pub(crate) fn check_requests(node: &Node, filled: &str, _has_socket: bool, reading: &mut Reading<'_>) {
    let front = reading.at_url.front();
    if let Some([what, help]) = front.and_then(|front| front.words.as_ref()).map(|words| words.other_url) {
        reading.at(node.at, what, help);
        return;
    }
    let rest = filled.split_once("://").map_or("", |(_, rest)| rest);
    let path = rest.find(['/', '?', '#']).map_or("", |at| &rest[at..]);
    let of_steps = reading.at_url.owner();
    let example = of_steps.unwrap_or(requests()).example_url();
    let help = format!("write a URL such as {example}");
    let url = read_url(filled);
    let of_url = url.as_ref().ok().and_then(|url| owner(url.scheme()));
    let is_other = of_steps != of_url;
    if let Err(problem) = url {
        let corrected = corrected_url(filled).filter(|_| of_steps.is_none());
        let help = corrected.map_or(help, |url| format!("write {url}"));
        reading.at(node.at, problem.what(), help);
    } else if let Some(of_steps) = of_steps.filter(|_| is_other) {
        reading.at(node.at, format!("the steps are {}, and the URL is not", of_steps.noun()), help);
    } else if let Some(of_url) = of_url.filter(|_| is_other && front.is_some()) {
        let (of_url, noun) = (of_url.noun(), requests().noun());
        reading.at(node.at, format!("the URL is that of {of_url}, and the steps are {noun}"), help);
    } else if let Some(wrong) = url.as_ref().ok().and_then(|url| check_log_in(url, of_url?)) {
        if wrong.is_password {
            // The error shows no line, because it may have a password.
            reading.findings.whole(wrong.what, wrong.help);
        } else {
            reading.at(node.at, wrong.what, wrong.help);
        }
    } else if path.contains(['?', '#']) && !has_only_options(filled, of_url) {
        let start = node.text().unwrap_or_default().find("://").map_or(0, |at| at + 3);
        let text = node.text().unwrap_or_default();
        let from = text[start..].find(['?', '#']).map_or(start, |at| start + at);
        let at = node.part(reading.source, from, text.len());
        reading.at(at, "the URL of a system has no query", "move the query to the paths of the steps");
    }
}

/// Whether the query of a URL consists only of log-in options.
fn has_only_options(text: &str, protocol: Option<&Protocol>) -> bool {
    let Some(own) = protocol.and_then(Protocol::steps) else { return false };
    let is_option = |name: &str| own.options().iter().any(|option| option.eq_ignore_ascii_case(name));
    read_url(text)
        .is_ok_and(|url| url.fragment().is_none() && url.query_pairs().all(|(name, _)| is_option(&name)))
}

/// Error in the log-in of a URL.
struct WrongLogIn {
    what: String,
    help: String,
    is_password: bool,
}

/// Checks user, password, and path of a URL in a protocol with a log-in.
fn check_log_in(url: &Url, protocol: &Protocol) -> Option<WrongLogIn> {
    let log_in = protocol.steps()?.log_in?;
    let access = access_of(url);
    let is_secret = |password: &str| {
        let name = password.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
        name.is_some_and(secret::is_secret_name)
    };
    if access.password.as_ref().is_some_and(|password| !is_secret(&password.0)) {
        let variable = log_in.password_variable;
        return Some(WrongLogIn {
            what: "the URL of a system contains a password, and plans are stored with results".to_owned(),
            help: format!("write {{env.NAME}} in its place, or remove it and set {variable}"),
            is_password: true,
        });
    }
    let wrong = (log_in.check)(&access).err()?;
    Some(WrongLogIn { what: wrong.what, help: wrong.help, is_password: false })
}

/// Whether user and password of a URL may be secrets.
pub(crate) fn accepts_secrets(text: &str) -> bool {
    let scheme = text.split_once("://").map_or("", |(scheme, _)| scheme);
    let log_in = wire::find_scheme(scheme).and_then(|(protocol, _)| protocol.steps()?.log_in);
    log_in.is_some() && has_credentials(text)
}

/// Kinds of steps that the system of a URL takes.
pub(crate) fn step_kinds(url: &str) -> Kinds {
    Kind::by_url(url).into_iter().collect()
}

/// Checks the URL of an endpoint in which variables are replaced by placeholders.
pub(crate) fn check_endpoint(node: &Node, filled: &str, has_socket: bool, reading: &mut Reading<'_>) {
    // The kind of its steps is already compared with its scheme.
    let at_url = std::mem::replace(&mut reading.at_url, step_kinds(filled));
    check(node, filled, has_socket, reading);
    reading.at_url = at_url;
}

/// Host and port of a URL, without user and password.
pub(crate) fn authority(url: &str) -> String {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    authority.rsplit_once('@').map_or(authority, |(_, authority)| authority).to_owned()
}

/// URL without user and password, for display.
pub fn without_credentials(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let path = rest.find(['/', '?', '#']).map_or("", |at| &rest[at..]);
    format!("{scheme}://{}{path}", authority(url))
}

/// Whether a URL has credentials.
pub(crate) fn has_credentials(url: &str) -> bool {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.split(['/', '?', '#']).next().unwrap_or_default().contains('@')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separates_host_and_port_from_credentials() {
        assert!(has_credentials("http://u:p@h:1/") && !has_credentials("http://h:1/@"));
        assert_eq!(authority("http://u:p@h:1/x"), "h:1");
        assert_eq!(without_credentials("redis://u:p@h:1/2?a=b@c"), "redis://h:1/2?a=b@c");
        assert_eq!(without_credentials("redis://h"), "redis://h");
    }
}
