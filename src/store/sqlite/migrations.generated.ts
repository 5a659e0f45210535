// Generated from src/store/migrations/sqlite by scripts/build-sql-module.ts: change the .sql files and run npm run generate.
import type { Migration } from './migration.ts';

export const MIGRATIONS: readonly Migration[] = [
  {
    number: 1,
    name: "task_graph",
    raises: "min_reader",
    sql: `-- The task graph. \`tasks\` and \`dependencies\` have the documented columns, defaults, checks and indexes, so
-- that the documented queries run on them as they stand; what Forge adds comes after \`metadata\`.

CREATE TABLE tasks (
  id            TEXT    PRIMARY KEY NOT NULL,
  title         TEXT    NOT NULL,
  description   TEXT    NOT NULL DEFAULT '',
  status        TEXT    NOT NULL DEFAULT 'open'
                        CHECK(status IN ('open', 'in_progress', 'closed')),
  close_reason  TEXT,
  priority      INTEGER NOT NULL DEFAULT 2
                        CHECK(priority BETWEEN 0 AND 4),
  type          TEXT    NOT NULL DEFAULT 'task'
                        CHECK(type IN ('task', 'bug', 'feature', 'epic', 'message')),
  assignee      TEXT,
  parent_id     TEXT    REFERENCES tasks(id) ON DELETE SET NULL DEFERRABLE INITIALLY DEFERRED,
  labels        TEXT    NOT NULL DEFAULT '[]',
  github_issue  INTEGER,
  created_at    TEXT    NOT NULL,
  created_by    TEXT    NOT NULL,
  updated_at    TEXT    NOT NULL,
  closed_at     TEXT,
  metadata      TEXT    NOT NULL DEFAULT '{}',

  state         TEXT    NOT NULL DEFAULT 'todo',
  -- 1 while the state's kind is backlog: parked tasks are open but never offered.
  parked        INTEGER NOT NULL DEFAULT 0,
  -- How many \`blocks\` dependencies are not closed. Kept by the triggers below, also for hand-written SQL.
  open_blockers INTEGER NOT NULL DEFAULT 0,
  version       INTEGER NOT NULL DEFAULT 1,
  -- Rises with every change of owner; local to this store.
  fence         INTEGER NOT NULL DEFAULT 0,
  -- The record's \`_v\` as its line has it; NULL when \`updated_at\` says it all.
  stamps        TEXT,
  -- Keys of the line that this version does not know, as a JSON object; NULL when there are none.
  extra         TEXT
);

CREATE TABLE dependencies (
  from_id   TEXT NOT NULL REFERENCES tasks(id) ON DELETE CASCADE,
  to_id     TEXT NOT NULL REFERENCES tasks(id) ON DELETE CASCADE,
  dep_type  TEXT NOT NULL DEFAULT 'blocks'
            CHECK(dep_type IN ('blocks', 'related', 'discovered-from')),
  PRIMARY KEY (from_id, to_id, dep_type)
);

CREATE INDEX idx_tasks_status_priority ON tasks(status, priority);
CREATE INDEX idx_tasks_assignee ON tasks(assignee) WHERE assignee IS NOT NULL;
CREATE INDEX idx_tasks_parent_id ON tasks(parent_id) WHERE parent_id IS NOT NULL;
CREATE INDEX idx_tasks_github_issue ON tasks(github_issue) WHERE github_issue IS NOT NULL;
CREATE INDEX idx_deps_to_id ON dependencies(to_id);
CREATE INDEX idx_deps_from_id ON dependencies(from_id);

-- Serves \`ready\`; queries name it with INDEXED BY, because the planner prefers idx_tasks_status_priority
-- (456 ms instead of 0.05 ms at a million tasks).
CREATE INDEX idx_tasks_ready ON tasks(priority, created_at, id)
  WHERE status = 'open' AND assignee IS NULL AND open_blockers = 0 AND parked = 0;

-- The same for tasks that wait for one identity; a worker's finished tasks are not in it.
CREATE INDEX idx_tasks_reserved ON tasks(assignee, priority, created_at, id)
  WHERE status = 'open' AND assignee IS NOT NULL AND open_blockers = 0 AND parked = 0;

-- Serves \`blocked\` and \`ready --sort impact\` without touching the rows.
CREATE INDEX idx_tasks_blocked ON tasks(priority, created_at, id, status)
  WHERE open_blockers > 0 AND status <> 'closed';

-- Dependencies whose target is not in \`tasks\`: another project's, or lost in a merge. They block.
CREATE TABLE unresolved_dependencies (
  from_id   TEXT NOT NULL REFERENCES tasks(id) ON DELETE CASCADE,
  to_id     TEXT NOT NULL,
  dep_type  TEXT NOT NULL,
  -- 1 once the other project says that it is closed.
  closed    INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (from_id, to_id, dep_type)
);
CREATE INDEX idx_unresolved_to_id ON unresolved_dependencies(to_id);

CREATE TABLE comments (
  id          TEXT PRIMARY KEY NOT NULL,
  task_id     TEXT NOT NULL REFERENCES tasks(id) ON DELETE CASCADE,
  author      TEXT NOT NULL,
  body        TEXT NOT NULL,
  reply_to    TEXT,
  created_at  TEXT NOT NULL
);
CREATE INDEX idx_comments_task_id ON comments(task_id);

-- Deleted tasks leave \`tasks\`, or the documented queries would return them.
CREATE TABLE deleted_tasks (
  id          TEXT PRIMARY KEY NOT NULL,
  deleted_at  TEXT NOT NULL,
  -- The record's line, deletion included.
  line        TEXT NOT NULL,
  -- {"before": line, "version", "fence", "children": [ids], "dependents": [[id, type]]}: what a restore puts back.
  undo        TEXT
);

-- One row for each logged move, clustered by task: a second tree for an index would be one more page a commit.
CREATE TABLE transitions (
  task_id       TEXT    NOT NULL,
  event_seq     INTEGER NOT NULL,
  from_state    TEXT    NOT NULL,
  to_state      TEXT    NOT NULL,
  from_status   TEXT    NOT NULL,
  to_status     TEXT    NOT NULL,
  reason        TEXT,
  rejection     INTEGER NOT NULL DEFAULT 0,
  triggered_by  TEXT    NOT NULL,
  created_at    TEXT    NOT NULL,
  PRIMARY KEY (task_id, event_seq)
) WITHOUT ROWID;

-- The durable change feed. Numbers follow commit order, because writers come one at a time; they are not used
-- twice as long as the newest row is never removed.
CREATE TABLE events (
  seq           INTEGER PRIMARY KEY,
  type          TEXT    NOT NULL,
  task_id       TEXT,
  triggered_by  TEXT    NOT NULL,
  created_at    TEXT    NOT NULL,
  -- {"task": the new row, "changed": [names], …}
  data          TEXT    NOT NULL
);
CREATE INDEX idx_events_task_id ON events(task_id) WHERE task_id IS NOT NULL;

-- Facts about this store, such as how much of the local replica it holds.
CREATE TABLE store_facts (
  name   TEXT PRIMARY KEY NOT NULL,
  value  INTEGER NOT NULL
);
INSERT INTO store_facts (name, value) VALUES ('replica_bytes', 0);

-- Recounted, never added to: a cascade deletes the blocker before a trigger looks, so that ±1 would drift. Written
-- out in each trigger, because SQLite does not push the id into a view of it (10 ms instead of 8 µs).
CREATE TRIGGER trg_dependency_added AFTER INSERT ON dependencies WHEN NEW.dep_type = 'blocks'
BEGIN
  UPDATE tasks SET open_blockers =
      (SELECT count(*) FROM dependencies d JOIN tasks b ON b.id = d.to_id
        WHERE d.from_id = NEW.from_id AND d.dep_type = 'blocks' AND b.status <> 'closed')
    + (SELECT count(*) FROM unresolved_dependencies u
        WHERE u.from_id = NEW.from_id AND u.dep_type = 'blocks' AND u.closed = 0)
  WHERE id = NEW.from_id;
END;

CREATE TRIGGER trg_dependency_removed AFTER DELETE ON dependencies WHEN OLD.dep_type = 'blocks'
BEGIN
  UPDATE tasks SET open_blockers =
      (SELECT count(*) FROM dependencies d JOIN tasks b ON b.id = d.to_id
        WHERE d.from_id = OLD.from_id AND d.dep_type = 'blocks' AND b.status <> 'closed')
    + (SELECT count(*) FROM unresolved_dependencies u
        WHERE u.from_id = OLD.from_id AND u.dep_type = 'blocks' AND u.closed = 0)
  WHERE id = OLD.from_id;
END;

CREATE TRIGGER trg_dependency_changed AFTER UPDATE ON dependencies
  WHEN OLD.dep_type = 'blocks' OR NEW.dep_type = 'blocks'
BEGIN
  UPDATE tasks SET open_blockers =
      (SELECT count(*) FROM dependencies d JOIN tasks b ON b.id = d.to_id
        WHERE d.from_id = tasks.id AND d.dep_type = 'blocks' AND b.status <> 'closed')
    + (SELECT count(*) FROM unresolved_dependencies u
        WHERE u.from_id = tasks.id AND u.dep_type = 'blocks' AND u.closed = 0)
  WHERE id IN (OLD.from_id, NEW.from_id);
END;

CREATE TRIGGER trg_blocker_changed AFTER UPDATE OF status ON tasks
  WHEN (OLD.status = 'closed') <> (NEW.status = 'closed')
BEGIN
  UPDATE tasks SET open_blockers =
      (SELECT count(*) FROM dependencies d JOIN tasks b ON b.id = d.to_id
        WHERE d.from_id = tasks.id AND d.dep_type = 'blocks' AND b.status <> 'closed')
    + (SELECT count(*) FROM unresolved_dependencies u
        WHERE u.from_id = tasks.id AND u.dep_type = 'blocks' AND u.closed = 0)
  WHERE id IN (SELECT from_id FROM dependencies WHERE to_id = NEW.id AND dep_type = 'blocks');
END;

-- Edges go with their task, and the trigger on them counts; but most clients leave foreign keys off.
CREATE TRIGGER trg_blocker_deleted AFTER DELETE ON tasks
BEGIN
  UPDATE tasks SET open_blockers =
      (SELECT count(*) FROM dependencies d JOIN tasks b ON b.id = d.to_id
        WHERE d.from_id = tasks.id AND d.dep_type = 'blocks' AND b.status <> 'closed')
    + (SELECT count(*) FROM unresolved_dependencies u
        WHERE u.from_id = tasks.id AND u.dep_type = 'blocks' AND u.closed = 0)
  WHERE id IN (SELECT from_id FROM dependencies WHERE to_id = OLD.id AND dep_type = 'blocks');
END;

CREATE TRIGGER trg_unresolved_added AFTER INSERT ON unresolved_dependencies WHEN NEW.dep_type = 'blocks'
BEGIN
  UPDATE tasks SET open_blockers =
      (SELECT count(*) FROM dependencies d JOIN tasks b ON b.id = d.to_id
        WHERE d.from_id = NEW.from_id AND d.dep_type = 'blocks' AND b.status <> 'closed')
    + (SELECT count(*) FROM unresolved_dependencies u
        WHERE u.from_id = NEW.from_id AND u.dep_type = 'blocks' AND u.closed = 0)
  WHERE id = NEW.from_id;
END;

CREATE TRIGGER trg_unresolved_removed AFTER DELETE ON unresolved_dependencies WHEN OLD.dep_type = 'blocks'
BEGIN
  UPDATE tasks SET open_blockers =
      (SELECT count(*) FROM dependencies d JOIN tasks b ON b.id = d.to_id
        WHERE d.from_id = OLD.from_id AND d.dep_type = 'blocks' AND b.status <> 'closed')
    + (SELECT count(*) FROM unresolved_dependencies u
        WHERE u.from_id = OLD.from_id AND u.dep_type = 'blocks' AND u.closed = 0)
  WHERE id = OLD.from_id;
END;

CREATE TRIGGER trg_unresolved_changed AFTER UPDATE ON unresolved_dependencies
  WHEN OLD.dep_type = 'blocks' OR NEW.dep_type = 'blocks'
BEGIN
  UPDATE tasks SET open_blockers =
      (SELECT count(*) FROM dependencies d JOIN tasks b ON b.id = d.to_id
        WHERE d.from_id = tasks.id AND d.dep_type = 'blocks' AND b.status <> 'closed')
    + (SELECT count(*) FROM unresolved_dependencies u
        WHERE u.from_id = tasks.id AND u.dep_type = 'blocks' AND u.closed = 0)
  WHERE id IN (OLD.from_id, NEW.from_id);
END;
`,
  },
  {
    number: 2,
    name: "sync",
    raises: "min_reader",
    sql: `-- What travels through git, and what is known of the files it travels in.

-- Values that lost a merge, as a JSON object; NULL when there are none.
ALTER TABLE tasks ADD COLUMN conflicts TEXT;
-- Of the record's canonical line: a line of a file with the same one says nothing new. NULL is not known yet.
ALTER TABLE tasks ADD COLUMN digest INTEGER;
ALTER TABLE deleted_tasks ADD COLUMN digest INTEGER;

-- Keys that this version does not know, as JSON objects; NULL when there are none.
ALTER TABLE comments ADD COLUMN extra TEXT;
-- The same for edges, by edge: \`dependencies\` keeps its documented columns.
ALTER TABLE tasks ADD COLUMN edge_extra TEXT;

-- Parents that are not in \`tasks\`: lost in a merge, or deleted elsewhere while the child was edited here.
CREATE TABLE unresolved_parents (
  task_id    TEXT PRIMARY KEY NOT NULL REFERENCES tasks(id) ON DELETE CASCADE,
  parent_id  TEXT NOT NULL
);
CREATE INDEX idx_unresolved_parents_parent_id ON unresolved_parents(parent_id);

-- A move is known by what it says, because the same one comes from several clones. \`created_at\` is the stamp of the
-- task's life, so that it is unique in a task; \`event_seq\` is NULL where the move was made elsewhere.
CREATE TABLE travelled_transitions (
  task_id       TEXT    NOT NULL,
  created_at    TEXT    NOT NULL,
  from_state    TEXT    NOT NULL,
  to_state      TEXT    NOT NULL,
  triggered_by  TEXT    NOT NULL,
  from_status   TEXT    NOT NULL,
  to_status     TEXT    NOT NULL,
  reason        TEXT,
  rejection     INTEGER NOT NULL DEFAULT 0,
  event_seq     INTEGER,
  PRIMARY KEY (task_id, created_at, from_state, to_state, triggered_by)
) WITHOUT ROWID;
INSERT OR IGNORE INTO travelled_transitions
  SELECT task_id, created_at, from_state, to_state, triggered_by, from_status, to_status, reason, rejection, event_seq
  FROM transitions;
DROP TABLE transitions;
ALTER TABLE travelled_transitions RENAME TO transitions;

-- The task files of this repository's working trees as they were when the store last read or wrote them.
CREATE TABLE task_files (
  path      TEXT    PRIMARY KEY NOT NULL,
  size      INTEGER NOT NULL,
  mtime     TEXT    NOT NULL,
  ctime     TEXT    NOT NULL,
  inode     TEXT    NOT NULL,
  -- Of the content; the rest only says whether it is worth a look.
  digest    TEXT    NOT NULL,
  -- When that was, in ms: a file that changed at that very moment may have changed again without a trace.
  looked_at INTEGER NOT NULL,
  -- The newest event that the file held when it was written; NULL where it holds less than the store.
  event_seq INTEGER
);

-- Lines of those files that no task can be read from: they stay where they are.
CREATE TABLE unreadable_lines (
  path  TEXT NOT NULL,
  line  BLOB NOT NULL,
  PRIMARY KEY (path, line)
) WITHOUT ROWID;

-- Which file \`replica_bytes\` counts in: an offset means nothing in another.
INSERT INTO store_facts (name, value) VALUES ('replica_inode', 0);
-- The newest event when tasks were last written to any file: what came after it is known to nobody else.
INSERT INTO store_facts (name, value) VALUES ('exported_seq', 0);
`,
  },
  {
    number: 3,
    name: "workflow",
    raises: "min_reader",
    sql: `-- What the workflow keeps: where tasks are hidden, what hooks gave, and who may hold a task for how long.

-- A copy for queries; the value is one of the line's own keys.
ALTER TABLE tasks ADD COLUMN archived_at TEXT
  GENERATED ALWAYS AS (iif(json_valid(extra), json_extract(extra, '$.archived_at'), NULL)) VIRTUAL;

-- A JSON list; NULL where no hook ran, or where the move was made elsewhere.
ALTER TABLE transitions ADD COLUMN hook_results TEXT;

-- Claims that end by themselves. Local: a lease means something only where its holder can say that it is there.
CREATE TABLE leases (
  task_id     TEXT    PRIMARY KEY NOT NULL REFERENCES tasks(id) ON DELETE CASCADE,
  -- Of the claim it belongs to; a lease of an older one means nothing.
  fence       INTEGER NOT NULL,
  ttl_ms      INTEGER NOT NULL,
  expires_at  INTEGER NOT NULL
);

-- When leases were last looked after, and since when that has been so without a gap: nobody loses a task because
-- this machine slept.
INSERT INTO store_facts (name, value) VALUES ('leases_seen', 0), ('leases_since', 0);
-- In ms; 0 while agents may claim.
INSERT INTO store_facts (name, value) VALUES ('paused_at', 0);
-- Of the names of the states that park a task, as \`parked\` was last written by them.
INSERT INTO store_facts (name, value) VALUES ('parked_states', 0);
`,
  },
  {
    number: 4,
    name: "idempotency",
    raises: "min_reader",
    sql: `-- Answers of requests that bore a key, so that sending one again does not do it again. Local, for a day.
CREATE TABLE idempotency_keys (
  token       TEXT    NOT NULL,
  key         TEXT    NOT NULL,
  -- Of all that the request said.
  digest      TEXT    NOT NULL,
  state       TEXT    NOT NULL CHECK (state IN ('pending', 'done')),
  -- NULL while the request is at work.
  status      INTEGER,
  headers     TEXT,
  body        TEXT,
  created_at  INTEGER NOT NULL,
  PRIMARY KEY (token, key)
);
CREATE INDEX idx_idempotency_keys_created_at ON idempotency_keys(created_at);

-- Serve the first pages of lists in the usual order. Those of open tasks name theirs with INDEXED BY, because the
-- planner prefers idx_tasks_status_priority and sorts all of them: 200 ms instead of 2 at 100,000 tasks.
CREATE INDEX idx_tasks_order ON tasks(priority, created_at, id);
CREATE INDEX idx_tasks_open_order ON tasks(priority, created_at, id) WHERE status IN ('open', 'in_progress');
`,
  },
  {
    number: 5,
    name: "attempts",
    raises: "min_reader",
    sql: `-- What happens to a task besides its own row: attempts, runs, reviews, merges. Local to this machine; a small record
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
`,
  },
  {
    number: 6,
    name: "attempt_notes",
    raises: "min_reader",
    sql: `-- By which rule one of several attempts at a task is picked, where somebody said so; whoever goes on after a crash
-- reads it here.
ALTER TABLE attempts ADD COLUMN pick TEXT;
-- Where HEAD of its folder stands (\`on main\`) while it is not on the attempt's branch.
ALTER TABLE attempts ADD COLUMN strayed TEXT;
`,
  },
  {
    number: 7,
    name: "run_holds",
    raises: "min_reader",
    sql: `-- What a run has its task by: the number of the claim it was started under, and the state it works in. A task whose
-- numbers are others is no longer this run's. NULL for runs of an older Forge.
ALTER TABLE runs ADD COLUMN fence INTEGER;
ALTER TABLE runs ADD COLUMN in_state TEXT;
`,
  },
  {
    number: 8,
    name: "verdicts",
    raises: "min_reader",
    sql: `-- A review may wait for the word of the person or the agent that holds its gate. SQLite cannot change a CHECK, so the
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
  -- \`agent:critic\`, \`user:ann\`.
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
`,
  },
  {
    number: 9,
    name: "landings",
    raises: "min_reader",
    sql: `-- Since when the target of a merge is about to move. As long as it is, no write takes the task away.
ALTER TABLE merges ADD COLUMN landing_at TEXT;
CREATE INDEX idx_merges_landing ON merges(task_id) WHERE landing_at IS NOT NULL;
`,
  },
  {
    number: 10,
    name: "permissions",
    raises: "min_reader",
    sql: `-- What exactly is asked for, why it was refused, and what was allowed for the rest of the task.
ALTER TABLE approvals ADD COLUMN command TEXT;
ALTER TABLE approvals ADD COLUMN paths TEXT NOT NULL DEFAULT '[]';
ALTER TABLE approvals ADD COLUMN reason TEXT;
-- \`{"kind": "line" | "prefix", "text": …}\`
ALTER TABLE approvals ADD COLUMN always TEXT;
ALTER TABLE approvals ADD COLUMN forgotten_at TEXT;
CREATE INDEX idx_approvals_always ON approvals(task_id) WHERE always IS NOT NULL AND forgotten_at IS NULL;
`,
  },
  {
    number: 11,
    name: "line_digests",
    raises: "min_reader",
    sql: `-- What edited lines of task files showed when the files were last looked at.
CREATE TABLE shown_lines (
  path TEXT NOT NULL,
  task_id TEXT NOT NULL,
  seal TEXT NOT NULL,
  digests TEXT NOT NULL,
  PRIMARY KEY (path, task_id, seal)
) STRICT, WITHOUT ROWID;

-- Lines carry digests of their values from now on; the lines of these rows are made anew when they are next asked for.
UPDATE tasks SET digest = NULL;
UPDATE deleted_tasks SET digest = NULL;
`,
  },
  {
    number: 12,
    name: "format",
    raises: "nothing",
    sql: `-- raises: nothing

-- The lowest schema that a program must know to read this database, and to write it; and the version of Forge that
-- brought it here. Programs that know less than schema 12 do not look, and refuse every newer database.
CREATE TABLE format (
  min_reader  INTEGER NOT NULL,
  min_writer  INTEGER NOT NULL,
  written_by  TEXT    NOT NULL
) STRICT;
INSERT INTO format (min_reader, min_writer, written_by) VALUES (11, 11, '');
`,
  },
  {
    number: 13,
    name: "workflow_row",
    raises: "min_writer",
    sql: `-- raises: min_writer

-- The project's workflow as it counts for every program that has this database open; no row before it was first told.
-- The definition is JSON that passed validation, and empty for the built-in one.
CREATE TABLE workflow (
  only_row    INTEGER PRIMARY KEY NOT NULL CHECK (only_row = 1),
  -- Grows by one with each change.
  version     INTEGER NOT NULL,
  -- Of the text that it came from.
  digest      TEXT    NOT NULL,
  definition  TEXT    NOT NULL,
  written_at  TEXT    NOT NULL,
  written_by  TEXT    NOT NULL
) STRICT;

-- \`parked\` of the tasks follows the row above; no program writes it by a file that it read itself.
DELETE FROM store_facts WHERE name = 'parked_states';
`,
  },
  {
    number: 14,
    name: "lease_clocks",
    raises: "min_writer",
    sql: `-- raises: min_writer

-- Several machines may use one store, and each has a clock of its own. \`leases\` and the facts \`leases_…\` are times of the
-- clock that was there last; this is what the others have counted. A lease that is renewed counts anew on all of them.
CREATE TABLE lease_clocks (
  task_id     TEXT    NOT NULL REFERENCES leases(task_id) ON DELETE CASCADE,
  clock       INTEGER NOT NULL,
  expires_at  INTEGER NOT NULL,
  PRIMARY KEY (task_id, clock)
) STRICT, WITHOUT ROWID;

-- How each of them has looked after leases: see the facts of the same names.
CREATE TABLE lease_watches (
  clock  INTEGER PRIMARY KEY NOT NULL,
  since  INTEGER NOT NULL,
  seen   INTEGER NOT NULL,
  asked  INTEGER NOT NULL
) STRICT;
`,
  },
  {
    number: 15,
    name: "daemons",
    raises: "nothing",
    sql: `-- raises: nothing

-- Processes that are at work on tasks, on whichever machine. Local: after a rebuild each is heard of again.
CREATE TABLE daemons (
  daemon_id   TEXT    PRIMARY KEY NOT NULL,
  -- {"host","boot_id","pid_namespace","pid","start_time","daemon_id"}
  mark        TEXT    NOT NULL,
  started_at  INTEGER NOT NULL,
  -- When it last said that it is there; NULL where only others have named it.
  beat_at     INTEGER,
  ttl_ms      INTEGER NOT NULL,
  -- It said that it has nothing to do any more.
  ended_at    INTEGER
) STRICT;

-- Until when the last word of a daemon holds, by the clock of each machine that has looked: see \`lease_clocks\`.
CREATE TABLE daemon_clocks (
  daemon_id   TEXT    NOT NULL REFERENCES daemons(daemon_id) ON DELETE CASCADE,
  clock       INTEGER NOT NULL,
  expires_at  INTEGER NOT NULL,
  PRIMARY KEY (daemon_id, clock)
) STRICT, WITHOUT ROWID;

-- Whose folder and whose ports these are. NULL in attempts of an older Forge, and in those that were restored.
ALTER TABLE attempts ADD COLUMN host TEXT;
ALTER TABLE attempts ADD COLUMN daemon_id TEXT;
`,
  },
];
