-- Version 8 of the store: labels, and the commit that was measured. It adds to version 7.

-- Of a run or a study, by its name: what the person who started it called it, and the commit and the branch of the working
-- directory.
CREATE TABLE origin (
    id        TEXT PRIMARY KEY,
    label     TEXT,
    commit_id TEXT,
    branch    TEXT
) STRICT, WITHOUT ROWID;
