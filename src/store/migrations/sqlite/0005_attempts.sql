-- What happens to a task besides its own row: attempts, runs, reviews, merges. Local to this machine; a small record
-- of each lies as JSON beside its logs, from which these rows are made again.
CREATE TABLE attempts (
  id            TEXT    PRIMARY KEY NOT NULL,
  task_id       TEXT    NOT NULL,
  number        INTEGER NOT NULL,
  name          TEXT    NOT NULL UNIQUE,
  path          TEXT    NOT NULL,
  target        TEXT    NOT NULL,
  base_commit   TEXT    NOT NULL,
  head_commit   TEXT,
  agent         TEXT,
  state         TEXT    NOT NULL CHECK (state IN ('active', 'merged', 'archived')),
  -- A block of ports that belongs to it while its folder is there.
  port          INTEGER,
  merge_commit  TEXT,
  created_at    TEXT    NOT NULL,
  finished_at   TEXT,
  cleanup_at    TEXT,
  removed_at    TEXT,
  -- Rises with every change of it and of what belongs to it; of two records on disk the one with the higher counts.
  revision      INTEGER NOT NULL DEFAULT 1,
  UNIQUE (task_id, number)
);
CREATE INDEX idx_attempts_there ON attempts(created_at) WHERE removed_at IS NULL;

CREATE TABLE runs (
  id            TEXT    PRIMARY KEY NOT NULL,
  task_id       TEXT    NOT NULL,
  attempt_id    TEXT    NOT NULL REFERENCES attempts(id),
  role          TEXT    NOT NULL,
  agent         TEXT    NOT NULL,
  executor      TEXT    NOT NULL,
  state         TEXT    NOT NULL,
  outcome       TEXT,
  message       TEXT,
  session_id    TEXT,
  -- {"host","boot_id","pid_namespace","pid","start_time"} of the program, and of whoever watches it: a number alone may be somebody else's by now.
  process       TEXT,
  watcher       TEXT,
  beat_at       INTEGER,
  -- Somebody wants it to end; whoever watches it looks.
  stop_asked_at TEXT,
  -- {"input_tokens","output_tokens","cached_tokens","cost_usd"}, null for what is not known.
  usage         TEXT    NOT NULL DEFAULT '{}',
  retry_after   TEXT,
  created_at    TEXT    NOT NULL,
  started_at    TEXT,
  ended_at      TEXT
);
CREATE INDEX idx_runs_task ON runs(task_id, created_at);
CREATE INDEX idx_runs_attempt ON runs(attempt_id, created_at);
CREATE INDEX idx_runs_open ON runs(created_at) WHERE ended_at IS NULL;

CREATE TABLE reviews (
  id              TEXT    PRIMARY KEY NOT NULL,
  task_id         TEXT    NOT NULL,
  -- NULL, as the commit, for a task that nobody made an attempt at.
  attempt_id      TEXT    REFERENCES attempts(id),
  attempt_number  INTEGER NOT NULL,
  status          TEXT    NOT NULL CHECK (status IN ('running', 'passed', 'failed', 'void')),
  head_commit     TEXT,
  step_results    TEXT    NOT NULL DEFAULT '[]',
  verdict         TEXT,
  run_id          TEXT,
  watcher         TEXT    NOT NULL,
  started_at      TEXT    NOT NULL,
  finished_at     TEXT,
  UNIQUE (task_id, attempt_number)
);
CREATE INDEX idx_reviews_running ON reviews(started_at) WHERE status = 'running';

-- The queue of each target branch: the first that is queued is the next, and one at a time is started.
CREATE TABLE merges (
  seq           INTEGER PRIMARY KEY,
  id            TEXT    NOT NULL UNIQUE,
  task_id       TEXT    NOT NULL,
  attempt_id    TEXT    NOT NULL REFERENCES attempts(id),
  target        TEXT    NOT NULL,
  strategy      TEXT    NOT NULL,
  state         TEXT    NOT NULL,
  head_commit   TEXT    NOT NULL,
  candidate     TEXT,
  conflicts     TEXT    NOT NULL DEFAULT '[]',
  message       TEXT,
  watcher       TEXT    NOT NULL,
  queued_at     TEXT    NOT NULL,
  finished_at   TEXT
);
CREATE UNIQUE INDEX idx_merges_started ON merges(target) WHERE state = 'started';
CREATE INDEX idx_merges_queued ON merges(target, seq) WHERE state = 'queued';
CREATE INDEX idx_merges_task ON merges(task_id, seq);

CREATE TABLE approvals (
  id           TEXT PRIMARY KEY NOT NULL,
  run_id       TEXT NOT NULL REFERENCES runs(id),
  task_id      TEXT NOT NULL,
  tool         TEXT NOT NULL,
  input        TEXT NOT NULL,
  state        TEXT NOT NULL CHECK (state IN ('pending', 'allowed', 'denied', 'expired')),
  asked_at     TEXT NOT NULL,
  answered_at  TEXT,
  answered_by  TEXT
);
CREATE INDEX idx_approvals_run ON approvals(run_id, asked_at);
CREATE INDEX idx_approvals_pending ON approvals(asked_at) WHERE state = 'pending';

-- What people say to an agent that is at work, or will be.
CREATE TABLE run_messages (
  seq           INTEGER PRIMARY KEY,
  attempt_id    TEXT NOT NULL REFERENCES attempts(id),
  body          TEXT NOT NULL,
  author        TEXT NOT NULL,
  created_at    TEXT NOT NULL,
  delivered_at  TEXT
);
CREATE INDEX idx_run_messages_waiting ON run_messages(attempt_id, seq) WHERE delivered_at IS NULL;

-- What a command said of a tree, so that the same tree is not tested twice.
CREATE TABLE step_cache (
  tree        TEXT NOT NULL,
  command     TEXT NOT NULL,
  result      TEXT NOT NULL,
  created_at  TEXT NOT NULL,
  PRIMARY KEY (tree, command)
) WITHOUT ROWID;
CREATE INDEX idx_step_cache_created_at ON step_cache(created_at);

-- Who was last at work on a task, from before its first move to after its last: whoever finds that process gone knows
-- that nobody goes on with it. Not kept beside the logs: attempts and runs say enough to begin anew.
CREATE TABLE task_watchers (
  task_id  TEXT    PRIMARY KEY NOT NULL,
  watcher  TEXT    NOT NULL,
  since    INTEGER NOT NULL
) WITHOUT ROWID;

-- 0 until the records beside the logs were read: by the first who opens a database that was made anew, or that lacked
-- something.
INSERT INTO store_facts (name, value) VALUES ('attempts_restored', 0);
