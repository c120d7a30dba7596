-- The orders that a buyer's data request names, as the store calls them, for the merchant who has to answer (spec 2.11, 9.6): the first of them,
-- while the request's own row counts all. Numbers count down. A program of before writes none.
CREATE TABLE privacy_request_orders (
  request_id <int> NOT NULL,
  number <int> NOT NULL,
  order_key <key> NOT NULL,
  PRIMARY KEY (request_id, number)
) <clustered>;
