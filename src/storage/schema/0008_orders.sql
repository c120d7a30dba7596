-- ---------------------------------------------------------------- what lists show of orders (spec 9.3)

-- The columns that follow tell of `state` as it was at `listed_at`. At another updated_at a program of before has written since, and
-- they are read from `state`: for the page that is shown, and by housekeeping for all.
ALTER TABLE orders ADD COLUMN listed_at <int> NOT NULL DEFAULT 0;
-- The order's number as it is looked for; empty: it has none (domain/order_summary.h).
ALTER TABLE orders ADD COLUMN number_key <key> NOT NULL DEFAULT '';
ALTER TABLE orders ADD COLUMN username TEXT NOT NULL DEFAULT '';
ALTER TABLE orders ADD COLUMN email TEXT NOT NULL DEFAULT '';
ALTER TABLE orders ADD COLUMN line_count <int> NOT NULL DEFAULT 0;
-- domain::OrderMark, a bit each
ALTER TABLE orders ADD COLUMN marks <int> NOT NULL DEFAULT 0;

-- An account's orders; those of which something has no mapping; those without a delivery. SQLite reads the columns behind a long
-- `state` by way of all its pages: there the index holds whatever a list looks at.
<postgres> CREATE INDEX orders_of_account ON orders (account_id, id);
<postgres> CREATE INDEX orders_unmapped ON orders (account_id, id) WHERE unmapped > 0;
<postgres> CREATE INDEX orders_without_delivery ON orders (account_id, outcome, id) WHERE outcome <> 'delivery';
<sqlite> CREATE INDEX orders_of_account ON orders (account_id, id, integration_id, outcome, unmapped, received_at, updated_at, listed_at,
<sqlite>   order_key, order_number, number_key, username, email, line_count, marks);
<sqlite> CREATE INDEX orders_unmapped ON orders (account_id, id, integration_id, outcome, unmapped, received_at, updated_at, listed_at,
<sqlite>   order_key, order_number, number_key, username, email, line_count, marks) WHERE unmapped > 0;
<sqlite> CREATE INDEX orders_without_delivery ON orders (account_id, outcome, id, integration_id, unmapped, received_at, updated_at,
<sqlite>   listed_at, order_key, order_number, number_key, username, email, line_count, marks) WHERE outcome <> 'delivery';
CREATE INDEX orders_by_number ON orders (account_id, number_key) WHERE number_key <> '';
-- Those that a program of before has written; empty once housekeeping has been through.
CREATE INDEX orders_unlisted ON orders (id) WHERE listed_at <> updated_at;

-- ---------------------------------------------------------------- one action on many (spec 9.3, 9.4)

-- What somebody asked to be done to all that a filter finds. It is done one after the other, from the oldest on; each together with
-- the move of `done_to`, so that it is done once whatever is killed when.
CREATE TABLE bulk_jobs (
  id <int> PRIMARY KEY,
  account_id <int> NOT NULL,
  action TEXT NOT NULL,
  -- whoever asked, and the stores that they see: comma-separated; empty: all
  actor TEXT NOT NULL,
  integration_ids TEXT NOT NULL,
  -- JSON, of the action's own form
  filter TEXT NOT NULL,
  -- what came later is not meant
  as_of <int> NOT NULL,
  -- the last that it has dealt with
  done_to <int> NOT NULL DEFAULT 0,
  -- how many there were at the beginning; exact: no more than were counted
  total <int> NOT NULL,
  total_is_exact <int> NOT NULL CHECK (total_is_exact IN (0, 1)),
  done <int> NOT NULL DEFAULT 0,
  failed <int> NOT NULL DEFAULT 0,
  -- JSON: the first of those that failed, and why
  failures TEXT NOT NULL DEFAULT '[]',
  created_at <int> NOT NULL,
  finished_at <int>
) <table>;
CREATE INDEX bulk_jobs_of_account ON bulk_jobs (account_id) WHERE finished_at IS NULL;
CREATE INDEX bulk_jobs_under_way ON bulk_jobs (id) WHERE finished_at IS NULL;

-- ---------------------------------------------------------------- privacy requests

-- Those that the merchant has not closed.
CREATE INDEX privacy_requests_open ON privacy_requests (account_id, id) WHERE closed_at IS NULL;
