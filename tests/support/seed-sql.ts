/** The documented schema and queries, word for word; other people's tools are written against them. */
export const SEED_SCHEMA = `
-- Enable WAL mode for concurrent reads during writes
PRAGMA journal_mode = WAL;
PRAGMA foreign_keys = ON;

-- ─── tasks ───────────────────────────────────────────────────────────────────

CREATE TABLE IF NOT EXISTS tasks (
  -- Identity
  id            TEXT    PRIMARY KEY NOT NULL,
  title         TEXT    NOT NULL,
  description   TEXT    NOT NULL DEFAULT '',

  -- Classification
  status        TEXT    NOT NULL DEFAULT 'open'
                        CHECK(status IN ('open', 'in_progress', 'closed')),
  close_reason  TEXT,
  priority      INTEGER NOT NULL DEFAULT 2
                        CHECK(priority BETWEEN 0 AND 4),
  type          TEXT    NOT NULL DEFAULT 'task'
                        CHECK(type IN ('task', 'bug', 'feature', 'epic', 'message')),

  -- Relationships
  assignee      TEXT,
  parent_id     TEXT    REFERENCES tasks(id) ON DELETE SET NULL,

  -- Labels stored as JSON array string e.g. '["frontend","auth"]'
  labels        TEXT    NOT NULL DEFAULT '[]',

  -- External references
  github_issue  INTEGER,

  -- Timestamps
  created_at    TEXT    NOT NULL,
  created_by    TEXT    NOT NULL,
  updated_at    TEXT    NOT NULL,
  closed_at     TEXT,

  -- Extensibility — arbitrary JSON object
  metadata      TEXT    NOT NULL DEFAULT '{}'
);

-- ─── dependencies ────────────────────────────────────────────────────────────
-- Normalized form of Task.dependencies[].
-- from_id "depends on" to_id with dep_type.
-- e.g. fg-a3f8 blocks fg-c9d1 → (from_id='fg-a3f8', to_id='fg-c9d1', dep_type='blocks')

CREATE TABLE IF NOT EXISTS dependencies (
  from_id   TEXT NOT NULL REFERENCES tasks(id) ON DELETE CASCADE,
  to_id     TEXT NOT NULL REFERENCES tasks(id) ON DELETE CASCADE,
  dep_type  TEXT NOT NULL DEFAULT 'blocks'
            CHECK(dep_type IN ('blocks', 'related', 'discovered-from')),
  PRIMARY KEY (from_id, to_id, dep_type)
);

-- ─── indexes ─────────────────────────────────────────────────────────────────

-- Most common filter: status + priority (forge ready, forge search)
CREATE INDEX IF NOT EXISTS idx_tasks_status_priority
  ON tasks(status, priority);

-- Assignee queries: "what is worker-1 working on?"
CREATE INDEX IF NOT EXISTS idx_tasks_assignee
  ON tasks(assignee)
  WHERE assignee IS NOT NULL;

-- Epic/subtask hierarchy
CREATE INDEX IF NOT EXISTS idx_tasks_parent_id
  ON tasks(parent_id)
  WHERE parent_id IS NOT NULL;

-- GitHub Issue reverse lookup
CREATE INDEX IF NOT EXISTS idx_tasks_github_issue
  ON tasks(github_issue)
  WHERE github_issue IS NOT NULL;

-- Dependency graph traversal
CREATE INDEX IF NOT EXISTS idx_deps_to_id
  ON dependencies(to_id);

CREATE INDEX IF NOT EXISTS idx_deps_from_id
  ON dependencies(from_id);
`;

export const SEED_READY = `
-- "forge ready": tasks that are open, unclaimed, and unblocked
SELECT t.*
FROM tasks t
WHERE t.status = 'open'
  AND t.assignee IS NULL
  -- Exclude tasks that have at least one unresolved blocking dependency
  AND t.id NOT IN (
    SELECT d.from_id
    FROM dependencies d
    JOIN tasks blocker ON blocker.id = d.to_id
    WHERE d.dep_type = 'blocks'
      AND blocker.status != 'closed'
  )
ORDER BY t.priority ASC, t.created_at ASC;
`;

export const SEED_SHOW = {
  task: 'SELECT * FROM tasks WHERE id = ?;',
  outbound: `
SELECT
  d.dep_type,
  d.to_id,
  t.title,
  t.status,
  t.priority,
  t.assignee
FROM dependencies d
JOIN tasks t ON t.id = d.to_id
WHERE d.from_id = ?;
`,
  inbound: `
SELECT
  d.dep_type,
  d.from_id,
  t.title,
  t.status,
  t.priority,
  t.assignee
FROM dependencies d
JOIN tasks t ON t.id = d.from_id
WHERE d.to_id = ?;
`,
  subtasks: `
SELECT id, title, status, priority, assignee
FROM tasks
WHERE parent_id = ?
ORDER BY priority ASC, created_at ASC;
`,
};

export const SEED_CLAIM = `
UPDATE tasks
SET
  status    = 'in_progress',
  assignee  = ?,           -- agent identity, e.g. 'worker-1'
  updated_at = ?           -- current ISO timestamp
WHERE id = ?
  AND status = 'open'
  AND assignee IS NULL;
`;

export const SEED_GITHUB_ISSUE = `
SELECT
  id,
  title,
  status,
  priority,
  type,
  assignee,
  created_at,
  updated_at
FROM tasks
WHERE github_issue = ?
ORDER BY priority ASC, created_at ASC;
`;

export const SEED_TREE = `
-- Full dependency tree rooted at a given task ID
WITH RECURSIVE dep_tree(task_id, depth, path) AS (
  -- Anchor: the task itself
  SELECT ?, 0, ?

  UNION ALL

  -- Recursive step: follow 'blocks' edges outward
  SELECT
    d.to_id,
    dt.depth + 1,
    dt.path || ' → ' || d.to_id
  FROM dep_tree dt
  JOIN dependencies d ON d.from_id = dt.task_id
  WHERE d.dep_type = 'blocks'
    AND dt.depth < 10  -- cycle guard
)
SELECT
  dt.depth,
  dt.path,
  t.id,
  t.title,
  t.status,
  t.priority
FROM dep_tree dt
JOIN tasks t ON t.id = dt.task_id
ORDER BY dt.depth ASC, t.priority ASC;
`;

/** Tasks whose `open_blockers` is not what a count gives. */
export const WRONG_COUNTS = `
SELECT t.id, t.open_blockers FROM tasks t WHERE t.open_blockers <>
    (SELECT count(*) FROM dependencies d JOIN tasks b ON b.id = d.to_id
      WHERE d.from_id = t.id AND d.dep_type = 'blocks' AND b.status <> 'closed')
  + (SELECT count(*) FROM unresolved_dependencies u
      WHERE u.from_id = t.id AND u.dep_type = 'blocks' AND u.closed = 0)
`;
