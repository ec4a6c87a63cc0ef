package store

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// plainly is assignRows as one would say it, in a time that grows with names times repositories.
func plainly(names []work.RepoName, known []work.Repo) []work.Repo {
	found := make([]work.Repo, len(names))
	taken := map[int64]bool{}
	for _, fits := range []func(work.Repo, work.RepoName) bool{
		func(r work.Repo, n work.RepoName) bool {
			return r.RemovedAt.IsZero() && r.Name.Equal(n) && r.Current.Equal(n)
		},
		func(r work.Repo, n work.RepoName) bool { return r.Current.Equal(n) && !r.Name.Equal(n) },
		func(r work.Repo, n work.RepoName) bool { return r.Name.Equal(n) },
	} {
		for i, n := range names {
			at := slices.IndexFunc(known, func(r work.Repo) bool { return !taken[r.ID] && fits(r, n) })
			if found[i].ID == 0 && at >= 0 {
				found[i], taken[known[at].ID] = known[at], true
			}
		}
	}
	return found
}

// However repositories were renamed, left and made again, each name gets the row that the
// rules give it.
func TestPropertyNamesGetTheirRows(t *testing.T) {
	name := rapid.Custom(func(t *rapid.T) work.RepoName {
		return work.RepoName{
			Host:  rapid.SampledFrom([]string{"github.com", "ghe.example"}).Draw(t, "host"),
			Owner: rapid.SampledFrom([]string{"octo", "Octo"}).Draw(t, "owner"),
			Name:  rapid.SampledFrom([]string{"a", "b", "B", "c"}).Draw(t, "name"),
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfN(name, 0, 6).Draw(t, "names")
		known := make([]work.Repo, rapid.IntRange(0, 8).Draw(t, "known"))
		for i := range known {
			known[i] = work.Repo{ID: int64(i + 1), Name: name.Draw(t, "name"), Current: name.Draw(t, "current")}
			if rapid.Bool().Draw(t, "left") {
				known[i].RemovedAt = time.Unix(1, 0)
			}
		}
		got, want := assignRows(names, known), plainly(names, known)
		for i := range want {
			if got[i] != want[i] {
				t.Fatalf("%v gets %+v, not %+v", names[i], got[i], want[i])
			}
		}
	})
}
