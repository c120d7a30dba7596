-- What nodes that may not read sealed logins ask of worker nodes while somebody waits for it (services/worker_calls.h). A row is
-- gone when its answer has been read, else soon after expires_at. No secret is in it.
CREATE TABLE worker_calls (
  id <int> PRIMARY KEY,
  kind TEXT NOT NULL CHECK (kind = 'files_of_login' OR kind = 'files_of_session' OR kind = 'check_login'),
  -- whose login, and which version of it
  account_id <int>,
  login_version <int>,
  -- or the session of that token
  session_hash <bytes>,
  expires_at <int> NOT NULL,
  taken <int> NOT NULL DEFAULT 0 CHECK (taken IN (0, 1)),
  -- JSON
  answer TEXT,
  CHECK ((kind = 'files_of_session') = (session_hash IS NOT NULL)),
  CHECK ((kind = 'files_of_session') = (account_id IS NULL)),
  CHECK ((account_id IS NULL) = (login_version IS NULL))
) <table>;
CREATE INDEX worker_calls_waiting ON worker_calls (id) WHERE taken = 0;
CREATE INDEX worker_calls_expiry ON worker_calls (expires_at);

-- Whose session it is, for those who may not open it; empty in rows of an earlier version.
ALTER TABLE cloud_sessions ADD COLUMN cloud_user_id <key> NOT NULL DEFAULT '';
