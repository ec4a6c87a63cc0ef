package ingest

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/github/transport"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// errNotUnderstood is the refusal of a document by a server whose schema lacks a field of it.
var errNotUnderstood = &transport.Error{Status: 400, Type: "undefinedField", Message: "Field 'new' doesn't exist on type 'PullRequest'"}

// olderHub is a hub that understands no document about many issues and pull requests.
type olderHub struct {
	*hub
	asked atomic.Int32
}

func (h *olderHub) refuse() error {
	h.asked.Add(1)
	return errNotUnderstood
}

func (h *olderHub) DetailsSince(context.Context, []string, map[string]time.Time) ([]github.PullDetail, []string, error) {
	return nil, nil, h.refuse()
}

func (h *olderHub) Histories(context.Context, work.RepoName, []github.PullWithIssue) (github.History, error) {
	return github.History{}, h.refuse()
}

// A batch is split only where another part of it may succeed: a server that does not understand a
// document refuses each part. All of the batch waits, as one that GitHub cannot answer for does.
func TestWhatTheServerDoesNotUnderstandIsNotSplit(t *testing.T) {
	m := newMachine(t, news{seed: 1, pulls: 30, seconds: 60}, 100)
	older := &olderHub{hub: m.hub}
	m.github = older
	m.pass(fate{})
	if n := older.asked.Load(); n != 4 { // the first of the three is also sent ahead; the client would send it once
		t.Errorf("%d queries about the details of 30 pull requests, not 4", n)
	}
	deferred := 0
	m.update(func(ctx context.Context, tx *store.Tx, repo work.Repo) error {
		pulls, err := tx.ListOpenPulls(ctx, repo.ID)
		deferred = 0
		for _, p := range pulls {
			if p.Failures == 1 {
				deferred++
			}
		}
		return err
	})
	if deferred != 30 {
		t.Errorf("%d pull requests of 30 wait", deferred)
	}

	lost := newLostMachine(t, lost{seed: 1, pulls: 20, ours: 10}, 100)
	older = &olderHub{hub: lost.hub}
	lost.github = older
	lost.pass(fate{})
	if n := older.asked.Load(); n > 5 {
		t.Errorf("%d queries about the histories and details of 20 pull requests", n)
	}
	if !github.NotUnderstood(errors.Join(errNotUnderstood)) || github.NotUnderstood(&transport.Error{Status: 400}) || github.NotUnderstood(&transport.Error{Status: 404, Type: "NOT_FOUND"}) {
		t.Error("NotUnderstood is wrong about a document or about an item")
	}
}
