-- Dry runs take turns by account (spec 8.6). The index of before goes, so that nothing is read by it: a program of before finds its dry
-- runs by this one, of which they are all the rows.
CREATE INDEX deliveries_dry_run_of_account ON deliveries (account_id, id) WHERE status = 'queued' AND dry_run = 1;
DROP INDEX deliveries_dry_run;
