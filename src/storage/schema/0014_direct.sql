-- Jobs on many deliveries (spec 9.4), what a merchant tells of itself, and where its stores are.

-- How many of the total the action was for when it was asked for; NULL: all (a program of before). `excluded`: JSON, the others by why.
ALTER TABLE bulk_jobs ADD COLUMN eligible <int>;
ALTER TABLE bulk_jobs ADD COLUMN excluded TEXT NOT NULL DEFAULT '[]';
-- Why the job ended before it was done; '': it did not.
ALTER TABLE bulk_jobs ADD COLUMN fault TEXT NOT NULL DEFAULT '';

-- What buyers see of the merchant (spec 13.3); '': the account's name, and nothing.
ALTER TABLE accounts ADD COLUMN display_name TEXT NOT NULL DEFAULT '';
ALTER TABLE accounts ADD COLUMN support_email TEXT NOT NULL DEFAULT '';
ALTER TABLE accounts ADD COLUMN support_url TEXT NOT NULL DEFAULT '';

-- Where a store is, as its platform says with its events.
CREATE TABLE store_origins (
  integration_id <int> PRIMARY KEY,
  origin TEXT NOT NULL,
  told_at <int> NOT NULL
) <table>;
