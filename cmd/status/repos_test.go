package status

import (
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/store"
)

// People read how much of a repository is to be read.
func TestWhatIsToBeReadIsTold(t *testing.T) {
	at := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		unread store.Unread
		told   string
	}{
		{store.Unread{Numbers: 12, Since: at}, "octo/app: what changed on 12 issues and pull requests is not read yet; the oldest change is of 2026-11-22T12:00:00Z; the next pass resumes there\n"},
		{store.Unread{Numbers: 12}, "octo/app: what changed on 12 issues and pull requests is not read yet; the next pass resumes there\n"},
	} {
		if got := "octo/app: " + unreadNumbers(c.unread) + "\n"; got != c.told {
			t.Errorf("people read %q, not %q", got, c.told)
		}
	}
}
