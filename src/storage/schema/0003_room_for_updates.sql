-- Rows that change several times a second each. With room on its page a new version needs no new entries in the indexes, or is at
-- least near the ones before: whoever looks for the row steps over those for as long as an old snapshot keeps them. For pages that
-- come from now on; VACUUM FULL makes the others anew.
<postgres> ALTER TABLE accounts SET (fillfactor = 10);
<postgres> ALTER TABLE cloud_accounts SET (fillfactor = 10, autovacuum_vacuum_scale_factor = 0.01);
-- Rows that change some times, in tables that grow: not only when a fifth of all that ever was has died.
<postgres> ALTER TABLE customers SET (autovacuum_vacuum_scale_factor = 0.01);
<postgres> ALTER TABLE deliveries SET (autovacuum_vacuum_scale_factor = 0.02);
<postgres> ALTER TABLE delivery_items SET (autovacuum_vacuum_scale_factor = 0.02);
<postgres> ALTER TABLE webhook_sends SET (autovacuum_vacuum_scale_factor = 0.02);
