\set table random(1, :tables)
\set c digits('###########-###########-###########-###########-###########-###########-###########-###########-###########-###########')
\set id random_row(1, :table_size)
UPDATE sbtest{table} SET c=:c WHERE id=:id;
