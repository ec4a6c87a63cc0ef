package status

import (
	"strings"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// People read how much of a repository is to be read, and of one that is read nothing.
func TestWhatIsToBeReadIsTold(t *testing.T) {
	at := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		unread *Unread
		told   string
	}{
		{&Unread{12, terminal.Stamp(at)}, "octo/app: what changed on 12 issues and pull requests is not read yet; the oldest change is of 2026-11-22T12:00:00Z; the next pass resumes there\n"},
		{&Unread{12, terminal.Time{}}, "octo/app: what changed on 12 issues and pull requests is not read yet; the next pass resumes there\n"},
		{nil, ""},
	} {
		var notes strings.Builder
		Repo{Name: "octo/app", Watched: Watched{Unread: c.unread}}.printUnread(&notes, terminal.Output{})
		if notes.String() != c.told {
			t.Errorf("people read %q, not %q", &notes, c.told)
		}
	}
}

func TestARepositoryThatNoPassHasSeenHasNoCurrentName(t *testing.T) {
	app := work.RepoName{Host: "github.com", Owner: "octo", Name: "app"}
	if got := repoOf(work.Repo{Name: app}, "octo/app", store.Counts{}).Current; got != "" {
		t.Errorf("currentName is %q", got)
	}
	if got := repoOf(work.Repo{Name: app, Current: app}, "octo/app", store.Counts{}).Current; got != "octo/app" {
		t.Errorf("currentName is %q", got)
	}
}
