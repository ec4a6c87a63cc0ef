package merge

import (
	"strings"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/git"
)

func TestDiffers(t *testing.T) {
	many := strings.Split(strings.Repeat("a.go ", 9), " ")[:9]
	for _, c := range []struct {
		landed git.Landing
		want   string
	}{
		{git.Landing{Same: true}, ""},
		{git.Landing{Why: git.OtherTree, Paths: []string{"a.go", "b`\nc"}}, "the files are others than merging the approved commit gives: `a.go`, `b' c`"},
		{git.Landing{Why: git.OtherTree, Paths: many}, "`a.go` and 4 other files"},
		{git.Landing{Why: git.OtherTree, Paths: []string{strings.Repeat("x", 5000)}}, "xxx…`"},
		{git.Landing{Why: git.OtherBase}, "its parent is not the base"},
		{git.Landing{Why: git.OtherHead}, "another commit"},
		{git.Landing{Why: git.NotMergeable}, "conflicts"},
		{git.Landing{Why: git.OtherSeries}, "one by one"},
	} {
		if got := describeMismatch(c.landed); !strings.Contains(got, c.want) || (got == "") != c.landed.Same || len(got) > 2000 {
			t.Errorf("%+v: %q, want %q", c.landed, got, c.want)
		}
	}
}
