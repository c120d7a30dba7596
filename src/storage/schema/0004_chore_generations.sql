-- Which of several causes a chore stands for: one that came again is begun again, also by a node that had just seen the one before.
ALTER TABLE account_chores ADD COLUMN generation <int> NOT NULL DEFAULT 0;
