-- +goose Up
-- Why a work item stands still, as GitHub shows it in one comment; kept once it
-- went on, to tell the same stop again from a new one.
CREATE TABLE stops (
    item_id  INTEGER PRIMARY KEY REFERENCES work_items (id),
    number   INTEGER NOT NULL, -- the issue or pull request where the comment stands
    token    TEXT    NOT NULL, -- of the comment's action
    reason   TEXT    NOT NULL, -- as GitHub is told
    hint     TEXT    NOT NULL,
    attempts INTEGER NOT NULL, -- how often it came to this
    since    INTEGER NOT NULL,
    ended_at INTEGER NOT NULL, -- 0: it lasts
    taken_at INTEGER NOT NULL DEFAULT 0 -- since when people have the item, as the comment says; 0: it does not
) STRICT;

CREATE INDEX stops_taken ON stops (item_id) WHERE taken_at <> 0;

-- What stands still already was told of in a comment of another kind: it is kept
-- up to date from now on.
INSERT INTO stops
SELECT i.id, a.number, a.token, i.reason, i.hint, 1, i.state_since, 0, 0
FROM work_items i
JOIN actions a ON a.id = (SELECT MAX(b.id) FROM actions b WHERE b.item_id = i.id AND b.kind = 'comment' AND b.why = 'blocked' AND b.turn_id IS NULL)
WHERE i.state IN ('blocked', 'awaiting_issue_followup', 'failed');

-- When people had taken an issue or a pull request over: what was said meanwhile
-- is not for the agents.
CREATE TABLE pauses (
    id       INTEGER PRIMARY KEY,
    repo_id  INTEGER NOT NULL REFERENCES repositories (id),
    number   INTEGER NOT NULL, -- of the issue or the pull request
    label_id INTEGER NOT NULL, -- timeline id of the labelling; 0: begun by a command
    began_at INTEGER NOT NULL, -- GitHub's clock
    ended_at INTEGER NOT NULL, -- GitHub's clock; 0: it lasts
    by_login TEXT    NOT NULL
) STRICT;

CREATE INDEX pauses_number ON pauses (repo_id, number, began_at);
CREATE UNIQUE INDEX pauses_label ON pauses (repo_id, number, label_id) WHERE label_id <> 0;
CREATE INDEX pauses_open ON pauses (repo_id) WHERE ended_at = 0;

-- How often labels were set on or taken from a pull request, as far as its timeline was read.
ALTER TABLE pull_requests ADD COLUMN label_changes INTEGER NOT NULL DEFAULT 0;

-- What was changed about the issue after the label was set, by somebody whose word does not count; empty: nothing.
ALTER TABLE work_items ADD COLUMN edited TEXT NOT NULL DEFAULT '';

-- Whether the issue was closed when it was last read.
ALTER TABLE work_items ADD COLUMN issue_closed INTEGER NOT NULL DEFAULT 0;

-- Actions whose content is replaced by a newer one.
ALTER TABLE actions ADD COLUMN renewals     INTEGER NOT NULL DEFAULT 0;
ALTER TABLE actions ADD COLUMN made         INTEGER NOT NULL DEFAULT 0;  -- how many of its sends may have made something new
ALTER TABLE actions ADD COLUMN seen_content TEXT    NOT NULL DEFAULT ''; -- labels: what was last seen to be so; empty: unknown

UPDATE actions SET kind = 'sticky', made = sends WHERE token IN (SELECT token FROM stops);

-- Turns after this one count against the item's budgets; a person moves it on.
ALTER TABLE work_items ADD COLUMN allowance_from INTEGER NOT NULL DEFAULT 0; -- turns.id

-- What was spent lately, and which repository and kind was served last, without
-- a look at all that is over.
CREATE INDEX turns_claimed ON turns (claimed_at);
CREATE INDEX turns_kind ON turns (repo_id, kind);

-- A branch whose history somebody replaced waits until a person says to go on
-- from what it is now. Neither column is part of the snapshot of GitHub.
ALTER TABLE pull_requests ADD COLUMN lost_oid TEXT NOT NULL DEFAULT '';     -- what the item's last turn made or worked from, and the branch lacks; empty: it has it
ALTER TABLE pull_requests ADD COLUMN accepted_oid TEXT NOT NULL DEFAULT ''; -- the head from which a person said to go on without it

CREATE INDEX pull_requests_rewritten ON pull_requests (repo_id) WHERE state = 'open' AND lost_oid <> '' AND accepted_oid = '';
