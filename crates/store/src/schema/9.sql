-- Version 9 of the store: events, things that were done to a system while it was under load. It adds to version 8.

-- Times in nanoseconds since the load began.
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
