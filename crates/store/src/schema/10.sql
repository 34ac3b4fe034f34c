-- Version 10 of the store: what a run or a study is held against that was measured before it. It adds to version 9.

-- The stored baseline of a run or a study, by its name, with the figures that it had when that run or study began.
CREATE TABLE baseline (
    id     TEXT PRIMARY KEY,
    stored TEXT NOT NULL -- JSON
) STRICT, WITHOUT ROWID;
