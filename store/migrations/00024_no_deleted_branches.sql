-- +goose Up
-- GitHub's own setting deletes branches now: what earlier versions planned is not sent.
UPDATE actions SET state = 'dropped', not_before = 0, settled_at = planned_at WHERE kind = 'delete_branch' AND state IN ('planned', 'sent');

DROP INDEX actions_merging;
CREATE INDEX actions_merging ON actions (repo_id, planned_at)
    WHERE turn_id IS NULL AND state IN ('planned', 'sent') AND kind IN ('merge', 'enqueue', 'dequeue', 'update_branch');

INSERT INTO schemas (number, oldest) VALUES (24, 22);
