-- Version 12 of the store: where the processes of a system spent CPU time, of runs that were profiled. It adds to version 11.

CREATE TABLE cpu_profile (
    run      INTEGER PRIMARY KEY REFERENCES run (number) ON DELETE CASCADE,
    profile  TEXT NOT NULL,    -- JSON
    checksum INTEGER NOT NULL  -- over it and the run
) STRICT;
