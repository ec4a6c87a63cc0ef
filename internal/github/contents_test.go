package github

import (
	"net/http"
	"slices"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/githubsim"
)

func TestFileOfACommit(t *testing.T) {
	w := newWorld(t)
	first, err := w.repo.PushCommit("main", "bob", map[string]string{"docs/design/1-a b.md": "one\n"}, "one")
	must(t, err)
	_, err = w.repo.PushCommit("main", "bob", map[string]string{"docs/design/1-a b.md": "two\n"}, "two")
	must(t, err)
	for ref, want := range map[string]string{first: "one\n", "main": "two\n"} {
		got, ok, err := w.client.File(t.Context(), w.name, "docs/design/1-a b.md", ref)
		must(t, err)
		if !ok || string(got) != want {
			t.Errorf("at %s: %q, %v", ref, got, ok)
		}
	}
	if _, ok, err := w.client.File(t.Context(), w.name, "no/such", "main"); ok || err != nil {
		t.Errorf("a file that is not there: %v, %v", ok, err)
	}
	if _, _, err := w.client.File(t.Context(), w.name, "docs", "main"); err == nil {
		t.Error("a folder was read as a file")
	}
}

func TestPullFiles(t *testing.T) {
	w := newWorld(t)
	number, _ := w.pull(t, "topic")
	got, err := w.client.PullFiles(t.Context(), w.name, number)
	must(t, err)
	if !slices.Equal(got, []string{"README.md"}) {
		t.Errorf("files %q", got)
	}
	// Moving a file out of a folder changes that folder.
	w.hub.AddFault(githubsim.Fault{Status: http.StatusOK, Body: `[{"filename":"lib/key.go","previous_filename":"auth/key.go","status":"renamed"},{"filename":"logo.png"}]`})
	got, err = w.client.PullFiles(t.Context(), w.name, number)
	if err != nil || !slices.Equal(got, []string{"lib/key.go", "auth/key.go", "logo.png"}) {
		t.Errorf("files %q, %v", got, err)
	}
}
