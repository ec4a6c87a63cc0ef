package status

import (
	"strings"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// People read how far the first look at a repository came, also where nobody watches, and of
// one that is over nothing.
func TestFirstLookIsTold(t *testing.T) {
	at := work.FirstLook{After: "x", Seen: 1200, All: 3000}
	under := Watched{First: &First{at.LookedAt(), at.All, at.Resumes()}}
	for _, c := range []struct {
		app, lib Watched
		told     string
	}{
		{under, Watched{}, "octo/app: 1200 of 3000 open pull requests are looked at so far; the next pass resumes there\n"},
		{under, under, "octo/app and octo/lib: 1200 of 3000 open pull requests are looked at so far; the next pass resumes there\n"},
		{Watched{}, Watched{}, ""},
	} {
		var lines watchLines
		lines.add(Repo{Name: "octo/app", Watched: c.app})
		lines.add(Repo{Name: "octo/lib", Watched: c.lib})
		var notes strings.Builder
		lines.print(&notes)
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
