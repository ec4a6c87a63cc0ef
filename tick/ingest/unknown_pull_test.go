package ingest

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// unknowing is a hub that for a while does not know one pull request.
type unknowing struct {
	*hub
	number int // the unknown one; 0: none
	asked  int
}

func (u *unknowing) Sweep(ctx context.Context, r work.RepoName, ids []string) (github.Sweep, error) {
	s, err := u.hub.Sweep(ctx, r, ids)
	s.Pulls = slices.DeleteFunc(slices.Clone(s.Pulls), func(p github.PullLight) bool {
		if p.Number != u.number {
			return false
		}
		s.Missing = append(s.Missing, p.NodeID)
		u.asked++
		return true
	})
	return s, err
}

// said adds a comment.
func (m *machine) said(id int64, number int) {
	c := github.Comment{ID: id, Number: number, Author: ann, CreatedAt: m.hub.now, UpdatedAt: m.hub.now, Body: fmt.Sprint("Rename it. ", id)}
	m.hub.comments = append(m.hub.comments, c)
	m.hub.add("comments", m.hub.now, c)
}

func (m *machine) knows(id int64, number int) (known bool) {
	m.update(func(ctx context.Context, tx *store.Tx, repo work.Repo) error {
		events, err := tx.ListEvents(ctx, repo.ID, number)
		known = slices.ContainsFunc(events, func(e work.Event) bool { return e.Source == fmt.Sprint(id) })
		return err
	})
	return known
}

// A pull request that GitHub did not know in one pass, and that did not change, is like any other
// once GitHub knows it: comments on its issue, which do not change it, do not wait until it is its
// turn to be read again.
func TestPullThatGitHubDidNotKnowForOnePass(t *testing.T) {
	m := newMachine(t, news{seed: 1, pulls: 2, seconds: 1}, 10)
	u := &unknowing{hub: m.hub}
	m.github = u
	minute := func() {
		m.pass(fate{})
		m.hub.now = m.hub.now.Add(time.Minute)
	}
	minute()
	minute()
	u.number = 2001
	minute()
	u.number = 0
	m.said(50_001, 1001)
	for range 10 {
		minute()
	}
	if u.asked == 0 {
		t.Error("it was known all the time")
	}
	if !m.knows(50_001, 1001) {
		t.Errorf("ten minutes later a comment is not known:\n%s", m.progress())
	}
}
