-- +goose Up
-- When GitHub last said which repository the config's name stands for.
ALTER TABLE repositories ADD COLUMN confirmed_at INTEGER NOT NULL DEFAULT 0;

-- Since when no name of the config stands for the repository: it was taken out, or
-- another repository has its name. 0: one does. Its name_key has its node id behind
-- it where another has the name.
ALTER TABLE repositories ADD COLUMN left_at INTEGER NOT NULL DEFAULT 0;

-- The path of the config that named the repository last: another one that shares the
-- state folder does not take it out.
ALTER TABLE repositories ADD COLUMN named_by TEXT NOT NULL DEFAULT '';

-- What shows a state on GitHub and was given up is tried again later, with growing
-- waits: how often it was given up, and in not_before when it is tried again.
ALTER TABLE actions ADD COLUMN dropped INTEGER NOT NULL DEFAULT 0;

CREATE INDEX actions_unshown ON actions (repo_id, not_before) WHERE state = 'dropped' AND not_before > 0;
