package ingest

import (
	"cmp"
	"context"
	"sync"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// Reads about one issue do not depend on those about another, and mostly not on each other. So the
// reads of the next issues are sent together. Then the issues are judged one by one, in order; what
// was not read together is read where it is needed.

// atOnce is how many issues are read together, and about how many authors GitHub is asked at a time.
const atOnce = 8

// shortTalk is how many comments of an issue are read before it is known that they count: one page.
const shortTalk = 100

// answers are GitHub's answers to requests that were sent together, by what they are about. An error
// is an answer, too. Each is waited for alone: a request that hangs holds up nothing else.
type answers[K comparable, T any] map[K]*answer[T]

type answer[T any] struct {
	value T
	err   error
	there chan struct{} // closed once it is
}

// send sends a request about key.
func (a answers[K, T]) send(ctx context.Context, sent *sync.WaitGroup, key K, ask func(context.Context) (T, error)) {
	got := &answer[T]{there: make(chan struct{})}
	a[key] = got
	sent.Go(func() {
		defer close(got.there)
		got.err = work.Contain("read from GitHub", func() (err error) { got.value, err = ask(ctx); return err })
	})
}

// take returns the answer about key, once. If nothing was sent, it asks.
func (a answers[K, T]) take(ctx context.Context, key K, ask func(context.Context) (T, error)) (T, error) {
	got, sent := a[key]
	if !sent {
		return ask(ctx)
	}
	delete(a, key)
	return got.wait(ctx)
}

func (a *answer[T]) wait(ctx context.Context) (T, error) {
	<-a.there
	return a.value, cmp.Or(a.err, ctx.Err()) // once the time is up, nothing more is judged
}

// together are answers about issues.
type together struct {
	timelines answers[int, []github.TimelineEvent]
	talks     answers[int, []github.Comment] // whole conversations
}

func newTogether() together {
	return together{answers[int, []github.TimelineEvent]{}, answers[int, []github.Comment]{}}
}

// nextIssues returns the listed issues that are ingested next.
func (h *reading) nextIssues() []github.Issue {
	var next []github.Issue
	for _, c := range h.next[:min(atOnce, len(h.next))] {
		if c.issue != nil && !c.done && !c.waits {
			next = append(next, *c.issue)
		}
	}
	return next
}

// sendForNext sends what the next issues need and was not sent yet.
func (h *reading) sendForNext(ctx context.Context) error {
	repo, hub := h.row.Current, h.repo.GitHub
	for _, is := range h.nextIssues() {
		if _, sent := h.timelines[is.Number]; sent || is.Number == 0 || is.IsPull {
			continue
		}
		item, tracked, err := h.item(ctx, is.Number)
		if err != nil {
			return err
		}
		if !h.needsMoreReads(item, tracked, is) {
			continue
		}
		h.timelines.send(ctx, &h.sent, is.Number, func(ctx context.Context) ([]github.TimelineEvent, error) { return hub.TimelineOf(ctx, repo, is.Number) })
		if !h.isOurs(is.Author) && !isConfirmed(item, is) {
			if err := h.permissions.sendFor(ctx, &h.sent, is.Author, is.UpdatedAt); err != nil {
				return err
			}
		}
		if tracked {
			continue
		}
		if is.Comments > 0 && is.Comments <= shortTalk {
			h.talks.send(ctx, &h.sent, is.Number, func(ctx context.Context) ([]github.Comment, error) {
				return hub.CommentsOf(ctx, repo, is.Number, time.Time{})
			})
		}
	}
	return nil
}
