//! SQL statements as traffic, as far as all databases share it.

use wire::step::Unit;

use crate::play::NOT_REPLAYABLE;
use crate::traffic::Traffic;
use crate::web;

/// SQL statements. The module of each database names its server.
pub(crate) const STATEMENTS: Traffic = Traffic {
    entries: "SQL statements",
    entries_of_server: "SQL statements",
    noun: "statement",
    unit: Unit::Transaction,
    has_sessions: true,
    stand_in: Some("SELECT 1;\n"),
    // The URL parser checks other schemes.
    fits_scheme: |scheme| !(web::TRAFFIC.fits_scheme)(scheme),
    fits: |_| false,
    help_for_flags: "name a database with --to, such as postgres://USER@HOST/DATABASE",
    other_kind: [
        "the log has SQL statements, and the system is no database",
        "name a database with `url` or `database`",
    ],
    other_server: [
        "the log has SQL statements, and the system is another database",
        "name a server of that kind",
    ],
    may_write: |_| true,
    // Statements need the sessions of their database, which the load of its endpoint opens.
    play: |_| Err(NOT_REPLAYABLE.to_owned()),
};
