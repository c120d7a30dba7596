-- Live changes (spec 13.1): what a reader of an account's events is told, as long as somebody may come for it. Nodes of before write none.

-- An account that somebody reads, or did a short while ago. Each change takes the next number under the row's lock, which is the last
-- that its transaction takes: numbers are in the order of the commits, without a gap. Another generation begins at nothing.
CREATE TABLE account_watches (
  account_id <int> PRIMARY KEY,
  generation <int> NOT NULL,
  sequence <int> NOT NULL CHECK (sequence >= 0),
  until <int> NOT NULL
) <table>;
CREATE INDEX account_watches_until ON account_watches (until, account_id);
<postgres> ALTER TABLE account_watches SET (fillfactor = 10, autovacuum_vacuum_scale_factor = 0.01);

-- What changed: `data` is the event's, as JSON.
CREATE TABLE account_changes (
  account_id <int> NOT NULL,
  generation <int> NOT NULL,
  sequence <int> NOT NULL,
  at <int> NOT NULL,
  kind TEXT NOT NULL,
  data TEXT NOT NULL,
  PRIMARY KEY (account_id, generation, sequence)
) <clustered>;
CREATE INDEX account_changes_at ON account_changes (at);
