-- +goose Up
-- How far this machine's clock was ahead of a host's when the host answered last.
CREATE TABLE clocks (
    host  TEXT    PRIMARY KEY,
    ahead INTEGER NOT NULL -- milliseconds; less than 0: behind
) STRICT;
