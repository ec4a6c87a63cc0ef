-- +goose Up
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

-- Of the turns until now there is one sum each.
INSERT INTO runs (turn_id, attempt, agent, session, began_at, ended_at, input_tokens, output_tokens, cost_usd, unknown)
SELECT id, 1, agent, session, claimed_at, max(updated_at, claimed_at, 1), input_tokens, output_tokens, cost_usd, 0 FROM turns WHERE runs > 0 ORDER BY id;

-- Runs after this one count against the item's budgets; a person moves it on.
ALTER TABLE work_items ADD COLUMN allowance_run INTEGER NOT NULL DEFAULT 0; -- runs.id
UPDATE work_items SET allowance_run = coalesce((
    SELECT max(r.id) FROM runs r JOIN turns u ON u.id = r.turn_id WHERE u.item_id = work_items.id AND u.id <= work_items.allowance_from), 0);
