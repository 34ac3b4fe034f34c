-- Version 1 of the store. Names end in their unit; a column said to be JSON holds JSON text.

-- What is known when a run begins.
CREATE TABLE run (
    number              INTEGER PRIMARY KEY,
    id                  TEXT NOT NULL UNIQUE,
    started_at_unix_ms  INTEGER NOT NULL,
    title               TEXT NOT NULL,
    plan_text           TEXT NOT NULL,
    plan                TEXT NOT NULL, -- JSON
    plan_hash           TEXT NOT NULL,
    tenbin_version      TEXT NOT NULL,
    host                TEXT NOT NULL, -- JSON
    load                TEXT NOT NULL, -- in words
    model               TEXT NOT NULL, -- closed, open
    warm_up_ns          INTEGER NOT NULL,
    planned_duration_ns INTEGER,
    stamps              TEXT NOT NULL, -- JSON list of sentences
    system              TEXT,          -- JSON
    variant             TEXT,
    study               TEXT,
    writer              TEXT NOT NULL  -- JSON: the process that writes it
) STRICT;
CREATE INDEX run_by_start ON run (started_at_unix_ms, number);

CREATE TABLE step (
    run    INTEGER NOT NULL REFERENCES run (number) ON DELETE CASCADE,
    number INTEGER NOT NULL, -- from 0, in the order of the scenario
    name   TEXT NOT NULL,
    PRIMARY KEY (run, number)
) STRICT, WITHOUT ROWID;

-- What is known when it has ended. A run without an ending goes on, or was cut short.
CREATE TABLE ending (
    run              INTEGER PRIMARY KEY REFERENCES run (number) ON DELETE CASCADE,
    ended_at_unix_ms INTEGER NOT NULL,
    verdict          TEXT NOT NULL, -- complete, degraded, partial, aborted, invalid
    validity         TEXT NOT NULL, -- JSON
    generator        TEXT NOT NULL, -- JSON
    spread           TEXT,          -- JSON
    planned_left     INTEGER NOT NULL,
    notes            TEXT NOT NULL, -- JSON list of sentences
    resolved_ns      INTEGER,
    tls              TEXT,
    system           TEXT           -- JSON
) STRICT;

-- What one thread saw of one step in one second, of one phase. Threads write apart, so a second has several parts;
-- a reader adds them up.
CREATE TABLE part (
    number           INTEGER PRIMARY KEY,
    run              INTEGER NOT NULL,
    step             INTEGER NOT NULL,
    second           INTEGER NOT NULL, -- since the load began
    phase            INTEGER NOT NULL, -- 0 warm-up, 1 measured
    planned          INTEGER NOT NULL,
    sent             INTEGER NOT NULL,
    not_sent         INTEGER NOT NULL,
    ok               INTEGER NOT NULL,
    refused          INTEGER NOT NULL,
    failed           INTEGER NOT NULL,
    timed_out        INTEGER NOT NULL,
    unfinished       INTEGER NOT NULL,
    received_bytes   INTEGER NOT NULL,
    sent_bytes       INTEGER NOT NULL,
    connections      INTEGER NOT NULL, -- established
    first_sent_ns    INTEGER,          -- since the load began
    last_finished_ns INTEGER,          -- since the load began
    other_errors     INTEGER NOT NULL, -- whose kind is not in table error
    histograms       BLOB NOT NULL,
    FOREIGN KEY (run, step) REFERENCES step (run, number) ON DELETE CASCADE
) STRICT;
CREATE INDEX part_by_second ON part (run, second, phase, step);

-- Replies by the protocol's status number.
CREATE TABLE status (
    part     INTEGER NOT NULL REFERENCES part (number) ON DELETE CASCADE,
    position INTEGER NOT NULL, -- order of first appearance
    status   INTEGER NOT NULL,
    count    INTEGER NOT NULL,
    PRIMARY KEY (part, position)
) STRICT, WITHOUT ROWID;

-- Errors by kind.
CREATE TABLE error (
    part     INTEGER NOT NULL REFERENCES part (number) ON DELETE CASCADE,
    position INTEGER NOT NULL, -- order of first appearance
    class    TEXT NOT NULL,
    code     INTEGER NOT NULL,
    message  TEXT NOT NULL,    -- may quote the peer
    count    INTEGER NOT NULL,
    PRIMARY KEY (part, position)
) STRICT, WITHOUT ROWID;

-- Single requests, when a request log was asked for. Times are since the load began.
CREATE TABLE request (
    part           INTEGER NOT NULL REFERENCES part (number) ON DELETE CASCADE,
    position       INTEGER NOT NULL,
    outcome        TEXT NOT NULL, -- ok, refused, failed, timed_out, unfinished
    status         INTEGER NOT NULL,
    connection     INTEGER NOT NULL,
    intended_ns    INTEGER NOT NULL,
    sent_ns        INTEGER NOT NULL,
    first_byte_ns  INTEGER,
    finished_ns    INTEGER NOT NULL,
    connect_ns     INTEGER NOT NULL,
    received_bytes INTEGER NOT NULL,
    sent_bytes     INTEGER NOT NULL,
    PRIMARY KEY (part, position)
) STRICT, WITHOUT ROWID;
