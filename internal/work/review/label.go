package review

import "github.com/mergexo/gh-mergexo/internal/work"

// PeopleLabel plans to set or remove the label that says that only people review a pull request.
func PeopleLabel(repo work.Repo, item int64, number int, name string, has bool) work.Action {
	l := work.Labelling{Without: []string{name}}
	if has {
		l = work.Labelling{With: []work.Label{work.HumanReviewLabel(name)}}
	}
	return l.Action(repo, item, number, "review")
}
