-- What waits for the job in progress (spec 2.6, 3.1, 3.3). pending_action holds none but the kinds that every program knows, and says
-- of a review only that there is one: its reasons are here.

-- The version of the row that the columns below are of. At another one a program of before has written since, and what waits follows
-- from the columns of before.
ALTER TABLE deliveries ADD COLUMN pending_version <int> NOT NULL DEFAULT 0;
-- Why it goes to review, comma-separated; NULL: it does not.
ALTER TABLE deliveries ADD COLUMN pending_reviews TEXT;
-- Who gave pending_username, and when; NULL: there is none.
ALTER TABLE deliveries ADD COLUMN pending_named_by TEXT;
ALTER TABLE deliveries ADD COLUMN pending_named_at <int>;
