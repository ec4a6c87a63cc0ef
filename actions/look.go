package actions

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// Looks are looks for actions, made side by side before the first of them is sent. Those for the parts of a
// roadmap are made later, each before its send, but share what they list.
//
// Such a look is as good as one right before the send. It finds the effects of earlier sends. A row
// that was never sent can only be on GitHub if a pass sent it whose database was lost. That pass died
// before this one began, and GitHub does not hold a request longer than any look waits. Sends of other
// rows in between change nothing, because each is found by its own token. A row that was sent is
// looked for right before it is sent again. A copy that appears even later is removed.
type Looks struct {
	made   map[string]look // by token
	shared *listings
}

// look is the effect of an action, with what its find returned.
type look struct {
	effect effect
	seen   observation
	ok     bool
	err    error

	renewals int // of the row that was looked for: another pass may have given it other content since
}

// looksAtOnce is how many looks run at a time.
const looksAtOnce = 8

// Look looks for actions that were never sent. Looks in one conversation share its listing.
func Look(ctx context.Context, s Scope, planned ...work.Action) *Looks {
	looks := &Looks{made: map[string]look{}, shared: &listings{Gateway: s.GitHub, read: map[string]func() answer{}}}
	s.GitHub = looks.shared
	var mu sync.Mutex
	var reads []func(context.Context) error
	for _, a := range planned {
		e, err := effectOf(a.Kind)
		if err != nil || a.State.Settled() || a.Sends > 0 || !looksEarly(a.Kind) {
			continue // a kind that does not exist is an error where it is applied
		}
		reads = append(reads, func(ctx context.Context) error {
			l := lookFor(ctx, s, e, a)
			mu.Lock()
			defer mu.Unlock()
			looks.made[a.Token] = l
			return nil
		})
	}
	_ = github.AtOnce(ctx, looksAtOnce, reads) // each error is its action's; after a panic there is no look
	return looks
}

// CommentsOf returns a whole conversation, with the request of the looks in it.
func (l *Looks) CommentsOf(ctx context.Context, repo work.RepoName, number int) ([]github.Comment, error) {
	return l.shared.CommentsOf(ctx, repo, number, time.Time{})
}

// look returns the look for an action. Of one that was never sent, an early one counts, and what other looks
// have listed.
func (s Scope) look(ctx context.Context, e effect, a work.Action) look {
	if s.Looks == nil || a.Sends > 0 {
		return lookFor(ctx, s, e, a)
	}
	if early, looked := s.Looks.made[a.Token]; looked && early.renewals == a.Renewals {
		return early
	}
	if a.Kind == work.ActionChild || a.Kind == work.ActionBlock || a.Kind == work.ActionFlow && a.Extra != "" {
		s.GitHub = s.Looks.shared
	}
	return lookFor(ctx, s, e, a)
}

func lookFor(ctx context.Context, s Scope, e effect, a work.Action) look {
	l := look{effect: e, renewals: a.Renewals}
	l.seen, l.ok, l.err = e.find(ctx, s, a)
	return l
}

// looksEarly reports whether the look for an action may be made early: it is a listing on GitHub, or of
// the remote's branches. A push names the head that it expects. Status labels are sent by the only pass
// that may send any at that time.
func looksEarly(kind work.ActionKind) bool {
	switch kind { //nolint:exhaustive // the others are looked for right before the send
	case work.ActionPush, work.ActionReply, work.ActionComment, work.ActionPullRequest, work.ActionSticky, work.ActionLabels:
		return true
	}
	return false
}

// listings is a GitHub of which each conversation, each list of issues, each issue and each label is read once.
type listings struct {
	Gateway
	mu   sync.Mutex
	read map[string]func() answer
}

type answer struct {
	value any
	ok    bool
	err   error
}

func (l *listings) CommentsOf(ctx context.Context, repo work.RepoName, number int, since time.Time) ([]github.Comment, error) {
	all, _, err := once(l, fmt.Sprint("comments ", number), func() ([]github.Comment, bool, error) {
		return always(l.Gateway.CommentsOf(ctx, repo, number, since))
	})
	return slices.Clone(all), err // a look may sort or cut it
}

func (l *listings) ReviewCommentsOf(ctx context.Context, repo work.RepoName, pull int, since time.Time) ([]github.ReviewComment, error) {
	all, _, err := once(l, fmt.Sprint("review ", pull), func() ([]github.ReviewComment, bool, error) {
		return always(l.Gateway.ReviewCommentsOf(ctx, repo, pull, since))
	})
	return slices.Clone(all), err
}

func (l *listings) IssuesSince(ctx context.Context, repo work.RepoName, since time.Time) ([]github.Issue, error) {
	all, _, err := once(l, fmt.Sprint("since ", since), func() ([]github.Issue, bool, error) { return always(l.Gateway.IssuesSince(ctx, repo, since)) })
	return all, err
}

func (l *listings) SubIssues(ctx context.Context, repo work.RepoName, number int) ([]github.Issue, bool, error) {
	return once(l, fmt.Sprint("below ", number), func() ([]github.Issue, bool, error) { return l.Gateway.SubIssues(ctx, repo, number) })
}

func (l *listings) Issue(ctx context.Context, repo work.RepoName, number int) (github.Issue, bool, error) {
	return once(l, fmt.Sprint("issue ", number), func() (github.Issue, bool, error) { return l.Gateway.Issue(ctx, repo, number) })
}

func (l *listings) HasLabel(ctx context.Context, repo work.RepoName, name string) (bool, error) {
	has, _, err := once(l, "label "+name, func() (bool, bool, error) { return always(l.Gateway.HasLabel(ctx, repo, name)) })
	return has, err
}

func always[T any](value T, err error) (T, bool, error) { return value, true, err }

// once reads something, or returns what another look reads or has read. All are looks for rows that
// were never sent, so each reads the whole of it.
func once[T any](l *listings, key string, read func() (T, bool, error)) (T, bool, error) {
	l.mu.Lock()
	if l.read[key] == nil {
		l.read[key] = sync.OnceValue(func() answer {
			value, ok, err := read()
			return answer{value, ok, err}
		})
	}
	get := l.read[key]
	l.mu.Unlock()
	got := get()
	return got.value.(T), got.ok, got.err //nolint:forcetypeassert // each key has one type
}
