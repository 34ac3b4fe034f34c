-- Version 19 of the store: the body that replies to different requests had in common. It adds to version 18.

-- JSON object of the body, the different requests, and the replies that were compared; null if replies differed or were not compared, or
-- of a run that was kept before.
ALTER TABLE ending ADD COLUMN same_body TEXT;
