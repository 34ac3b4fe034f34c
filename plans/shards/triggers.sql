CREATE TABLE totals (author integer PRIMARY KEY, posts bigint NOT NULL);

CREATE FUNCTION add_to_totals() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO totals VALUES (NEW.author, 1) ON CONFLICT (author) DO UPDATE SET posts = totals.posts + 1;
    RETURN NULL;
END
$$;

CREATE TRIGGER posts_are_counted AFTER INSERT ON posts FOR EACH ROW EXECUTE FUNCTION add_to_totals();

