INSERT INTO visits (item, owner) VALUES
(:a, :b), (:a, :b), (:a, :b), (:a, :b), (:a, :b), (:a, :b), (:a, :b), (:a, :b), (:a, :b), (:a, :b);
