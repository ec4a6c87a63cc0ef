-- +goose Up
-- The versions of one comment are found without a walk over every comment of its issue
-- or pull request. What asks for those of one number is served by it as well.

CREATE INDEX events_source ON events (repo_id, number, kind, source);
DROP INDEX events_number;

-- What one query for many repositories showed of each, so that only those are read in
-- which something changed.
ALTER TABLE repositories ADD COLUMN pulse_at INTEGER NOT NULL DEFAULT 0;     -- when it was asked last
ALTER TABLE repositories ADD COLUMN pulse_issues INTEGER NOT NULL DEFAULT 0; -- the newest change of an issue, when the repository was read in full; 0: it was not
ALTER TABLE repositories ADD COLUMN pulse_pulls INTEGER NOT NULL DEFAULT 0;  -- that of a pull request
ALTER TABLE repositories ADD COLUMN changed_at INTEGER NOT NULL DEFAULT 0;   -- when it was last seen to have changed

-- Which repositories have something to read, to decide or to send, without a walk over
-- what waits for people.
CREATE INDEX pull_requests_unread ON pull_requests (repo_id) WHERE state = 'open' AND (failures > 0 OR details_at = 0 OR fingerprint = '');
CREATE INDEX pull_reviews_landing ON pull_reviews (repo_id) WHERE state IN ('approved', 'checking_approval');
CREATE INDEX work_items_depending ON work_items (repo_id) WHERE state = 'ready' AND depends_on <> '[]';
CREATE INDEX pull_requests_pending ON pull_requests (updated_at) WHERE state = 'open' AND (rollup IN ('PENDING', 'EXPECTED') OR mergeable = 'UNKNOWN');

-- What waits, without a walk over every comment that does: of each work item the first
-- comments, and what is none.
CREATE INDEX events_said ON events (repo_id, item_id, created_at)
    WHERE processed_at = 0 AND turn_id IS NULL AND kind IN ('review', 'issue', 'summary', 'source');
CREATE INDEX events_facts ON events (repo_id, kind)
    WHERE processed_at = 0 AND kind NOT IN ('review', 'issue', 'summary', 'source');

-- What several machines that share the repositories agreed on (--shard), by a ref of each
-- repository's remote. Nothing is here where one machine has them all.
CREATE TABLE shares (
    repo_id INTEGER PRIMARY KEY REFERENCES repositories (id),
    shard   TEXT    NOT NULL, -- of which share this machine judged it last, such as 1/2
    theirs  INTEGER NOT NULL, -- whether the repository belongs to another machine's share
    oid     TEXT    NOT NULL, -- where the ref is while this machine holds the repository; empty: it does not
    since   INTEGER NOT NULL, -- from when on it has held it
    until   INTEGER NOT NULL  -- until when nobody else may take it
) STRICT;
