-- +goose Up
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
