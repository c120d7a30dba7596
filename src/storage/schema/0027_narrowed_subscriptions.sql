-- When stores were last taken out of the subscription's list: events of before may be of those (spec 6.2).
ALTER TABLE webhook_subscriptions ADD COLUMN narrowed_at <int>;
