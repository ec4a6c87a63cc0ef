-- +goose Up
-- What an implementation item knows of the design that it came from, and what
-- it waits for.
ALTER TABLE work_items ADD COLUMN design_pull   INTEGER NOT NULL DEFAULT 0;  -- number
ALTER TABLE work_items ADD COLUMN design_commit TEXT    NOT NULL DEFAULT ''; -- its merge commit
ALTER TABLE work_items ADD COLUMN size          TEXT    NOT NULL DEFAULT ''; -- S, M, L
ALTER TABLE work_items ADD COLUMN depends_on    TEXT    NOT NULL DEFAULT '[]';

-- What an open implementation changes: others that would touch the same files wait.
ALTER TABLE pull_requests ADD COLUMN files TEXT NOT NULL DEFAULT '[]';

CREATE TABLE dependencies (
    item_id INTEGER NOT NULL REFERENCES work_items (id),
    ref     TEXT    NOT NULL, -- owner/name#12
    state   TEXT    NOT NULL, -- open, closed, missing
    seen_at INTEGER NOT NULL,
    PRIMARY KEY (item_id, ref)
) STRICT;
