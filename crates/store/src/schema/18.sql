-- Version 18 of the store: how the system stood when a load began, and which process held its connections. It adds to version 17.

-- Connections by process, as read a few times: a JSON object; null if they were not read.
ALTER TABLE ending ADD COLUMN connections_by_process TEXT;
-- What the start of the system waited for after its processes were ready: a JSON object; null if it did not wait.
ALTER TABLE ending ADD COLUMN steady_start TEXT;
