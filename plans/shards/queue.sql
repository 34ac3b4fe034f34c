CREATE TABLE totals (author integer PRIMARY KEY, posts bigint NOT NULL);

CREATE TABLE queue (author integer NOT NULL);

CREATE FUNCTION add_to_queue() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO queue VALUES (NEW.author);
    RETURN NULL;
END
$$;

CREATE TRIGGER posts_are_queued AFTER INSERT ON posts FOR EACH ROW EXECUTE FUNCTION add_to_queue();

CREATE PROCEDURE apply_queue() LANGUAGE plpgsql AS $$
BEGIN
    LOOP
        WITH taken AS (DELETE FROM queue RETURNING author)
        INSERT INTO totals SELECT author, count(*) FROM taken GROUP BY author
        ON CONFLICT (author) DO UPDATE SET posts = totals.posts + EXCLUDED.posts;
        COMMIT;
        PERFORM pg_sleep(0.1);
    END LOOP;
END
$$;

