BEGIN;
\set table random(1, :tables)
\set id random_row(1, :table_size)
UPDATE sbtest{table} SET k=k+1 WHERE id=:id;
\set table random(1, :tables)
\set c digits('###########-###########-###########-###########-###########-###########-###########-###########-###########-###########')
\set id random_row(1, :table_size)
UPDATE sbtest{table} SET c=:c WHERE id=:id;
\set table random(1, :tables)
\set id random_row(1, :table_size)
\set k random_row(1, :table_size)
\set c digits('###########-###########-###########-###########-###########-###########-###########-###########-###########-###########')
\set pad digits('###########-###########-###########-###########-###########')
DELETE FROM sbtest{table} WHERE id=:id;
INSERT INTO sbtest{table} (id, k, c, pad) VALUES (:id, :k, :c, :pad);
COMMIT;
