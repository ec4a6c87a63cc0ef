-- +goose Up
-- Which state folders use this database, and which others work under our account.

-- Installations by the ids in the markers of what they write.
CREATE TABLE installations (
    id    TEXT    NOT NULL PRIMARY KEY,
    since INTEGER NOT NULL, -- when the first pass began of one that uses this database; 0: it does not
    gone  INTEGER NOT NULL DEFAULT 0 -- when a person said that another one is gone; 0: nobody did
) STRICT, WITHOUT ROWID;

-- The newest text that another installation wrote under our account.
CREATE TABLE signs (
    repo_id      INTEGER NOT NULL REFERENCES repositories (id),
    installation TEXT    NOT NULL,
    at           INTEGER NOT NULL, -- GitHub's clock
    url          TEXT    NOT NULL,
    PRIMARY KEY (repo_id, installation)
) STRICT, WITHOUT ROWID;

INSERT INTO schemas (number, oldest) VALUES (23, 22);
