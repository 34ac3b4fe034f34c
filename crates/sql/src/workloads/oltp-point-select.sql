\set table random(1, :tables)
\set id random_row(1, :table_size)
SELECT c FROM sbtest{table} WHERE id=:id;
