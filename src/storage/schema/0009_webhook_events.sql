-- Outbound webhooks as their owner looks them up, sends them again and hears of trouble (spec 9.5, 10.1). Columns that a program of
-- before does not know have a default that it may leave to them.

-- What was sent to a subscription, newest first, and one event of it; of what failed, when that was (due_at); the attempts at one.
CREATE INDEX webhook_sends_of_subscription ON webhook_sends (subscription_id, event_id);
CREATE INDEX webhook_sends_failed ON webhook_sends (subscription_id, due_at, id) WHERE status = 'failed' OR status = 'exhausted';
CREATE INDEX webhook_attempts_of_send ON webhook_attempts (send_id, id);
CREATE INDEX outbound_events_of_delivery ON outbound_events (delivery_id, id) WHERE delivery_id IS NOT NULL;
-- The UUID tells the event's id, but where a program of before made it: of version 4.
CREATE INDEX outbound_events_of_before ON outbound_events (uuid) WHERE substr(uuid, 15, 1) = '4';

ALTER TABLE webhook_subscriptions ADD COLUMN name TEXT NOT NULL DEFAULT '';
-- When the first and the last attempts began that failed since the last success; NULL: none did. A program of before leaves them as
-- they are: what follows from them is compared with the attempts first.
ALTER TABLE webhook_subscriptions ADD COLUMN failing_since <int>;
ALTER TABLE webhook_subscriptions ADD COLUMN failing_last_at <int>;
-- When subscription.failing was told of it; NULL: it was not.
ALTER TABLE webhook_subscriptions ADD COLUMN failing_told_at <int>;
CREATE INDEX webhook_subscriptions_failing ON webhook_subscriptions (failing_since) WHERE failing_since IS NOT NULL;

-- Of the answer; '' where there was none, and in rows of before.
ALTER TABLE webhook_attempts ADD COLUMN content_type TEXT NOT NULL DEFAULT '';

-- What failed from `failed_since` on and before `failed_before` is being made due again, piece by piece. The row goes with the last piece.
CREATE TABLE webhook_recoveries (
  subscription_id <int> PRIMARY KEY,
  failed_since <int> NOT NULL,
  failed_before <int> NOT NULL
) <table>;

-- credits.low is told when so many are left; NULL: as the service is set.
ALTER TABLE accounts ADD COLUMN credits_low_at <int> CHECK (credits_low_at >= 0);
