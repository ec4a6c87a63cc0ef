package store

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store/rows"
)

// A burst of comments is stored with few statements: most of what one row costs is the
// way into SQLite and back.

// AddEvent adds an event unless the repository knows its key, and tells
// whether it was new. A known one is left as it is. An event may come
// processed already: an ignored one is counted by its outcome.
func (t eventRows) AddEvent(ctx context.Context, e work.Event) (bool, error) {
	added, err := t.AddEvents(ctx, []work.Event{e})
	return len(added) > 0, err
}

// AddEvents is AddEvent of many, one after the other, and gives those that were new, with
// their ids. The ids are given here and not by SQLite, so that which of the rows of a statement
// were new can be told from them.
func (t eventRows) AddEvents(ctx context.Context, events []work.Event) ([]work.Event, error) {
	if len(events) == 0 {
		return nil, nil
	}
	last, err := rows.Get(ctx, t.tx, "look for the newest event", rows.ScanID, `SELECT COALESCE(MAX(id), 0) FROM events`)
	if err != nil {
		return nil, err
	}
	events = slices.Clone(events)
	for i := range events {
		e := &events[i]
		e.ID = last + 1 + int64(i)
		if e.SeenAt.IsZero() {
			e.SeenAt = t.tx.Now
		}
	}
	var written int64
	for some := range inSteps(events) {
		n, err := t.insert(ctx, some)
		if err != nil {
			return nil, err
		}
		written += n
	}
	if written == int64(len(events)) {
		return events, nil
	}
	ids, err := rows.List(ctx, t.tx, "look for what was added", rows.ScanID, `SELECT id FROM events WHERE id > ? ORDER BY id`, last)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(events, func(e work.Event) bool {
		_, added := slices.BinarySearch(ids, e.ID)
		return !added
	}), nil
}

// insert adds the rows of events whose keys are not known.
func (t eventRows) insert(ctx context.Context, events []work.Event) (int64, error) {
	what := "add event " + events[0].Key
	if len(events) > 1 {
		what = fmt.Sprintf("%s and %d more", what, len(events)-1)
	}
	var fields []any
	for i := range events {
		if i == 1 {
			fields = slices.Grow(fields, (len(events)-1)*len(fields))
		}
		fields = append(append(fields, &events[i].ID), eventFields(&events[i])...)
	}
	return t.tx.Exec(ctx, what, `INSERT INTO events (id, `+eventColumns+`) VALUES `+marksOf(len(events), len(fields)/len(events))+` ON CONFLICT DO NOTHING`, fields...)
}

// OutcomeEdited is the outcome of a version that was edited before anybody
// answered it.
const OutcomeEdited = "edited"

// Version is what the versions of a comment have in common, and the newest one.
type Version struct {
	Newest int64 // its id
	RepoID int64
	Number int
	Kind   work.EventKind
	Source string
}

// SupersedeOlderVersions ends the older versions of comments that no turn has taken yet,
// and tells how many those were. Older is what was stored before: where several versions of
// one comment are given, in whatever order, the last one stored remains.
func (t eventRows) SupersedeOlderVersions(ctx context.Context, versions []Version, at time.Time) (int, error) {
	ended := int64(0)
	for some := range inSteps(versions) {
		args := []any{t.tx.Stamp(at), OutcomeEdited}
		for _, v := range some {
			args = append(args, v.Newest, v.RepoID, v.Number, string(v.Kind), v.Source)
		}
		n, err := t.tx.Exec(ctx, fmt.Sprintf("supersede older versions on #%d", some[0].Number),
			`UPDATE events SET processed_at = ?, outcome = ? WHERE id IN (
				SELECT o.id FROM (VALUES `+marksOf(len(some), 5)+`) v
				CROSS JOIN events o ON o.repo_id = v.column2 AND o.number = v.column3 AND o.kind = v.column4 AND o.source = v.column5 AND o.id < v.column1
				WHERE o.turn_id IS NULL AND o.processed_at = 0)`, args...)
		if err != nil {
			return 0, err
		}
		ended += n
	}
	return int(ended), nil
}

// How many rows go into one statement. Of each length there is one text, which a
// connection compiles once; what is left goes by shorter ones.
const (
	longStep  = 64
	shortStep = 8
)

// inSteps are the parts of a list that go into one statement each.
func inSteps[T any](list []T) func(func([]T) bool) {
	return func(yield func([]T) bool) {
		for len(list) > 0 {
			n := 1
			for _, step := range []int{longStep, shortStep} {
				if len(list) >= step {
					n = step
					break
				}
			}
			if !yield(list[:n]) {
				return
			}
			list = list[n:]
		}
	}
}

// marksOf are the placeholders of some rows with so many columns.
func marksOf(n, columns int) string {
	return strings.TrimSuffix(strings.Repeat("("+rows.Marks(columns)+"), ", n), ", ")
}
