package merges

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/mergexo/gh-mergexo/internal/github/queries"
	"github.com/mergexo/gh-mergexo/internal/github/transport"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
)

// Box reads what GitHub's merge box shows of a pull request, in one request but for long
// lists. An issue with the freeze label is looked for where there is such a label. Of the
// rules it has the checks alone that GitHub itself shows as expected; what else the base
// demands is for [Merges.Rules].
func (c Merges) Box(ctx context.Context, repo work.RepoName, pullNodeID string, number int, freezeLabel string) (merging.Box, error) {
	b, err := c.box(ctx, pullNodeID, number, freezeLabel)
	if err != nil {
		return merging.Box{}, fmt.Errorf("read the merge box of %s: %w", work.Ref(repo, number), err)
	}
	return b, nil
}

func (c Merges) box(ctx context.Context, id string, number int, freeze string) (merging.Box, error) {
	at := c.api.Now()
	g, err := transport.GraphQL[struct {
		Node wireBox `json:"node"`
	}](ctx, c.api, transport.Reads, queries.Box(), map[string]any{"id": id, "labels": []string{freeze}, "freezes": freeze != ""})
	if err != nil {
		return merging.Box{}, err
	}
	hidden, err := hiddenChecks(g.GraphErrors)
	if err != nil {
		return merging.Box{}, err
	}
	w := &g.Data.Node
	if w.ID != id || w.Number != number {
		return merging.Box{}, &transport.BodyError{URL: g.URL, Err: fmt.Errorf("%s %d for %d", w.Kind, w.Number, number)}
	}
	if err := c.completeBox(ctx, w); err != nil {
		return merging.Box{}, err
	}
	b, err := w.box()
	if err != nil {
		return merging.Box{}, &transport.BodyError{URL: g.URL, Err: err}
	}
	b.At, b.ChecksKnown = at, !hidden
	return b, nil
}

// hiddenChecks reports whether the token was refused the checks, which leaves the rest of
// the answer as it is. Where it was refused its place in a queue, that is not known. Any
// other error spoils the answer.
func hiddenChecks(g transport.GraphErrors) (bool, error) {
	hidden := false
	for _, e := range g.Errors {
		at := func(field string) bool {
			return e.Type == transport.TypeForbidden && slices.Contains(e.Path, any(field))
		}
		switch {
		case at("statusCheckRollup"):
			hidden = true
		case at("status"), at("mergeQueueEntry"):
		default:
			return false, e.Refusal(g.URL)
		}
	}
	return hidden, nil
}

// errMoved is that a pull request was pushed to between two pages about it.
var errMoved = errors.New("the head moved while its lists were read")

// completeBox reads the pages of the lists that the first answer left out. All of them
// are of one head.
func (c Merges) completeBox(ctx context.Context, w *wireBox) error {
	moved := false
	same := func(n wirePage) { moved = moved || n.Head != w.Head }
	if err := transport.More(ctx, c.api, queries.BoxReviews(), w.ID, &w.Reviews, func(n wirePage) transport.Connection[wireReview] { same(n); return n.Reviews }); err != nil {
		return fmt.Errorf("more reviews: %w", err)
	}
	if err := transport.More(ctx, c.api, queries.BoxThreads(), w.ID, &w.Threads, func(n wirePage) transport.Connection[wireThread] { same(n); return n.Threads }); err != nil {
		return fmt.Errorf("more threads: %w", err)
	}
	if w.Rollup != nil {
		if err := transport.More(ctx, c.api, queries.BoxChecks(), w.ID, &w.Rollup.Contexts, func(n wirePage) transport.Connection[wireCheck] { same(n); return n.Rollup.Contexts }); err != nil {
			return fmt.Errorf("more checks: %w", err)
		}
	}
	if moved {
		return errMoved
	}
	return nil
}
