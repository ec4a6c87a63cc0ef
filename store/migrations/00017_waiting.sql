-- +goose Up
-- What merges, and which branches were updated, without a walk over all notices that wait
-- or were sent lately: a burst of comments leaves thousands of both.

CREATE INDEX actions_merging ON actions (repo_id, planned_at)
    WHERE turn_id IS NULL AND state IN ('planned', 'sent') AND kind IN ('merge', 'enqueue', 'dequeue', 'update_branch', 'delete_branch', 'revert');
CREATE INDEX actions_updates ON actions (repo_id, sent_at) WHERE kind = 'update_branch' AND state = 'applied';

-- What was told of passes last, without a walk over all that was ever told of them.
CREATE INDEX notifications_passes ON notifications (target) WHERE key BETWEEN 'pass_' AND 'pass_~';

-- Whether people were told that GitHub does not say of the repository whether it changed.
ALTER TABLE repositories ADD COLUMN pulse_hidden INTEGER NOT NULL DEFAULT 0;
