-- What statistics and usage are answered from (spec 6.4, 13.1): sums that are written with what they count. Columns that a program
-- of before does not know have a default that it may leave to them.

-- What happened in a quarter of an hour, of which the days of all time zones are made. `kind`: storage/activity_store.h. Led by time:
-- what is written now stands close together, whosever it is. `lane`: transactions that are open at once seldom share a row.
CREATE TABLE activity (
  quarter <int> NOT NULL,
  account_id <int> NOT NULL,
  kind <int> NOT NULL,
  -- 0: of none
  integration_id <int> NOT NULL,
  api_key_id <int> NOT NULL,
  lane <int> NOT NULL,
  amount <int> NOT NULL,
  PRIMARY KEY (quarter, account_id, kind, integration_id, api_key_id, lane)
) <clustered>;
-- The sums of this moment change with each transaction: with room on its page a new version needs no new entry in the index.
<postgres> ALTER TABLE activity SET (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02);
-- The same of days (UTC) that are long past, which housekeeping has moved here.
CREATE TABLE activity_days (
  account_id <int> NOT NULL,
  day <int> NOT NULL,
  kind <int> NOT NULL,
  integration_id <int> NOT NULL,
  api_key_id <int> NOT NULL,
  amount <int> NOT NULL,
  PRIMARY KEY (account_id, day, kind, integration_id, api_key_id)
) <clustered>;

-- The API key whose request made it.
ALTER TABLE deliveries ADD COLUMN api_key_id <int>;
-- As what a delivery is counted: its status, and since when it has that; NULL: not yet.
ALTER TABLE deliveries ADD COLUMN counted_status TEXT;
ALTER TABLE deliveries ADD COLUMN counted_since <int>;
-- How long it was queued or worked on before; NULL: not known, as a program of before has written it.
ALTER TABLE deliveries ADD COLUMN worked_ms <int>;
-- The version that was counted: where a program of before has written since, housekeeping counts anew.
ALTER TABLE deliveries ADD COLUMN counted_version <int> NOT NULL DEFAULT 0;
CREATE INDEX deliveries_uncounted ON deliveries (id) WHERE counted_version <> version;
