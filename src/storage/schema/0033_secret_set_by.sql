-- Who set the store's secret, `service` (it was made here) or `merchant` (it was entered). NULL: not known, as a program of before set it.
ALTER TABLE integrations ADD COLUMN secret_set_by TEXT CHECK (secret_set_by IN ('service', 'merchant'));
-- When the secret was last replaced by another one. NULL: never since the store was added, or not known.
ALTER TABLE integrations ADD COLUMN secret_changed_at <int>;
-- The secret_preview of the secret that both are about. Where it differs, a program of before has replaced the secret since, and neither is known.
ALTER TABLE integrations ADD COLUMN secret_noted_for TEXT;
