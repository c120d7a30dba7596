-- The delivery whose file an entry of kind spend paid for. NULL in others, and in entries that a program of before wrote.
ALTER TABLE ledger ADD COLUMN delivery_id <int>;
