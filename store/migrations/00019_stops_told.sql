-- +goose Up
-- Until the repository's own ref says that merging is stopped there it is told so.

ALTER TABLE repo_merging ADD COLUMN tell_at INTEGER NOT NULL DEFAULT 0; -- when it is told next; 0: it says so, or nothing is stopped

UPDATE repo_merging SET tell_at = at WHERE why <> '';
