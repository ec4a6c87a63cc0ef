package actions

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// Looks are looks for actions, made side by side before the first of them is sent, by token.
//
// Such a look is as good as one right before the send. It finds the effects of earlier sends. A row
// that was never sent can only be on GitHub if a pass sent it whose database was lost. That pass died
// before this one began, and GitHub does not hold a request longer than any look waits. Sends of other
// rows in between change nothing, because each is found by its own token. A row that was sent is
// looked for right before it is sent again. A copy that appears even later is removed.
type Looks map[string]look

// look is the effect of an action, with what its find returned.
type look struct {
	effect effect
	seen   observation
	ok     bool
	err    error
}

// looksAtOnce is how many looks run at a time.
const looksAtOnce = 8

// Look looks for actions that were never sent. Looks in one conversation share its listing.
func Look(ctx context.Context, s Scope, planned ...work.Action) Looks {
	s.GitHub = &listings{Gateway: s.GitHub, comments: map[int]func() ([]github.Comment, error){}, reviewComments: map[int]func() ([]github.ReviewComment, error){}}
	looks := Looks{}
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
			looks[a.Token] = l
			return nil
		})
	}
	_ = github.AtOnce(ctx, looksAtOnce, reads) // each error is its action's; after a panic there is no look
	return looks
}

// look returns the look for an action: of one that was never sent, an early one counts.
func (s Scope) look(ctx context.Context, e effect, a work.Action) look {
	if early, looked := s.Looks[a.Token]; looked && a.Sends == 0 {
		return early
	}
	return lookFor(ctx, s, e, a)
}

func lookFor(ctx context.Context, s Scope, e effect, a work.Action) look {
	l := look{effect: e}
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

// listings is a GitHub of which each conversation is listed once.
type listings struct {
	Gateway
	mu             sync.Mutex
	comments       map[int]func() ([]github.Comment, error)
	reviewComments map[int]func() ([]github.ReviewComment, error)
}

func (l *listings) CommentsOf(ctx context.Context, repo work.RepoName, number int, since time.Time) ([]github.Comment, error) {
	return once(&l.mu, l.comments, number, func() ([]github.Comment, error) { return l.Gateway.CommentsOf(ctx, repo, number, since) })
}

func (l *listings) ReviewCommentsOf(ctx context.Context, repo work.RepoName, pull int, since time.Time) ([]github.ReviewComment, error) {
	return once(&l.mu, l.reviewComments, pull, func() ([]github.ReviewComment, error) {
		return l.Gateway.ReviewCommentsOf(ctx, repo, pull, since)
	})
}

// once reads a listing, or returns what another look reads or has read. All are looks for rows that
// were never sent, so each reads the whole conversation.
func once[T any](mu *sync.Mutex, read map[int]func() ([]T, error), number int, list func() ([]T, error)) ([]T, error) {
	mu.Lock()
	if read[number] == nil {
		read[number] = sync.OnceValues(list)
	}
	get := read[number]
	mu.Unlock()
	all, err := get()
	return slices.Clone(all), err // a look may sort or cut it
}
