-- Version 13 of the store: runs in which one thing is changed, to see what limits a system. It adds to version 12.

-- JSON: what the run changes, and what was predicted of it before; null of every other run.
ALTER TABLE place ADD COLUMN intervention TEXT;
