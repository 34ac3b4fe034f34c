-- Version 4 of the store: procedures that say what to run next, levels, and what the generator measured of itself.
-- It adds to version 3.

-- What says which runs come next: JSON, of which `kind` is blocks, duel, best, capacity.
ALTER TABLE study ADD COLUMN procedure TEXT NOT NULL DEFAULT '{"kind":"blocks"}';
ALTER TABLE study ADD COLUMN also TEXT NOT NULL DEFAULT '[]'; -- JSON list of further metrics
ALTER TABLE study ADD COLUMN baseline TEXT;                   -- the row that all others are compared with; null: none
ALTER TABLE study ADD COLUMN within_s REAL;                   -- the time that it may take; null: no bound

-- Why the study stopped: decided, budget, blocks, not fit. Null if it was interrupted.
ALTER TABLE study_ending ADD COLUMN why TEXT;

-- What the run is for.
ALTER TABLE place ADD COLUMN stage TEXT NOT NULL DEFAULT 'block';
-- The level of the load, where it is not the load's own: at most one of both.
ALTER TABLE place ADD COLUMN users INTEGER;
ALTER TABLE place ADD COLUMN rate_per_s REAL;

-- Whether the run came to a steady state: JSON, or null if nobody looked.
ALTER TABLE ending ADD COLUMN steadiness TEXT;

-- What the generator reaches against a server that does nothing, by the shape of the load and the layout of the machine.
CREATE TABLE ceiling (
    shape               TEXT NOT NULL,
    layout              TEXT NOT NULL,
    per_s               REAL NOT NULL,
    measured_at_unix_ms INTEGER NOT NULL,
    PRIMARY KEY (shape, layout)
) STRICT, WITHOUT ROWID;
