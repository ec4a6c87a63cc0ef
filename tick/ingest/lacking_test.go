package ingest

import (
	"context"
	"strings"
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

// A server that does not understand a document refuses it whatever it asks about: nothing is split, the pass
// fails and says which document, and nobody takes it for an answer.
func TestWhatTheServerDoesNotUnderstandFailsThePass(t *testing.T) {
	for name, m := range map[string]*machine{
		"known": newMachine(t, news{seed: 1, pulls: 30, seconds: 60}, 100),
		"lost":  newLostMachine(t, lost{seed: 1, pulls: 20, ours: 10}, 100),
	} {
		older := &olderHub{hub: m.hub}
		m.github = older
		m.pass(fate{})
		if n := older.asked.Load(); n == 0 || n > 5 {
			t.Errorf("%s: %d queries", name, n)
		}
		m.update(func(ctx context.Context, tx *store.Tx, _ work.Repo) error {
			repos, err := tx.ListRepos(ctx)
			if err == nil && (len(repos) != 1 || repos[0].Failures != 1 || !strings.Contains(repos[0].LastError, "Field 'new'")) {
				t.Errorf("%s: the repository is %+v", name, repos)
			}
			return err
		})
	}
}
