-- Version 17 of the store: whether a run was profiled. It adds to version 16.

-- 1: perf was to sample the system; 0: it was not; null of a run that was kept before, whose load ends in `, profiled` then.
ALTER TABLE run ADD COLUMN is_profiled INTEGER;
