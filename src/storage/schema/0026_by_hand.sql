-- 1: the merchant delivered the file by hand while it was not known whether it had been shared (spec 3.1). Without a share it is `delivered_by_hand`.
ALTER TABLE delivery_items ADD COLUMN by_hand <int> NOT NULL DEFAULT 0 CHECK (by_hand IN (0, 1));
-- Older rows: a completed delivery with an unknown share was delivered by hand. Nothing else completes one.
UPDATE delivery_items SET by_hand = 1 WHERE status = 'sharing' AND former = 0
  AND delivery_id IN (SELECT id FROM deliveries WHERE status = 'completed');
