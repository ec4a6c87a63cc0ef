package github

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github/transport"
	"github.com/mergexo/gh-mergexo/internal/githubsim"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// historyWorld is a GitHub with one repository and a client.
type historyWorld struct {
	hub    *githubsim.Hub
	repo   *githubsim.Repo
	client *Client
	name   work.RepoName
}

func newHistoryWorld(t *testing.T) *historyWorld {
	t.Helper()
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	now := func() time.Time { at = at.Add(time.Second); return at }
	hub, err := githubsim.New(githubsim.Options{Dir: filepath.Join(t.TempDir(), "git"), Now: now})
	must(t, err)
	dir, err := os.MkdirTemp("", "gh") // a socket's path must be short
	must(t, err)
	t.Cleanup(func() {
		must(t, hub.Close())
		must(t, os.RemoveAll(dir))
	})
	token, err := hub.AddUser("alice")
	must(t, err)
	_, err = hub.AddUser("bob")
	must(t, err)
	repo, err := hub.AddRepo("alice/app", map[string]string{"README.md": "# App\n"})
	must(t, err)
	must(t, repo.SetPermission("bob", "write"))
	must(t, hub.ServeUnix(filepath.Join(dir, "s")))
	client, err := New(transport.Options{Host: "github.localhost", Token: token, Socket: filepath.Join(dir, "s"), Now: now})
	must(t, err)
	return &historyWorld{hub: hub, repo: repo, client: client, name: work.RepoName{Host: "github.localhost", Owner: "alice", Name: "app"}}
}

// seed opens issues and a pull request for each.
func (w *historyWorld) seed(t *testing.T, n int) (issues []int, first int) {
	t.Helper()
	for i := range n {
		is, err := w.repo.OpenIssue("bob", fmt.Sprintf("Issue %d", i), "Please.", "agent:bugfix")
		must(t, err)
		issues = append(issues, is)
	}
	first, err := w.repo.SeedPulls(githubsim.Bulk{Pulls: n, Comments: 3, Author: "alice", Reviewer: "bob"})
	must(t, err)
	return issues, first
}

// Pages are sorted by age: closing a pull request between two pages hides no other.
func TestNoOpenPullIsPassedOver(t *testing.T) {
	w := newHistoryWorld(t)
	_, first := w.seed(t, 230)
	seen := map[int]bool{}
	pages, after := 0, ""
	for {
		p, err := w.client.OpenPullsPage(t.Context(), w.name, after)
		must(t, err)
		for _, x := range p.Pulls {
			seen[x.Number] = true
		}
		if pages == 0 {
			if p.All != 230 || p.Repo.NodeID == "" {
				t.Errorf("all %d of %q", p.All, p.Repo.NodeID)
			}
			for i := range 5 {
				must(t, w.repo.Close(first+i, "bob", ""))
			}
		}
		pages++
		if after = p.Next; after == "" {
			break
		}
	}
	if len(seen) != 230 || pages != 3 {
		t.Errorf("%d of 230 were seen on %d pages", len(seen), pages)
	}
}

// One answer about many gives the same as single reads.
func TestHistoriesAreWhatSingleReadsSay(t *testing.T) {
	w := newHistoryWorld(t)
	issues, first := w.seed(t, 3)
	ctx := t.Context()
	_, err := w.repo.Comment(issues[1], "bob", "And this.")
	must(t, err)
	asked := w.asked(t, issues, first)
	h, err := w.client.Histories(ctx, w.name, asked)
	must(t, err)
	for i, n := range issues {
		is, _, err := w.client.Issue(ctx, w.name, n)
		must(t, err)
		got := h.Issues[n]
		is.ID, is.CreatedAt, is.Blockers, is.SubIssues, is.Comments, is.Repo = 0, time.Time{}, Blockers{}, SubIssues{}, 0, work.RepoName{}
		if !reflect.DeepEqual(got, is) {
			t.Errorf("issue %d is %+v, by itself %+v", n, got, is)
		}
		text, _, err := w.client.Text(ctx, is.NodeID)
		must(t, err)
		if got := h.Texts[is.NodeID]; got != text {
			t.Errorf("text %+v, by itself %+v", got, text)
		}
		for _, number := range []int{n, first + i} {
			talk, err := w.client.CommentsOf(ctx, w.name, number, time.Time{})
			must(t, err)
			for i := range h.Comments[number] {
				h.Comments[number][i].Word = work.Word{} // REST does not show it
			}
			if got := h.Comments[number]; len(got) != len(talk) || len(talk) > 0 && !reflect.DeepEqual(got, talk) {
				t.Errorf("the comments of #%d are %+v, by themselves %+v", number, got, talk)
			}
		}
		timeline, err := w.client.TimelineOf(ctx, w.name, n)
		must(t, err)
		var labels []TimelineEvent
		for _, e := range timeline {
			if e.Event == "labeled" {
				e.ID = 0
				labels = append(labels, e)
			}
		}
		if !reflect.DeepEqual(h.Labels[n], labels) || len(labels) == 0 {
			t.Errorf("the labels of #%d are %+v, by themselves %+v", n, h.Labels[n], labels)
		}
		commits, err := w.client.PullCommits(ctx, w.name, first+i)
		must(t, err)
		if got := h.Commits[first+i]; len(got) != len(commits) || got[0].OID != commits[0].OID || got[0].Message != commits[0].Message {
			t.Errorf("commits %+v, by themselves %+v", got, commits)
		}
	}
}

// Issues that are gone, transferred, renamed, pull requests, or longer than a page are left to
// single reads. The others are included.
func TestHistoriesLeaveOutWhatTheyCannotTell(t *testing.T) {
	w := newHistoryWorld(t)
	issues, first := w.seed(t, 4)
	asked := w.asked(t, issues, first)
	must(t, w.repo.EditIssue(issues[2], "bob", new("Renamed"), nil))
	asked[0].Issue = 9999
	asked[1].Issue = first
	h, err := w.client.Histories(t.Context(), w.name, asked)
	must(t, err)
	if _, ok := h.Issues[9999]; ok || len(h.Issues) != 2 {
		t.Errorf("issues %v", h.Issues)
	}
	if _, ok := h.Labels[issues[2]]; ok {
		t.Error("the timeline of an issue that was renamed is told without ids")
	}
	if _, ok := h.Labels[issues[3]]; !ok || len(h.Commits) != 4 {
		t.Errorf("labels %v, commits of %d", h.Labels, len(h.Commits))
	}
}

func (w *historyWorld) asked(t *testing.T, issues []int, first int) (asked []PullWithIssue) {
	t.Helper()
	for i, n := range issues {
		p, ok, err := w.client.Pull(context.WithoutCancel(t.Context()), w.name, first+i)
		if must(t, err); !ok {
			t.Fatal("no pull request")
		}
		asked = append(asked, PullWithIssue{NodeID: p.NodeID, Issue: n})
	}
	return asked
}
