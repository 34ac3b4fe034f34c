\set table random(1, :tables)
\set k random_row(1, :table_size)
\set c digits('###########-###########-###########-###########-###########-###########-###########-###########-###########-###########')
\set pad digits('###########-###########-###########-###########-###########')
INSERT INTO sbtest{table} (k, c, pad) VALUES (:k, :c, :pad);
