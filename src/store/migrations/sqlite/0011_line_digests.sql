-- Lines carry digests of their values from now on; the lines of these rows are made anew when they are next asked for.
UPDATE tasks SET digest = NULL;
UPDATE deleted_tasks SET digest = NULL;
