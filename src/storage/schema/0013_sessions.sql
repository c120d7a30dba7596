-- A session is one sign-in of a person (spec 7.2). The refresh tokens of before stand in refresh_tokens until they are
-- used or expire; a session that begins with one of them has its family as id.
CREATE TABLE sessions (
  id <int> PRIMARY KEY,
  user_id <int> NOT NULL,
  -- the identity that signed in: of the built-in issuer, or of another one
  iss <key> NOT NULL,
  sub <key> NOT NULL,
  email TEXT NOT NULL,
  browser <int> NOT NULL CHECK (browser IN (0, 1)),
  -- when the person last proved who they are; NULL: nobody said
  authenticated_at <int>,
  created_at <int> NOT NULL,
  last_used_at <int> NOT NULL,
  expires_at <int> NOT NULL,
  ended_at <int>,
  network TEXT NOT NULL,
  user_agent TEXT NOT NULL
) <table>;
CREATE INDEX sessions_of_user ON sessions (user_id, id) WHERE ended_at IS NULL;
CREATE INDEX sessions_expiry ON sessions (expires_at);

-- replaced_at: when a later one of the session took its place.
CREATE TABLE session_tokens (
  hash <bytes> PRIMARY KEY,
  session_id <int> NOT NULL,
  expires_at <int> NOT NULL,
  replaced_at <int>
) <clustered>;
CREATE INDEX session_tokens_in_force ON session_tokens (session_id) WHERE replaced_at IS NULL;
CREATE INDEX session_tokens_expiry ON session_tokens (expires_at);
