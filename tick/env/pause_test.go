package env

import (
	"slices"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// A list and a timeline are read one after the other, and either may lag.
func TestPausesOfATimeline(t *testing.T) {
	at := func(minute int) time.Time { return noon.Add(time.Duration(minute) * time.Minute) }
	event := func(id int64, what string, minute int) github.TimelineEvent {
		return github.TimelineEvent{ID: id, Event: what, Label: "Agent:Ignore", Actor: ann, CreatedAt: at(minute)}
	}
	pause := func(id int64, from, to int) work.Pause {
		p := work.Pause{Number: 2, LabelID: id, Began: at(from), By: "ann"}
		if to > 0 {
			p.Ended = at(to)
		}
		return p
	}
	other := github.TimelineEvent{ID: 3, Event: "unlabeled", Label: "agent:bugfix", CreatedAt: at(2)}
	for name, c := range map[string]struct {
		timeline []github.TimelineEvent
		on       bool
		stamp    int
		pauses   []work.Pause
		freed    int // minute; 0: the label is set or never was
	}{
		"never":                        {[]github.TimelineEvent{other}, false, 5, nil, 0},
		"lasts":                        {[]github.TimelineEvent{event(1, "labeled", 1), other}, true, 5, []work.Pause{pause(1, 1, 0)}, 0},
		"twice":                        {[]github.TimelineEvent{event(1, "labeled", 1), event(4, "unlabeled", 3), event(5, "labeled", 4)}, true, 5, []work.Pause{pause(1, 1, 3), pause(5, 4, 0)}, 0},
		"over":                         {[]github.TimelineEvent{event(1, "labeled", 1), event(4, "unlabeled", 3)}, false, 5, []work.Pause{pause(1, 1, 3)}, 3},
		"the timeline lags the label":  {nil, true, 5, []work.Pause{{Number: 2, Began: at(5), By: "somebody"}}, 0},
		"the list lags the label":      {[]github.TimelineEvent{event(1, "labeled", 1)}, false, 1, []work.Pause{pause(1, 1, 0)}, 0},
		"the timeline lags its ending": {[]github.TimelineEvent{event(1, "labeled", 1)}, false, 5, []work.Pause{pause(1, 1, 5)}, 5},
	} {
		t.Run(name, func(t *testing.T) {
			got := TakeoverOf(2, c.timeline, "agent:ignore", c.on, at(c.stamp))
			freed := time.Time{}
			if c.freed > 0 {
				freed = at(c.freed)
			}
			if !slices.Equal(got.Pauses, c.pauses) || !got.freed.Equal(freed) {
				t.Errorf("%+v", got)
			}
		})
	}
}
