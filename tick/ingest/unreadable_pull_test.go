package ingest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// unknowing is a hub that does not know one of two pull requests for a while.
type unknowing struct {
	*lively
	lost bool
}

func (u *unknowing) Sweep(ctx context.Context, r work.RepoName, ids []string) (github.Sweep, error) {
	s, err := u.lively.Sweep(ctx, r, ids)
	if u.lost {
		for i := range s.Pulls {
			if s.Pulls[i].Number == 2001 {
				s.Missing = append(s.Missing, s.Pulls[i].NodeID)
				s.Pulls = append(s.Pulls[:i:i], s.Pulls[i+1:]...)
				break
			}
		}
	}
	return s, err
}

// said writes a comment, and gives its id.
func (m *machine) said(id int64, number int) {
	c := github.Comment{ID: id, Number: number, Author: ann, CreatedAt: m.hub.now, UpdatedAt: m.hub.now, Body: fmt.Sprint("Rename it. ", id)}
	m.hub.comments = append(m.hub.comments, c)
	m.hub.add("comments", m.hub.now, c)
}

// knows reports whether a comment is known.
func (m *machine) knows(id int64, number int) (known bool) {
	m.update(func(ctx context.Context, tx *store.Tx, repo work.Repo) error {
		events, err := tx.ListEvents(ctx, repo.ID, number)
		for _, e := range events {
			known = known || e.Source == fmt.Sprint(id)
		}
		return err
	})
	return known
}

// A pull request about which GitHub once did not answer, and that did not change, is as good as
// any other once GitHub does: what people write on its issue, which does not change it, does not
// wait for its turn to be read again.
func TestPullThatGitHubDidNotKnowForOnePass(t *testing.T) {
	m := newMachine(t, news{seed: 1, pulls: 2, seconds: 1}, 10)
	u := &unknowing{lively: &lively{hub: m.hub, deed: func() {}}}
	m.pass(fate{})
	m.hub.now = m.hub.now.Add(time.Minute)
	m.pass(fate{})
	u.lost = true
	m.hub.now = m.hub.now.Add(time.Minute)
	passOn(t, m, u, fate{})
	u.lost = false
	m.hub.now = m.hub.now.Add(time.Minute)
	m.said(50_001, 1001)
	for range 10 {
		passOn(t, m, u, fate{})
		m.hub.now = m.hub.now.Add(time.Minute)
	}
	if !m.knows(50_001, 1001) {
		t.Errorf("ten minutes later a comment is not known:\n%s", m.progress())
	}
}

func passOn(t *testing.T, m *machine, on gitHub, f fate) {
	t.Helper()
	if _, err := passOf(m, on, f); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		t.Log(err)
	}
}
