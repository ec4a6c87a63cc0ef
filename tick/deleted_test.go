package tick

import (
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// Our comments count as deleted once a list that cannot lag behind them lacks them.
func TestDeletedCommentsAreToldFromLaggingLists(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	own := work.Event{Kind: work.EventIssue, Source: "7", Outcome: outcomeOwn, CreatedAt: at}
	with := func(change func(*work.Event)) work.Event {
		e := own
		change(&e)
		return e
	}
	tests := []struct {
		name  string
		event work.Event
		shown map[int64]time.Time
		now   time.Time
		gone  bool
	}{
		{"it is there", own, map[int64]time.Time{7: at, 8: at.Add(time.Minute)}, at.Add(time.Hour), false},
		{"something newer is shown", own, map[int64]time.Time{0: at.Add(time.Second)}, at.Add(time.Minute), true},
		{"a later comment of the same second is shown", own, map[int64]time.Time{8: at}, at.Add(time.Minute), true},
		{"the list may lag", own, map[int64]time.Time{6: at.Add(-time.Minute)}, at.Add(time.Minute), false},
		{"no list lags that long", own, nil, at.Add(time.Hour), true},
		{"an edited one", with(func(e *work.Event) { e.Outcome = outcomeOwnEdited }), nil, at.Add(time.Hour), true},
		{"noted before", with(func(e *work.Event) { e.Outcome = outcomeOwnDeleted }), nil, at.Add(time.Hour), false},
		{"a person's", with(func(e *work.Event) { e.Outcome = outcomeAnswered }), nil, at.Add(time.Hour), false},
		{"of another list", with(func(e *work.Event) { e.Kind = work.EventReview }), nil, at.Add(time.Hour), false},
	}
	for _, tt := range tests {
		var s shown
		for id, at := range tt.shown {
			s.add(id, at)
		}
		gone := deletedOwn([]work.Event{tt.event}, s, []work.EventKind{work.EventIssue, work.EventSource}, tt.now)
		if (len(gone) == 1) != tt.gone {
			t.Errorf("%s: %v", tt.name, gone)
		}
	}
}
