-- Version 15 of the store: the users of a load. It adds to version 14.

-- Users of a closed load of Tenbin's own generator; null of any other load, and of a run that was kept before.
ALTER TABLE run ADD COLUMN users INTEGER;
