-- Version 2 of the store: studies, and what was seen beside the load. It adds to version 1.

-- A study when it begins.
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
) STRICT;
CREATE INDEX study_by_start ON study (started_at_unix_ms, number);

-- A study that has ended. Resuming it takes the row away.
CREATE TABLE study_ending (
    study            INTEGER PRIMARY KEY REFERENCES study (number) ON DELETE CASCADE,
    ended_at_unix_ms INTEGER NOT NULL,
    verdict          TEXT NOT NULL -- complete, degraded, partial, aborted, invalid
) STRICT;

-- The runs that a study plans.
CREATE TABLE place (
    number   INTEGER PRIMARY KEY,
    study    INTEGER NOT NULL REFERENCES study (number) ON DELETE CASCADE,
    position INTEGER NOT NULL, -- from 0, in the order of the study
    block    INTEGER NOT NULL, -- from 0
    system   TEXT NOT NULL,
    variant  TEXT NOT NULL,    -- the setting of its knobs in words
    knobs    TEXT NOT NULL,    -- JSON list of pairs of texts
    load     TEXT NOT NULL,    -- its name
    UNIQUE (study, position)
) STRICT;

-- The columns system, variant and study of version 1 are not used any more: a run's place tells them.
ALTER TABLE run ADD COLUMN place INTEGER REFERENCES place (number) ON DELETE CASCADE;
ALTER TABLE run ADD COLUMN system_version TEXT;
CREATE INDEX run_by_place ON run (place);

-- Probes that could not look, and why: JSON list of pairs of texts.
ALTER TABLE ending ADD COLUMN not_available TEXT NOT NULL DEFAULT '[]';

-- Why the system of a run failed.
CREATE TABLE failure (
    run     INTEGER PRIMARY KEY REFERENCES ending (run) ON DELETE CASCADE,
    stage   TEXT NOT NULL,
    process TEXT,
    what    TEXT NOT NULL,
    way_out TEXT NOT NULL
) STRICT;

-- What the probes of a run read, by name.
CREATE TABLE reading_kind (
    run     INTEGER NOT NULL REFERENCES run (number) ON DELETE CASCADE,
    number  INTEGER NOT NULL, -- from 0
    subject TEXT NOT NULL,    -- machine, system, generator, or a process
    metric  TEXT NOT NULL,
    label   TEXT NOT NULL,    -- such as core0; may be empty
    PRIMARY KEY (run, number)
) STRICT, WITHOUT ROWID;

-- What they read in one second, packed: for each reading the number of its kind (LEB128), a byte with the number of
-- bytes that follow, and so many of the leading bytes of a binary64; the others are zero.
CREATE TABLE readings (
    number INTEGER PRIMARY KEY,
    run    INTEGER NOT NULL REFERENCES run (number) ON DELETE CASCADE,
    second INTEGER NOT NULL, -- since the load began
    packed BLOB NOT NULL
) STRICT;
CREATE INDEX readings_by_second ON readings (run, second);

-- What processes of the system wrote.
CREATE TABLE output (
    number        INTEGER PRIMARY KEY,
    run           INTEGER NOT NULL REFERENCES run (number) ON DELETE CASCADE,
    process       TEXT NOT NULL,
    text          BLOB NOT NULL,
    dropped_bytes INTEGER NOT NULL
) STRICT;
CREATE INDEX output_by_run ON output (run);

-- What became of the gates.
CREATE TABLE gate (
    run      INTEGER NOT NULL REFERENCES run (number) ON DELETE CASCADE,
    position INTEGER NOT NULL, -- from 0, in the order of the plan
    text     TEXT NOT NULL,
    step     TEXT,             -- null: all steps
    observed REAL,             -- null: could not be told
    bound    REAL NOT NULL,
    unit     TEXT NOT NULL,
    holds    INTEGER NOT NULL, -- 0, 1
    PRIMARY KEY (run, position)
) STRICT, WITHOUT ROWID;
