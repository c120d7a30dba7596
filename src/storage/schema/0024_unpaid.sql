-- Of resume_credits: how many items the task may still resume (spec 3.6). NULL: as many as credits are available, in a row of a former version.
ALTER TABLE account_chores ADD COLUMN credits <int>;
-- What the open deliveries of an account still owe, and the accounts with deliveries that failed for lack of credits. Expressions, so that no other
-- query takes one of these for its own.
CREATE INDEX deliveries_open_of_account ON deliveries (account_id) WHERE open + 0 = 1 AND dry_run + 0 = 0;
CREATE INDEX deliveries_unpaid ON deliveries (account_id) WHERE status = 'failed' AND (resolution_code || '') = 'insufficient_credits';
