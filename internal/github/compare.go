package github

import (
	"context"
	"fmt"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// wireComparison is what two commits are to each other.
// https://docs.github.com/en/rest/commits/commits#compare-two-commits
type wireComparison struct {
	Status string `json:"status"` // of the second, seen from the first
}

func (w wireComparison) Check() error {
	switch w.Status {
	case "ahead", "identical", "behind", "diverged":
		return nil
	}
	return fmt.Errorf("a comparison says %q", w.Status)
}

// Descends reports whether a commit is in the history of head. It is not known
// where GitHub has not got one of the two, or finds nothing that they have in
// common.
func (c Repositories) Descends(ctx context.Context, repo work.RepoName, head, from string) (yes, known bool, err error) {
	var w wireComparison
	ok, err := find(ctx, c.api, fmt.Sprintf("repos/%s/compare/%s...%s?per_page=1", repo.FullName(), from, head), &w)
	if err != nil || !ok {
		return false, false, err
	}
	return w.Status == "ahead" || w.Status == "identical", true, nil
}
