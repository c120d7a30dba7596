-- What the rules of deliveries need (spec 2.6, 3.1, 3.5, 3.10, 3.11). Columns that a program of before does not know have a
-- default that it may leave to them.

-- ---------------------------------------------------------------- orders

-- What people see of the order's number; NULL in rows of before: it is in `state`.
ALTER TABLE orders ADD COLUMN order_number TEXT;

-- ---------------------------------------------------------------- deliveries

-- While in review: why, comma-separated (spec 3.1). NULL otherwise, and in rows of before.
ALTER TABLE deliveries ADD COLUMN review_reasons TEXT;
-- When it first waited for the customer's answer since its creation, retry or approval (spec 3.5); NULL: it does not wait for one,
-- and no answer would resume it.
ALTER TABLE deliveries ADD COLUMN waiting_since <int>;
-- Failed as cloud_unavailable: when the trouble of its cloud account began that it failed in; NULL: it failed alone (spec 3.5).
ALTER TABLE deliveries ADD COLUMN failed_trouble <int>;
-- When the name in use was given by store, buyer or merchant: the newest wins (spec 2.6).
ALTER TABLE deliveries ADD COLUMN named_at <int>;
-- When it was completed or invalidated; NULL: it is neither.
ALTER TABLE deliveries ADD COLUMN ended_at <int>;
-- The buyer's link is derived (spec 3.7); a new one raises this.
ALTER TABLE deliveries ADD COLUMN link_version <int> NOT NULL DEFAULT 1;
ALTER TABLE deliveries DROP COLUMN buyer_token_hash;
ALTER TABLE deliveries DROP COLUMN buyer_token_expires_at;
-- Who is waited for, and whose late answer would still resume a delivery.
CREATE INDEX deliveries_waiting ON deliveries (cloud_account_id, waiting_since) WHERE status = 'waiting_for_friendship';
CREATE INDEX deliveries_waited ON deliveries (cloud_account_id, waiting_since) WHERE status = 'failed' AND waiting_since IS NOT NULL;

-- An item is owed to a user of the platform: '' until the name is resolved (spec 3.11). A former one's is no longer owed to the
-- delivery's customer: the name was corrected since. What was charged once may be owed again (spec 3.10).
<postgres> ALTER TABLE delivery_items ADD COLUMN user_id <key> NOT NULL DEFAULT '';
<postgres> ALTER TABLE delivery_items ADD COLUMN username TEXT NOT NULL DEFAULT '';
<postgres> ALTER TABLE delivery_items ADD COLUMN former <int> NOT NULL DEFAULT 0 CHECK (former IN (0, 1));
<postgres> ALTER TABLE delivery_items ADD COLUMN revoked_by TEXT CHECK (revoked_by = 'order' OR revoked_by = 'merchant');
<postgres> ALTER TABLE delivery_items ADD COLUMN revocation_begun <int> NOT NULL DEFAULT 0 CHECK (revocation_begun IN (0, 1));
<postgres> ALTER TABLE delivery_items DROP CONSTRAINT delivery_items_check1;
<postgres> ALTER TABLE delivery_items ADD CHECK (held = 0 OR spent = 0);
<postgres> ALTER TABLE delivery_items DROP CONSTRAINT delivery_items_pkey;
<postgres> ALTER TABLE delivery_items ADD PRIMARY KEY (delivery_id, file_id, user_id);
<sqlite> CREATE TABLE new_delivery_items (
<sqlite>   delivery_id <int> NOT NULL,
<sqlite>   file_id <key> NOT NULL,
<sqlite>   id <int> NOT NULL,
<sqlite>   account_id <int> NOT NULL,
<sqlite>   kind TEXT NOT NULL,
<sqlite>   name TEXT NOT NULL,
<sqlite>   matched_by TEXT NOT NULL,
<sqlite>   quantity <int> NOT NULL CHECK (quantity >= 1),
<sqlite>   lines TEXT NOT NULL,
<sqlite>   status TEXT NOT NULL CHECK (status = 'owed' OR status = 'sharing' OR status = 'shared' OR status = 'already_shared' OR
<sqlite>     status = 'delivered_by_hand' OR status = 'dropped' OR status = 'revoking' OR status = 'revoked' OR
<sqlite>     status = 'revoke_failed'),
<sqlite>   customer_id <int>,
<sqlite>   intent_key TEXT,
<sqlite>   settle_after <int>,
<sqlite>   held <int> NOT NULL DEFAULT 0 CHECK (held IN (0, 1)),
<sqlite>   spent <int> NOT NULL DEFAULT 0 CHECK (spent IN (0, 1)),
<sqlite>   shared_at <int>,
<sqlite>   user_id <key> NOT NULL DEFAULT '',
<sqlite>   username TEXT NOT NULL DEFAULT '',
<sqlite>   former <int> NOT NULL DEFAULT 0 CHECK (former IN (0, 1)),
<sqlite>   revoked_by TEXT CHECK (revoked_by = 'order' OR revoked_by = 'merchant'),
<sqlite>   revocation_begun <int> NOT NULL DEFAULT 0 CHECK (revocation_begun IN (0, 1)),
<sqlite>   CHECK (held = 0 OR status = 'sharing'),
<sqlite>   CHECK (held = 0 OR spent = 0),
<sqlite>   CHECK (status <> 'sharing' OR (customer_id IS NOT NULL AND intent_key IS NOT NULL AND settle_after IS NOT NULL)),
<sqlite>   CHECK (status <> 'shared' OR shared_at IS NOT NULL),
<sqlite>   PRIMARY KEY (delivery_id, file_id, user_id)
<sqlite> ) <clustered>;
<sqlite> INSERT INTO new_delivery_items (delivery_id, file_id, id, account_id, kind, name, matched_by, quantity, lines, status,
<sqlite>   customer_id, intent_key, settle_after, held, spent, shared_at)
<sqlite>   SELECT delivery_id, file_id, id, account_id, kind, name, matched_by, quantity, lines, status,
<sqlite>   customer_id, intent_key, settle_after, held, spent, shared_at FROM delivery_items;
<sqlite> DROP TABLE delivery_items;
<sqlite> ALTER TABLE new_delivery_items RENAME TO delivery_items;
<sqlite> CREATE INDEX delivery_items_of_customer ON delivery_items (customer_id) WHERE customer_id IS NOT NULL;

-- ---------------------------------------------------------------- trouble of the platform

-- The call that fails for this customer, which alone ends the row of failures (spec 3.5).
ALTER TABLE customers ADD COLUMN failing_call TEXT;
-- 1: the merchant wants the customer asked anew: the request that stands is taken back first (spec 3.5).
ALTER TABLE customers ADD COLUMN ask_anew <int> NOT NULL DEFAULT 0 CHECK (ask_anew IN (0, 1));
-- A failed delivery that the next job of this customer tries, without moving it unless it gets on (spec 3.5).
ALTER TABLE customers ADD COLUMN probed_delivery <int>;
-- Which calls fail for the account, and since when (domain/trouble.h); takes the place of `pause`, which programs of before use.
ALTER TABLE cloud_accounts ADD COLUMN trouble TEXT NOT NULL DEFAULT '';
-- While deliveries are failed as cloud_unavailable: when one of them is tried again, and the last that was.
ALTER TABLE cloud_accounts ADD COLUMN probe_due_at <int>;
ALTER TABLE cloud_accounts ADD COLUMN probed_to <int> NOT NULL DEFAULT 0;
CREATE INDEX cloud_accounts_to_probe ON cloud_accounts (probe_due_at) WHERE probe_due_at IS NOT NULL;

-- ---------------------------------------------------------------- buyers' links

-- The keys that buyers' links are derived with (services/buyer_links.h): the greatest id makes them, and those of the one before it
-- still open. An earlier program knows no links.
CREATE TABLE link_keys (
  id <int> PRIMARY KEY,
  encrypted_key <bytes> NOT NULL,
  created_at <int> NOT NULL
) <table>;
-- ---------------------------------------------------------------- mappings that are saved in pieces (spec 8.6, 9.2)

-- Mappings count if they are of their integration's generation; if there are none of it, those of generation 0 do: a program of
-- before writes these alone, after it has deleted all others. newest_generation: the last that a save was given.
ALTER TABLE integrations ADD COLUMN mappings_generation <int> NOT NULL DEFAULT 0;
ALTER TABLE integrations ADD COLUMN newest_generation <int> NOT NULL DEFAULT 0;
-- How many mappings the generation has; of no account for generation 0.
ALTER TABLE integrations ADD COLUMN mapping_count <int> NOT NULL DEFAULT 0;
-- A mapping that is saved again keeps its id.
<postgres> ALTER TABLE mappings ADD COLUMN generation <int> NOT NULL DEFAULT 0;
<postgres> ALTER TABLE mappings DROP CONSTRAINT mappings_pkey;
<postgres> ALTER TABLE mappings ADD PRIMARY KEY (integration_id, generation, id);
<postgres> DROP INDEX mappings_unique;
<sqlite> CREATE TABLE new_mappings (
<sqlite>   id <int> NOT NULL,
<sqlite>   integration_id <int> NOT NULL REFERENCES integrations (id),
<sqlite>   match_type TEXT NOT NULL CHECK (match_type = 'sku' OR match_type = 'product_id' OR match_type = 'variant_id' OR match_type = 'title'),
<sqlite>   match_value TEXT NOT NULL,
<sqlite>   match_key <key> NOT NULL,
<sqlite>   action TEXT NOT NULL CHECK (action IN ('deliver', 'ignore')),
<sqlite>   file_id <key> NOT NULL,
<sqlite>   kind TEXT NOT NULL,
<sqlite>   file_name TEXT NOT NULL,
<sqlite>   made_for <int>,
<sqlite>   stale <int> NOT NULL DEFAULT 0 CHECK (stale IN (0, 1)),
<sqlite>   generation <int> NOT NULL DEFAULT 0,
<sqlite>   CHECK ((action = 'ignore') = (file_id = '')),
<sqlite>   PRIMARY KEY (integration_id, generation, id)
<sqlite> ) <clustered>;
<sqlite> INSERT INTO new_mappings (id, integration_id, match_type, match_value, match_key, action, file_id, kind, file_name, made_for,
<sqlite>   stale) SELECT id, integration_id, match_type, match_value, match_key, action, file_id, kind, file_name, made_for, stale
<sqlite>   FROM mappings;
<sqlite> DROP TABLE mappings;
<sqlite> ALTER TABLE new_mappings RENAME TO mappings;
CREATE UNIQUE INDEX mappings_unique ON mappings (integration_id, generation, match_type, match_key, file_id);

-- Generations that are to be deleted from due_at on: replaced ones, and those of saves under way, unless they come to count.
CREATE TABLE mapping_remains (
  integration_id <int> NOT NULL,
  generation <int> NOT NULL,
  due_at <int> NOT NULL,
  PRIMARY KEY (integration_id, generation)
) <clustered>;

-- ---------------------------------------------------------------- privacy requests (spec 2.11, 9.6)

-- What a store's platform asked for on behalf of a person or of the store itself; no personal field is in it.
CREATE TABLE privacy_requests (
  id <int> PRIMARY KEY,
  account_id <int> NOT NULL,
  integration_id <int> NOT NULL,
  kind TEXT NOT NULL CHECK (kind = 'customer_redact' OR kind = 'shop_redact' OR kind = 'data_request'),
  -- The same for the same request sent again: its HMAC.
  request_key <bytes> NOT NULL,
  received_at <int> NOT NULL,
  -- that it names; of a store's own: that were erased so far
  orders <int> NOT NULL,
  -- shop_redact: the last order key that is dealt with
  done_to <key> NOT NULL DEFAULT '',
  carried_out_at <int>,
  -- the merchant has done what is theirs to do
  closed_at <int>,
  closed_by TEXT,
  CHECK ((closed_at IS NULL) = (closed_by IS NULL))
) <table>;
CREATE UNIQUE INDEX privacy_requests_dedupe ON privacy_requests (integration_id, request_key);
CREATE INDEX privacy_requests_of_account ON privacy_requests (account_id, id);
CREATE INDEX privacy_requests_to_do ON privacy_requests (id) WHERE carried_out_at IS NULL AND kind = 'shop_redact';

-- ---------------------------------------------------------------- logins that do not open

-- The version of the stored login that is `invalid` because it cannot be opened (spec 5.4); of no meaning beside another version or
-- status.
ALTER TABLE accounts ADD COLUMN unreadable_login <int>;

-- ---------------------------------------------------------------- how the service is

-- What a node in trouble writes before it says that the trouble is over: as much as an order does (spec 12.3). One row, never read.
CREATE TABLE write_probe (
  id <int> PRIMARY KEY CHECK (id = 1),
  body <bytes> NOT NULL
) <table>;
-- When a node last renewed its number, and what it does: comma-separated. 0: it is gone, or of before.
ALTER TABLE nodes ADD COLUMN seen_at <int> NOT NULL DEFAULT 0;
ALTER TABLE nodes ADD COLUMN roles TEXT NOT NULL DEFAULT '';
-- What is under way, and what waits for a person, the oldest first: counted for the metrics. What is over leaves them. An expression,
-- so that no other query takes the first for its own.
CREATE INDEX deliveries_under_way ON deliveries (id) WHERE open + 0 = 1;
CREATE INDEX deliveries_in_review ON deliveries (id) WHERE status = 'in_review';

-- ---------------------------------------------------------------- probes, and the service's queue limit

-- The delivery that the failing call was for; NULL: none.
ALTER TABLE customers ADD COLUMN failing_delivery <int>;
-- Failed as cloud_unavailable: until when probes try it; NULL: they do not.
ALTER TABLE deliveries ADD COLUMN probe_until <int>;
-- When the friend request was made that it told of (customers.requested_at): the next one is told of, too (spec 10.1).
ALTER TABLE deliveries ADD COLUMN told_request <int>;
CREATE INDEX deliveries_to_probe ON deliveries (cloud_account_id, id) WHERE probe_until IS NOT NULL;
-- What failed so before: 30 days.
UPDATE deliveries SET probe_until = updated_at + 2592000000
  WHERE status = 'failed' AND resolution_code = 'cloud_unavailable' AND cloud_account_id IS NOT NULL;
UPDATE cloud_accounts SET probe_due_at = 0
  WHERE id IN (SELECT cloud_account_id FROM deliveries WHERE probe_until IS NOT NULL);

-- Rolling windows of the whole service, a row each, made when it is first needed: `jobs`, of all starts of jobs
-- (delivery.jobs_per_minute_total, domain/rate_window.h).
CREATE TABLE service_windows (
  name <key> PRIMARY KEY,
  log <bytes> NOT NULL
) <table>;
