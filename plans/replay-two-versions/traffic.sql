\set customer random(0, 4999)
\set id random(1, 50000)
BEGIN;
SELECT amount FROM orders WHERE id = :id;
SELECT count(*), sum(amount) FROM orders WHERE customer = :customer;
UPDATE orders SET amount = amount + 1 WHERE id = :id;
COMMIT;
SELECT max(id) FROM orders;
