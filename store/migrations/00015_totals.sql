-- +goose Up
-- What is kept of turns once their rows are pruned, for reports, costs and metrics; what
-- became of pull requests; and what people were told outside of GitHub.

-- Runs of agents that were pruned, summed up. Nothing is in both: what is added here is
-- deleted there in the same transaction.
CREATE TABLE run_totals (
    day           TEXT    NOT NULL, -- 2006-01-02, UTC
    item_id       INTEGER NOT NULL REFERENCES work_items (id),
    kind          TEXT    NOT NULL,
    agent         TEXT    NOT NULL,
    reviewer      TEXT    NOT NULL,
    repo_id       INTEGER NOT NULL REFERENCES repositories (id),
    runs          INTEGER NOT NULL,
    attempts      INTEGER NOT NULL,
    unknown       INTEGER NOT NULL, -- runs that used more than is known
    input_tokens  INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    cost_usd      REAL    NOT NULL,
    PRIMARY KEY (day, item_id, kind, agent, reviewer)
) STRICT;

-- Turns that were pruned, likewise.
CREATE TABLE turn_totals (
    day      TEXT    NOT NULL, -- on which they ended
    item_id  INTEGER NOT NULL REFERENCES work_items (id),
    kind     TEXT    NOT NULL,
    agent    TEXT    NOT NULL,
    reviewer TEXT    NOT NULL,
    outcome  TEXT    NOT NULL, -- the step in which they ended
    repo_id  INTEGER NOT NULL REFERENCES repositories (id),
    turns    INTEGER NOT NULL,
    PRIMARY KEY (day, item_id, kind, agent, reviewer, outcome)
) STRICT;

-- Verdicts of reviewers that were pruned, likewise.
CREATE TABLE verdict_totals (
    day      TEXT    NOT NULL,
    repo_id  INTEGER NOT NULL REFERENCES repositories (id),
    reviewer TEXT    NOT NULL, -- empty: people
    decision TEXT    NOT NULL,
    verdicts INTEGER NOT NULL,
    findings INTEGER NOT NULL,
    PRIMARY KEY (day, repo_id, reviewer, decision)
) STRICT;

-- How long things took whose rows were pruned, as a histogram.
CREATE TABLE time_totals (
    day     TEXT    NOT NULL,
    repo_id INTEGER NOT NULL REFERENCES repositories (id),
    what    TEXT    NOT NULL, -- turn: from its claim to its end; answer: from a comment to its answer
    most    INTEGER NOT NULL, -- seconds: the bucket's upper bound; 0: there is none
    n       INTEGER NOT NULL,
    ms      INTEGER NOT NULL, -- their sum
    PRIMARY KEY (day, repo_id, what, most)
) STRICT;

-- Failures, by the kind of reason, counted as they happen.
CREATE TABLE failure_totals (
    day     TEXT    NOT NULL,
    repo_id INTEGER NOT NULL REFERENCES repositories (id),
    kind    TEXT    NOT NULL,
    n       INTEGER NOT NULL,
    PRIMARY KEY (day, repo_id, kind)
) STRICT;

-- Requests to GitHub, counted where metrics are written.
CREATE TABLE request_totals (
    host   TEXT    NOT NULL,
    api    TEXT    NOT NULL, -- rest, graphql
    status TEXT    NOT NULL, -- of the answer; none: there was none
    n      INTEGER NOT NULL,
    PRIMARY KEY (host, api, status)
) STRICT;

-- What was left of GitHub's limits when a pass read it last.
CREATE TABLE rate_limits (
    host      TEXT    NOT NULL,
    resource  TEXT    NOT NULL,
    remaining INTEGER NOT NULL,
    most      INTEGER NOT NULL,
    reset_at  INTEGER NOT NULL, -- GitHub's clock
    at        INTEGER NOT NULL,
    PRIMARY KEY (host, resource)
) STRICT;

-- Passes by what became of them. Written where metrics are, and where a pass fails or
-- ends a row of failures.
CREATE TABLE pass_totals (
    outcome TEXT    PRIMARY KEY,
    n       INTEGER NOT NULL,
    ms      INTEGER NOT NULL
) STRICT;

CREATE TABLE last_pass (
    id       INTEGER PRIMARY KEY CHECK (id = 1),
    at       INTEGER NOT NULL, -- its end
    good_at  INTEGER NOT NULL, -- the end of the last one that did not fail; 0: none
    ms       INTEGER NOT NULL,
    failures INTEGER NOT NULL, -- how many failed in a row
    why      TEXT    NOT NULL  -- of the last failure
) STRICT;

-- What became of pull requests, as GitHub says.
CREATE TABLE pull_outcomes (
    pull_id       INTEGER PRIMARY KEY REFERENCES pull_requests (id),
    ended_at      INTEGER NOT NULL, -- GitHub's clock; 0: it is open, or nothing says when
    commits       INTEGER NOT NULL,
    human_commits INTEGER NOT NULL, -- those that are not ours; -1: not known
    read_at       INTEGER NOT NULL
) STRICT;

-- What the operator is told outside of GitHub: each once for each target.
CREATE TABLE notifications (
    id         INTEGER PRIMARY KEY,
    target     TEXT    NOT NULL, -- of [[notify]]
    key        TEXT    NOT NULL, -- what it is about
    what       TEXT    NOT NULL,
    repo_id    INTEGER REFERENCES repositories (id), -- NULL: the pass itself
    item_id    INTEGER, -- work_items (id), without a reference: a new item would have all that was told looked through
    number     INTEGER NOT NULL,
    at         INTEGER NOT NULL, -- when it happened
    state      TEXT    NOT NULL, -- planned, sent, done, failed, unclear, dropped
    sent_at    INTEGER NOT NULL,
    settled_at INTEGER NOT NULL,
    last_error TEXT    NOT NULL,
    body       TEXT    NOT NULL, -- JSON
    UNIQUE (target, key)
) STRICT;

CREATE INDEX notifications_planned ON notifications (at) WHERE state IN ('planned', 'sent');
CREATE INDEX notifications_settled ON notifications (settled_at) WHERE settled_at > 0;

-- Since when each target is told what: what began before is no news to it.
CREATE TABLE notify_targets (
    target TEXT    NOT NULL,
    what   TEXT    NOT NULL,
    config TEXT    NOT NULL, -- the path of the config that names it
    since  INTEGER NOT NULL,
    PRIMARY KEY (target, what)
) STRICT;

-- What is looked through for news.
CREATE INDEX pull_requests_created ON pull_requests (created_at);
CREATE INDEX pull_requests_merged_at ON pull_requests (updated_at) WHERE state = 'merged';
CREATE INDEX stops_lasting ON stops (since) WHERE ended_at = 0;
CREATE INDEX pull_reviews_checking ON pull_reviews (since) WHERE state = 'checking_approval';
