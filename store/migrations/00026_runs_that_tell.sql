-- +goose Up
-- 1: what the run reported, or did not, says what its agent reports; 0: it was cut short, or nothing was paid.
ALTER TABLE runs ADD COLUMN tells INTEGER NOT NULL DEFAULT 0;

UPDATE runs SET tells = 1 WHERE ended_at > 0 AND turn_id IN (SELECT id FROM turns WHERE step IN ('answered', 'pushed', 'applied', 'done'));

INSERT INTO schemas (number, oldest) VALUES (26, 22);
