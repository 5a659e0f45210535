-- What edited lines of task files showed when the files were last looked at.
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
