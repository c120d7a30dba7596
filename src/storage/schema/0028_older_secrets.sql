-- The secret before the previous one, which is in force until its own end: the secret was rotated again in the overlap (spec 2.2, 10.3).
ALTER TABLE integrations ADD COLUMN encrypted_older_secret <bytes>;
ALTER TABLE integrations ADD COLUMN older_secret_expires_at <int>;
ALTER TABLE webhook_subscriptions ADD COLUMN encrypted_older_secret <bytes>;
ALTER TABLE webhook_subscriptions ADD COLUMN older_secret_expires_at <int>;
