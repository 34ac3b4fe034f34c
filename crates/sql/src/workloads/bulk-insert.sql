\set table 1 + :client_id % :tables
\set batch 1 + serial()
INSERT INTO sbtest{table} VALUES
