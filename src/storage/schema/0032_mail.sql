-- A link that is mailed to a person (spec 7.2): to set a new password, or to confirm the address. Its token is derived from the link key
-- and the id. An address is stored as its SHA-256; the mail goes to the user's own address, while that has this hash.
CREATE TABLE mail_links (
  id <int> PRIMARY KEY,
  -- 0: nobody has the address. Such a row makes a request cost what it costs for a person, and is never sent.
  user_id <int> NOT NULL,
  purpose TEXT NOT NULL CHECK (purpose IN ('reset', 'verify')),
  email_hash <bytes> NOT NULL,
  created_at <int> NOT NULL,
  expires_at <int> NOT NULL,
  -- when it was used, or a later one took its place; NULL: it is good until it expires
  used_at <int>,
  sent_at <int>,
  -- begun attempts to send it, and when the next one is due; NULL: it was sent or given up
  attempts <int> NOT NULL,
  due_at <int>
) <table>;
CREATE INDEX mail_links_due ON mail_links (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX mail_links_of_address ON mail_links (email_hash, created_at);
CREATE INDEX mail_links_expiry ON mail_links (expires_at);

-- The address that a user has confirmed, by its SHA-256: another one is not confirmed.
CREATE TABLE verified_emails (
  user_id <int> PRIMARY KEY,
  email_hash <bytes> NOT NULL,
  verified_at <int> NOT NULL
) <table>;
