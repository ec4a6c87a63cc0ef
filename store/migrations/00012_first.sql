-- +goose Up
-- The first schema. Those with lower numbers were of programs in development, and
-- nothing is taken over from them.
--
-- Times are unix milliseconds; 0 stands for "not yet". Lists are JSON text.
-- A column that refers to nothing is NULL where it is a foreign key. What may
-- be long comes last in its table: SQLite walks over it to reach what follows.

CREATE TABLE repositories (
    id                    INTEGER PRIMARY KEY,
    name_key              TEXT    NOT NULL UNIQUE, -- name in lower case: GitHub's names have no case; its node id is behind it where another has the name
    name                  TEXT    NOT NULL,
    current_name          TEXT    NOT NULL,
    node_id               TEXT    NOT NULL,
    github_id             INTEGER NOT NULL,
    default_branch        TEXT    NOT NULL,
    issues_since          INTEGER NOT NULL,
    comments_since        INTEGER NOT NULL,
    review_comments_since INTEGER NOT NULL,
    heartbeat_at          INTEGER NOT NULL,
    not_before            INTEGER NOT NULL,
    failures              INTEGER NOT NULL,
    last_error            TEXT    NOT NULL,
    confirmed_at          INTEGER NOT NULL, -- when GitHub last said which repository the config's name stands for
    -- Since when no name of the config stands for the repository: it was taken out, or
    -- another repository has its name. 0: one does.
    left_at               INTEGER NOT NULL,
    -- The path of the config that named the repository last: another one that shares the
    -- state folder does not take it out.
    named_by              TEXT    NOT NULL
) STRICT;

-- repo_id 0 stands for the host itself, so there is no foreign key.
CREATE TABLE http_validators (
    repo_id  INTEGER NOT NULL,
    url      TEXT    NOT NULL,
    etag     TEXT    NOT NULL,
    next_url TEXT    NOT NULL,
    seen_at  INTEGER NOT NULL,
    PRIMARY KEY (repo_id, url)
) STRICT;

CREATE TABLE walks (
    repo_id  INTEGER NOT NULL REFERENCES repositories (id),
    name     TEXT    NOT NULL,
    next_url TEXT    NOT NULL,
    PRIMARY KEY (repo_id, name)
) STRICT;

CREATE TABLE seen_labels (
    repo_id INTEGER NOT NULL REFERENCES repositories (id),
    label   TEXT    NOT NULL,
    PRIMARY KEY (repo_id, label)
) STRICT;

-- Issues and pull requests that a list showed and that were not taken in yet, for
-- lack of time or because GitHub did not answer: the list's cursor is stored with
-- them.
CREATE TABLE backlog (
    repo_id  INTEGER NOT NULL REFERENCES repositories (id),
    number   INTEGER NOT NULL,
    tried_at INTEGER NOT NULL,
    PRIMARY KEY (repo_id, number)
) STRICT;

-- How far this machine's clock was ahead of a host's when the host answered last.
CREATE TABLE clocks (
    host  TEXT    PRIMARY KEY,
    ahead INTEGER NOT NULL -- milliseconds; less than 0: behind
) STRICT;

-- Limits of a host that are reached: no pass asks for what counts against them.
CREATE TABLE limits (
    host       TEXT    NOT NULL,
    resource   TEXT    NOT NULL, -- as GitHub names it; *: everything
    not_before INTEGER NOT NULL,
    reason     TEXT    NOT NULL,
    PRIMARY KEY (host, resource)
) STRICT;

CREATE TABLE accounts (
    host  TEXT    NOT NULL,
    id    INTEGER NOT NULL, -- GitHub's
    login TEXT    NOT NULL,
    bot   INTEGER NOT NULL,
    PRIMARY KEY (host, id)
) STRICT;

CREATE TABLE permissions (
    repo_id    INTEGER NOT NULL REFERENCES repositories (id),
    account_id INTEGER NOT NULL,
    login      TEXT    NOT NULL,
    level      TEXT    NOT NULL,
    seen_at    INTEGER NOT NULL,
    PRIMARY KEY (repo_id, account_id)
) STRICT;

CREATE TABLE work_items (
    id               INTEGER PRIMARY KEY,
    repo_id          INTEGER NOT NULL REFERENCES repositories (id),
    number           INTEGER NOT NULL,
    flow             TEXT    NOT NULL,
    parent_id        INTEGER REFERENCES work_items (id),
    state            TEXT    NOT NULL,
    state_since      INTEGER NOT NULL,
    reason           TEXT    NOT NULL, -- why it is blocked or waits, as JSON; empty: it is and does not
    title            TEXT    NOT NULL,
    author_id        INTEGER NOT NULL,
    author_login     TEXT    NOT NULL,
    author_bot       INTEGER NOT NULL,
    url              TEXT    NOT NULL,
    priority         INTEGER NOT NULL,
    label            TEXT    NOT NULL,
    label_event      TEXT    NOT NULL,
    branch           TEXT    NOT NULL,
    document         TEXT    NOT NULL,
    touch_paths      TEXT    NOT NULL,
    -- What an implementation item knows of the design that it came from, and what
    -- it waits for.
    design_pull      INTEGER NOT NULL, -- number
    design_commit    TEXT    NOT NULL, -- its merge commit
    size             TEXT    NOT NULL, -- S, M, L
    depends_on       TEXT    NOT NULL,
    edited           TEXT    NOT NULL, -- what was changed about the issue after the label was set, by somebody whose word does not count; empty: nothing
    issue_closed     INTEGER NOT NULL, -- whether the issue was closed when it was last read
    -- Turns and runs after these count against the item's budgets; a person moves them on.
    allowance_from   INTEGER NOT NULL DEFAULT 0, -- turns.id
    allowance_run    INTEGER NOT NULL DEFAULT 0, -- runs.id
    body             TEXT    NOT NULL,
    decision_summary TEXT    NOT NULL,
    fingerprint      TEXT    NOT NULL
) STRICT;

CREATE INDEX work_items_number ON work_items (repo_id, number);
CREATE INDEX work_items_open ON work_items (repo_id)
    WHERE state NOT IN ('merged', 'completed', 'closed');

CREATE TABLE dependencies (
    item_id INTEGER NOT NULL REFERENCES work_items (id),
    ref     TEXT    NOT NULL, -- owner/name#12
    state   TEXT    NOT NULL, -- open, closed, missing
    seen_at INTEGER NOT NULL,
    PRIMARY KEY (item_id, ref)
) STRICT;

-- What a start that stands still leaves to the turn that goes on, once people
-- said more on the issue.
CREATE TABLE followups (
    item_id              INTEGER PRIMARY KEY REFERENCES work_items (id),
    resume_turn          TEXT    NOT NULL, -- turn_key
    resume_commit        TEXT    NOT NULL,
    run_start_comment_id INTEGER NOT NULL, -- GitHub's
    comment_cursor       INTEGER NOT NULL, -- GitHub's
    event_cursor         INTEGER NOT NULL, -- events.id
    since                INTEGER NOT NULL,
    waiting_reason       TEXT    NOT NULL -- JSON
) STRICT;

-- Why a work item stands still, as GitHub shows it in one comment; kept once it
-- went on, to tell the same stop again from a new one.
CREATE TABLE stops (
    item_id  INTEGER PRIMARY KEY REFERENCES work_items (id),
    number   INTEGER NOT NULL, -- the issue or pull request where the comment stands
    token    TEXT    NOT NULL, -- of the comment's action
    reason   TEXT    NOT NULL, -- JSON
    attempts INTEGER NOT NULL, -- how often it came to this
    since    INTEGER NOT NULL,
    ended_at INTEGER NOT NULL, -- 0: it lasts
    taken_at INTEGER NOT NULL  -- since when people have the item, as the comment says; 0: it does not
) STRICT;

CREATE INDEX stops_taken ON stops (item_id) WHERE taken_at <> 0;

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

CREATE TABLE pull_requests (
    id            INTEGER PRIMARY KEY,
    repo_id       INTEGER NOT NULL REFERENCES repositories (id),
    item_id       INTEGER REFERENCES work_items (id),
    number        INTEGER NOT NULL,
    node_id       TEXT    NOT NULL,
    url           TEXT    NOT NULL,
    title         TEXT    NOT NULL,
    state         TEXT    NOT NULL,
    branch        TEXT    NOT NULL,
    head_oid      TEXT    NOT NULL,
    base          TEXT    NOT NULL,
    mergeable     TEXT    NOT NULL,
    rollup        TEXT    NOT NULL,
    merge_commit  TEXT    NOT NULL,
    updated_at    INTEGER NOT NULL,
    fingerprint   TEXT    NOT NULL,
    details_at    INTEGER NOT NULL,
    not_before    INTEGER NOT NULL,
    failures      INTEGER NOT NULL,
    last_error    TEXT    NOT NULL,
    created_at    INTEGER NOT NULL,
    files         TEXT    NOT NULL, -- what an open implementation changes: others that would touch the same files wait
    label_changes INTEGER NOT NULL, -- how often labels were set on it or taken from it, as far as its timeline was read
    -- A branch whose history somebody replaced waits until a person says to go on
    -- from what it is now. Neither column is part of the snapshot of GitHub.
    lost_oid      TEXT    NOT NULL, -- what the item's last turn made or worked from, and the branch lacks; empty: it has it
    accepted_oid  TEXT    NOT NULL, -- the head from which a person said to go on without it
    UNIQUE (repo_id, number)
) STRICT;

CREATE INDEX pull_requests_item ON pull_requests (item_id);
CREATE INDEX pull_requests_open ON pull_requests (repo_id, number) WHERE state = 'open';
CREATE INDEX pull_requests_rewritten ON pull_requests (repo_id) WHERE state = 'open' AND lost_oid <> '' AND accepted_oid = '';

CREATE TABLE threads (
    pull_id   INTEGER NOT NULL REFERENCES pull_requests (id),
    node_id   TEXT    NOT NULL,
    top       INTEGER NOT NULL,
    resolved  INTEGER NOT NULL,
    PRIMARY KEY (pull_id, node_id)
) STRICT;

CREATE TABLE turns (
    id            INTEGER PRIMARY KEY,
    repo_id       INTEGER NOT NULL REFERENCES repositories (id),
    item_id       INTEGER NOT NULL REFERENCES work_items (id),
    number        INTEGER NOT NULL,
    kind          TEXT    NOT NULL,
    turn_key      TEXT    NOT NULL UNIQUE,
    step          TEXT    NOT NULL,
    slot          INTEGER NOT NULL,
    reason        TEXT    NOT NULL,
    blocked       INTEGER NOT NULL,
    branch        TEXT    NOT NULL,
    base          TEXT    NOT NULL,
    head          TEXT    NOT NULL,
    agent         TEXT    NOT NULL,
    sandbox       TEXT    NOT NULL, -- what stood between the agent and the operator's files; empty before it ran
    attempts      INTEGER NOT NULL,
    runs          INTEGER NOT NULL,
    commit_oid    TEXT    NOT NULL,
    session       TEXT    NOT NULL,
    input_tokens  INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    cost_usd      REAL    NOT NULL,
    event_keys    TEXT    NOT NULL,
    not_before    INTEGER NOT NULL,
    wait_reason   TEXT    NOT NULL,
    last_error    TEXT    NOT NULL,
    claimed_at    INTEGER NOT NULL,
    updated_at    INTEGER NOT NULL,
    ended_at      INTEGER NOT NULL,
    request       BLOB,
    answer        BLOB
) STRICT;

-- One unfinished turn for one work item, and for one issue or pull request.
CREATE UNIQUE INDEX turns_unfinished_item ON turns (item_id)
    WHERE step NOT IN ('done', 'superseded', 'failed', 'cancelled');
CREATE UNIQUE INDEX turns_unfinished_number ON turns (repo_id, number)
    WHERE step NOT IN ('done', 'superseded', 'failed', 'cancelled');
CREATE INDEX turns_item ON turns (item_id);
CREATE INDEX turns_commit ON turns (repo_id, commit_oid) WHERE commit_oid <> '';
-- What was spent lately, and which repository and kind was served last, without
-- a look at all that is over.
CREATE INDEX turns_claimed ON turns (claimed_at);
CREATE INDEX turns_kind ON turns (repo_id, kind);

-- Every run of an agent, stored before it starts: one that ended with its pass was
-- made all the same.
CREATE TABLE runs (
    id            INTEGER PRIMARY KEY,
    turn_id       INTEGER NOT NULL REFERENCES turns (id),
    attempt       INTEGER NOT NULL, -- 1: it began an attempt, which budgets count as a turn; 0: it belongs to the one before, or nothing came of it
    agent         TEXT    NOT NULL,
    session       TEXT    NOT NULL, -- the provider's thread; empty: none, or not known yet
    began_at      INTEGER NOT NULL,
    ended_at      INTEGER NOT NULL, -- 0: nobody saw its end
    input_tokens  INTEGER NOT NULL, -- these three as far as they were known last
    output_tokens INTEGER NOT NULL,
    cost_usd      REAL    NOT NULL,
    unknown       INTEGER NOT NULL  -- 1: it used more than that, and nothing says how much
) STRICT;

CREATE INDEX runs_turn ON runs (turn_id);
CREATE INDEX runs_began ON runs (began_at);
CREATE INDEX runs_open ON runs (turn_id) WHERE ended_at = 0;

CREATE TABLE events (
    id           INTEGER PRIMARY KEY,
    repo_id      INTEGER NOT NULL REFERENCES repositories (id),
    item_id      INTEGER REFERENCES work_items (id),
    event_key    TEXT    NOT NULL,
    number       INTEGER NOT NULL,
    kind         TEXT    NOT NULL,
    source       TEXT    NOT NULL,
    content_hash TEXT    NOT NULL,
    author_id    INTEGER NOT NULL,
    author_login TEXT    NOT NULL,
    author_bot   INTEGER NOT NULL,
    state        TEXT    NOT NULL,
    url          TEXT    NOT NULL,
    thread_top   INTEGER NOT NULL,
    path         TEXT    NOT NULL,
    line         INTEGER NOT NULL,
    created_at   INTEGER NOT NULL,
    updated_at   INTEGER NOT NULL,
    seen_at      INTEGER NOT NULL,
    turn_id      INTEGER REFERENCES turns (id),
    processed_at INTEGER NOT NULL,
    outcome      TEXT    NOT NULL,
    body         TEXT    NOT NULL,
    diff_hunk    TEXT    NOT NULL,
    UNIQUE (repo_id, event_key)
) STRICT;

-- What is pending stays quick however many events were processed before.
CREATE INDEX events_pending ON events (repo_id, created_at) WHERE processed_at = 0;
CREATE INDEX events_processed ON events (processed_at) WHERE processed_at > 0;
CREATE INDEX events_outcome ON events (repo_id, outcome, processed_at) WHERE processed_at > 0;
CREATE INDEX events_number ON events (repo_id, number);
CREATE INDEX events_item ON events (item_id) WHERE item_id IS NOT NULL;
CREATE INDEX events_turn ON events (turn_id) WHERE turn_id IS NOT NULL;

CREATE TABLE actions (
    id           INTEGER PRIMARY KEY,
    repo_id      INTEGER NOT NULL REFERENCES repositories (id),
    turn_id      INTEGER REFERENCES turns (id),
    item_id      INTEGER REFERENCES work_items (id),
    position     INTEGER NOT NULL,
    kind         TEXT    NOT NULL,
    need         TEXT    NOT NULL,
    token        TEXT    NOT NULL UNIQUE,
    state        TEXT    NOT NULL,
    number       INTEGER NOT NULL,
    target       TEXT    NOT NULL,
    on_kind      TEXT    NOT NULL,
    title        TEXT    NOT NULL,
    base         TEXT    NOT NULL,
    head         TEXT    NOT NULL,
    why          TEXT    NOT NULL,
    sends        INTEGER NOT NULL,
    result_id    TEXT    NOT NULL,
    result_url   TEXT    NOT NULL,
    planned_at   INTEGER NOT NULL,
    sent_at      INTEGER NOT NULL,
    seen_at      INTEGER NOT NULL,
    not_before   INTEGER NOT NULL,
    last_error   TEXT    NOT NULL,
    settled_at   INTEGER NOT NULL,
    -- Of actions whose content is replaced by a newer one.
    renewals     INTEGER NOT NULL,
    made         INTEGER NOT NULL,            -- how many of its sends may have made something new
    seen_content TEXT    NOT NULL DEFAULT '', -- labels: what was last seen to be so; empty: unknown
    -- What shows a state on GitHub and was given up is tried again later, with growing
    -- waits: how often it was given up, and in not_before when it is tried again.
    dropped      INTEGER NOT NULL DEFAULT 0,
    body         TEXT    NOT NULL
) STRICT;

CREATE INDEX actions_turn ON actions (turn_id) WHERE turn_id IS NOT NULL;
CREATE INDEX actions_item ON actions (item_id) WHERE item_id IS NOT NULL;
CREATE INDEX actions_notices ON actions (repo_id, planned_at)
    WHERE turn_id IS NULL AND state IN ('planned', 'sent');
CREATE INDEX actions_sent ON actions (sent_at) WHERE sent_at > 0;
CREATE INDEX actions_settled ON actions (settled_at) WHERE settled_at > 0;
CREATE INDEX actions_unshown ON actions (repo_id, not_before) WHERE state = 'dropped' AND not_before > 0;

CREATE TABLE agent_sessions (
    item_id    INTEGER NOT NULL REFERENCES work_items (id),
    agent      TEXT    NOT NULL,
    session    TEXT    NOT NULL,
    slot       INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (item_id, agent)
) STRICT;

-- What a provider has counted of a session since its beginning, for those that
-- never tell what one turn used.
CREATE TABLE session_usage (
    item_id       INTEGER NOT NULL REFERENCES work_items (id),
    agent         TEXT    NOT NULL,
    session       TEXT    NOT NULL,
    input_tokens  INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    cost_usd      REAL    NOT NULL,
    updated_at    INTEGER NOT NULL,
    PRIMARY KEY (item_id, agent, session)
) STRICT;

CREATE TABLE history (
    id      INTEGER PRIMARY KEY,
    repo_id INTEGER NOT NULL REFERENCES repositories (id),
    item_id INTEGER REFERENCES work_items (id),
    number  INTEGER NOT NULL,
    at      INTEGER NOT NULL,
    what    TEXT    NOT NULL,
    detail  TEXT    NOT NULL
) STRICT;

CREATE INDEX history_item ON history (item_id, at);
CREATE INDEX history_at ON history (at);
