-- 1: an erasure took usernames out of the body (spec 9.6). A receiver that was sent it before may repeat them, so its answer is not kept.
ALTER TABLE outbound_events ADD COLUMN erased <int> NOT NULL DEFAULT 0 CHECK (erased IN (0, 1));
