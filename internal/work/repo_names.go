package work

import "slices"

// AssignRepos finds the repository that fits each name best: the one which has the
// name both here and on GitHub; which GitHub calls so today; which had it. Each is
// given to one name; where none fits, the place is empty.
func AssignRepos(names []RepoName, known []Repo) []Repo {
	rows := make([]Repo, len(names))
	taken := map[int64]bool{}
	for _, fits := range []func(Repo, RepoName) bool{
		func(r Repo, n RepoName) bool {
			return r.LeftAt.IsZero() && r.Name.Equal(n) && r.Current.Equal(n)
		},
		func(r Repo, n RepoName) bool { return r.Current.Equal(n) && !r.Name.Equal(n) },
		func(r Repo, n RepoName) bool { return r.Name.Equal(n) },
	} {
		for i, n := range names {
			at := slices.IndexFunc(known, func(r Repo) bool { return !taken[r.ID] && fits(r, n) })
			if rows[i].ID == 0 && at >= 0 {
				rows[i] = known[at]
				taken[known[at].ID] = true
			}
		}
	}
	return rows
}
