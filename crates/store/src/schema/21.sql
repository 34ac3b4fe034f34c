-- Version 21 of the store: bounds of the figures of gates, and gates that are undecided. It adds to version 20.

-- `holds`, `fails`, or `undecided`; null in a run that was kept before. `holds` stays 1 for the first and 0 for the others.
ALTER TABLE gate ADD COLUMN decision TEXT;
-- Bounds of the figure; null if unknown. If only `high` is null, nothing limits the figure from above.
ALTER TABLE gate ADD COLUMN low REAL;
ALTER TABLE gate ADD COLUMN high REAL;
-- Number of samples that would likely decide the gate; null if it is decided, or lacks something else.
ALTER TABLE gate ADD COLUMN samples_needed INTEGER;
