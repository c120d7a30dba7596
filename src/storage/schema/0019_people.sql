-- People of an account (spec 7.1, 7.2), and what the audit log tells (spec 7.4).

-- ---------------------------------------------------------------- people

-- What the identity's issuer says, where that is another than the built-in one; '': it says nothing, or joined before this column.
ALTER TABLE identities ADD COLUMN email TEXT NOT NULL DEFAULT '';
CREATE INDEX identities_of_account ON identities (account_id, user_id);

-- A link by which one person joins the account. The row goes when it is used or revoked: one is good as long as it is there and not
-- expired.
CREATE TABLE invitations (
  id <int> PRIMARY KEY,
  account_id <int> NOT NULL,
  token_hash <bytes> NOT NULL UNIQUE,
  role TEXT NOT NULL CHECK (role IN ('owner', 'member')),
  -- what the owner knows it by
  note TEXT NOT NULL,
  created_by TEXT NOT NULL,
  created_at <int> NOT NULL,
  expires_at <int> NOT NULL
) <table>;
CREATE INDEX invitations_of_account ON invitations (account_id, id);
CREATE INDEX invitations_expiry ON invitations (expires_at);

-- When its personal data were deleted; NULL: it is in use.
ALTER TABLE accounts ADD COLUMN deleted_at <int>;
CREATE INDEX accounts_deleted ON accounts (id) WHERE deleted_at IS NOT NULL;

-- ---------------------------------------------------------------- audit log

-- Where the request came from, and JSON of what changed from what to what; '': not known.
ALTER TABLE audit_log ADD COLUMN network TEXT NOT NULL DEFAULT '';
ALTER TABLE audit_log ADD COLUMN request_id TEXT NOT NULL DEFAULT '';
ALTER TABLE audit_log ADD COLUMN changes TEXT NOT NULL DEFAULT '';
-- Of the operator: who it was at the machine.
ALTER TABLE audit_log ADD COLUMN actor_name TEXT NOT NULL DEFAULT '';
-- What a deleted account's entries may tell no more.
CREATE INDEX audit_log_telling ON audit_log (account_id) WHERE network <> '' OR changes <> '';

-- ---------------------------------------------------------------- retention of timelines

-- How far a walk of housekeeping has come, that does not begin anew: `timelines`, the last delivery whose old attempts are one entry.
CREATE TABLE retention_walks (
  name <key> PRIMARY KEY,
  done_to <int> NOT NULL
) <clustered>;
-- Deliveries behind it that got entries since, and when these are old. A program of before notes none: its entries stay as they are.
CREATE TABLE timeline_revisits (
  delivery_id <int> PRIMARY KEY,
  due_at <int> NOT NULL
) <table>;
CREATE INDEX timeline_revisits_due ON timeline_revisits (due_at);
