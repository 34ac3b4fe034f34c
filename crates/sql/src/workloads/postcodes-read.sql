\set code digits('#######')
SELECT prefecture, city, town FROM tenbin_postcodes WHERE code = :code;
