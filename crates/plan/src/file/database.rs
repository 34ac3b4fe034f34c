//! Reads the key `database`, and checks URLs of databases. Their variables are replaced by placeholders.

use wire::step::requests;

use super::reading::Reading;
use super::span::Span;
use super::tree::{Entry, Node};
use crate::database::{self, Database, SYSTEMS, URL_HELP};
use crate::system_kind::SystemKind;

/// Checks the URL of a database under the key `url`.
pub(crate) fn check_url(node: &Node, filled: &str, has_socket: bool, reading: &mut Reading<'_>) {
    if reading.at_url.has_second_system() {
        let url = requests().example_url();
        let help = format!("move it to `database`, and write here the URL for requests, such as {url}");
        reading.at(node.at, "the URL is that of a database, and some steps are requests", help);
        return;
    }
    if reading.at_url.front().is_some_and(|front| !std::ptr::eq(front, &SYSTEMS)) {
        let what = "the URL is that of a database, and the steps are requests";
        reading.at(node.at, what, format!("write a URL such as {}", requests().example_url()));
        return;
    }
    if has_socket {
        let help = "write the folder into the URL: postgres:///DATABASE?host=FOLDER";
        reading.at(node.at, format!("`socket` applies to {}", requests().noun()), help);
    }
    read(node, filled, reading);
}

fn read(node: &Node, filled: &str, reading: &mut Reading<'_>) {
    if database::has_password(filled) {
        // The error shows no line, because the line contains the password.
        let what = "the URL of a database contains a password, and plans are stored with results";
        reading.findings.whole(what, "remove it, and set PGPASSWORD or MYSQL_PWD, or use ~/.pgpass");
        return;
    }
    for fault in Database::read(filled).err().into_iter().flatten() {
        reading.at(node.at, fault.what, fault.help);
    }
}

/// Checks the URL of the database of a system that serves requests.
pub(crate) fn check_key(entry: &Entry, filled: &str, reading: &mut Reading<'_>) {
    let node = &entry.value;
    let kind = SystemKind::by_url(filled);
    let has_transactions = reading.at_url.at(&SYSTEMS).next().is_some();
    if let Some(name) = (kind.in_process)(filled).filter(|_| !has_transactions) {
        let help = "remove `database`, or add a step such as `- sql: SELECT 1`";
        let what = format!("no step is a transaction, and {name} has no sessions whose waits could be read");
        reading.at(entry.key_at, what, help);
    } else if has_transactions && !reading.at_url.has_second_system() {
        let what = "`database` requires a step that is a request; transactions alone go to `url`";
        reading.at(entry.key_at, what, "rename it to `url`");
    } else if !Database::has_url(filled) {
        reading.at(node.at, "the URL is not that of a database", URL_HELP);
    } else {
        read(node, filled, reading);
    }
}

/// Reports a missing `database` if there are transactions and `url` accepts requests.
pub(crate) fn report_missing(at: Span, reading: &mut Reading<'_>) {
    if reading.at_url.has_second_system() {
        let what = "some steps are transactions and some are requests, and `database` is missing";
        reading.at(at, what, "add `database: postgres://USER@HOST:PORT/DATABASE`, mysql://… or sqlite:PATH");
    }
}
