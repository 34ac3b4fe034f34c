-- Version 7 of the store: studies that were extended after their end. It adds to version 6.

-- JSON list: to how many blocks it was extended, and how many places it had planned by then. Null: never.
ALTER TABLE study ADD COLUMN extensions TEXT;
