-- The whole of the first schema. Ids are time-sortable 63-bit integers, times are milliseconds since 1970, flags are 0 or 1.
-- <table> and <clustered> end a CREATE TABLE (STRICT and WITHOUT ROWID on SQLite). Hot indexes are partial: finished work leaves
-- them. A tenant's rows hang on accounts.id. A set of three or more is written as a chain of ORs: SQLite would make a table
-- of a longer IN list anew for each row that it checks (a fifth of the time that accepting an order takes).

-- ---------------------------------------------------------------- nodes

-- Who makes ids with which number (base/ids.h), and until when at least. A row stays: numbers come round as late as can be.
CREATE TABLE nodes (
  number <int> PRIMARY KEY CHECK (number BETWEEN 0 AND 1023),
  owner TEXT NOT NULL,
  expires_at <int> NOT NULL
) <table>;

-- The keys that secrets were ever sealed with, by the ids that stand in the key files.
CREATE TABLE used_keys (
  purpose <key> NOT NULL CHECK (purpose IN ('service', 'vault')),
  id <key> NOT NULL,
  first_used_at <int> NOT NULL,
  PRIMARY KEY (purpose, id)
) <clustered>;

-- ---------------------------------------------------------------- accounts, people, audit

CREATE TABLE accounts (
  id <int> PRIMARY KEY,
  name TEXT NOT NULL,
  created_at <int> NOT NULL,
  -- Credits (spec 11.1). available = granted + purchased - reversed - spent - held.
  granted <int> NOT NULL DEFAULT 0 CHECK (granted >= 0),
  purchased <int> NOT NULL DEFAULT 0 CHECK (purchased >= 0),
  reversed <int> NOT NULL DEFAULT 0 CHECK (reversed >= 0),
  spent <int> NOT NULL DEFAULT 0 CHECK (spent >= 0),
  held <int> NOT NULL DEFAULT 0 CHECK (held >= 0),
  debt <int> NOT NULL DEFAULT 0 CHECK (debt >= 0),
  -- The cloud login's standing (spec 5.1); the sealed record itself is in credentials.
  credentials_status TEXT NOT NULL DEFAULT 'missing'
    CHECK (credentials_status = 'missing' OR credentials_status = 'unchecked' OR credentials_status = 'valid' OR
    credentials_status = 'invalid'),
  credentials_version <int> NOT NULL DEFAULT 0,
  cloud_account_id <int>,
  CHECK (granted + purchased - reversed - spent - held >= 0),
  CHECK (credentials_status <> 'valid' OR cloud_account_id IS NOT NULL)
) <table>;
CREATE INDEX accounts_of_cloud_account ON accounts (cloud_account_id) WHERE cloud_account_id IS NOT NULL;

-- Work on many deliveries of an account, done in small transactions: what a fixed or newly known cause means for them
-- (spec 3.5, 3.6, 3.11).
CREATE TABLE account_chores (
  account_id <int> NOT NULL,
  chore <key> NOT NULL CHECK (chore = 'reroute' OR chore = 'fail_invalid_credentials' OR chore = 'fail_missing_credentials' OR
    chore = 'fail_unavailable' OR chore = 'resume_credentials' OR chore = 'resume_credits' OR
    chore = 'resume_unavailable' OR chore = 'resume_mappings'),
  -- the newest delivery that it has dealt with
  done_to <int> NOT NULL DEFAULT 0,
  PRIMARY KEY (account_id, chore)
) <clustered>;

CREATE TABLE identities (
  iss <key> NOT NULL,
  sub <key> NOT NULL,
  account_id <int> NOT NULL REFERENCES accounts (id),
  -- the person's own id, in audit log and timelines; of the built-in issuer: users.id
  user_id <int> NOT NULL,
  role TEXT NOT NULL CHECK (role IN ('owner', 'member')),
  created_at <int> NOT NULL,
  PRIMARY KEY (iss, sub)
) <clustered>;

-- The built-in issuer (spec 7.2).
CREATE TABLE users (
  id <int> PRIMARY KEY,
  email <key> NOT NULL UNIQUE,
  password_hash TEXT NOT NULL,
  created_at <int> NOT NULL
) <table>;

-- Tries to sign in that did not succeed (yet), by the e-mail's SHA-256: of addresses without a user too, so that both
-- are locked alike.
CREATE TABLE sign_in_tries (
  email_hash <bytes> PRIMARY KEY,
  failures <int> NOT NULL,
  locked_until <int> NOT NULL,
  last_at <int> NOT NULL
) <clustered>;
CREATE INDEX sign_in_tries_age ON sign_in_tries (last_at);

CREATE TABLE refresh_tokens (
  hash <bytes> PRIMARY KEY,
  user_id <int> NOT NULL REFERENCES users (id),
  -- the sign-in that it descends from
  family <int> NOT NULL,
  created_at <int> NOT NULL,
  expires_at <int> NOT NULL,
  revoked_at <int>
) <clustered>;
CREATE INDEX refresh_tokens_of_user ON refresh_tokens (user_id, family);
CREATE INDEX refresh_tokens_expiry ON refresh_tokens (expires_at);

CREATE TABLE issuer_keys (
  kid <key> PRIMARY KEY,
  public_jwk TEXT NOT NULL,
  encrypted_private_jwk <bytes> NOT NULL,
  created_at <int> NOT NULL
) <clustered>;

CREATE TABLE audit_log (
  id <int> PRIMARY KEY,
  account_id <int> NOT NULL,
  at <int> NOT NULL,
  actor TEXT NOT NULL,
  action TEXT NOT NULL,
  target TEXT NOT NULL,
  detail TEXT NOT NULL
) <table>;
CREATE INDEX audit_log_of_account ON audit_log (account_id, id);

-- ---------------------------------------------------------------- vault and login guard

CREATE TABLE credentials (
  account_id <int> PRIMARY KEY REFERENCES accounts (id),
  version <int> NOT NULL,
  sealed <bytes> NOT NULL,
  masked_email TEXT NOT NULL,
  cloud_username TEXT,
  saved_at <int> NOT NULL,
  checked_at <int>,
  -- when the background check of a login that is not yet checked is due (spec 3.5)
  check_due_at <int>
) <table>;
CREATE INDEX credentials_to_check ON credentials (check_due_at) WHERE check_due_at IS NOT NULL;

-- Failures and distinct e-mails of logins at the cloud platform (spec 4.3). E-mails are kept hashed.
CREATE TABLE cloud_login_tries (
  id <int> PRIMARY KEY,
  account_id <int> NOT NULL,
  email_hash <bytes> NOT NULL,
  at <int> NOT NULL,
  failed <int> NOT NULL CHECK (failed IN (0, 1))
) <table>;
CREATE INDEX cloud_login_tries_of_account ON cloud_login_tries (account_id, at);
CREATE INDEX cloud_login_tries_of_email ON cloud_login_tries (email_hash, at);

CREATE TABLE cloud_sessions (
  hash <bytes> PRIMARY KEY,
  api_key_id <int> NOT NULL,
  account_id <int> NOT NULL,
  encrypted_session <bytes> NOT NULL,
  expires_at <int> NOT NULL
) <clustered>;

-- ---------------------------------------------------------------- API keys

CREATE TABLE api_keys (
  id <int> PRIMARY KEY,
  account_id <int> NOT NULL REFERENCES accounts (id),
  name TEXT NOT NULL,
  preview TEXT NOT NULL,
  hash <bytes> NOT NULL UNIQUE,
  active <int> NOT NULL CHECK (active IN (0, 1)),
  permissions TEXT NOT NULL,
  -- comma-separated integration ids; empty: all
  integration_ids TEXT NOT NULL,
  rate_limit <int> NOT NULL CHECK (rate_limit > 0),
  -- the rolling window's log (domain/rate_window.h)
  rate_log <bytes> NOT NULL,
  created_at <int> NOT NULL,
  expires_at <int>,
  last_active_at <int>,
  rotated_from <int>,
  requests <int> NOT NULL DEFAULT 0,
  deliveries <int> NOT NULL DEFAULT 0
) <table>;
CREATE INDEX api_keys_of_account ON api_keys (account_id, id);

-- ---------------------------------------------------------------- integrations and mappings

CREATE TABLE integrations (
  id <int> PRIMARY KEY,
  account_id <int> NOT NULL REFERENCES accounts (id),
  name TEXT NOT NULL,
  provider TEXT NOT NULL CHECK (provider = 'provider_a' OR provider = 'provider_b' OR provider = 'generic'),
  -- grows with every change of the row or of its mappings: what was read before is checked against it
  version <int> NOT NULL DEFAULT 1,
  encrypted_secret <bytes> NOT NULL,
  secret_preview TEXT NOT NULL,
  encrypted_previous_secret <bytes>,
  previous_secret_expires_at <int>,
  active <int> NOT NULL DEFAULT 1 CHECK (active IN (0, 1)),
  archived_at <int>,
  owning_key_id <int>,
  require_api_key <int> NOT NULL DEFAULT 0 CHECK (require_api_key IN (0, 1)),
  hold TEXT NOT NULL DEFAULT 'none' CHECK (hold IN ('none', 'all')),
  deliver_test_orders <int> NOT NULL DEFAULT 0 CHECK (deliver_test_orders IN (0, 1)),
  auto_revoke <int> NOT NULL DEFAULT 0 CHECK (auto_revoke IN (0, 1)),
  -- newline-separated additional field names
  username_fields TEXT NOT NULL DEFAULT '',
  created_at <int> NOT NULL
) <table>;
CREATE INDEX integrations_of_account ON integrations (account_id, id);

CREATE TABLE mappings (
  id <int> PRIMARY KEY,
  integration_id <int> NOT NULL REFERENCES integrations (id),
  match_type TEXT NOT NULL CHECK (match_type = 'sku' OR match_type = 'product_id' OR match_type = 'variant_id' OR match_type = 'title'),
  -- as the merchant wrote it, and normalised as it is compared
  match_value TEXT NOT NULL,
  match_key <key> NOT NULL,
  action TEXT NOT NULL CHECK (action IN ('deliver', 'ignore')),
  file_id <key> NOT NULL,
  kind TEXT NOT NULL,
  file_name TEXT NOT NULL,
  -- Whose files: the cloud account of the login that it was saved under, or of the first one after. Stale: not the account's of now.
  made_for <int>,
  stale <int> NOT NULL DEFAULT 0 CHECK (stale IN (0, 1)),
  CHECK ((action = 'ignore') = (file_id = ''))
) <table>;
CREATE UNIQUE INDEX mappings_unique ON mappings (integration_id, match_type, match_key, file_id);

-- ---------------------------------------------------------------- orders

CREATE TABLE orders (
  id <int> PRIMARY KEY,
  account_id <int> NOT NULL,
  integration_id <int> NOT NULL,
  order_key <key> NOT NULL,
  outcome TEXT NOT NULL CHECK (outcome = 'delivery' OR outcome = 'no_mapped_items' OR outcome = 'awaiting_payment' OR outcome = 'stopped' OR
    outcome = 'inactive'),
  -- domain::OrderState, serialised
  state TEXT NOT NULL,
  unmapped <int> NOT NULL DEFAULT 0,
  received_at <int> NOT NULL,
  updated_at <int> NOT NULL
) <table>;
CREATE UNIQUE INDEX orders_dedupe ON orders (integration_id, order_key);

-- What the store sent last, compressed (zstd), kept for the retention time (spec 9.6).
CREATE TABLE order_payloads (
  order_id <int> PRIMARY KEY,
  received_at <int> NOT NULL,
  body <bytes> NOT NULL
) <table>;

-- ---------------------------------------------------------------- cloud accounts and customers: the queue

CREATE TABLE cloud_accounts (
  id <int> PRIMARY KEY,
  cloud_user_id <key> NOT NULL UNIQUE,
  username TEXT NOT NULL,
  -- When a job of this account may start next; NULL: nothing to do. Never before blocked_until.
  ready_at <int>,
  -- The queue limit's next free place, or the end of a pause.
  blocked_until <int> NOT NULL DEFAULT 0,
  -- the rolling window of job starts (domain/rate_window.h) and the fairness of classes (domain/job_class.h)
  start_log <bytes> NOT NULL,
  job_turns <int> NOT NULL DEFAULT 0,
  -- Trouble of the platform or the account (spec 3.5, domain/account_pause.h).
  pause TEXT NOT NULL,
  -- Friend sweeps. sweep_cursor: where the next one begins, the start of the last page that was taken in. While a full one
  -- is under way, over as many tries as it needs, that is how far it has come.
  sweep_due_at <int>,
  sweep_cursor TEXT NOT NULL DEFAULT '',
  full_sweep_under_way <int> NOT NULL DEFAULT 0 CHECK (full_sweep_under_way IN (0, 1)),
  last_sweep_at <int>,
  last_full_sweep_at <int>,
  newest_request_at <int>,
  sweep_fence <int> NOT NULL DEFAULT 0,
  sweep_lease_expires_at <int>
) <table>;
CREATE INDEX cloud_accounts_ready ON cloud_accounts (ready_at) WHERE ready_at IS NOT NULL;
CREATE INDEX cloud_accounts_sweeping ON cloud_accounts (sweep_lease_expires_at) WHERE sweep_lease_expires_at IS NOT NULL;

-- A buyer as one cloud account knows them: the friendship, and the place in the queue. One job at a time for each (spec 3.2).
CREATE TABLE customers (
  id <int> PRIMARY KEY,
  cloud_account_id <int> NOT NULL,
  -- the username, case-folded
  username_key <key> NOT NULL,
  cloud_user_id <key>,
  friendship TEXT NOT NULL DEFAULT 'unknown'
    CHECK (friendship = 'unknown' OR friendship = 'none' OR friendship = 'requesting' OR friendship = 'requested' OR
    friendship = 'friends' OR friendship = 'declined' OR friendship = 'blocked'),
  requested_at <int>,
  -- the platform's time of the newest change that a sweep told of: what it tells again is old news
  friendship_changed_at <int>,
  -- 1: a pending request to this customer is to be taken back (spec 3.11)
  withdraw <int> NOT NULL DEFAULT 0 CHECK (withdraw IN (0, 1)),
  -- idle, queued, leased, and leased with more work come in the meantime
  queue_state <int> NOT NULL DEFAULT 0 CHECK (queue_state BETWEEN 0 AND 3),
  job_class <int> NOT NULL DEFAULT 0,
  due_at <int> NOT NULL DEFAULT 0,
  fence <int> NOT NULL DEFAULT 0,
  lease_owner TEXT,
  lease_expires_at <int>,
  -- transient failures in a row, and since when
  failures <int> NOT NULL DEFAULT 0,
  failing_since <int>,
  CHECK ((queue_state IN (2, 3)) = (lease_expires_at IS NOT NULL)),
  CHECK ((lease_owner IS NULL) = (lease_expires_at IS NULL)),
  CHECK (friendship <> 'requested' OR requested_at IS NOT NULL)
) <table>;
CREATE UNIQUE INDEX customers_by_username ON customers (cloud_account_id, username_key);
-- A username that resolves to a user already known under another name is an alias and keeps no cloud_user_id.
CREATE UNIQUE INDEX customers_by_cloud_user ON customers (cloud_account_id, cloud_user_id) WHERE cloud_user_id IS NOT NULL;
CREATE INDEX customers_queued ON customers (cloud_account_id, job_class, due_at) WHERE queue_state = 1;
CREATE INDEX customers_leased ON customers (lease_expires_at) WHERE lease_expires_at IS NOT NULL;
CREATE INDEX customers_requested ON customers (cloud_account_id, requested_at) WHERE friendship = 'requested';

-- ---------------------------------------------------------------- deliveries

-- One for each order that causes work; its id is the order's.
CREATE TABLE deliveries (
  id <int> PRIMARY KEY,
  account_id <int> NOT NULL,
  integration_id <int> NOT NULL,
  order_key TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status = 'queued' OR status = 'processing' OR status = 'waiting_for_friendship' OR status = 'completed' OR
    status = 'failed' OR status = 'in_review' OR status = 'invalidated'),
  resolution_code TEXT,
  message TEXT NOT NULL,
  reason TEXT,
  invalidated_by TEXT CHECK (invalidated_by IN ('merchant', 'order')),
  -- the username in use, normalised, and as it came; username_version grows with each change
  target_username TEXT,
  raw_username TEXT,
  customer_email TEXT,
  cloud_account_id <int>,
  customer_id <int>,
  refunded <int> NOT NULL DEFAULT 0 CHECK (refunded IN (0, 1)),
  cancelled <int> NOT NULL DEFAULT 0 CHECK (cancelled IN (0, 1)),
  dry_run <int> NOT NULL DEFAULT 0 CHECK (dry_run IN (0, 1)),
  -- 1: queued, processing or waiting
  open <int> NOT NULL CHECK (open IN (0, 1)),
  -- spec 3.3
  pending_action TEXT,
  pending_reason TEXT,
  pending_actor TEXT,
  pending_username TEXT,
  -- another username that the store sent while a job was at work with this one (spec 3.6)
  offered_username TEXT,
  attempt_count <int> NOT NULL DEFAULT 0,
  next_attempt_at <int>,
  requests_sent <int> NOT NULL DEFAULT 0,
  sequence <int> NOT NULL DEFAULT 0,
  version <int> NOT NULL DEFAULT 1,
  created_at <int> NOT NULL,
  updated_at <int> NOT NULL,
  completed_at <int>,
  -- for the buyer's page (spec 13.3)
  buyer_token_hash <bytes>,
  buyer_token_expires_at <int>,
  CHECK ((status = 'failed') = (resolution_code IS NOT NULL) OR status = 'in_review'),
  CHECK ((open = 1) = (status = 'queued' OR status = 'processing' OR status = 'waiting_for_friendship')),
  CHECK (status <> 'completed' OR completed_at IS NOT NULL),
  CHECK ((status = 'invalidated') = (invalidated_by IS NOT NULL)),
  CHECK (pending_action IS NULL OR status NOT IN ('completed', 'invalidated')),
  CHECK (offered_username IS NULL OR status = 'processing'),
  CHECK (status NOT IN ('processing', 'waiting_for_friendship') OR customer_id IS NOT NULL OR dry_run = 1)
) <table>;
CREATE INDEX deliveries_of_account ON deliveries (account_id, id);
-- The open work of a customer.
CREATE INDEX deliveries_open ON deliveries (customer_id) WHERE open = 1 AND customer_id IS NOT NULL;
-- Dry runs need no cloud account, so no place in a customer's queue.
CREATE INDEX deliveries_dry_run ON deliveries (id) WHERE status = 'queued' AND dry_run = 1;
-- Failures, by what would fix them; and of one customer, for an acceptance that comes late (spec 3.5).
CREATE INDEX deliveries_failed_of_customer ON deliveries (customer_id) WHERE status = 'failed' AND customer_id IS NOT NULL;
CREATE INDEX deliveries_failed ON deliveries (account_id, resolution_code, id) WHERE status = 'failed';

-- With its delivery's others, so that they are read and written as one place.
CREATE TABLE delivery_items (
  delivery_id <int> NOT NULL,
  file_id <key> NOT NULL,
  -- what ledger and jobs call it
  id <int> NOT NULL,
  account_id <int> NOT NULL,
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  matched_by TEXT NOT NULL,
  quantity <int> NOT NULL CHECK (quantity >= 1),
  -- JSON array of the ids of the order lines that owe it
  lines TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status = 'owed' OR status = 'sharing' OR status = 'shared' OR status = 'already_shared' OR
    status = 'delivered_by_hand' OR status = 'dropped' OR status = 'revoking' OR status = 'revoked' OR
    status = 'revoke_failed'),
  -- Whom it is, or was, shared with; set with the intent (spec 3.9).
  customer_id <int>,
  intent_key TEXT,
  -- when an intent without an answer may be settled: after the lease and the call's timeout
  settle_after <int>,
  held <int> NOT NULL DEFAULT 0 CHECK (held IN (0, 1)),
  spent <int> NOT NULL DEFAULT 0 CHECK (spent IN (0, 1)),
  shared_at <int>,
  CHECK (held = 0 OR status = 'sharing'),
  CHECK (spent = 0 OR status = 'shared' OR status = 'revoking' OR status = 'revoked' OR status = 'revoke_failed'),
  CHECK (status <> 'sharing' OR (customer_id IS NOT NULL AND intent_key IS NOT NULL AND settle_after IS NOT NULL)),
  CHECK (status <> 'shared' OR shared_at IS NOT NULL),
  PRIMARY KEY (delivery_id, file_id)
) <clustered>;
CREATE INDEX delivery_items_of_customer ON delivery_items (customer_id) WHERE customer_id IS NOT NULL;

-- Every attempt and every actor's action on a delivery (spec 3.7).
CREATE TABLE delivery_timeline (
  delivery_id <int> NOT NULL,
  id <int> NOT NULL,
  at <int> NOT NULL,
  kind TEXT NOT NULL,
  actor TEXT NOT NULL,
  status TEXT NOT NULL,
  resolution_code TEXT,
  message TEXT NOT NULL,
  PRIMARY KEY (delivery_id, id)
) <clustered>;

-- ---------------------------------------------------------------- credits

CREATE TABLE ledger (
  account_id <int> NOT NULL,
  id <int> NOT NULL,
  at <int> NOT NULL,
  kind TEXT NOT NULL CHECK (kind = 'grant' OR kind = 'purchase' OR kind = 'spend' OR kind = 'reversal' OR kind = 'reversal_undone' OR
    kind = 'debt_paid'),
  credits <int> NOT NULL CHECK (credits > 0),
  item_id <int>,
  purchase_id <int>,
  note TEXT NOT NULL,
  CHECK ((kind = 'spend') = (item_id IS NOT NULL)),
  CHECK (kind <> 'spend' OR credits = 1),
  PRIMARY KEY (account_id, id)
) <clustered>;
CREATE UNIQUE INDEX ledger_one_spend_an_item ON ledger (item_id) WHERE kind = 'spend';

-- ---------------------------------------------------------------- outbound webhooks

CREATE TABLE webhook_subscriptions (
  id <int> PRIMARY KEY,
  account_id <int> NOT NULL REFERENCES accounts (id),
  url TEXT NOT NULL,
  encrypted_secret <bytes> NOT NULL,
  encrypted_previous_secret <bytes>,
  previous_secret_expires_at <int>,
  -- comma-separated; empty: all
  event_types TEXT NOT NULL,
  integration_ids TEXT NOT NULL,
  active <int> NOT NULL DEFAULT 1 CHECK (active IN (0, 1)),
  deactivated_reason TEXT,
  created_at <int> NOT NULL,
  version <int> NOT NULL DEFAULT 1,
  -- when a send of it may start next; NULL: none is pending
  ready_at <int>
) <table>;
CREATE INDEX webhook_subscriptions_of_account ON webhook_subscriptions (account_id, id);
CREATE INDEX webhook_subscriptions_ready ON webhook_subscriptions (ready_at) WHERE ready_at IS NOT NULL;

-- Written only where an active subscription wants the type. The body's bytes are made once (spec 10.2).
CREATE TABLE outbound_events (
  id <int> PRIMARY KEY,
  account_id <int> NOT NULL,
  delivery_id <int>,
  sequence <int> NOT NULL,
  type TEXT NOT NULL,
  uuid TEXT NOT NULL,
  body <bytes> NOT NULL,
  created_at <int> NOT NULL
) <table>;

CREATE TABLE webhook_sends (
  id <int> PRIMARY KEY,
  subscription_id <int> NOT NULL,
  event_id <int> NOT NULL,
  status TEXT NOT NULL CHECK (status = 'pending' OR status = 'leased' OR status = 'succeeded' OR status = 'failed' OR status = 'exhausted'),
  attempts <int> NOT NULL DEFAULT 0,
  due_at <int> NOT NULL,
  fence <int> NOT NULL DEFAULT 0,
  lease_expires_at <int>,
  CHECK ((status = 'leased') = (lease_expires_at IS NOT NULL))
) <table>;
CREATE INDEX webhook_sends_pending ON webhook_sends (subscription_id, due_at, id) WHERE status = 'pending';
CREATE INDEX webhook_sends_leased ON webhook_sends (subscription_id, lease_expires_at) WHERE lease_expires_at IS NOT NULL;

CREATE TABLE webhook_attempts (
  subscription_id <int> NOT NULL,
  id <int> NOT NULL,
  send_id <int> NOT NULL,
  event_id <int> NOT NULL,
  at <int> NOT NULL,
  status_code <int>,
  duration_ms <int> NOT NULL,
  outcome TEXT NOT NULL,
  answer TEXT NOT NULL,
  PRIMARY KEY (subscription_id, id)
) <clustered>;
