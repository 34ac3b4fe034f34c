INSERT INTO visits (item, owner) VALUES
(:a, :b);
