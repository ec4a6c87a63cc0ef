package store

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
)

const eventColumns = `repo_id, item_id, event_key, number, kind, source, content_hash, author_id, author_login, author_bot,
	body, state, url, thread_top, path, line, diff_hunk, created_at, updated_at, seen_at, turn_id, processed_at, outcome, review_id, node`

func eventFields(e *work.Event) []any {
	return []any{
		&e.RepoID,
		refOf(&e.ItemID),
		&e.Key, &e.Number, &e.Kind, &e.Source, &e.Hash, &e.Author.ID, &e.Author.Login, &e.Author.Bot,
		&e.Body, &e.State, &e.URL, &e.ThreadTop, &e.Path, &e.Line, &e.DiffHunk,
		timeOf(&e.CreatedAt),
		timeOf(&e.UpdatedAt),
		timeOf(&e.SeenAt),
		refOf(&e.TurnID),
		timeOf(&e.ProcessedAt),
		&e.Outcome, &e.Review, &e.Node,
	}
}

// scanEvents returns a function that scans each row into the same place and copies it.
func scanEvents() func(scanner) (work.Event, error) {
	var e work.Event
	places := append([]any{&e.ID}, eventFields(&e)...)
	return func(row scanner) (work.Event, error) { return e, row.Scan(places...) }
}

const selectEvent = `SELECT id, ` + eventColumns + ` FROM events `

// AddOrReopenEvent adds an event that asks for a turn, or makes a processed one pending again, and
// returns its id. It fails with ErrStale if the event is pending already or a turn has it.
func (t *Tx) AddOrReopenEvent(ctx context.Context, e work.Event) (int64, error) {
	if e.SeenAt.IsZero() {
		e.SeenAt = t.now
	}
	fields := eventFields(&e)
	id, ok, err := findRow(ctx, t, "ask by event "+e.Key, scanID,
		`INSERT INTO events (`+eventColumns+`) VALUES (`+placeholders(len(fields))+`)
		 ON CONFLICT (repo_id, event_key) DO UPDATE SET processed_at = 0, outcome = '', turn_id = NULL, seen_at = excluded.seen_at WHERE events.processed_at > 0
		 RETURNING id`, fields...)
	if err == nil && !ok {
		err = fmt.Errorf("ask by event %s: %w", e.Key, ErrStale)
	}
	return id, err
}

// ListEvents returns every event of an issue or pull request, oldest first.
func (t *Tx) ListEvents(ctx context.Context, repoID int64, number int) ([]work.Event, error) {
	return listRows(ctx, t, fmt.Sprintf("list events of #%d", number), scanEvents(),
		selectEvent+`WHERE repo_id = ? AND number = ? ORDER BY created_at, id`, repoID, number)
}

// ListItemEvents returns every event of a work item, oldest first.
func (t *Tx) ListItemEvents(ctx context.Context, itemID int64) ([]work.Event, error) {
	return listRows(ctx, t, fmt.Sprintf("list events of item %d", itemID), scanEvents(),
		selectEvent+`WHERE item_id = ? ORDER BY created_at, id`, itemID)
}

// FindHeadEvent returns the newest event of a pull request's move to a head.
func (t *Tx) FindHeadEvent(ctx context.Context, repoID int64, number int, head string) (work.Event, bool, error) {
	return findRow(ctx, t, fmt.Sprintf("find the event of the head of #%d", number), scanEvents(),
		selectEvent+`WHERE repo_id = ? AND number = ? AND kind = ? AND source = ? ORDER BY created_at DESC, id DESC LIMIT 1`, repoID, number, work.EventHead, head)
}

// ListPendingEvents returns every unprocessed event of a repository, oldest first, including those
// of live turns.
func (t *Tx) ListPendingEvents(ctx context.Context, repoID int64) ([]work.Event, error) {
	return listRows(ctx, t, fmt.Sprintf("list pending events of repository %d", repoID), scanEvents(),
		selectEvent+`WHERE repo_id = ? AND kind >= '' AND processed_at = 0 ORDER BY created_at, id`, repoID)
}

// ListPendingCommands returns every unprocessed command of a repository, oldest first.
func (t *Tx) ListPendingCommands(ctx context.Context, repoID int64) ([]work.Event, error) {
	return listRows(ctx, t, fmt.Sprintf("list pending commands of repository %d", repoID), scanEvents(),
		selectEvent+`WHERE repo_id = ? AND kind = 'command' AND processed_at = 0 ORDER BY created_at, id`, repoID)
}

// AssignEvents gives events to a turn. It fails with ErrStale if one of them is processed or
// belongs to a turn already.
func (t *Tx) AssignEvents(ctx context.Context, turnID int64, eventIDs []int64) error {
	return t.setEventOwner(ctx, "assign", "turn", eventIDs, turnID, `UPDATE events SET turn_id = ? WHERE id = ? AND turn_id IS NULL AND processed_at = 0`)
}

// setEventOwner sets the owner of each event with query. It fails with ErrStale if query changes no
// row.
func (t *Tx) setEventOwner(ctx context.Context, how, to string, ids []int64, owner int64, query string) error {
	for _, id := range ids {
		if err := t.execOne(ctx, fmt.Sprintf("%s event %d to %s %d", how, id, to, owner), ErrStale, query, owner, id); err != nil {
			return err
		}
	}
	return nil
}

// MoveEvents moves pending events to another work item.
func (t *Tx) MoveEvents(ctx context.Context, ids []int64, itemID int64) error {
	return t.setEventOwner(ctx, "move", "item", ids, itemID, `UPDATE events SET item_id = ? WHERE id = ? AND turn_id IS NULL AND processed_at = 0`)
}

// ReleaseEvents takes a turn's unprocessed events from it, so that another turn can have them.
func (t *Tx) ReleaseEvents(ctx context.Context, turnID int64) error {
	return t.write(ctx, fmt.Sprintf("release events of turn %d", turnID),
		`UPDATE events SET turn_id = NULL WHERE turn_id = ? AND processed_at = 0`, turnID)
}

// longestOutcome bounds outcomes, in bytes: they are indexed, and may quote what GitHub answered.
const longestOutcome = 500

func cutOutcome(s string) string {
	return strings.ToValidUTF8(s[:min(len(s), longestOutcome)], "")
}

// FinishEvents marks events as processed. Processed events keep their outcome.
func (t *Tx) FinishEvents(ctx context.Context, ids []int64, outcome string, at time.Time) error {
	for _, id := range ids {
		err := t.write(ctx, fmt.Sprintf("finish event %d", id),
			`UPDATE events SET processed_at = ?, outcome = ? WHERE id = ? AND processed_at = 0`, t.stamp(at), cutOutcome(outcome), id)
		if err != nil {
			return err
		}
	}
	return nil
}

// TakeBack records that commands that were carried out are not in their comments any more.
func (t *Tx) TakeBack(ctx context.Context, ids []int64) error {
	for _, id := range ids {
		if err := t.write(ctx, fmt.Sprintf("take back event %d", id), `UPDATE events SET outcome = ? WHERE id = ? AND processed_at > 0`, OutcomeEdited, id); err != nil {
			return err
		}
	}
	return nil
}

// OtherInstallation is another installation of gh mergexo, identified by its account.
type OtherInstallation struct {
	RepoID int64
	Login  string
	At     time.Time // its newest comment that was seen
}

// ListOtherInstallations returns other installations that were seen in repositories.
func (t *Tx) ListOtherInstallations(ctx context.Context) ([]OtherInstallation, error) {
	scan := func(row scanner) (s OtherInstallation, err error) {
		return s, row.Scan(&s.RepoID, &s.Login, timeOf(&s.At))
	}
	return listRows(ctx, t, "list other installations", scan,
		`SELECT repo_id, author_login, max(created_at) FROM events WHERE outcome = ? GROUP BY repo_id, author_login ORDER BY repo_id, author_login`, work.OutcomeOthers)
}

// FinishTurnEvents marks a turn's unprocessed events as processed.
func (t *Tx) FinishTurnEvents(ctx context.Context, turnID int64, outcome string, at time.Time) error {
	return t.write(ctx, fmt.Sprintf("finish events of turn %d", turnID),
		`UPDATE events SET processed_at = ?, outcome = ? WHERE turn_id = ? AND processed_at = 0`, t.stamp(at), cutOutcome(outcome), turnID)
}

// ReopenEvents makes comments of a pull request pending again that got this outcome because their
// thread was resolved, if the thread no longer is. It reopens the newest version of each comment.
// No turn has had them.
func (t *Tx) ReopenEvents(ctx context.Context, pullID int64, outcome string) error {
	threads, err := t.ListThreads(ctx, pullID)
	if err != nil {
		return err
	}
	var tops []int64
	for _, x := range threads {
		if !x.Resolved {
			tops = append(tops, x.Top)
		}
	}
	_, err = execIn(ctx, t, fmt.Sprintf("reopen events of pull request %d", pullID),
		`UPDATE events SET processed_at = 0, outcome = '' FROM pull_requests p
		 WHERE p.id = ? AND events.repo_id = p.repo_id AND events.number = p.number AND events.outcome = ? AND events.turn_id IS NULL
		 AND NOT EXISTS (SELECT 1 FROM events n WHERE n.repo_id = p.repo_id AND n.number = p.number
			AND n.kind = events.kind AND n.source = events.source AND n.id > events.id)
		 AND events.thread_top IN (%s)`, tops, pullID, outcome)
	return err
}

// RecordEditBack records that a comment was edited back to a known version. Other versions that no
// turn has taken are ended. The known version is pending again if it was ended by an edit, or
// processed with e.Outcome if that is set. So is one that did not count for its last editor or because it was hidden. at is now. A reading that is older than the stored one
// is ignored.
func (t *Tx) RecordEditBack(ctx context.Context, e work.Event, at time.Time) error {
	const newest = ` AND NOT EXISTS (SELECT 1 FROM events o WHERE o.repo_id = events.repo_id AND o.number = events.number
		AND o.kind = events.kind AND o.source = events.source AND o.updated_at > ?)`
	if err := t.write(ctx, "end what "+e.Key+" is read instead of",
		`UPDATE events SET processed_at = ?, outcome = ? WHERE repo_id = ? AND number = ? AND kind = ? AND source = ? AND event_key <> ?
		 AND turn_id IS NULL AND processed_at = 0`+newest,
		t.stamp(at), OutcomeEdited, e.RepoID, e.Number, e.Kind, e.Source, e.Key, timeOf(&e.UpdatedAt)); err != nil {
		return err
	}
	processed := int64(0)
	if e.Outcome != "" {
		processed = t.stamp(at)
	}
	return t.write(ctx, "take "+e.Key+" up again",
		`UPDATE events SET processed_at = ?, outcome = ?, updated_at = ?, seen_at = ? WHERE repo_id = ? AND event_key = ? AND outcome IN (?, ?, ?)`+newest,
		processed, e.Outcome, timeOf(&e.UpdatedAt), t.stamp(at), e.RepoID, e.Key, OutcomeEdited, work.OutcomeEditedByOther, work.OutcomeHidden, timeOf(&e.UpdatedAt))
}

// ListHidden returns the comments of a repository that do not count because people hid them, and that
// were looked at before a time, longest ago first: at most most, of open work and of none.
func (t *Tx) ListHidden(ctx context.Context, repoID int64, before time.Time, most int) ([]work.Event, error) {
	return listRows(ctx, t, "list hidden comments", scanEvents(),
		selectEvent+`WHERE repo_id = ? AND outcome = ? AND processed_at > 0 AND seen_at < ? AND node <> ''
		 AND (item_id IS NULL OR item_id IN (SELECT id FROM work_items WHERE `+openItem+`)) ORDER BY seen_at, id LIMIT ?`, repoID, work.OutcomeHidden, t.stamp(before), most)
}

// LookedAt records when events were looked at last.
func (t *Tx) LookedAt(ctx context.Context, ids []int64, at time.Time) error {
	for _, id := range ids {
		if err := t.write(ctx, fmt.Sprintf("look at event %d", id), `UPDATE events SET seen_at = ? WHERE id = ?`, t.stamp(at), id); err != nil {
			return err
		}
	}
	return nil
}

// ReopenEvent makes an event pending again if it was processed with outcome, because the cause of
// that outcome no longer exists.
func (t *Tx) ReopenEvent(ctx context.Context, repoID int64, key, outcome string, at time.Time) error {
	return t.write(ctx, "take "+key+" up again",
		`UPDATE events SET processed_at = 0, outcome = '', turn_id = NULL, seen_at = ? WHERE repo_id = ? AND event_key = ? AND outcome = ? AND processed_at > 0`,
		t.stamp(at), repoID, key, outcome)
}

// KnownEvent is the stored state of an event.
type KnownEvent struct {
	Outcome string // why it is processed; empty: it is not
	Edited  bool   // other versions of the same comment are stored
}

// ListKnown returns the known events among keys, by key.
func (t *Tx) ListKnown(ctx context.Context, repoID int64, keys []string) (map[string]KnownEvent, error) {
	known := make(map[string]KnownEvent, len(keys))
	_, err := listIn(ctx, t, "look for events", func(row scanner) (none struct{}, err error) {
		var key string
		var e KnownEvent
		err = row.Scan(&key, &e.Outcome, &e.Edited)
		known[key] = e
		return none, err
	}, `SELECT e.event_key, e.outcome, EXISTS (SELECT 1 FROM events o
			WHERE o.repo_id = e.repo_id AND o.number = e.number AND o.kind = e.kind AND o.source = e.source AND o.id <> e.id)
		FROM events e WHERE e.repo_id = ? AND e.event_key IN (%s)`, keys, repoID)
	return known, err
}

// HasEvent tells whether an event is known, processed or not.
func (t *Tx) HasEvent(ctx context.Context, repoID int64, key string) (bool, error) {
	_, ok, err := findRow(ctx, t, "look for event "+key, scanID, `SELECT id FROM events WHERE repo_id = ? AND event_key = ?`, repoID, key)
	return ok, err
}

// A burst of comments is stored with few statements, because entering and leaving SQLite is most of
// a row's cost.

// AddEvent adds an event unless its key is known, and reports whether it was new. A known event is
// unchanged. The event may be processed already: ignored events are counted by their outcome.
func (t *Tx) AddEvent(ctx context.Context, e work.Event) (bool, error) {
	added, err := t.AddEvents(ctx, []work.Event{e})
	return len(added) > 0, err
}

// AddEvents is AddEvent for many events, in order. It returns the new ones, with their ids.
func (t *Tx) AddEvents(ctx context.Context, events []work.Event) ([]work.Event, error) {
	var added []work.Event
	for some := range batches(events) {
		fresh, err := t.insertEvents(ctx, slices.Clone(some))
		if err != nil {
			return nil, err
		}
		added = append(added, fresh...)
	}
	return added, nil
}

// insertEvents adds the events whose keys are unknown, and returns them with their ids.
func (t *Tx) insertEvents(ctx context.Context, events []work.Event) ([]work.Event, error) {
	what := "add event " + events[0].Key
	if len(events) > 1 {
		what = fmt.Sprintf("%s and %d more", what, len(events)-1)
	}
	if t.readOnly {
		return nil, fmt.Errorf("%s: %w", what, ErrReadOnly)
	}
	type key struct {
		repo int64
		key  string
	}
	var fields []any
	for i := range events {
		e := &events[i]
		if e.SeenAt.IsZero() {
			e.SeenAt = t.now
		}
		fields = append(fields, eventFields(e)...)
	}
	ids := make(map[key]int64, len(events))
	_, err := listRows(ctx, t, what, func(row scanner) (id int64, err error) {
		var k key
		err = row.Scan(&id, &k.repo, &k.key)
		ids[k] = id
		return id, err
	}, `INSERT INTO events (`+eventColumns+`) VALUES `+rowPlaceholders(len(events), len(fields)/len(events))+`
		ON CONFLICT (repo_id, event_key) DO NOTHING RETURNING id, repo_id, event_key`, fields...)
	if err != nil {
		return nil, err
	}
	var added []work.Event
	for _, e := range events {
		k := key{e.RepoID, e.Key}
		if id, ok := ids[k]; ok {
			e.ID = id
			added = append(added, e)
			delete(ids, k) // a second event with this key is not new
		}
	}
	return added, nil
}

// OutcomeEdited is the outcome of a version that was edited before anybody answered it.
const OutcomeEdited = "edited"

// Version identifies a comment and its newest version.
type Version struct {
	Newest int64 // its id
	RepoID int64
	Number int
	Kind   work.EventKind
	Source string
}

// SupersedeOlderVersions ends the older versions of comments that no turn has taken, and returns
// their number. A version is older if it was stored earlier: ids grow, because a pass adds events of a
// repository only while it holds its planning. If versions has several versions of a comment, in any order, the last one
// stored remains.
func (t *Tx) SupersedeOlderVersions(ctx context.Context, versions []Version, at time.Time) (int, error) {
	ended := int64(0)
	for some := range batches(versions) {
		args := []any{t.stamp(at), OutcomeEdited}
		for _, v := range some {
			args = append(args, v.Newest, v.RepoID, v.Number, string(v.Kind), v.Source)
		}
		// The first row has casts, because the types of parameters alone are unknown.
		values := `(CAST(? AS BIGINT), CAST(? AS BIGINT), CAST(? AS BIGINT), CAST(? AS TEXT), CAST(? AS TEXT))`
		if len(some) > 1 {
			values += ", " + rowPlaceholders(len(some)-1, 5)
		}
		n, err := t.exec(ctx, fmt.Sprintf("supersede older versions on #%d", some[0].Number),
			`UPDATE events SET processed_at = ?, outcome = ? WHERE id IN (
				SELECT o.id FROM (VALUES `+values+`) v
				JOIN events o ON o.repo_id = v.column2 AND o.number = v.column3 AND o.kind = v.column4 AND o.source = v.column5 AND o.id < v.column1
				WHERE o.turn_id IS NULL AND o.processed_at + 0 = 0)`, args...) // + 0 stops SQLite from using the index of all pending events
		if err != nil {
			return 0, err
		}
		ended += n
	}
	return int(ended), nil
}
