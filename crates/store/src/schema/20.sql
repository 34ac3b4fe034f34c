-- Version 20 of the store: the content of replies, by which comparisons check that systems do equal work. It adds to version 19.

-- JSON array of the replies of each step: their sizes, codings, rows, and cache hits; null of a run that was kept before, or without a
-- load of Tenbin's own.
ALTER TABLE ending ADD COLUMN contents TEXT;
