-- Version 16 of the store: where a system runs that Tenbin did not start. It adds to version 15.

-- 1: a process on the generator's machine listened where the load went; 0: none was seen; null of a run that was kept before.
ALTER TABLE ending ADD COLUMN is_system_local INTEGER;
