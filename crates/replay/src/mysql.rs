//! Logs of MySQL and MariaDB: the general log and the slow log.

pub(crate) mod general;
pub(crate) mod slow;

use sql::Engine;

use crate::databases::STATEMENTS;
use crate::entry::Action;
use crate::fingerprint::scan;
use crate::skipped::Reason;
use crate::traffic::Traffic;

/// Kind of database that writes these logs.
const ENGINE: Engine = Engine::MySql;

/// Statements of MySQL and MariaDB.
pub(crate) static TRAFFIC: Traffic = Traffic {
    entries_of_server: "statements of MySQL",
    fits: |protocol| protocol.name == wire::mysql::PROTOCOL.name,
    other_server: [
        "the log has statements of MySQL, and the system is another database",
        "name a server of that kind",
    ],
    may_write: |text| sql::text_may_write(text, ENGINE),
    ..STATEMENTS
};

/// Lines that the server writes at its start: its version, its port, and the heads of the columns.
fn is_banner(line: &[u8]) -> bool {
    let has = |text: &str| memchr::memmem::find(line, text.as_bytes()).is_some();
    has(", Version: ") && has("started with:")
        || line.starts_with(b"Tcp port:")
        || line.starts_with(b"TCP Port:")
        || line.starts_with(b"Time ") && has("Command")
}

/// Action for a statement that can be replayed, and its fingerprint.
fn check_statement(text: &[u8]) -> Result<(Action, String), Reason> {
    let text = String::from_utf8_lossy(text).into_owned();
    let scanned = scan(&text, ENGINE);
    match scanned.fingerprint.split(' ').take(3).collect::<Vec<_>>().as_slice() {
        [""] => Err(Reason::NoStatement),
        _ if scanned.is_cut => Err(Reason::Cut),
        // The server asks the client for the file.
        ["load", "data", word] if word.starts_with("local") => Err(Reason::Copy),
        _ => Ok((Action::Query(text), scanned.fingerprint)),
    }
}
