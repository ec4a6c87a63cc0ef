package looks

import (
	"strings"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// People read how far the first look at a repository came, also where nobody watches, and of
// one that is over nothing.
func TestFirstLookIsTold(t *testing.T) {
	at := work.FirstLook{After: "x", Seen: 1200, All: 3000}
	under := Repo{First: &First{at.LookedAt(), at.All, at.Resumes()}}
	for _, c := range []struct {
		app, lib Repo
		told     string
	}{
		{under, Repo{}, "octo/app: 1200 of 3000 open pull requests are looked at so far; the next pass resumes there\n"},
		{under, under, "octo/app and octo/lib: 1200 of 3000 open pull requests are looked at so far; the next pass resumes there\n"},
		{Repo{}, Repo{}, ""},
	} {
		var lines Lines
		lines.Add("octo/app", work.Repo{}, c.app)
		lines.Add("octo/lib", work.Repo{}, c.lib)
		var notes strings.Builder
		lines.Print(terminal.Output{}, &notes, time.Time{})
		if notes.String() != c.told {
			t.Errorf("people read %q, not %q", &notes, c.told)
		}
	}
}
