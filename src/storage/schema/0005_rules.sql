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
