-- Dry runs take turns by account (spec 8.6).
CREATE INDEX deliveries_dry_run_of_account ON deliveries (account_id, id) WHERE status = 'queued' AND dry_run = 1;
