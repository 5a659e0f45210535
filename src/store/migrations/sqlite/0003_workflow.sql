-- What the workflow keeps: where tasks are hidden, what hooks gave, and who may hold a task for how long.

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
-- Of the names of the states that park a task, as `parked` was last written by them.
INSERT INTO store_facts (name, value) VALUES ('parked_states', 0);
