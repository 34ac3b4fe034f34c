//! Keys of `replay` of a load.

use super::{DURATION, TEXT, VALUES, key, required};
use crate::file::form;
use crate::file::keys::Table;
use crate::file::keys::ValueKind::{One, Word};

pub(crate) static REPLAY: Table = Table {
    name: "replay",
    sentence: "A log of a server, and what of it is replayed. Each session has a connection, and statements have the times of the log.",
    example: "{ log: postgresql.csv, only: reads }",
    keys: &[
        required("log", "postgresql.csv", TEXT, "File next to the plan; replay.md lists the formats."),
        key(
            "format",
            "postgres-csv",
            TEXT,
            "Format of the log, or that of an access log with $ or %; default: by its lines.",
        ),
        key(
            "prefix",
            "\"%m [%p] %u@%d \"",
            TEXT,
            "log_line_prefix of PostgreSQL, if it is none of the usual ones.",
        ),
        key(
            "speed",
            "2x",
            TEXT,
            "Factor that pauses and times are divided by; max removes all pauses; default 1x.",
        ),
        key("only", "reads", Word(&["reads"]), "reads: leaves out statements that may write."),
        key(
            "allow-writes",
            "true",
            One(&form::TRUTH),
            "Whether statements that may write are replayed on a system that Tenbin does not start; default false.",
        ),
        key(
            "checksum",
            "true",
            One(&form::TRUTH),
            "SQL: whether the rows of each statement are hashed, so that comparisons see other contents; default false.",
        ),
        key(
            "lock-window",
            "5s",
            DURATION,
            "SQL: a statement that waits for a lock longer than the longest statement of the log took, plus this time, is ended and counted; \
             default 10s.",
        ),
        key("user", "[ app ]", VALUES, "Replays only the sessions of these users."),
        key(
            "database",
            "[ shop ]",
            VALUES,
            "Replays only the sessions of these databases, or the requests to these hosts.",
        ),
        key(
            "since",
            "\"2026-01-02 03:04:05\"",
            TEXT,
            "Leaves out what is before: a time in UTC, or 10min after the first entry.",
        ),
        key(
            "until",
            "10min",
            TEXT,
            "Leaves out what is later: a time in UTC, or 10min after the first entry.",
        ),
    ],
};
