CREATE VIEW totals AS SELECT author, count(*) AS posts FROM posts GROUP BY author;

