package status

import (
	"strings"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// People read how far the first look at a repository came, also where nobody watches, and of
// one that is over nothing.
func TestFirstLookIsTold(t *testing.T) {
	under := work.FirstLook{After: "x", Seen: 1200, All: 3000}.Resumes()
	for _, c := range []struct{ app, lib, told string }{
		{under, "", "octo/app: 1200 of 3000 open pull requests are looked at so far; the next pass resumes there"},
		{under, under, "octo/app and octo/lib: 1200 of 3000 open pull requests are looked at so far; the next pass resumes there"},
		{"", "", ""},
	} {
		told := strings.Join(firstLooks([]Repo{{Name: "octo/app", firstLook: c.app}, {Name: "octo/lib", firstLook: c.lib}}), "\n")
		if told != c.told {
			t.Errorf("people read %q, not %q", told, c.told)
		}
	}
}
