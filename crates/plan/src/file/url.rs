//! Checks the URL of a system, which has its address and nothing else.

use url::Url;
use wire::Protocol;
use wire::step::requests;

use super::reading::{AtUrl, Reading};
use super::secret;
use super::span::Span;
use super::tree::{Entry, Node};
use crate::database::{self, Database};
use crate::request::{access_of, corrected_url, read_url};

/// Help for a wrong URL of a database.
const DATABASE_URL: &str = "write postgres://USER@HOST:PORT/DATABASE, mysql://… or sqlite:PATH";

/// Protocol of a scheme, if it owns its steps.
fn owner(scheme: &str) -> Option<&'static Protocol> {
    wire::of_scheme(scheme).map(|(protocol, _)| protocol).filter(|protocol| protocol.own_steps().is_some())
}

/// Checks a URL whose variables are replaced by placeholders.
pub(crate) fn check(node: &Node, filled: &str, has_socket: bool, reading: &mut Reading<'_>) {
    if database::is_database(filled) {
        return check_database(node, filled, has_socket, reading);
    }
    if reading.at_url.is_sql && !reading.at_url.is_http {
        let what = "the steps are transactions, and the URL is not that of a database";
        reading.at(node.at, what, DATABASE_URL);
        return;
    }
    let rest = filled.split_once("://").map_or("", |(_, rest)| rest);
    let path = rest.find(['/', '?', '#']).map_or("", |at| &rest[at..]);
    let of_steps = reading.at_url.owner;
    let example = of_steps.unwrap_or(requests()).example_url();
    let help = format!("write a URL such as {example}");
    let url = read_url(filled);
    let of_url = url.as_ref().ok().and_then(|url| owner(url.scheme()));
    let is_other = of_steps.map(|protocol| protocol.name) != of_url.map(|protocol| protocol.name);
    if let Err(problem) = url {
        let corrected = corrected_url(filled).filter(|_| of_steps.is_none());
        let help = corrected.map_or(help, |url| format!("write {url}"));
        reading.at(node.at, problem.what(), help);
    } else if let Some(of_steps) = of_steps.filter(|_| is_other) {
        reading.at(node.at, format!("the steps are {}, and the URL is not", of_steps.noun()), help);
    } else if let Some(of_url) = of_url.filter(|_| is_other && reading.at_url.is_http) {
        let (of_url, noun) = (of_url.noun(), requests().noun());
        reading.at(node.at, format!("the URL is that of {of_url}, and the steps are {noun}"), help);
    } else if let Some(wrong) = url.as_ref().ok().and_then(|url| wrong_log_in(url, of_url?)) {
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

/// Whether the query of a URL has only options of its log-in.
fn has_only_options(text: &str, protocol: Option<&Protocol>) -> bool {
    let Some(own) = protocol.and_then(Protocol::own_steps) else { return false };
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
fn wrong_log_in(url: &Url, protocol: &Protocol) -> Option<WrongLogIn> {
    let log_in = protocol.own_steps()?.log_in?;
    let access = access_of(url);
    let is_secret = |password: &str| {
        let name = password.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
        name.is_some_and(secret::is_one)
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
pub(crate) fn takes_secrets(text: &str) -> bool {
    let scheme = text.split_once("://").map_or("", |(scheme, _)| scheme);
    let log_in = wire::of_scheme(scheme).and_then(|(protocol, _)| protocol.own_steps()?.log_in);
    log_in.is_some() && has_credentials(text)
}

fn check_database(node: &Node, filled: &str, has_socket: bool, reading: &mut Reading<'_>) {
    if reading.at_url.is_http && reading.at_url.is_sql {
        let url = requests().example_url();
        let help = format!("move it to `database`, and write here the URL for requests, such as {url}");
        reading.at(node.at, "the URL is that of a database, and some steps are requests", help);
        return;
    }
    if reading.at_url.is_http {
        let what = "the URL is that of a database, and the steps are requests";
        reading.at(node.at, what, format!("write a URL such as {}", requests().example_url()));
        return;
    }
    if has_socket {
        let help = "write the folder into the URL: postgres:///DATABASE?host=FOLDER";
        reading.at(node.at, format!("`socket` applies to {}", requests().noun()), help);
    }
    read_database(node, filled, reading);
}

/// Kinds of steps that the system of a URL takes.
pub(crate) fn steps_for(url: &str) -> AtUrl {
    let owner = owner(url.split("://").next().unwrap_or_default());
    AtUrl { owner, is_sql: database::is_database(url), ..AtUrl::default() }
}

/// Checks the URL of an endpoint whose variables are replaced by placeholders.
pub(crate) fn check_endpoint(node: &Node, filled: &str, has_socket: bool, reading: &mut Reading<'_>) {
    // The kind of its steps is already compared with its scheme.
    let at_url = std::mem::replace(&mut reading.at_url, steps_for(filled));
    check(node, filled, has_socket, reading);
    reading.at_url = at_url;
}

fn read_database(node: &Node, filled: &str, reading: &mut Reading<'_>) {
    if database::has_password(filled) {
        // The error shows no line, because it has the password.
        let what = "the URL of a database contains a password, and plans are stored with results";
        reading.findings.whole(what, "remove it, and set PGPASSWORD or MYSQL_PWD, or use ~/.pgpass");
        return;
    }
    for fault in Database::read(filled).err().into_iter().flatten() {
        reading.at(node.at, fault.what, fault.help);
    }
}

/// Checks the URL of the database of a system that serves HTTP. Its variables are replaced by placeholders.
pub(crate) fn check_second_peer(entry: &Entry, filled: &str, reading: &mut Reading<'_>) {
    let node = &entry.value;
    if !reading.at_url.is_sql && filled.starts_with("sqlite:") {
        let help = "remove `database`, or add a step such as `- sql: SELECT 1`";
        let what = "no step is a transaction, and SQLite has no sessions whose waits could be read";
        reading.at(entry.key_at, what, help);
    } else if reading.at_url.is_sql && !reading.at_url.is_http {
        let what = "`database` requires a step that is a request; transactions alone go to `url`";
        reading.at(entry.key_at, what, "rename it to `url`");
    } else if !database::is_database(filled) {
        reading.at(node.at, "the URL is not that of a database", DATABASE_URL);
    } else {
        read_database(node, filled, reading);
    }
}

/// Reports a missing `database` if there are transactions and `url` takes requests.
pub(crate) fn second_peer_missing(at: Span, reading: &mut Reading<'_>) {
    if reading.at_url.is_sql && reading.at_url.is_http {
        let what = "some steps are transactions and some are requests, and `database` is missing";
        reading.at(at, what, "add `database: postgres://USER@HOST:PORT/DATABASE`, mysql://… or sqlite:PATH");
    }
}

/// Host and port of a URL, without user and password.
pub(crate) fn authority(url: &str) -> String {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    authority.rsplit_once('@').map_or(authority, |(_, authority)| authority).to_owned()
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
    }
}
