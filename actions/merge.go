package actions

import (
	"context"
	"errors"
	"slices"

	"github.com/mergexo/gh-mergexo/internal/git"
	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/github/transport"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
)

// merger is what merge, enqueue and updateBranch need from GitHub.
type merger interface {
	Pull(ctx context.Context, repo work.RepoName, number int) (github.Pull, bool, error)
	Merge(ctx context.Context, repo work.RepoName, number int, o github.MergeOrder) (string, error)
	Box(ctx context.Context, repo work.RepoName, of merging.BoxOf) (merging.Box, error)
	Enqueue(ctx context.Context, pullNodeID, head string) (merging.Queue, error)
	Dequeue(ctx context.Context, pullNodeID string) error
	UpdateBranch(ctx context.Context, repo work.RepoName, number int, head string) error
}

// landings is what merge needs from git: what is on the base, regardless of what GitHub shows.
type landings interface {
	// Head returns the commit of a branch in the mirror.
	Head(ctx context.Context, branch string) (string, bool, error)
	// IsAncestor reports whether a commit is in the history of another.
	IsAncestor(ctx context.Context, ancestor, of string) (bool, error)
	// FindLanded looks for a merge of head in the history of tip; since "" means all of it.
	FindLanded(ctx context.Context, since, tip, head, token string) (git.Landing, bool, error)
	// HasToken reports whether a commit's message contains the token.
	HasToken(ctx context.Context, commit, token string) (bool, error)
}

// HalfMergedError says that the merge's commit is on the base, but GitHub shows the pull request as
// open. GitHub may be about to close it.
type HalfMergedError struct{ Commit, Branch string }

func (e *HalfMergedError) Error() string {
	return e.Commit + " is on " + e.Branch + ", and GitHub shows the pull request as open"
}

// RefusedError says that GitHub refused to merge, queue or update, and that a look found no effect.
type RefusedError struct {
	github.Refusal
	Err error
}

func (e *RefusedError) Error() string { return e.Err.Error() }
func (e *RefusedError) Unwrap() error { return e.Err }

// overError says why nothing is left to do.
type overError struct {
	why string
	how work.Ending
}

func (e *overError) Error() string { return e.why }

// merge merges a pull request at the approved head. Target is the method, Base the base branch,
// Head the head. Body ends with the token.
type merge struct{}

func (merge) find(ctx context.Context, s Scope, a work.Action) (observation, bool, error) {
	p, ok, err := s.GitHub.Pull(ctx, s.Repo.Current, a.Number)
	switch {
	case err != nil:
		return observation{}, false, err
	case !ok:
		return observation{}, false, &overError{why: "the pull request is gone", how: work.EndedGone}
	case p.State == work.PullMerged:
		return mergedAt(ctx, s, a, p)
	}
	// A commit that is on the base is not merged again, regardless of what GitHub or the database
	// shows.
	commit, err := onBase(ctx, s, a)
	switch {
	case err != nil:
	case commit != "" && p.State == work.PullOpen:
		err = &HalfMergedError{Commit: commit, Branch: a.Base}
	case commit != "": // a person closed the pull request that GitHub had left open
		return observation{id: commit, url: p.URL}, true, nil
	case p.State != work.PullOpen:
		err = &overError{why: "the pull request was closed"}
	}
	return observation{}, false, err
}

// mergedAt decides whether a merge is ours: its commit has our token, or we requested it and GitHub
// names our account. A rebase has no message of ours.
func mergedAt(ctx context.Context, s Scope, a work.Action, p github.Pull) (observation, bool, error) {
	seen := observation{id: p.MergeCommit, url: p.URL}
	if p.HeadOID != a.Head {
		return observation{}, false, &overError{why: "it was merged at another head, " + work.Short(p.HeadOID)}
	}
	if !a.SentAt.IsZero() && p.MergedBy.ID != 0 && slices.Contains(s.Accounts, p.MergedBy.ID) {
		return seen, true, nil
	}
	err := s.Branches.Fetch(ctx, a.Base, p.MergeCommit)
	if err != nil {
		return observation{}, false, err
	}
	ours, err := s.Branches.HasToken(ctx, p.MergeCommit, a.Token)
	if err == nil && !ours {
		err = &overError{why: "it was merged by " + p.MergedBy.Login}
	}
	return seen, err == nil, err
}

// onBase returns the commit with which the base contains a pull request that GitHub does not show
// as merged; empty: it does not.
func onBase(ctx context.Context, s Scope, a work.Action) (string, error) {
	if err := s.Branches.Fetch(ctx, a.Base, a.Head); err != nil {
		return "", err
	}
	tip, ok, err := s.Branches.Head(ctx, a.Base)
	if err != nil || !ok {
		return "", err
	}
	found, _, err := s.Branches.FindLanded(ctx, "", tip, a.Head, a.Token)
	return found.OID, err
}

func (e merge) do(ctx context.Context, s Scope, a work.Action) (observation, error) {
	_, err := s.GitHub.Merge(ctx, s.Repo.Current, a.Number, github.MergeOrder{SHA: a.Head, Method: merging.Method(a.Target), Title: a.Title, Message: a.Body})
	return lookAfter(ctx, s, a, e, err)
}

// lookAfter looks for the effect of a merge. GitHub's answer alone is not trusted.
func lookAfter(ctx context.Context, s Scope, a work.Action, e effect, said error) (observation, error) {
	refusal, refused := github.RefusalOf(said)
	if said != nil && !refused {
		return observation{}, said // the caller looks again after an unclear answer
	}
	seen, ok, err := e.find(ctx, s, a)
	switch {
	case ok && err == nil:
		return seen, nil
	case isOver(err), isHalfMerged(err):
		return observation{}, err
	case err != nil:
		return observation{}, &transport.UnclearError{Err: errors.Join(err, said)}
	case !refused:
		return observation{}, &transport.UnclearError{Err: errors.New("GitHub reports success, and does not show the result")}
	case refusal.Kind == github.HeadMoved && headMoved(ctx, s, a):
		return observation{}, &overError{why: "the head moved: " + refusal.Text}
	case refusal.Kind == github.InProgress:
		return observation{}, &transport.UnclearError{Err: said}
	}
	return observation{}, &RefusedError{Refusal: refusal, Err: said}
}

// headMoved reports whether GitHub shows another head.
func headMoved(ctx context.Context, s Scope, a work.Action) bool {
	p, ok, err := s.GitHub.Pull(ctx, s.Repo.Current, a.Number)
	return err == nil && ok && p.HeadOID != a.Head
}

func isOver(err error) bool {
	_, over := errors.AsType[*overError](err)
	return over
}

func isHalfMerged(err error) bool {
	_, half := errors.AsType[*HalfMergedError](err)
	return half
}
