-- How many items the task resume_credits may still resume (spec 3.6). NULL: as many as credits are available, in a row of a former version.
ALTER TABLE account_chores ADD COLUMN credits <int>;
-- The first index finds the open deliveries of an account, whose items are counted; the second one finds the accounts with deliveries that failed
-- for lack of credits. Their conditions are expressions, so that no other query takes one of them for its own.
CREATE INDEX deliveries_open_of_account ON deliveries (account_id) WHERE open + 0 = 1 AND dry_run + 0 = 0;
CREATE INDEX deliveries_unpaid ON deliveries (account_id) WHERE status = 'failed' AND (resolution_code || '') = 'insufficient_credits';
