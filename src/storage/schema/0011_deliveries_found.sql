-- What finds deliveries by what people know of them, and what their timelines tell (spec 3.7, 8.5, 9.4).

-- ---------------------------------------------------------------- filters and search

-- One row for each thing that a delivery is found by (storage/delivery_search.h): a letter that says what it is, and the value as
-- searches are folded. Written once, with the delivery or a new name of its customer; deliveries of before, and of programs of
-- before, are filled in by a chore.
CREATE TABLE delivery_keys (
  account_id <int> NOT NULL,
  key <key> NOT NULL,
  delivery_id <int> NOT NULL,
  PRIMARY KEY (account_id, key, delivery_id)
) <clustered>;
-- How far that chore is: one row. It ends at `until`, an id of a time when no program of before is left.
CREATE TABLE delivery_key_fill (
  id <int> PRIMARY KEY CHECK (id = 1),
  done_to <int> NOT NULL,
  until <int> NOT NULL
) <table>;

-- By status and store, newest first; what is under way stands close together, whosever it is. An expression, so that no other query
-- takes this index for its own.
CREATE INDEX deliveries_by_status ON deliveries ((status || ''), integration_id, id);
-- What only few are; of dry runs an expression too.
CREATE INDEX deliveries_refunded ON deliveries (account_id, id) WHERE refunded = 1;
CREATE INDEX deliveries_dry_runs ON deliveries (account_id, id) WHERE dry_run + 0 = 1;
CREATE INDEX deliveries_in_review_for ON deliveries (account_id, resolution_code, id) WHERE status = 'in_review' AND resolution_code IS NOT NULL;

-- ---------------------------------------------------------------- timelines

-- What kind of thing happened (spec 3.7); '' in rows of before: `kind` and `status` say as much as is known.
ALTER TABLE delivery_timeline ADD COLUMN type TEXT NOT NULL DEFAULT '';
-- Of the delivery's row when the entry was made: two nodes write under its lock, and their clocks may differ.
ALTER TABLE delivery_timeline ADD COLUMN version <int> NOT NULL DEFAULT 0;
ALTER TABLE delivery_timeline ADD COLUMN attempt <int> NOT NULL DEFAULT 0;
ALTER TABLE delivery_timeline ADD COLUMN duration_ms <int>;
ALTER TABLE delivery_timeline ADD COLUMN item_id <int>;
-- JSON object; NULL: nothing more
ALTER TABLE delivery_timeline ADD COLUMN data TEXT;

-- What the store was told of a delivery.
CREATE INDEX webhook_sends_of_event ON webhook_sends (event_id, id);
-- Of the newest attempt that had an answer.
ALTER TABLE webhook_sends ADD COLUMN last_status_code <int>;
