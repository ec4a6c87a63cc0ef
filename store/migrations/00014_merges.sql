-- +goose Up
-- What is merged without a person: what GitHub said before, what people said, what was sent
-- and what landed.

-- GitHub's merge box of a pull request, and what rules its base has.
CREATE TABLE merge_boxes (
    pull_id INTEGER PRIMARY KEY REFERENCES pull_requests (id),
    at      INTEGER NOT NULL, -- since when it reads so; our clock
    read_at INTEGER NOT NULL, -- when it was read last, where that counts: a pass reads only so many
    data    TEXT    NOT NULL  -- JSON
) STRICT;

-- People's words that a head may be merged.
CREATE TABLE merge_words (
    pull_id    INTEGER NOT NULL REFERENCES pull_requests (id),
    head       TEXT    NOT NULL,
    comment_id INTEGER NOT NULL, -- GitHub's; below 0: given on the command line
    by_id      INTEGER NOT NULL,
    by_login   TEXT    NOT NULL,
    by_bot     INTEGER NOT NULL,
    url        TEXT    NOT NULL,
    at         INTEGER NOT NULL, -- GitHub's clock
    PRIMARY KEY (pull_id, head, comment_id)
) STRICT;

-- Why a head is not merged, as was seen when it was tried. It lasts until a person lifts it,
-- or for as long as the head does.
CREATE TABLE merge_trouble (
    pull_id INTEGER PRIMARY KEY REFERENCES pull_requests (id),
    head    TEXT    NOT NULL,
    why     TEXT    NOT NULL, -- JSON
    at      INTEGER NOT NULL
) STRICT;

-- Every merge of ours, stored before it is asked for: one for each head.
CREATE TABLE merges (
    id          INTEGER PRIMARY KEY,
    repo_id     INTEGER NOT NULL REFERENCES repositories (id),
    pull_id     INTEGER NOT NULL REFERENCES pull_requests (id),
    item_id     INTEGER REFERENCES work_items (id),
    number      INTEGER NOT NULL, -- of the pull request
    head        TEXT    NOT NULL,
    base        TEXT    NOT NULL, -- branch
    base_oid    TEXT    NOT NULL, -- its head when the merge was meant
    tree        TEXT    NOT NULL, -- that was to come of it; empty: a queue decides on which base
    method      TEXT    NOT NULL,
    stage       TEXT    NOT NULL,
    commit_oid  TEXT    NOT NULL, -- that landed
    parent_oid  TEXT    NOT NULL, -- on which it landed
    landed_tree TEXT    NOT NULL,
    at          INTEGER NOT NULL, -- when it was meant last
    landed_at   INTEGER NOT NULL, -- 0: not yet
    watch_until INTEGER NOT NULL, -- how long checks of the base are looked at; 0: not at all
    red         TEXT    NOT NULL, -- checks of the base that turned red, as JSON
    differs     TEXT    NOT NULL, -- in what it is not what was meant; empty: in nothing
    UNIQUE (pull_id, head)
) STRICT;

-- Those that may have been merged by us before the database was lost.
CREATE INDEX pull_requests_merged ON pull_requests (repo_id, updated_at) WHERE state = 'merged';

CREATE INDEX merges_at ON merges (repo_id, at);
CREATE INDEX merges_item ON merges (item_id) WHERE item_id IS NOT NULL;
CREATE INDEX merges_unsettled ON merges (repo_id) WHERE stage IN ('intended', 'queued', 'half');
CREATE INDEX merges_landed ON merges (repo_id, landed_at) WHERE landed_at > 0;
CREATE INDEX merges_watched ON merges (repo_id, watch_until) WHERE watch_until > 0 AND red = '[]';

-- Whether a repository is merged into, once something else landed there than what was
-- approved, or a person stopped it.
CREATE TABLE repo_merging (
    repo_id INTEGER PRIMARY KEY REFERENCES repositories (id),
    differs INTEGER NOT NULL DEFAULT 0,  -- how many of the last merges, in a row, landed as something else
    why     TEXT    NOT NULL DEFAULT '', -- why nothing is merged, as JSON; empty: something is
    at      INTEGER NOT NULL DEFAULT 0,  -- since when nothing is
    told    INTEGER NOT NULL DEFAULT 0   -- whether a pass ended with it
) STRICT;
