PRAGMA application_id = 1952804450;
PRAGMA user_version = 21;
PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE baseline (
    id     TEXT PRIMARY KEY,
    stored TEXT NOT NULL -- JSON
) STRICT, WITHOUT ROWID;
CREATE TABLE ceiling (
    shape               TEXT NOT NULL,
    layout              TEXT NOT NULL,
    per_s               REAL NOT NULL,
    measured_at_unix_ms INTEGER NOT NULL,
    PRIMARY KEY (shape, layout)
) STRICT, WITHOUT ROWID;
CREATE TABLE cpu_profile (
    run      INTEGER PRIMARY KEY REFERENCES run (number) ON DELETE CASCADE,
    profile  TEXT NOT NULL,    -- JSON
    checksum INTEGER NOT NULL  -- over it and the run
) STRICT;
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
, not_available TEXT NOT NULL DEFAULT '[]', steadiness TEXT, window_ns INTEGER, outage TEXT, is_system_local INTEGER, connections_by_process TEXT, steady_start TEXT, same_body TEXT, contents TEXT) STRICT;
CREATE TABLE error (
    part     INTEGER NOT NULL REFERENCES part (number) ON DELETE CASCADE,
    position INTEGER NOT NULL, -- order of first appearance
    class    TEXT NOT NULL,
    code     INTEGER NOT NULL,
    message  TEXT NOT NULL,    -- may quote the peer
    count    INTEGER NOT NULL,
    PRIMARY KEY (part, position)
) STRICT, WITHOUT ROWID;
CREATE TABLE event (
    run           INTEGER NOT NULL REFERENCES run (number) ON DELETE CASCADE,
    name          TEXT NOT NULL,
    occurrence    INTEGER NOT NULL, -- from 0: an event may be repeated
    action        TEXT NOT NULL,    -- in words
    planned_ns    INTEGER,          -- null: it waited for something that never came
    begun_ns      INTEGER,          -- null: it did not begin
    ended_ns      INTEGER,          -- null: it did not end
    exit          INTEGER,          -- code of its command; null: there was none
    signal        INTEGER,          -- that ended its command; null: there was none
    output        BLOB NOT NULL,    -- the end of what it wrote
    dropped_bytes INTEGER NOT NULL, -- of its output, before what is kept
    failure       TEXT,             -- null: it did what it should, as far as is known
    may_fail      INTEGER NOT NULL, -- 0, 1
    PRIMARY KEY (run, name, occurrence)
) STRICT, WITHOUT ROWID;
CREATE TABLE event_cost (
    run        INTEGER NOT NULL REFERENCES run (number) ON DELETE CASCADE,
    name       TEXT NOT NULL,
    occurrence INTEGER NOT NULL, -- from 0
    cost       TEXT NOT NULL,    -- JSON
    PRIMARY KEY (run, name, occurrence)
) STRICT, WITHOUT ROWID;
CREATE TABLE failure (
    run     INTEGER PRIMARY KEY REFERENCES ending (run) ON DELETE CASCADE,
    stage   TEXT NOT NULL,
    process TEXT,
    what    TEXT NOT NULL,
    way_out TEXT NOT NULL
) STRICT;
CREATE TABLE gate (
    run      INTEGER NOT NULL REFERENCES run (number) ON DELETE CASCADE,
    position INTEGER NOT NULL, -- from 0, in the order of the plan
    text     TEXT NOT NULL,
    step     TEXT,             -- null: all steps
    observed REAL,             -- null: could not be told
    bound    REAL NOT NULL,
    unit     TEXT NOT NULL,
    holds    INTEGER NOT NULL, decision TEXT, low REAL, high REAL, samples_needed INTEGER, -- 0, 1
    PRIMARY KEY (run, position)
) STRICT, WITHOUT ROWID;
CREATE TABLE moments (
    number   INTEGER PRIMARY KEY,
    run      INTEGER NOT NULL REFERENCES run (number) ON DELETE CASCADE,
    first    INTEGER NOT NULL, -- the number of the first window, from the beginning of the load
    packed   BLOB NOT NULL,
    checksum INTEGER NOT NULL  -- over all of these and the run
) STRICT;
CREATE TABLE origin (
    id        TEXT PRIMARY KEY,
    label     TEXT,
    commit_id TEXT,
    branch    TEXT
) STRICT, WITHOUT ROWID;
CREATE TABLE output (
    number        INTEGER PRIMARY KEY,
    run           INTEGER NOT NULL REFERENCES run (number) ON DELETE CASCADE,
    process       TEXT NOT NULL,
    text          BLOB NOT NULL,
    dropped_bytes INTEGER NOT NULL
) STRICT;
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
    histograms       BLOB NOT NULL, checksum INTEGER, window_ok INTEGER, window_refused INTEGER, window_other INTEGER, window_after INTEGER,
    FOREIGN KEY (run, step) REFERENCES step (run, number) ON DELETE CASCADE
) STRICT;
CREATE TABLE place (
    number   INTEGER PRIMARY KEY,
    study    INTEGER NOT NULL REFERENCES study (number) ON DELETE CASCADE,
    position INTEGER NOT NULL, -- from 0, in the order of the study
    block    INTEGER NOT NULL, -- from 0
    system   TEXT NOT NULL,
    variant  TEXT NOT NULL,    -- the setting of its knobs in words
    knobs    TEXT NOT NULL,    -- JSON list of pairs of texts
    load     TEXT NOT NULL, stage TEXT NOT NULL DEFAULT 'block', users INTEGER, rate_per_s REAL, intervention TEXT,    -- its name
    UNIQUE (study, position)
) STRICT;
CREATE TABLE reading_kind (
    run     INTEGER NOT NULL REFERENCES run (number) ON DELETE CASCADE,
    number  INTEGER NOT NULL, -- from 0
    subject TEXT NOT NULL,    -- machine, system, generator, or a process
    metric  TEXT NOT NULL,
    label   TEXT NOT NULL,    -- such as core0; may be empty
    PRIMARY KEY (run, number)
) STRICT, WITHOUT ROWID;
CREATE TABLE readings (
    number INTEGER PRIMARY KEY,
    run    INTEGER NOT NULL REFERENCES run (number) ON DELETE CASCADE,
    second INTEGER NOT NULL, -- since the load began
    packed BLOB NOT NULL
, checksum INTEGER) STRICT;
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
, place INTEGER REFERENCES place (number) ON DELETE CASCADE, system_version TEXT, latency_limit_ns INTEGER, connects_each INTEGER NOT NULL DEFAULT 0, users INTEGER, is_profiled INTEGER) STRICT;
CREATE TABLE status (
    part     INTEGER NOT NULL REFERENCES part (number) ON DELETE CASCADE,
    position INTEGER NOT NULL, -- order of first appearance
    status   INTEGER NOT NULL,
    count    INTEGER NOT NULL,
    PRIMARY KEY (part, position)
) STRICT, WITHOUT ROWID;
CREATE TABLE step (
    run    INTEGER NOT NULL REFERENCES run (number) ON DELETE CASCADE,
    number INTEGER NOT NULL, -- from 0, in the order of the scenario
    name   TEXT NOT NULL, unit TEXT NOT NULL DEFAULT 'requests', part_of INTEGER,
    PRIMARY KEY (run, number)
) STRICT, WITHOUT ROWID;
CREATE TABLE study (
    number             INTEGER PRIMARY KEY,
    id                 TEXT NOT NULL UNIQUE,
    started_at_unix_ms INTEGER NOT NULL,
    title              TEXT NOT NULL,
    question           TEXT,
    source             TEXT NOT NULL,    -- the plan file as it was
    plan_hash          TEXT NOT NULL,
    tenbin_version     TEXT NOT NULL,
    host               TEXT NOT NULL,    -- JSON
    seed               INTEGER NOT NULL, -- 64 bits, of which the highest is the sign here
    is_quick           INTEGER NOT NULL, -- 0, 1
    compare_by         TEXT NOT NULL,    -- a metric
    higher_is_better   INTEGER NOT NULL, -- 0, 1
    matters            REAL NOT NULL,    -- the smallest difference that matters, as a share
    blocks             INTEGER NOT NULL,
    gates              TEXT NOT NULL,    -- JSON list of texts
    stamps             TEXT NOT NULL,    -- JSON list of sentences
    writer             TEXT NOT NULL     -- JSON: the process that writes it
, procedure TEXT NOT NULL DEFAULT '{"kind":"blocks"}', also TEXT NOT NULL DEFAULT '[]', baseline TEXT, within_s REAL, extensions TEXT, loads TEXT) STRICT;
CREATE TABLE study_ending (
    study            INTEGER PRIMARY KEY REFERENCES study (number) ON DELETE CASCADE,
    ended_at_unix_ms INTEGER NOT NULL,
    verdict          TEXT NOT NULL -- complete, degraded, partial, aborted, invalid
, why TEXT) STRICT;
CREATE INDEX run_by_start ON run (started_at_unix_ms, number);
CREATE INDEX part_by_second ON part (run, second, phase, step);
CREATE INDEX study_by_start ON study (started_at_unix_ms, number);
CREATE INDEX run_by_place ON run (place);
CREATE INDEX readings_by_second ON readings (run, second);
CREATE INDEX output_by_run ON output (run);
CREATE INDEX moments_by_run ON moments (run, number);
COMMIT;
