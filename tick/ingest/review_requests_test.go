package ingest

import (
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// The label covers a head only if that was certainly there when the label was set.
func TestWasThere(t *testing.T) {
	set := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	before, after := set.Add(-time.Second), set.Add(time.Second)
	for name, tc := range map[string]struct {
		oldHead, head string
		read, updated time.Time // when the old head was read, when the pull request last changed
		want          bool
	}{
		"nothing changed after it":         {"", "a", time.Time{}, set, true},
		"it was no change for long":        {"a", "b", after, before, true},
		"something changed after it":       {"", "a", time.Time{}, after, false},
		"the same head was seen before":    {"a", "a", before, after, true},
		"another head was seen before":     {"a", "b", before, after, false},
		"the same head was seen after":     {"a", "a", after, after, false},
		"seen in the very second":          {"a", "a", set, after, false},
		"a head whose reading is no proof": {"a", "a", time.Time{}, after, false},
	} {
		old := work.PullRequest{HeadOID: tc.oldHead, DetailsAt: tc.read}
		d := github.PullDetail{Pull: github.Pull{HeadOID: tc.head, UpdatedAt: tc.updated}}
		if got := wasThere(set, old, d); got != tc.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
