package ingest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// Of a long pull request a pass reads what is new. It is read whole when something happened that
// earlier reviews and threads decide about, and when that is long ago.
func TestALongPullRequestIsReadWholeWhereItMatters(t *testing.T) {
	review := func(state string) func(*github.PullDetail, time.Time) {
		return func(d *github.PullDetail, now time.Time) {
			d.Reviews = append(d.Reviews, github.Review{ID: 900, NodeID: "R900", State: state, Author: ann, SubmittedAt: now, UpdatedAt: now})
		}
	}
	for what, c := range map[string]struct {
		change func(d *github.PullDetail, now time.Time)
		after  time.Duration
		whole  bool
	}{
		"a comment":                    {change: review("COMMENTED")},
		"a draft of ours":              {change: review("PENDING")},
		"a comment half an hour later": {change: review("COMMENTED"), after: rotateAfter, whole: true},
		"nothing but a stamp":          {change: func(*github.PullDetail, time.Time) {}},
		"an approval":                  {change: review("APPROVED"), whole: true},
		"requested changes":            {change: review("CHANGES_REQUESTED"), whole: true},
		"a dismissal":                  {change: review("DISMISSED"), whole: true},
		"a push":                       {change: func(d *github.PullDetail, _ time.Time) { d.HeadOID = "bbb" }, whole: true},
		"another base":                 {change: func(d *github.PullDetail, _ time.Time) { d.Base = "release" }, whole: true},
		"its end":                      {change: func(d *github.PullDetail, _ time.Time) { d.State = work.PullClosed }, whole: true},
	} {
		m := newMachine(t, news{seed: 1, pulls: 1, seconds: 1}, 100)
		const threads = 20
		d := m.hub.pulls[2000]
		for i := range threads {
			id := int64(7000 + i)
			at := noon.Add(-2 * time.Hour)
			d.Threads = append(d.Threads, github.Thread{NodeID: fmt.Sprint("T", id), Top: id, Comments: []github.ReviewComment{{ID: id, Author: ann, CreatedAt: at, UpdatedAt: at, Body: "Here."}}})
		}
		m.hub.pulls[2000] = d
		m.pass(fate{})
		for i, wait := range []time.Duration{time.Minute, time.Minute + c.after} { // the first of them is read in part
			m.hub.now = m.hub.now.Add(wait)
			if i == 1 {
				c.change(&d, m.hub.now)
			}
			d.UpdatedAt = m.hub.now
			m.hub.pulls[2000] = d
			m.pass(fate{})
		}
		var pull work.PullRequest
		var stored []work.Thread
		m.update(func(ctx context.Context, tx *store.Tx, repo work.Repo) (err error) {
			if pull, _, err = tx.GetPull(ctx, repo.ID, 2000); err == nil {
				stored, err = tx.ListThreads(ctx, pull.ID)
			}
			return err
		})
		if whole := pull.WholeAt.IsZero(); whole != c.whole || !pull.DetailsAt.Equal(m.hub.now) || len(stored) != threads {
			t.Errorf("%s: read whole is %t, not %t; at %s, now is %s; %d threads", what, whole, c.whole, pull.DetailsAt, m.hub.now, len(stored))
		}
	}
}
