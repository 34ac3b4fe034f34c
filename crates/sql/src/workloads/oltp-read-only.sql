BEGIN;
\set table random(1, :tables)
\set id random_row(1, :table_size)
SELECT c FROM sbtest{table} WHERE id=:id;
\set id random_row(1, :table_size)
SELECT c FROM sbtest{table} WHERE id=:id;
\set id random_row(1, :table_size)
SELECT c FROM sbtest{table} WHERE id=:id;
\set id random_row(1, :table_size)
SELECT c FROM sbtest{table} WHERE id=:id;
\set id random_row(1, :table_size)
SELECT c FROM sbtest{table} WHERE id=:id;
\set id random_row(1, :table_size)
SELECT c FROM sbtest{table} WHERE id=:id;
\set id random_row(1, :table_size)
SELECT c FROM sbtest{table} WHERE id=:id;
\set id random_row(1, :table_size)
SELECT c FROM sbtest{table} WHERE id=:id;
\set id random_row(1, :table_size)
SELECT c FROM sbtest{table} WHERE id=:id;
\set id random_row(1, :table_size)
SELECT c FROM sbtest{table} WHERE id=:id;
\set table random(1, :tables)
\set id random_row(1, :table_size)
\set last :id + :range_size - 1
SELECT c FROM sbtest{table} WHERE id BETWEEN :id AND :last;
\set table random(1, :tables)
\set id random_row(1, :table_size)
\set last :id + :range_size - 1
SELECT SUM(k) FROM sbtest{table} WHERE id BETWEEN :id AND :last;
\set table random(1, :tables)
\set id random_row(1, :table_size)
\set last :id + :range_size - 1
SELECT c FROM sbtest{table} WHERE id BETWEEN :id AND :last ORDER BY c;
\set table random(1, :tables)
\set id random_row(1, :table_size)
\set last :id + :range_size - 1
SELECT DISTINCT c FROM sbtest{table} WHERE id BETWEEN :id AND :last ORDER BY c;
COMMIT;
