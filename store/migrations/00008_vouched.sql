-- +goose Up
-- How far this machine's clock was ahead of a host's when the host answered last.
CREATE TABLE clocks (
    host  TEXT    PRIMARY KEY,
    ahead INTEGER NOT NULL -- milliseconds; less than 0: behind
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

-- The lists are read oldest change first by now.
DELETE FROM http_validators WHERE url LIKE '%direction=desc%';

-- Limits of a host that are reached: no pass asks for what counts against them.
CREATE TABLE limits (
    host       TEXT    NOT NULL,
    resource   TEXT    NOT NULL, -- as GitHub names it; *: everything
    not_before INTEGER NOT NULL,
    reason     TEXT    NOT NULL,
    PRIMARY KEY (host, resource)
) STRICT;
