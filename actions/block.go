package actions

import (
	"context"
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// block makes an issue blocked by another one, or ends that if Base is work.BlockRemove. Number is
// the blocked issue, Target the other one, in any repository, as work.Dependency.String; Extra the roadmap's
// issue, if both are parts of one. An edge that a person made counts, too. An edge that a person removes later is
// not made again, because its row is settled.
type block struct{ blocker int64 } // database id

// find reads the blocker first: its repository may have been renamed, and GitHub lists it by its
// present name.
func (e *block) find(ctx context.Context, s Scope, a work.Action) (observation, bool, error) {
	d, ok := work.ParseDependency(a.Target, s.Repo.Current)
	if !ok || d.Repo.Host != s.Repo.Current.Host {
		return observation{}, false, &overError{why: a.Target + " is no issue on this host", how: work.EndedRefused}
	}
	if d.Repo.Equal(s.Repo.Name) {
		d.Repo = s.Repo.Current
	}
	by, ok, err := listedPart(ctx, s, a, d)
	if err == nil && !ok {
		by, ok, err = s.GitHub.IssueWherever(ctx, d.Repo, d.Number)
	}
	switch {
	case err != nil:
		return observation{}, false, overIfForbidden(err)
	case !ok:
		return observation{}, false, &overError{why: a.Target + " does not exist or is not visible to this account", how: work.EndedGone}
	case by.IsPull:
		return observation{}, false, &overError{why: a.Target + " is a pull request, which blocks no issue", how: work.EndedRefused}
	}
	e.blocker = by.ID
	is, ok, err := listedPart(ctx, s, a, work.Dependency{Repo: s.Repo.Current, Number: a.Number})
	if err == nil && !is.Blockers.Supported { // it is not listed, or the list leaves that out
		is, ok, err = s.GitHub.Issue(ctx, s.Repo.Current, a.Number)
	}
	switch {
	case err != nil:
		return observation{}, false, err
	case !ok:
		return observation{}, false, &overError{why: "the issue is gone", how: work.EndedGone}
	case !is.Blockers.Supported:
		return observation{}, false, &overError{why: "this host has no dependencies", how: work.EndedRefused}
	case a.Sends == 0 && a.Base == "" && is.Blockers.All == 0: // GitHub refuses an edge that this count does not have yet
		return observation{url: is.URL}, false, nil
	}
	blockers, err := s.GitHub.BlockedBy(ctx, s.Repo.Current, a.Number)
	set := slices.ContainsFunc(blockers, func(b work.Blocker) bool { return strings.EqualFold(b.Ref, by.Ref()) })
	return observation{url: is.URL}, set != (a.Base == work.BlockRemove), err
}

func (e *block) do(ctx context.Context, s Scope, a work.Action) (observation, error) {
	if a.Base == work.BlockRemove {
		return observation{}, overIfRefused(s.GitHub.RemoveBlocker(ctx, s.Repo.Current, a.Number, e.blocker))
	}
	return observation{}, overIfRefused(s.GitHub.AddBlocker(ctx, s.Repo.Current, a.Number, e.blocker))
}

// overIfForbidden ends an action about an issue that GitHub does not show to this account.
func overIfForbidden(err error) error {
	if github.IsStatus(err, 403, 451) {
		return &overError{why: "GitHub does not show it to this account", how: work.EndedRefused}
	}
	return err
}
