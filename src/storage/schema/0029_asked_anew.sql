-- 1: a retry of this delivery wants the customer asked anew (customers.ask_anew, spec 3.5).
ALTER TABLE deliveries ADD COLUMN asks_anew <int> NOT NULL DEFAULT 0;
