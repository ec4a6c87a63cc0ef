package store

import (
	"context"
	"fmt"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store/rows"
)

const eventColumns = `repo_id, item_id, event_key, number, kind, source, content_hash, author_id, author_login, author_bot,
	body, state, url, thread_top, path, line, diff_hunk, created_at, updated_at, seen_at, turn_id, processed_at, outcome, review_id`

func eventFields(e *work.Event) []any {
	return []any{
		&e.RepoID,
		rows.RefOf(&e.ItemID),
		&e.Key, &e.Number, &e.Kind, &e.Source, &e.Hash, &e.Author.ID, &e.Author.Login, &e.Author.Bot,
		&e.Body, &e.State, &e.URL, &e.ThreadTop, &e.Path, &e.Line, &e.DiffHunk,
		rows.TimeOf(&e.CreatedAt),
		rows.TimeOf(&e.UpdatedAt),
		rows.TimeOf(&e.SeenAt),
		rows.RefOf(&e.TurnID),
		rows.TimeOf(&e.ProcessedAt),
		&e.Outcome, &e.Review,
	}
}

// scanEvents reads rows, one after the other, by the same places.
func scanEvents() func(rows.Row) (work.Event, error) {
	var e work.Event
	places := append([]any{&e.ID}, eventFields(&e)...)
	return func(row rows.Row) (work.Event, error) { return e, row.Scan(places...) }
}

const selectEvent = `SELECT id, ` + eventColumns + ` FROM events `

// AskAgain adds an event that asks for a turn, or has one that was processed ask once more,
// and gives its id. It is ErrStale where it waits already, or a turn has it.
func (t eventRows) AskAgain(ctx context.Context, e work.Event) (int64, error) {
	if e.SeenAt.IsZero() {
		e.SeenAt = t.tx.Now
	}
	fields := eventFields(&e)
	id, ok, err := rows.Find(ctx, t.tx, "ask by event "+e.Key, rows.ScanID,
		`INSERT INTO events (`+eventColumns+`) VALUES (`+rows.Marks(len(fields))+`)
		 ON CONFLICT (repo_id, event_key) DO UPDATE SET processed_at = 0, outcome = '', turn_id = NULL, seen_at = excluded.seen_at WHERE processed_at > 0
		 RETURNING id`, fields...)
	if err == nil && !ok {
		err = fmt.Errorf("ask by event %s: %w", e.Key, ErrStale)
	}
	return id, err
}

// ListEvents gives every event of an issue or pull request, oldest first.
func (t eventRows) ListEvents(ctx context.Context, repoID int64, number int) ([]work.Event, error) {
	return rows.List(ctx, t.tx, fmt.Sprintf("list events of #%d", number), scanEvents(),
		selectEvent+`WHERE repo_id = ? AND number = ? ORDER BY created_at, id`, repoID, number)
}

// ListItemEvents gives every event of a work item, oldest first.
func (t eventRows) ListItemEvents(ctx context.Context, itemID int64) ([]work.Event, error) {
	return rows.List(ctx, t.tx, fmt.Sprintf("list events of item %d", itemID), scanEvents(),
		selectEvent+`WHERE item_id = ? ORDER BY created_at, id`, itemID)
}

// ListPendingEvents gives every event of a repository that is not processed,
// oldest first, those of live turns included.
func (t eventRows) ListPendingEvents(ctx context.Context, repoID int64) ([]work.Event, error) {
	return rows.List(ctx, t.tx, fmt.Sprintf("list pending events of repository %d", repoID), scanEvents(),
		selectEvent+`WHERE repo_id = ? AND processed_at = 0 ORDER BY created_at, id`, repoID)
}

// ListPendingCommands gives every command of a repository that is not carried out, oldest
// first.
func (t eventRows) ListPendingCommands(ctx context.Context, repoID int64) ([]work.Event, error) {
	return rows.List(ctx, t.tx, fmt.Sprintf("list pending commands of repository %d", repoID), scanEvents(),
		selectEvent+`INDEXED BY events_facts WHERE repo_id = ? AND kind = 'command' AND `+waitingFact+` ORDER BY created_at, id`, repoID)
}

// AssignEvents gives events to a turn. When one of them is processed or
// belongs to a turn already, it fails with ErrStale.
func (t eventRows) AssignEvents(ctx context.Context, turnID int64, eventIDs []int64) error {
	return t.give(ctx, "assign", "turn", eventIDs, turnID, `UPDATE events SET turn_id = ? WHERE id = ? AND turn_id IS NULL AND processed_at = 0`)
}

// give has each event belong to one other row, or fails with ErrStale.
func (t eventRows) give(ctx context.Context, how, to string, ids []int64, owner int64, query string) error {
	for _, id := range ids {
		if err := t.tx.One(ctx, fmt.Sprintf("%s event %d to %s %d", how, id, to, owner), ErrStale, query, owner, id); err != nil {
			return err
		}
	}
	return nil
}

// MoveEvents gives waiting events to another work item.
func (t eventRows) MoveEvents(ctx context.Context, ids []int64, itemID int64) error {
	return t.give(ctx, "move", "item", ids, itemID, `UPDATE events SET item_id = ? WHERE id = ? AND turn_id IS NULL AND processed_at = 0`)
}

// ReleaseEvents takes the events that a turn did not process from it, so that
// another turn can have them.
func (t eventRows) ReleaseEvents(ctx context.Context, turnID int64) error {
	_, err := t.tx.Exec(ctx, fmt.Sprintf("release events of turn %d", turnID),
		`UPDATE events SET turn_id = NULL WHERE turn_id = ? AND processed_at = 0`, turnID)
	return err
}

// FinishEvents marks events as processed. One that is so already keeps its
// outcome.
func (t eventRows) FinishEvents(ctx context.Context, ids []int64, outcome string, at time.Time) error {
	for _, id := range ids {
		_, err := t.tx.Exec(ctx, fmt.Sprintf("finish event %d", id),
			`UPDATE events SET processed_at = ?, outcome = ? WHERE id = ? AND processed_at = 0`, t.tx.Stamp(at), outcome, id)
		if err != nil {
			return err
		}
	}
	return nil
}

// Stranger is another installation of this program, by the account as which it writes.
type Stranger struct {
	RepoID int64
	Login  string
	At     time.Time // when it wrote last, as far as it was seen
}

// ListStrangers gives the other installations that were seen in repositories.
func (t eventRows) ListStrangers(ctx context.Context) ([]Stranger, error) {
	scan := func(row rows.Row) (s Stranger, err error) {
		return s, row.Scan(&s.RepoID, &s.Login, rows.TimeOf(&s.At))
	}
	return rows.List(ctx, t.tx, "list other installations", scan,
		`SELECT repo_id, author_login, max(created_at) FROM events WHERE outcome = ? GROUP BY repo_id, author_login ORDER BY repo_id, author_login`, work.OutcomeOthers)
}

// SetOutcome changes the outcome of a processed event, if it still is as it was read.
func (t eventRows) SetOutcome(ctx context.Context, id int64, from, to string) error {
	_, err := t.tx.Exec(ctx, fmt.Sprintf("note about event %d", id),
		`UPDATE events SET outcome = ? WHERE id = ? AND outcome = ? AND processed_at > 0`, to, id, from)
	return err
}

// FinishTurnEvents marks what a turn has not processed yet as processed.
func (t eventRows) FinishTurnEvents(ctx context.Context, turnID int64, outcome string, at time.Time) error {
	_, err := t.tx.Exec(ctx, fmt.Sprintf("finish events of turn %d", turnID),
		`UPDATE events SET processed_at = ?, outcome = ? WHERE turn_id = ? AND processed_at = 0`, t.tx.Stamp(at), outcome, turnID)
	return err
}

// ReopenEvents has comments of a pull request wait again that got this outcome
// for their thread's sake, and whose thread is not resolved any more: of each
// comment the newest version. No turn has had them.
func (t eventRows) ReopenEvents(ctx context.Context, pullID int64, outcome string) error {
	_, err := t.tx.Exec(ctx, fmt.Sprintf("reopen events of pull request %d", pullID),
		`UPDATE events SET processed_at = 0, outcome = '' FROM pull_requests p
		 WHERE p.id = ? AND events.repo_id = p.repo_id AND events.number = p.number AND events.outcome = ? AND events.turn_id IS NULL
		 AND events.thread_top IN (SELECT top FROM threads WHERE pull_id = p.id AND resolved = 0)
		 AND NOT EXISTS (SELECT 1 FROM events n WHERE n.repo_id = p.repo_id AND n.number = p.number
			AND n.kind = events.kind AND n.source = events.source AND n.id > events.id)`, pullID, outcome)
	return err
}

// ReadAgain notes that a comment reads once more as in a version that is known:
// its author changed their mind back. Other versions that no turn has taken are
// ended, and this one is pending again if it was ended for such an edit. at is
// now; a reading that is older than what is known of the comment is none. One
// that has an outcome is processed with it in place of being pending.
func (t eventRows) ReadAgain(ctx context.Context, e work.Event, at time.Time) error {
	const newest = ` AND NOT EXISTS (SELECT 1 FROM events o WHERE o.repo_id = events.repo_id AND o.number = events.number
		AND o.kind = events.kind AND o.source = events.source AND o.updated_at > ?)`
	if _, err := t.tx.Exec(ctx, "end what "+e.Key+" is read instead of",
		`UPDATE events SET processed_at = ?, outcome = ? WHERE repo_id = ? AND number = ? AND kind = ? AND source = ? AND event_key <> ?
		 AND turn_id IS NULL AND processed_at = 0`+newest,
		t.tx.Stamp(at), OutcomeEdited, e.RepoID, e.Number, e.Kind, e.Source, e.Key, rows.TimeOf(&e.UpdatedAt)); err != nil {
		return err
	}
	processed := int64(0)
	if e.Outcome != "" {
		processed = t.tx.Stamp(at)
	}
	_, err := t.tx.Exec(ctx, "take "+e.Key+" up again",
		`UPDATE events SET processed_at = ?, outcome = ?, updated_at = ?, seen_at = ? WHERE repo_id = ? AND event_key = ? AND outcome = ?`+newest,
		processed, e.Outcome, rows.TimeOf(&e.UpdatedAt), t.tx.Stamp(at), e.RepoID, e.Key, OutcomeEdited, rows.TimeOf(&e.UpdatedAt))
	return err
}

// TakeUpAgain makes an event pending again if it was processed with that
// outcome: what made it so does not hold any more.
func (t eventRows) TakeUpAgain(ctx context.Context, repoID int64, key, outcome string, at time.Time) error {
	_, err := t.tx.Exec(ctx, "take "+key+" up again",
		`UPDATE events SET processed_at = 0, outcome = '', turn_id = NULL, seen_at = ? WHERE repo_id = ? AND event_key = ? AND outcome = ? AND processed_at > 0`,
		t.tx.Stamp(at), repoID, key, outcome)
	return err
}

// KnownEvent is what is known of an event by its key.
type KnownEvent struct {
	Outcome string // why it is processed; empty while it is not
	Edited  bool   // other versions of the same comment are known
}

// ListKnown finds out of many keys those of events that are known: key by key, for which
// SQLite has to be told (CROSS JOIN) where to begin.
func (t eventRows) ListKnown(ctx context.Context, repoID int64, keys []string) (map[string]KnownEvent, error) {
	known := make(map[string]KnownEvent, len(keys))
	_, err := rows.List(ctx, t.tx, "look for events", func(row rows.Row) (none struct{}, err error) {
		var key string
		var e KnownEvent
		err = row.Scan(&key, &e.Outcome, &e.Edited)
		known[key] = e
		return none, err
	}, `SELECT e.event_key, e.outcome, EXISTS (SELECT 1 FROM events o
			WHERE o.repo_id = e.repo_id AND o.number = e.number AND o.kind = e.kind AND o.source = e.source AND o.id <> e.id)
		FROM json_each(?) k CROSS JOIN events e ON e.repo_id = ? AND e.event_key = k.value`, rows.ListOf(&keys), repoID)
	return known, err
}

// HasEvent tells whether an event is known, processed or not.
func (t eventRows) HasEvent(ctx context.Context, repoID int64, key string) (bool, error) {
	_, ok, err := rows.Find(ctx, t.tx, "look for event "+key, rows.ScanID, `SELECT id FROM events WHERE repo_id = ? AND event_key = ?`, repoID, key)
	return ok, err
}
