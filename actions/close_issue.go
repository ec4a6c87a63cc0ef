package actions

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// closeIssue closes an issue; Target is the reason. An issue that anybody closed counts too, for
// whichever reason. Base, if not empty, is the work.IssueHash of what we gave the issue last: it stays
// open if a person touched it since.
type closeIssue struct{}

func (closeIssue) find(ctx context.Context, s Scope, a work.Action) (observation, bool, error) {
	is, ok, err := s.GitHub.Issue(ctx, s.Repo.Current, a.Number)
	if err == nil && !ok {
		err = &overError{why: "the issue is gone", how: work.EndedGone}
	}
	closed := err == nil && is.State != "open"
	if err == nil && !closed && a.Base != "" {
		err = requireUntouched(ctx, s, is, a.Base)
	}
	return observation{id: strconv.Itoa(a.Number), url: is.URL}, closed, err
}

func (closeIssue) do(ctx context.Context, s Scope, a work.Action) (observation, error) {
	err := s.GitHub.CloseIssue(ctx, s.Repo.Current, a.Number, a.Target)
	return observation{id: strconv.Itoa(a.Number)}, overIfRefused(err)
}

// requireUntouched looks whether a person edited an issue of ours, commented on it or put others below it.
func requireUntouched(ctx context.Context, s Scope, is github.Issue, base string) error {
	touched := func(how string) error {
		return &overError{why: "a person " + how, how: work.EndedEdited}
	}
	switch {
	case work.IssueHash(is.Title, is.Body) != base:
		return touched("edited the issue")
	case is.SubIssues.Total > 0:
		return touched("put sub-issues below the issue")
	case is.Comments == 0:
		return nil
	}
	all, err := s.GitHub.CommentsOf(ctx, s.Repo.Current, is.Number, time.Time{})
	if slices.ContainsFunc(all, func(c github.Comment) bool { return !c.Author.Bot && !work.Ours(c.Body, c.Author, s.Accounts) }) {
		return touched("commented on the issue")
	}
	return err
}

// requireUnbegun looks whether work on an issue began since it was planned to edit the issue, or to close
// it as not planned.
func (r *Runner) requireUnbegun(ctx context.Context, a work.Action) error {
	if a.Kind != work.ActionEditIssue && (a.Kind != work.ActionCloseIssue || a.Target != work.CloseNotPlanned) {
		return nil
	}
	return r.Store.View(ctx, func(tx *store.Tx) error {
		all, err := tx.ListWorkOn(ctx, a.RepoID, []int{a.Number})
		if err == nil && all[a.Number].Begun {
			err = &overError{why: "work on the issue has begun", how: work.EndedEdited}
		}
		return err
	})
}
