-- +goose Up
-- What of a machine's config is to be equal on all: by repository, a hash of each part, as JSON; empty: not known.
ALTER TABLE machines ADD COLUMN config TEXT NOT NULL DEFAULT '';

INSERT INTO schemas (number, oldest) VALUES (25, 22);
