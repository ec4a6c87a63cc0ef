package ingest

import (
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// Our comments count as deleted once a list lacks them that cannot lag behind them any more.
func TestDeletedCommentsAreToldFromLaggingLists(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	own := work.Event{Kind: work.EventIssue, Source: "7", Outcome: work.OutcomeOwn, CreatedAt: at}
	with := func(change func(*work.Event)) work.Event {
		e := own
		change(&e)
		return e
	}
	tests := []struct {
		name  string
		event work.Event
		shown []int64
		now   time.Time
		gone  bool
	}{
		{"it is there", own, []int64{7, 8}, at.Add(time.Hour), false},
		{"the list may lag, though something newer is shown", own, []int64{6, 8}, at.Add(time.Minute), false},
		{"no list lags that long", own, []int64{6, 8}, at.Add(time.Hour), true},
		{"an edited one", with(func(e *work.Event) { e.Outcome = work.OutcomeOwnEdited }), nil, at.Add(time.Hour), true},
		{"noted before", with(func(e *work.Event) { e.Outcome = outcomeOwnDeleted }), nil, at.Add(time.Hour), false},
		{"a person's", with(func(e *work.Event) { e.Outcome = work.OutcomeAnswered }), nil, at.Add(time.Hour), false},
		{"of another list", with(func(e *work.Event) { e.Kind = work.EventReview }), nil, at.Add(time.Hour), false},
	}
	for _, tt := range tests {
		s := commentIDs{}
		for _, id := range tt.shown {
			s.add(id)
		}
		gone := deletedOwn([]work.Event{tt.event}, s, []work.EventKind{work.EventIssue, work.EventSource}, tt.now)
		if (len(gone) == 1) != tt.gone {
			t.Errorf("%s: %v", tt.name, gone)
		}
	}
}
