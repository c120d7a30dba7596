-- What stores have sent (spec 9.1, 9.2). A node writes what it has gathered each few seconds; a program of before writes none of it.

-- By the hour, in which it began: `accepted`, answered 202; `order`, orders that were new; `delivery`, deliveries that were made; else
-- the code of what was refused.
CREATE TABLE store_hours (
  integration_id <int> NOT NULL,
  hour <int> NOT NULL,
  what <key> NOT NULL,
  events <int> NOT NULL,
  last_at <int> NOT NULL,
  PRIMARY KEY (integration_id, hour, what)
) <clustered>;
CREATE INDEX store_hours_age ON store_hours (hour);

-- When a store's newest order came.
CREATE TABLE store_orders (
  integration_id <int> PRIMARY KEY,
  last_at <int> NOT NULL
) <table>;

CREATE TABLE store_topics (
  integration_id <int> NOT NULL,
  topic <key> NOT NULL,
  last_at <int> NOT NULL,
  PRIMARY KEY (integration_id, topic)
) <clustered>;

-- What orders have named. product_key: what tells it from the store's others, the most specific of its names.
CREATE TABLE store_products (
  integration_id <int> NOT NULL,
  product_key <key> NOT NULL,
  id <int> NOT NULL,
  title TEXT NOT NULL,
  sku TEXT NOT NULL,
  product_id TEXT NOT NULL,
  variant_id TEXT NOT NULL,
  sold <int> NOT NULL,
  first_seen_at <int> NOT NULL,
  last_seen_at <int> NOT NULL,
  -- whether a mapping serves it: as of the newest order with it, or of the newest save of mappings since
  mapped <int> NOT NULL CHECK (mapped IN (0, 1)),
  PRIMARY KEY (integration_id, product_key)
) <clustered>;
CREATE INDEX store_products_unmapped ON store_products (integration_id, mapped) WHERE mapped = 0;

-- With an expression, so that no other query of failed deliveries takes it for its own.
CREATE INDEX deliveries_failed_of_integration ON deliveries (integration_id) WHERE status = 'failed' AND integration_id + 0 > 0;
-- Orders of which a later mapping may serve more.
CREATE INDEX orders_unmapped_of_store ON orders (integration_id, id) WHERE unmapped > 0;
