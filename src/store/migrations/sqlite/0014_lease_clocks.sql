-- raises: min_writer

-- Several machines may use one store, and each has a clock of its own. `leases` and the facts `leases_…` are times of the
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
