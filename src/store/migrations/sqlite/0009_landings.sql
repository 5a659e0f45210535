-- Since when the target of a merge is about to move. As long as it is, no write takes the task away.
ALTER TABLE merges ADD COLUMN landing_at TEXT;
CREATE INDEX idx_merges_landing ON merges(task_id) WHERE landing_at IS NOT NULL;
