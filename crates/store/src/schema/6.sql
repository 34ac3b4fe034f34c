-- Version 6 of the store: the measured window, and outages. It adds to version 5.

-- Requests by whether they ended within the measured window or after it, whenever they were intended. Null in parts that
-- earlier versions kept.
ALTER TABLE part ADD COLUMN window_ok INTEGER;
ALTER TABLE part ADD COLUMN window_refused INTEGER;
ALTER TABLE part ADD COLUMN window_other INTEGER;
ALTER TABLE part ADD COLUMN window_after INTEGER;

-- How long the measured window was; null where nobody noted it.
ALTER TABLE ending ADD COLUMN window_ns INTEGER;
-- Times without an ok answer: JSON, or null if nobody looked.
ALTER TABLE ending ADD COLUMN outage TEXT;
