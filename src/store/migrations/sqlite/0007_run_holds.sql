-- What a run has its task by: the number of the claim it was started under, and the state it works in. A task whose
-- numbers are others is no longer this run's. NULL for runs of an older Forge.
ALTER TABLE runs ADD COLUMN fence INTEGER;
ALTER TABLE runs ADD COLUMN in_state TEXT;
