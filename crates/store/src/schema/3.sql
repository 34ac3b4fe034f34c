-- Version 3 of the store: transactions, and the statements that they are made of. It adds to version 2.

-- What the report says of late transactions: null if no limit was set.
ALTER TABLE run ADD COLUMN latency_limit_ns INTEGER;
-- Whether every transaction, or request, had a connection of its own: 0, 1.
ALTER TABLE run ADD COLUMN connects_each INTEGER NOT NULL DEFAULT 0;

-- requests, transactions
ALTER TABLE step ADD COLUMN unit TEXT NOT NULL DEFAULT 'requests';
-- Null for a step. Else this is no step, but a statement of the step of this number; such rows come after all steps.
ALTER TABLE step ADD COLUMN part_of INTEGER;
