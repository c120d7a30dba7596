-- 1: an erasure took usernames out of the body (spec 9.6). A receiver may repeat what it was sent before, so its answer is not kept.
ALTER TABLE outbound_events ADD COLUMN erased <int> NOT NULL DEFAULT 0;
