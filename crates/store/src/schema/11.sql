-- Version 11 of the store: the course of a load in windows of 100 ms, of runs with events, and what events cost. It adds to version 10.

-- Windows that were kept together, packed as `Moment::encode_all` of the crate `record` packs them. Parts of a window add up, and
-- may be in several rows.
CREATE TABLE moments (
    number   INTEGER PRIMARY KEY,
    run      INTEGER NOT NULL REFERENCES run (number) ON DELETE CASCADE,
    first    INTEGER NOT NULL, -- the number of the first window, from the beginning of the load
    packed   BLOB NOT NULL,
    checksum INTEGER NOT NULL  -- over all of these and the run
) STRICT;

CREATE INDEX moments_by_run ON moments (run, number);

-- What an event cost, as it was judged when the run had ended.
CREATE TABLE event_cost (
    run        INTEGER NOT NULL REFERENCES run (number) ON DELETE CASCADE,
    name       TEXT NOT NULL,
    occurrence INTEGER NOT NULL, -- from 0
    cost       TEXT NOT NULL,    -- JSON
    PRIMARY KEY (run, name, occurrence)
) STRICT, WITHOUT ROWID;
