package github

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github/transport"
	"github.com/mergexo/gh-mergexo/internal/githubsim"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// world is a GitHub on a unix socket with one repository, and a client that reaches it through gh's
// own configuration.
type world struct {
	hub    *githubsim.Hub
	repo   *githubsim.Repo
	client *Client
	name   work.RepoName

	mu       sync.Mutex
	at       time.Time
	requests []transport.Request
}

const lines = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\n"

func (w *world) now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.at
}

func (w *world) advance(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.at = w.at.Add(d)
}

// newWorld makes the accounts alice (owner), bob (write access), carol (none) and the bot
// helper[bot].
func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{at: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), name: repoName("alice", "app")}
	hub, err := githubsim.New(githubsim.Options{Dir: filepath.Join(t.TempDir(), "git"), Now: w.now})
	must(t, err)
	w.hub = hub
	dir, err := os.MkdirTemp("", "gh") // a socket's path must be short
	must(t, err)
	t.Cleanup(func() {
		must(t, hub.Close())
		must(t, os.RemoveAll(dir))
		for _, u := range hub.Unknown() {
			t.Errorf("the simulator has no route for %s", u)
		}
	})
	token, err := hub.AddUser("alice")
	must(t, err)
	for _, login := range []string{"bob", "carol"} {
		_, err := hub.AddUser(login)
		must(t, err)
	}
	_, err = hub.AddBot("helper[bot]")
	must(t, err)
	w.repo, err = hub.AddRepo("alice/app", map[string]string{"README.md": lines})
	must(t, err)
	must(t, w.repo.SetPermission("bob", "write"))
	must(t, w.repo.SetPermission("helper[bot]", "write"))
	socket := filepath.Join(dir, "s")
	must(t, hub.ServeUnix(socket))
	ghConfig(t, map[string]string{"config.yml": "http_unix_socket: " + socket + "\n"}, map[string]string{"GH_HOST": "github.localhost", "GH_TOKEN": token})
	w.client = w.newClient(t, "")
	return w
}

// newClient makes a client with a token, or with gh's for "".
func (w *world) newClient(t *testing.T, token string) *Client {
	t.Helper()
	c, err := New(transport.Options{Token: token, Now: w.now, UserAgent: "gh-mergexo/test", Count: func(r transport.Request) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.requests = append(w.requests, r)
	}})
	must(t, err)
	return c
}

// asked counts the requests since the last call.
func (w *world) asked() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := len(w.requests)
	w.requests = nil
	return n
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// issue opens an issue by alice.
func (w *world) issue(t *testing.T, title string, labels ...string) int {
	t.Helper()
	n, err := w.repo.OpenIssue("alice", title, "body of "+title, labels...)
	must(t, err)
	return n
}

// pull opens a pull request by bob that changes the README, and returns its number and node id.
func (w *world) pull(t *testing.T, branch string) (int, string) {
	t.Helper()
	_, err := w.repo.PushCommit(branch, "bob", map[string]string{"README.md": strings.Replace(lines, "five", "five "+branch, 1)}, "change "+branch)
	must(t, err)
	n, err := w.repo.OpenPull("bob", githubsim.NewPull{Title: "Pull " + branch, Body: "the body", Head: branch})
	must(t, err)
	p, ok, err := w.client.Pull(t.Context(), w.name, n)
	must(t, err)
	if !ok {
		t.Fatalf("pull request %d is not there", n)
	}
	return n, p.NodeID
}

// pulls opens many pull requests and returns their node ids.
func (w *world) pulls(t *testing.T, n int) []string {
	t.Helper()
	var ids []string
	for i := range n {
		_, id := w.pull(t, fmt.Sprintf("topic-%d", i))
		ids = append(ids, id)
	}
	return ids
}
