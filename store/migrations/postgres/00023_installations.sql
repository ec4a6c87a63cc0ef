-- +goose Up
-- Which state folders use this database, and which others work under our account.

-- Installations by the ids in the markers of what they write.
CREATE TABLE installations (
    id    TEXT    COLLATE "C" NOT NULL PRIMARY KEY,
    since BIGINT  NOT NULL, -- when the first pass began of one that uses this database; 0: it does not
    gone  BIGINT  NOT NULL DEFAULT 0 -- when a person said that another one is gone; 0: nobody did
);

-- The newest text that another installation wrote under our account.
CREATE TABLE signs (
    repo_id      BIGINT  NOT NULL REFERENCES repositories (id),
    installation TEXT    COLLATE "C" NOT NULL,
    at           BIGINT  NOT NULL, -- GitHub's clock
    url          TEXT    COLLATE "C" NOT NULL,
    PRIMARY KEY (repo_id, installation)
);

INSERT INTO schemas (number, oldest) VALUES (23, 22);
