-- Since when the item waits for a cloud login, where a job has met that none is left (spec 3.5, 3.11). NULL: it does not wait.
ALTER TABLE delivery_items ADD COLUMN login_lost_at <int>;
