package github

import (
	"strings"
	"testing"
)

// Descends tells whether a commit is in the history of a head.
func TestDescends(t *testing.T) {
	w := newWorld(t)
	push := func(branch, file string) string {
		oid, err := w.repo.PushCommit(branch, "bob", map[string]string{file: "x\n"}, file)
		must(t, err)
		return oid
	}
	first := push("topic", "a")
	second := push("topic", "b")
	aside := push("aside", "c")
	for _, c := range []struct {
		head, from string
		yes, known bool
	}{
		{second, first, true, true},
		{first, first, true, true},
		{first, second, false, true}, // reset to an older commit
		{aside, second, false, true}, // rewritten
		{aside, strings.Repeat("1", 40), false, false},
	} {
		yes, known, err := w.client.Descends(t.Context(), w.name, c.head, c.from)
		if yes != c.yes || known != c.known || err != nil {
			t.Errorf("%s from %s: %v, %v, %v", c.head, c.from, yes, known, err)
		}
	}
}
