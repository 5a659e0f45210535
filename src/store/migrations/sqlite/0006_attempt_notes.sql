-- By which rule one of several attempts at a task is picked, where somebody said so; whoever goes on after a crash
-- reads it here.
ALTER TABLE attempts ADD COLUMN pick TEXT;
-- Where HEAD of its folder stands (`on main`) while it is not on the attempt's branch.
ALTER TABLE attempts ADD COLUMN strayed TEXT;
