-- Version 14 of the store: the order of a study's loads. It adds to version 13.

-- JSON: the names of the loads, in the order of the plan; null of a study that was kept before.
ALTER TABLE study ADD COLUMN loads TEXT;
