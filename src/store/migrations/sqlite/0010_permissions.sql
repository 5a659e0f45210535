-- What exactly is asked for, why it was refused, and what was allowed for the rest of the task.
ALTER TABLE approvals ADD COLUMN command TEXT;
ALTER TABLE approvals ADD COLUMN paths TEXT NOT NULL DEFAULT '[]';
ALTER TABLE approvals ADD COLUMN reason TEXT;
-- `{"kind": "line" | "prefix", "text": …}`
ALTER TABLE approvals ADD COLUMN always TEXT;
ALTER TABLE approvals ADD COLUMN forgotten_at TEXT;
CREATE INDEX idx_approvals_always ON approvals(task_id) WHERE always IS NOT NULL AND forgotten_at IS NULL;
