CREATE TABLE orders (id bigint NOT NULL, customer int NOT NULL, amount int NOT NULL, filler text NOT NULL);

INSERT INTO orders SELECT n, n % 5000, n % 997, repeat('x', 300) FROM generate_series(1, 50000) AS n;

ALTER TABLE orders ADD PRIMARY KEY (id);

CREATE INDEX orders_by_customer ON orders (customer);

VACUUM ANALYZE;

