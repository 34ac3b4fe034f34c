//! The URL of a system: where it is, and nothing more.

use super::reading::Reading;
use super::span::Span;
use super::tree::{Entry, Node};
use crate::database::{self, Database};
use crate::draft::Draft;

const BESIDE_URL: &str = "write postgres://USER@HOST:PORT/DATABASE or mysql://…";
const DATABASE_URL: &str = "write postgres://USER@HOST:PORT/DATABASE, mysql://… or sqlite:PATH";

/// Checks a URL whose variables are filled in with anything.
pub(crate) fn check(node: &Node, filled: &str, has_socket: bool, reading: &mut Reading<'_>) {
    if database::is_database(filled) {
        return check_database(node, filled, has_socket, reading);
    }
    if reading.is_sql && !reading.is_http {
        let what = "the steps are transactions, and this URL is none of a database";
        reading.at(node.at, what, DATABASE_URL);
        return;
    }
    let authority = authority(filled);
    let rest = filled.split_once("://").map_or("", |(_, rest)| rest);
    let path = rest.find(['/', '?', '#']).map_or("", |at| &rest[at..]);
    let way_out = "write a URL such as http://127.0.0.1:8080";
    let draft = Draft { url: filled.to_owned(), ..Draft::default() };
    if let Err(faults) = draft.check() {
        for fault in faults {
            let what = match fault.what.as_str() {
                "this is neither a command nor a URL" => "this is not a URL",
                what => what,
            };
            reading.at(node.at, what, way_out);
        }
    } else if !matches!(path, "" | "/") {
        let start = node.text().unwrap_or_default().find("://").map_or(0, |at| at + 3);
        let text = node.text().unwrap_or_default();
        let from = text[start..].find(['/', '?', '#']).map_or(start, |at| start + at);
        let at = node.part(reading.source, from, text.len());
        reading.at(at, "the URL of a system has no path", "leave it out: the steps say the paths");
    } else if !has_socket && !has_port(&authority) {
        let port = if filled.starts_with("https") { 443 } else { 80 };
        let text = node.text().unwrap_or_default().trim_end_matches('/');
        reading.at(node.at, "the URL has no port", format!("write {text}:{port}, or whatever its port is"));
    }
}

fn check_database(node: &Node, filled: &str, has_socket: bool, reading: &mut Reading<'_>) {
    if reading.is_http && reading.is_sql {
        let way_out = "write it as `database`, and here where requests go, such as http://127.0.0.1:8080";
        reading.at(node.at, "this URL is one of a database, and some steps are requests", way_out);
        return;
    }
    if !reading.is_sql {
        let what = "this URL is one of a database, and the steps are requests";
        reading.at(node.at, what, "write a URL such as http://127.0.0.1:8080");
        return;
    }
    if has_socket {
        let way_out = "write the folder into the URL: postgres:///DATABASE?host=FOLDER";
        reading.at(node.at, "`socket` is for HTTP", way_out);
    }
    read_database(node, filled, reading);
}

fn read_database(node: &Node, filled: &str, reading: &mut Reading<'_>) {
    if database::has_password(filled) {
        // Its line is not shown.
        let what = "the URL of a database has a password, and a plan is kept with its results";
        reading.findings.whole(what, "leave it out, and set PGPASSWORD or MYSQL_PWD, or write ~/.pgpass");
        return;
    }
    for fault in Database::read(filled).err().into_iter().flatten() {
        reading.at(node.at, fault.what, fault.way_out);
    }
}

/// Checks the URL of a database beside that of a system, variables filled in with anything.
pub(crate) fn check_beside(entry: &Entry, filled: &str, reading: &mut Reading<'_>) {
    let node = &entry.value;
    if !reading.is_sql {
        let way_out = "leave out `database`, or write a step such as `- sql: SELECT 1`";
        reading.at(entry.key_at, "no step is a transaction", way_out);
    } else if !reading.is_http {
        let what = "`database` goes beside the `url` that requests go to, and no step is a request";
        reading.at(entry.key_at, what, "write it as `url`");
    } else if !database::is_database(filled) {
        reading.at(node.at, "this URL is none of a database", BESIDE_URL);
    } else if filled.starts_with("sqlite:") {
        reading.at(node.at, "SQLite, which runs within the generator, cannot go with requests", BESIDE_URL);
    } else {
        read_database(node, filled, reading);
    }
}

/// Where transactions go must be said if requests go elsewhere.
pub(crate) fn beside_missing(at: Span, reading: &mut Reading<'_>) {
    if reading.is_sql && reading.is_http {
        let what = "some steps are requests and some are transactions, and there is no `database` for those";
        reading.at(at, what, "add `database: postgres://USER@HOST:PORT/DATABASE`, or mysql://…");
    }
}

/// Host and port of a URL, without a user and a password.
pub(crate) fn authority(url: &str) -> String {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    authority.rsplit_once('@').map_or(authority, |(_, authority)| authority).to_owned()
}

fn has_port(authority: &str) -> bool {
    let after = authority.rsplit_once(']').map_or(authority, |(_, after)| after);
    after.rsplit_once(':').is_some_and(|(_, port)| !port.is_empty())
}

/// Whether a URL says who is asking.
pub(crate) fn has_credentials(url: &str) -> bool {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.split(['/', '?', '#']).next().unwrap_or_default().contains('@')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_is_found_where_it_stands() {
        assert!(has_port(&authority("http://u:p@[::1]:80/x")) && has_port(&authority("http://h:1")));
        assert!(!has_port(&authority("http://u:p@h/")) && !has_port(&authority("http://[::1]")));
        assert!(has_credentials("http://u:p@h:1/") && !has_credentials("http://h:1/@"));
        assert_eq!(authority("http://u:p@h:1/x"), "h:1");
    }
}
