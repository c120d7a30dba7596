-- Purchases of credits (spec 11.2, 11.3). The row is there before the payment page: its id is the processor's idempotency key. Money is in
-- the currency's smallest unit.
CREATE TABLE purchases (
  id <int> PRIMARY KEY,
  account_id <int> NOT NULL REFERENCES accounts (id),
  actor TEXT NOT NULL,
  created_at <int> NOT NULL,
  -- What was agreed: the pack as it was then.
  live <int> NOT NULL CHECK (live IN (0, 1)),
  pack_id TEXT NOT NULL,
  pack_name TEXT NOT NULL,
  credits <int> NOT NULL CHECK (credits > 0),
  amount <int> NOT NULL CHECK (amount > 0),
  currency TEXT NOT NULL,
  -- The processor's page and payment; NULL until they are known.
  session <key>,
  url TEXT NOT NULL DEFAULT '',
  expires_at <int> NOT NULL,
  payment <key>,
  receipt_url TEXT NOT NULL DEFAULT '',
  -- How it stands in the ledger (domain/purchase.h).
  state TEXT NOT NULL CHECK (state = 'pending' OR state = 'paid' OR state = 'failed' OR state = 'expired' OR state = 'refunded' OR
    state = 'disputed'),
  paid_at <int>,
  granted <int> NOT NULL DEFAULT 0,
  reversed <int> NOT NULL DEFAULT 0,
  refunded <int> NOT NULL DEFAULT 0 CHECK (refunded BETWEEN 0 AND amount),
  disputed <int> NOT NULL DEFAULT 0 CHECK (disputed BETWEEN 0 AND amount),
  problem TEXT NOT NULL DEFAULT '',
  -- Questions to the processor are numbered, and so is news: an answer counts if none to a later question did.
  asked <int> NOT NULL DEFAULT 0,
  answered <int> NOT NULL DEFAULT 0 CHECK (answered <= asked),
  asked_at <int>,
  -- When it is asked about next; NULL: when there is news.
  due_at <int>,
  CHECK (granted = 0 OR granted = credits),
  CHECK (reversed BETWEEN 0 AND granted),
  CHECK ((granted > 0) = (state = 'paid' OR state = 'refunded' OR state = 'disputed')),
  CHECK ((granted > 0) = (paid_at IS NOT NULL))
) <table>;
CREATE INDEX purchases_of_account ON purchases (account_id, id);
CREATE INDEX purchases_of_account_by_state ON purchases (account_id, state, id);
CREATE INDEX purchases_by_state ON purchases (state, id);
CREATE UNIQUE INDEX purchases_by_session ON purchases (session) WHERE session IS NOT NULL;
CREATE UNIQUE INDEX purchases_by_payment ON purchases (payment) WHERE payment IS NOT NULL;
CREATE INDEX purchases_due ON purchases (due_at) WHERE due_at IS NOT NULL;

-- How far the processor's notices of a mode are read: all from before `since`, and of those from before `until` what stands up to `page`.
CREATE TABLE payment_notices (
  live <int> PRIMARY KEY CHECK (live IN (0, 1)),
  owner TEXT NOT NULL,
  lease_expires_at <int> NOT NULL,
  since <int> NOT NULL,
  until <int> NOT NULL,
  page TEXT NOT NULL
) <table>;

CREATE UNIQUE INDEX ledger_one_purchase ON ledger (purchase_id) WHERE kind = 'purchase';
-- What the account had then, with what was on hold and without its debt; NULL in entries of a program of before.
ALTER TABLE ledger ADD COLUMN balance_after <int>;
