-- What travels through git, and what is known of the files it travels in.

-- Values that lost a merge, as a JSON object; NULL when there are none.
ALTER TABLE tasks ADD COLUMN conflicts TEXT;
-- Of the record's canonical line: a line of a file with the same one says nothing new. NULL is not known yet.
ALTER TABLE tasks ADD COLUMN digest INTEGER;
ALTER TABLE deleted_tasks ADD COLUMN digest INTEGER;

-- Keys that this version does not know, as JSON objects; NULL when there are none.
ALTER TABLE comments ADD COLUMN extra TEXT;
-- The same for edges, by edge: `dependencies` keeps its documented columns.
ALTER TABLE tasks ADD COLUMN edge_extra TEXT;

-- Parents that are not in `tasks`: lost in a merge, or deleted elsewhere while the child was edited here.
CREATE TABLE unresolved_parents (
  task_id    TEXT PRIMARY KEY NOT NULL REFERENCES tasks(id) ON DELETE CASCADE,
  parent_id  TEXT NOT NULL
);
CREATE INDEX idx_unresolved_parents_parent_id ON unresolved_parents(parent_id);

-- A move is known by what it says, because the same one comes from several clones. `created_at` is the stamp of the
-- task's life, so that it is unique in a task; `event_seq` is NULL where the move was made elsewhere.
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

-- Which file `replica_bytes` counts in: an offset means nothing in another.
INSERT INTO store_facts (name, value) VALUES ('replica_inode', 0);
-- The newest event when tasks were last written to any file: what came after it is known to nobody else.
INSERT INTO store_facts (name, value) VALUES ('exported_seq', 0);
