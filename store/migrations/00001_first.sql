-- +goose Up
-- Times are unix milliseconds; 0 stands for "not yet". Lists are JSON text.
-- A column that refers to nothing is NULL where it is a foreign key. What may
-- be long comes last in its table: SQLite walks over it to reach what follows.

CREATE TABLE repositories (
    id                    INTEGER PRIMARY KEY,
    name_key              TEXT    NOT NULL UNIQUE, -- name in lower case: GitHub's names have no case
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
    last_error            TEXT    NOT NULL
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
    reason           TEXT    NOT NULL,
    hint             TEXT    NOT NULL,
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
    created_at       INTEGER NOT NULL,
    updated_at       INTEGER NOT NULL,
    body             TEXT    NOT NULL,
    decision_summary TEXT    NOT NULL,
    fingerprint      TEXT    NOT NULL
) STRICT;

CREATE INDEX work_items_number ON work_items (repo_id, number);
CREATE INDEX work_items_open ON work_items (repo_id)
    WHERE state NOT IN ('merged', 'completed', 'closed', 'failed');

CREATE TABLE pull_requests (
    id           INTEGER PRIMARY KEY,
    repo_id      INTEGER NOT NULL REFERENCES repositories (id),
    item_id      INTEGER REFERENCES work_items (id),
    number       INTEGER NOT NULL,
    node_id      TEXT    NOT NULL,
    url          TEXT    NOT NULL,
    title        TEXT    NOT NULL,
    state        TEXT    NOT NULL,
    branch       TEXT    NOT NULL,
    head_oid     TEXT    NOT NULL,
    base         TEXT    NOT NULL,
    base_oid     TEXT    NOT NULL,
    draft        INTEGER NOT NULL,
    mergeable    TEXT    NOT NULL,
    rollup       TEXT    NOT NULL,
    merge_commit TEXT    NOT NULL,
    updated_at   INTEGER NOT NULL,
    fingerprint  TEXT    NOT NULL,
    details_at   INTEGER NOT NULL,
    not_before   INTEGER NOT NULL,
    failures     INTEGER NOT NULL,
    last_error   TEXT    NOT NULL,
    created_at   INTEGER NOT NULL,
    UNIQUE (repo_id, number)
) STRICT;

CREATE INDEX pull_requests_item ON pull_requests (item_id);
CREATE INDEX pull_requests_open ON pull_requests (repo_id, number) WHERE state = 'open';

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
    commit_oid   TEXT    NOT NULL,
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
    id         INTEGER PRIMARY KEY,
    repo_id    INTEGER NOT NULL REFERENCES repositories (id),
    turn_id    INTEGER REFERENCES turns (id),
    item_id    INTEGER REFERENCES work_items (id),
    position   INTEGER NOT NULL,
    kind       TEXT    NOT NULL,
    need       TEXT    NOT NULL,
    token      TEXT    NOT NULL UNIQUE,
    state      TEXT    NOT NULL,
    number     INTEGER NOT NULL,
    target     TEXT    NOT NULL,
    on_kind    TEXT    NOT NULL,
    title      TEXT    NOT NULL,
    base       TEXT    NOT NULL,
    head       TEXT    NOT NULL,
    why        TEXT    NOT NULL,
    sends      INTEGER NOT NULL,
    result_id  TEXT    NOT NULL,
    result_url TEXT    NOT NULL,
    planned_at INTEGER NOT NULL,
    sent_at    INTEGER NOT NULL,
    seen_at    INTEGER NOT NULL,
    not_before INTEGER NOT NULL,
    last_error TEXT    NOT NULL,
    settled_at INTEGER NOT NULL DEFAULT 0,
    body       TEXT    NOT NULL
) STRICT;

CREATE INDEX actions_turn ON actions (turn_id) WHERE turn_id IS NOT NULL;
CREATE INDEX actions_item ON actions (item_id) WHERE item_id IS NOT NULL;
CREATE INDEX actions_notices ON actions (repo_id, planned_at)
    WHERE turn_id IS NULL AND state IN ('planned', 'sent');
CREATE INDEX actions_sent ON actions (sent_at) WHERE sent_at > 0;
CREATE INDEX actions_settled ON actions (settled_at) WHERE settled_at > 0;

CREATE TABLE agent_sessions (
    item_id    INTEGER NOT NULL REFERENCES work_items (id),
    agent      TEXT    NOT NULL,
    session    TEXT    NOT NULL,
    slot       INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (item_id, agent)
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
