-- Of a revocation that was given up nobody knew whether the share was there still. From now on such an item says so (revocation_begun), and one
-- without it is a share that the platform refused to take back, which is there (spec 3.10).
UPDATE delivery_items SET revocation_begun = 1 WHERE status = 'revoke_failed';
