-- raises: nothing

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

-- Until when the last word of a daemon holds, by the clock of each machine that has looked: see `lease_clocks`.
CREATE TABLE daemon_clocks (
  daemon_id   TEXT    NOT NULL REFERENCES daemons(daemon_id) ON DELETE CASCADE,
  clock       INTEGER NOT NULL,
  expires_at  INTEGER NOT NULL,
  PRIMARY KEY (daemon_id, clock)
) STRICT, WITHOUT ROWID;

-- Whose folder and whose ports these are. NULL in attempts of an older Forge, and in those that were restored.
ALTER TABLE attempts ADD COLUMN host TEXT;
ALTER TABLE attempts ADD COLUMN daemon_id TEXT;
