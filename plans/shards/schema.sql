CREATE TABLE posts (id uuid PRIMARY KEY, author integer NOT NULL, body text NOT NULL);

CREATE INDEX posts_by_author ON posts (author);

