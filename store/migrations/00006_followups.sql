-- +goose Up
-- What a start that stands still leaves to the turn that goes on, once people
-- said more on the issue.
CREATE TABLE followups (
    item_id              INTEGER PRIMARY KEY REFERENCES work_items (id),
    kind                 TEXT    NOT NULL,
    flow                 TEXT    NOT NULL,
    branch               TEXT    NOT NULL,
    resume_turn          TEXT    NOT NULL, -- turn_key
    resume_commit        TEXT    NOT NULL,
    run_start_comment_id INTEGER NOT NULL, -- GitHub's
    comment_cursor       INTEGER NOT NULL, -- GitHub's
    event_cursor         INTEGER NOT NULL, -- events.id
    since                INTEGER NOT NULL,
    waiting_reason       TEXT    NOT NULL
) STRICT;

-- What stood still before there was this table. Its kind was only worded: these
-- are all the wordings that programs before this one stored. What they do not
-- name stays as it is.
INSERT INTO followups
SELECT item_id, kind, flow, branch, turn_key, '', comment, comment, event, state_since, reason
FROM (
    SELECT s.*,
        CASE
            WHEN s.reason LIKE 'the agent asks: %' THEN 'asked'
            WHEN s.reason = 'the agent finished without changing a file' THEN 'unchanged'
            WHEN s.reason LIKE 'what the agent made is refused: %' THEN 'refused'
            ELSE ''
        END AS kind,
        COALESCE((SELECT MAX(CAST(e.source AS INTEGER)) FROM events e
            WHERE e.item_id = s.item_id AND e.kind = 'source' AND e.seen_at <= s.state_since), 0) AS comment,
        COALESCE((SELECT MAX(e.id) FROM events e WHERE e.item_id = s.item_id AND e.seen_at <= s.state_since), 0) AS event
    FROM (
        SELECT i.id AS item_id, i.flow, i.branch, i.state_since, COALESCE(t.turn_key, '') AS turn_key,
            COALESCE(NULLIF(i.reason, ''), t.last_error, '') AS reason
        FROM work_items i
        LEFT JOIN turns t ON t.id = (SELECT MAX(l.id) FROM turns l WHERE l.item_id = i.id)
        WHERE i.state IN ('blocked', 'failed')
            AND NOT EXISTS (SELECT 1 FROM pull_requests p WHERE p.item_id = i.id)
            AND (t.id IS NULL OR t.step IN ('done', 'superseded', 'failed', 'cancelled'))
    ) s
)
WHERE kind <> '';
