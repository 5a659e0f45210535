-- raises: nothing

-- The lowest schema that a program must know to read this database, and to write it; and the version of Forge that
-- brought it here. Programs that know less than schema 12 do not look, and refuse every newer database.
CREATE TABLE format (
  min_reader  INTEGER NOT NULL,
  min_writer  INTEGER NOT NULL,
  written_by  TEXT    NOT NULL
) STRICT;
INSERT INTO format (min_reader, min_writer, written_by) VALUES (11, 11, '');
