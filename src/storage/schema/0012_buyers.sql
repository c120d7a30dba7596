-- What a buyer did with the link of a delivery (spec 13.3); without a row nothing yet. `acted_at`: the last time.
CREATE TABLE buyer_acts (
  delivery_id <int> PRIMARY KEY,
  account_id <int> NOT NULL,
  corrections <int> NOT NULL CHECK (corrections >= 0),
  retries <int> NOT NULL CHECK (retries >= 0),
  acted_at <int> NOT NULL
) <table>;
