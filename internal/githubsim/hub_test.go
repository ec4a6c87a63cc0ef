package githubsim

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// testClock is a clock that stops until it is moved.
type testClock struct {
	mu sync.Mutex
	at time.Time
}

func (c *testClock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *testClock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// world is a hub with people, a repository acme/app, and a client for each of them.
type world struct {
	t      *testing.T
	hub    *Hub
	repo   *Repo
	clock  *testClock
	base   string
	tokens map[string]string
}

const firstFile = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\n"

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, clock: &testClock{at: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}, tokens: map[string]string{}}
	hub, err := New(Options{Dir: filepath.Join(t.TempDir(), "git"), Now: w.clock.now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := hub.Close(); err != nil {
			t.Error(err)
		}
		for _, u := range hub.Unknown() {
			t.Errorf("no route: %s", u)
		}
	})
	w.hub = hub
	for _, login := range []string{"acme", "ann", "tom", "eve", "me"} {
		w.tokens[login], err = hub.AddUser(login)
		w.must(err)
	}
	w.repo, err = hub.AddRepo("acme/app", map[string]string{"README.md": "# App\n", "src/a.txt": firstFile})
	w.must(err)
	w.must(w.repo.SetPermission("ann", "write"))
	w.must(w.repo.SetPermission("me", "write"))
	addr, err := hub.ServeTCP()
	w.must(err)
	w.base = "http://" + addr
	return w
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// response is an answer with its decoded body.
type response struct {
	*http.Response
	text string
}

// do sends a request as somebody ("" for nobody). Headers come in pairs.
func (w *world) do(as, method, path string, body any, headers ...string) response {
	w.t.Helper()
	res, err := w.try(as, method, path, body, headers...)
	if err != nil {
		w.t.Fatalf("%s %s: %v", method, path, err)
	}
	return res
}

func (w *world) try(as, method, path string, body any, headers ...string) (response, error) {
	w.t.Helper()
	var in io.Reader
	if body != nil {
		b, err := json.Marshal(body)
		w.must(err)
		in = bytes.NewReader(b)
	}
	url := path
	if path[0] == '/' {
		url = w.base + path
	}
	req, err := http.NewRequestWithContext(w.t.Context(), method, url, in)
	w.must(err)
	if as != "" {
		req.Header.Set("Authorization", "token "+w.tokens[as])
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.Do(req)
	if err != nil {
		return response{}, err
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	return response{Response: res, text: string(text)}, err
}

// get reads JSON as a T and demands a 200.
func get[T any](w *world, as, path string) T {
	w.t.Helper()
	return want[T](w, http.StatusOK, as, http.MethodGet, path, nil)
}

// want sends a request, demands a status and decodes the answer.
func want[T any](w *world, status int, as, method, path string, body any) T {
	w.t.Helper()
	res := w.do(as, method, path, body)
	if res.StatusCode != status {
		w.t.Fatalf("%s %s: status %d, want %d: %s", method, path, res.StatusCode, status, res.text)
	}
	var out T
	if res.text != "" {
		if err := json.Unmarshal([]byte(res.text), &out); err != nil {
			w.t.Fatalf("%s %s: %v in %s", method, path, err, res.text)
		}
	}
	return out
}

type object = map[string]any

// pull makes a branch that changes a line of src/a.txt and opens a pull request from it.
func (w *world) pull(branch, author string) int {
	w.t.Helper()
	_, err := w.repo.PushCommit(branch, author, map[string]string{"src/a.txt": "one\ntwo\nTHREE " + branch + "\nfour\nfive\nsix\nseven\neight\nnine\nten\n"}, "Change "+branch)
	w.must(err)
	n, err := w.repo.OpenPull(author, NewPull{Title: "Change " + branch, Head: branch})
	w.must(err)
	return n
}

// shortSocket is a socket path that is short enough for the system.
func shortSocket(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "hub")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return filepath.Join(dir, "gh.sock")
}

// decode reads the JSON of an answer.
func decode(w *world, res response, into any) {
	w.t.Helper()
	w.must(json.Unmarshal([]byte(res.text), into))
}
