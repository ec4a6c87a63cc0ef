package folder

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// Leftovers of a slot (sandbox folders, abandoned checkouts) are removed when it is used again.
// Those of other slots stay.
func TestLeftoversOfASlotGoWithItsNextUse(t *testing.T) {
	repo := work.Repo{NodeID: "R_1", Name: work.RepoName{Host: "github.com", Owner: "octo", Name: "app"}}
	free := func(string) bool { return false }
	for _, c := range []struct {
		there []string
		dir   string
		want  []string
	}{
		{
			[]string{"worker-0", "worker-0.box", "worker-0.box.left", "worker-0.2.box", "worker-0.2.box.left-1", "worker-1.box.left", "worker-10.box.left"},
			"worker-0.2",
			[]string{"worker-0.2.box", "worker-0.2.busy", "worker-1.box.left", "worker-10.box.left"},
		},
		{
			[]string{"worker-0", "worker-0.box", "worker-0.1.box.left", "worker-0.2", "worker-0.2.box", "worker-0.2.box.left", "worker-1", "worker-1.box", "worker-1.3"},
			"worker-0.2",
			[]string{"worker-0.2", "worker-0.2.box", "worker-0.2.busy", "worker-1", "worker-1.3", "worker-1.box"},
		},
	} {
		d := Dirs{State: t.TempDir()}
		parent := d.CheckoutParent(repo)
		for _, n := range c.there {
			if err := os.MkdirAll(filepath.Join(parent, n, "held"), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		for _, n := range []string{"worker-0.index", "worker-0.1.busy"} { // they show that these paths were used
			if err := os.WriteFile(filepath.Join(parent, n), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		pl, err := d.TakeCheckout(repo, 0, free)
		if err != nil || filepath.Base(pl.Dir) != c.dir {
			t.Fatalf("%v, %v", pl, err)
		}
		all, err := os.ReadDir(parent)
		if err != nil {
			t.Fatal(err)
		}
		var left []string
		for _, e := range all {
			left = append(left, e.Name())
		}
		want := append(slices.Clone(c.want), "worker-0.index", "worker-0.1.busy")
		slices.Sort(want)
		if !slices.Equal(left, want) {
			t.Errorf("left %q, want %q", left, want)
		}
	}
}
