-- Version 5 of the store: checksums, and it adds to version 4. Rows of earlier versions have none.

-- CRC-32 over the row, its statuses, errors, and requests, and the name of the run.
ALTER TABLE part ADD COLUMN checksum INTEGER;
-- CRC-32 over the name of the run, the second, and what is packed.
ALTER TABLE readings ADD COLUMN checksum INTEGER;
