-- +goose Up
-- What reviewers say of pull requests, and what follows from it.

-- Where the reviews of a pull request stand. What the config says of them is in no row.
CREATE TABLE pull_reviews (
    pull_id    INTEGER PRIMARY KEY REFERENCES pull_requests (id),
    repo_id    INTEGER NOT NULL REFERENCES repositories (id),
    state      TEXT    NOT NULL DEFAULT '', -- empty: nothing is reviewed
    since      INTEGER NOT NULL DEFAULT 0,  -- of the state
    head       TEXT    NOT NULL DEFAULT '', -- when it was decided
    reviewer   TEXT    NOT NULL DEFAULT '', -- who is asked, or whose demands are fixed
    epoch      INTEGER NOT NULL DEFAULT 0,  -- how often a person had it begin again
    cycle      INTEGER NOT NULL DEFAULT 0,  -- how many fixes were pushed in this epoch
    why        TEXT    NOT NULL DEFAULT '', -- why it is stopped, as JSON; empty: it is not
    merge_type TEXT    NOT NULL DEFAULT '', -- forced, approved, auto; empty: it is not merged
    -- The turn that failed for good in this epoch, by the key of its event.
    failed_key TEXT    NOT NULL DEFAULT '',
    failed_why TEXT    NOT NULL DEFAULT '', -- JSON
    retries    INTEGER NOT NULL DEFAULT 0,
    last_error TEXT    NOT NULL DEFAULT '',
    label_head TEXT    NOT NULL DEFAULT '', -- of somebody else's pull request: the head that whoever set the label had in view
    held_at    INTEGER NOT NULL DEFAULT 0,  -- GitHub's clock; 0: nobody holds it
    held_by    TEXT    NOT NULL DEFAULT '',
    -- An idle pass decides nothing again: only where something changed since, or the config.
    look       INTEGER NOT NULL DEFAULT 0,  -- how often something changed since it was decided last
    policy     TEXT    NOT NULL DEFAULT ''  -- what the config said then
) STRICT;

CREATE INDEX pull_reviews_look ON pull_reviews (repo_id) WHERE look > 0;
CREATE INDEX pull_reviews_policy ON pull_reviews (repo_id, policy) WHERE state NOT IN ('merged', 'closed');

-- Those that are open are looked at once.
INSERT INTO pull_reviews (pull_id, repo_id, look) SELECT id, repo_id, 1 FROM pull_requests WHERE state = 'open' AND item_id IS NOT NULL;

-- What a reviewer said of a head. Turns are kept for a shorter time, so that turn_id
-- refers to none.
CREATE TABLE reviews (
    id         INTEGER PRIMARY KEY,
    pull_id    INTEGER NOT NULL REFERENCES pull_requests (id),
    review_id  INTEGER NOT NULL, -- GitHub's; 0: a command gave it
    comment_id INTEGER NOT NULL, -- GitHub's, of the command; 0: a review gave it
    reviewer   TEXT    NOT NULL, -- empty: a person who is no reviewer
    human      INTEGER NOT NULL,
    head       TEXT    NOT NULL,
    kept_from  TEXT    NOT NULL, -- the head that was looked at, where only the base was merged in since
    epoch      INTEGER NOT NULL,
    cycle      INTEGER NOT NULL,
    decision   TEXT    NOT NULL,
    validity   TEXT    NOT NULL,
    by_id      INTEGER NOT NULL,
    by_login   TEXT    NOT NULL,
    by_bot     INTEGER NOT NULL,
    turn_id    INTEGER NOT NULL, -- turns.id; 0: a person's, or found again after a loss
    called_in  TEXT    NOT NULL,
    highest    TEXT    NOT NULL, -- severity
    findings   INTEGER NOT NULL, -- how many
    at         INTEGER NOT NULL, -- GitHub's clock
    url        TEXT    NOT NULL,
    body       TEXT    NOT NULL
) STRICT;

CREATE INDEX reviews_pull ON reviews (pull_id, at);
CREATE UNIQUE INDEX reviews_source ON reviews (pull_id, review_id, comment_id, head) WHERE review_id <> 0 OR comment_id <> 0;
-- The last wall: no agent reviews a head twice.
CREATE UNIQUE INDEX reviews_once ON reviews (pull_id, reviewer, head) WHERE human = 0 AND kept_from = '';

CREATE TABLE findings (
    pull_id     INTEGER NOT NULL REFERENCES pull_requests (id),
    id          TEXT    NOT NULL, -- the beginning of its token
    verdict_id  INTEGER REFERENCES reviews (id),
    reviewer    TEXT    NOT NULL,
    head        TEXT    NOT NULL,
    cycle       INTEGER NOT NULL,
    path        TEXT    NOT NULL,
    line        INTEGER NOT NULL, -- 0: the file as a whole
    severity    TEXT    NOT NULL,
    confidence  TEXT    NOT NULL,
    comment_id  INTEGER NOT NULL, -- GitHub's; 0: it stands in the review's own text
    thread_node TEXT    NOT NULL,
    resolved_by INTEGER REFERENCES reviews (id), -- in which its reviewer says that it is done
    body        TEXT    NOT NULL,
    answer      TEXT    NOT NULL, -- the author's
    PRIMARY KEY (pull_id, id)
) STRICT;

CREATE INDEX findings_verdict ON findings (verdict_id) WHERE verdict_id IS NOT NULL;
CREATE INDEX findings_resolved ON findings (resolved_by) WHERE resolved_by IS NOT NULL;

-- Turns that were to do what a reviewer asked for.
CREATE TABLE fixes (
    pull_id    INTEGER NOT NULL REFERENCES pull_requests (id),
    review_id  INTEGER NOT NULL, -- GitHub's
    epoch      INTEGER NOT NULL,
    cycle      INTEGER NOT NULL,
    reviewer   TEXT    NOT NULL,
    turn_id    INTEGER NOT NULL, -- as in reviews
    head       TEXT    NOT NULL, -- that was reviewed
    commit_oid TEXT    NOT NULL, -- that was pushed
    outcome    TEXT    NOT NULL,
    at         INTEGER NOT NULL,
    PRIMARY KEY (pull_id, review_id, epoch, cycle)
) STRICT;

-- Reviewers whom others called in.
CREATE TABLE insertions (
    pull_id     INTEGER NOT NULL REFERENCES pull_requests (id),
    name        TEXT    NOT NULL,
    by_reviewer TEXT    NOT NULL,
    at          INTEGER NOT NULL,
    PRIMARY KEY (pull_id, name)
) STRICT;

-- People who were asked for a review, once for each head.
CREATE TABLE review_requests (
    pull_id  INTEGER NOT NULL REFERENCES pull_requests (id),
    reviewer TEXT    NOT NULL,
    head     TEXT    NOT NULL,
    at       INTEGER NOT NULL,
    PRIMARY KEY (pull_id, reviewer, head)
) STRICT;

-- What happened, for people and programs: each thing once, by its key.
CREATE TABLE review_log (
    id      INTEGER PRIMARY KEY,
    repo_id INTEGER NOT NULL REFERENCES repositories (id),
    item_id INTEGER REFERENCES work_items (id),
    number  INTEGER NOT NULL, -- of the pull request
    key     TEXT    NOT NULL,
    at      INTEGER NOT NULL,
    what    TEXT    NOT NULL,
    data    TEXT    NOT NULL, -- JSON
    UNIQUE (repo_id, key)
) STRICT;

CREATE INDEX review_log_item ON review_log (item_id, at) WHERE item_id IS NOT NULL;
CREATE INDEX review_log_at ON review_log (at);

ALTER TABLE pull_requests ADD COLUMN draft INTEGER NOT NULL DEFAULT 0;
ALTER TABLE pull_requests ADD COLUMN author_id INTEGER NOT NULL DEFAULT 0; -- 0: not read yet, or the account is gone
ALTER TABLE pull_requests ADD COLUMN author_login TEXT NOT NULL DEFAULT '';
ALTER TABLE pull_requests ADD COLUMN author_bot INTEGER NOT NULL DEFAULT 0;
ALTER TABLE pull_requests ADD COLUMN cross_repo INTEGER NOT NULL DEFAULT 0; -- from a fork
ALTER TABLE pull_requests ADD COLUMN head_repo TEXT NOT NULL DEFAULT ''; -- empty: the fork is gone
ALTER TABLE pull_requests ADD COLUMN base_oid TEXT NOT NULL DEFAULT '';
ALTER TABLE pull_requests ADD COLUMN head_since INTEGER NOT NULL DEFAULT 0; -- when this head was stored first; our clock
ALTER TABLE pull_requests ADD COLUMN checks_since INTEGER NOT NULL DEFAULT 0; -- since when checks of the head run; 0: none does
UPDATE pull_requests SET head_since = updated_at;

ALTER TABLE turns ADD COLUMN reviewer TEXT NOT NULL DEFAULT ''; -- whose review it makes, or whose demands it fixes
ALTER TABLE events ADD COLUMN review_id INTEGER NOT NULL DEFAULT 0; -- GitHub's: the review that a diff comment belongs to
ALTER TABLE actions ADD COLUMN extra TEXT NOT NULL DEFAULT ''; -- review: its comments, as JSON
ALTER TABLE accounts ADD COLUMN role TEXT NOT NULL DEFAULT 'operator';

-- A reviewer has sessions apart from the author's, also with the same agent.
ALTER TABLE agent_sessions RENAME TO agent_sessions_of_one;
CREATE TABLE agent_sessions (
    item_id    INTEGER NOT NULL REFERENCES work_items (id),
    agent      TEXT    NOT NULL,
    role       TEXT    NOT NULL, -- a reviewer's name; empty: the author
    session    TEXT    NOT NULL,
    slot       INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (item_id, agent, role)
) STRICT;

INSERT INTO agent_sessions (item_id, agent, role, session, slot, updated_at)
    SELECT item_id, agent, '', session, slot, updated_at FROM agent_sessions_of_one ORDER BY rowid;
DROP TABLE agent_sessions_of_one;
