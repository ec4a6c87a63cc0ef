package ingest

import (
	"context"
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

// A server that does not understand a document refuses it whatever it asks about: nothing is split, the pass
// fails and says which document, and nobody takes it for an answer.
func TestWhatTheServerDoesNotUnderstandFailsThePass(t *testing.T) {
	for name, m := range map[string]*machine{
		"known": newMachine(t, news{seed: 1, pulls: 30, seconds: 60}, 100),
		"lost":  newLostMachine(t, lost{seed: 1, pulls: 20, ours: 10}, 100),
	} {
		older := &olderHub{hub: m.hub}
		m.github = older
		read := func() (at time.Time) {
			m.update(func(_ context.Context, _ *store.Tx, repo work.Repo) error { at = repo.HeartbeatAt; return nil })
			return at
		}
		before := read()
		m.hub.now = m.hub.now.Add(time.Minute)
		m.pass(fate{refused: 1_000_000}) // which is none; it says that an error is expected
		if at := read(); !at.Equal(before) {
			t.Errorf("%s: the repository counts as read at %s", name, at)
		}
		if n := older.asked.Load(); n == 0 || n > 5 {
			t.Errorf("%s: %d queries", name, n)
		}
	}
}
