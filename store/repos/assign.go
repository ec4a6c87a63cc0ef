package repos

import "github.com/mergexo/gh-mergexo/internal/work"

// assign finds the repository that fits each name best: the one which has the name
// both here and on GitHub; which GitHub calls so today; which had it. Each is given
// to one name; where none fits, the place is empty.
func assign(names []work.RepoName, known []work.Repo) []work.Repo {
	named, called := map[string][]work.Repo{}, map[string][]work.Repo{} // each in the order of known
	for _, r := range known {
		named[nameKey(r.Name)] = append(named[nameKey(r.Name)], r)
		called[nameKey(r.Current)] = append(called[nameKey(r.Current)], r)
	}
	found := make([]work.Repo, len(names))
	taken := map[int64]bool{}
	for _, rule := range []struct {
		among map[string][]work.Repo
		fits  func(work.Repo) bool
	}{
		{named, func(r work.Repo) bool { return r.LeftAt.IsZero() && r.Current.Equal(r.Name) }},
		{called, func(r work.Repo) bool { return !r.Name.Equal(r.Current) }},
		{named, func(work.Repo) bool { return true }},
	} {
		for i, n := range names {
			if found[i].ID != 0 {
				continue
			}
			for _, r := range rule.among[nameKey(n)] {
				if !taken[r.ID] && rule.fits(r) {
					found[i], taken[r.ID] = r, true
					break
				}
			}
		}
	}
	return found
}
