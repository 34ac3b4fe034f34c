\set number serial()
\set email concat(digits('##########'), '-', :number, '@example.com')
\set name concat('user ', :number)
INSERT INTO tenbin_accounts (email, name, created) VALUES (:email, :name, CURRENT_TIMESTAMP);
