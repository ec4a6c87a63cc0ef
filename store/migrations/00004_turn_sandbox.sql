-- +goose Up
-- What stood between a turn's agent and the operator's files; empty before it
-- ran, and for turns from before there was any.
ALTER TABLE turns ADD COLUMN sandbox TEXT NOT NULL DEFAULT '';
