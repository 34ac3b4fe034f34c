\set jis digits('#####')
\set old_code digits('#####')
\set code digits('#######')
\set town digits('###')
INSERT INTO tenbin_postcodes (jis, old_code, code, prefecture_kana, city_kana, town_kana, prefecture, city, town, is_divided, has_lots, has_blocks, is_joint, updated, reason) VALUES (:jis, :old_code, :code, 'ホッカイドウ', 'サッポロシチュウオウク', 'アサヒガオカ', '北海道', '札幌市中央区', :town, '0', '0', '1', '0', '0', '0');
