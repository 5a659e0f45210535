-- A review may wait for the word of the person or the agent that holds its gate. SQLite cannot change a CHECK, so the
-- table is made anew; nothing refers to it.
CREATE TABLE reviews_with_verdicts (
  id              TEXT    PRIMARY KEY NOT NULL,
  task_id         TEXT    NOT NULL,
  -- NULL, as the commit, for a task that nobody made an attempt at.
  attempt_id      TEXT    REFERENCES attempts(id),
  attempt_number  INTEGER NOT NULL,
  status          TEXT    NOT NULL CHECK (status IN ('running', 'waiting', 'passed', 'failed', 'void')),
  head_commit     TEXT,
  step_results    TEXT    NOT NULL DEFAULT '[]',
  verdict         TEXT,
  -- `agent:critic`, `user:ann`.
  verdict_by      TEXT,
  run_id          TEXT,
  -- Since when it counts no more, because the work went to somebody else.
  cleared_at      TEXT,
  watcher         TEXT    NOT NULL,
  started_at      TEXT    NOT NULL,
  finished_at     TEXT,
  UNIQUE (task_id, attempt_number)
);
INSERT INTO reviews_with_verdicts
  (id, task_id, attempt_id, attempt_number, status, head_commit, step_results, verdict, run_id, watcher, started_at, finished_at)
  SELECT id, task_id, attempt_id, attempt_number, status, head_commit, step_results, verdict, run_id, watcher, started_at, finished_at
  FROM reviews;
DROP TABLE reviews;
ALTER TABLE reviews_with_verdicts RENAME TO reviews;
CREATE INDEX idx_reviews_running ON reviews(started_at) WHERE status = 'running';

-- The review that ran the command; NULL where a merge did, and for what was kept before this was written down.
ALTER TABLE step_cache ADD COLUMN review_id TEXT;
