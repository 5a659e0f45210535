-- raises: min_writer

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

-- `parked` of the tasks follows the row above; no program writes it by a file that it read itself.
DELETE FROM store_facts WHERE name = 'parked_states';
