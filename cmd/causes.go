package cmd

import (
	"slices"

	"github.com/mergexo/gh-mergexo/cmd/status"
	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/tick"
)

// causeLines says why repositories were not read: one line for each cause, with
// the repositories that share it.
func causeLines(repos []tick.RepoReport) []string {
	var shared status.SharedLines
	for _, r := range repos {
		if !r.Failed {
			continue
		}
		for _, c := range r.Causes {
			shared.Add(r.Repo, c.Text)
		}
	}
	return shared.Lines()
}

// waitLines says for the repositories that a pass did not ask why it did not.
func waitLines(repos []tick.RepoReport) []string {
	var shared status.SharedLines
	for _, r := range repos {
		if r.Ingested || r.Failed || r.Note == "" {
			continue
		}
		shared.Add(r.Repo, r.Note)
		if r.Until != nil {
			shared.Until(r.Note, *r.Until)
		}
	}
	return shared.Lines()
}

// unreadError says that not a single repository could be read; why stands above
// it.
type unreadError struct{ login bool } // login: for want of one

func (*unreadError) Error() string { return "no repository could be read" }

// failedRepos is an error when a pass could not read a single repository: then
// something is wrong with the set-up. One broken among others is told, and no
// failure of the pass.
func failedRepos(repos []tick.RepoReport, configured int) error {
	failed, logins := 0, 0
	for _, r := range repos {
		if !r.Failed {
			continue
		}
		failed++
		if slices.ContainsFunc(r.Causes, func(c tick.Cause) bool { return c.Code == github.TroubleLogin }) {
			logins++
		}
	}
	if failed > 0 && failed == len(repos) && (configured == 1 || failed > 1 || len(repos) == 1) {
		return &unreadError{login: logins == failed}
	}
	return nil
}
