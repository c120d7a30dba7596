-- Which keys a node holds and which it seals with (services/key_watch.h), since when, and where its key files are: a new key is used
-- once all nodes have it. keys_by: of whom the four are; a program of before that takes the number leaves them another's.
ALTER TABLE nodes ADD COLUMN keys TEXT NOT NULL DEFAULT '';
ALTER TABLE nodes ADD COLUMN keys_at <int> NOT NULL DEFAULT 0;
ALTER TABLE nodes ADD COLUMN keys_by TEXT NOT NULL DEFAULT '';
ALTER TABLE nodes ADD COLUMN place TEXT NOT NULL DEFAULT '';
