\set table random(1, :tables)
\set id random_row(1, :table_size)
UPDATE sbtest{table} SET k=k+1 WHERE id=:id;
