package ingest

import (
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// A label covers the head only if GitHub proves that the head was there in an earlier second.
func TestWhatProvesThatAHeadPrecedesItsLabel(t *testing.T) {
	const second = time.Second
	for name, c := range map[string]struct {
		seen            time.Duration // when an earlier pass read this head, from the label on
		other           bool          // that pass read another head
		updated, pushed time.Duration
		proven          bool
	}{
		"pushed before, and nothing since":     {1, false, 0, -second, true},
		"pushed in the label's second":         {1, false, 0, 0, false},
		"pushed later":                         {1, false, second, second, false},
		"pushed before, and something since":   {1, false, second, -second, false},
		"another branch was pushed":            {1, false, 0, second, false},
		"an earlier pass saw it":               {-second, false, second, second, true},
		"a pass saw it in the label's second":  {second / 2, false, second, second, false},
		"an earlier pass saw another head":     {-second, true, second, second, false},
		"the other head, and pushed before it": {-second, true, 0, -second, true},
		"it was no change for long":            {second, true, -second, -2 * second, true},
	} {
		d := github.PullDetail{Pull: github.Pull{HeadOID: "bbb", UpdatedAt: noon.Add(c.updated), HeadPushed: noon.Add(c.pushed)}}
		old := work.PullRequest{HeadOID: "bbb"}
		if c.seen != 1 {
			old.DetailsAt = noon.Add(c.seen)
		}
		if c.other {
			old.HeadOID = "aaa"
		}
		if got := headPrecedesLabel(noon, old, d); got != c.proven {
			t.Errorf("%s: %t", name, got)
		}
		d.HeadPushed = time.Time{} // the fork was deleted
		if seen := c.seen < 0 && !c.other; headPrecedesLabel(noon, old, d) != seen {
			t.Errorf("%s, and its repository is gone: %t", name, !seen)
		}
	}
}
