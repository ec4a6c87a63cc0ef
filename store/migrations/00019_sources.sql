-- +goose Up
-- On which work items somebody wrote on the issue what waits, without a walk over all that
-- people wrote: such comments may be for the pull request.

CREATE INDEX events_from_issues ON events (repo_id, item_id) WHERE processed_at = 0 AND turn_id IS NULL AND kind = 'source';
