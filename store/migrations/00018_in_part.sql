-- +goose Up
-- What was read of lists of one issue or pull request for which a pass had no time: the next
-- one reads on from there.

CREATE TABLE list_pages (
    repo_id  INTEGER NOT NULL REFERENCES repositories (id),
    list     TEXT    NOT NULL, -- by the address of its first page
    page     INTEGER NOT NULL, -- which of them it is
    begun_at INTEGER NOT NULL, -- when the first one was read
    url      TEXT    NOT NULL,
    items    TEXT    NOT NULL, -- what stands on it, in JSON
    PRIMARY KEY (repo_id, list, page)
) STRICT;

-- On which work items somebody wrote on the issue what waits, without a walk over all that
-- people wrote: such comments may be for the pull request.

CREATE INDEX events_from_issues ON events (repo_id, item_id) WHERE processed_at = 0 AND turn_id IS NULL AND kind = 'source';
