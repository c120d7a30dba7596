-- What made an entry of kind reversal or reversal_undone: a refund or a dispute; NULL in others, and in entries of a program of before.
ALTER TABLE ledger ADD COLUMN cause TEXT;
