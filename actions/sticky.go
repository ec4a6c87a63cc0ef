package actions

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/sorted"
)

// sticky is a comment that is kept up to date: it is created once and then edited. A second comment
// would notify people again about the same thing.
type sticky struct {
	id    int64 // id of the comment, once it is found
	url   string
	extra []int64
}

// errTaken says that an effect we saw on GitHub was deleted.
var errTaken = errors.New("a person deleted it")

// find looks for the comment, and succeeds if it has the wanted text. A recorded comment is read by
// its id, because lists may lag, once the text was sent. A comment of a pass whose database was lost is found by its
// token.
func (e *sticky) find(ctx context.Context, s Scope, a work.Action) (observation, bool, error) {
	if id, err := strconv.ParseInt(a.ResultID, 10, 64); err == nil && !a.State.Settled() {
		if e.id, e.url = id, a.ResultURL; a.Sends == 0 {
			return e.observation(), false, nil
		}
		c, ok, err := s.GitHub.Comment(ctx, s.Repo.Current, id)
		if err == nil && !ok {
			err = errTaken
		}
		e.id, e.url = id, c.URL
		return e.observation(), err == nil && sameBody(c.Body, a.Body), err
	}
	all, err := s.GitHub.CommentsOf(ctx, s.Repo.Current, a.Number, lookSince(a))
	if err != nil {
		return observation{}, false, err
	}
	mine := slices.DeleteFunc(all, func(c github.Comment) bool { return !isOurs(s, a, c.Body, c.Author) })
	if len(mine) == 0 {
		if a.Base == work.StickyEdit && !a.State.Settled() { // the item resumed before the comment about its stop was posted
			err = errTaken
		}
		return observation{}, false, err
	}
	sorted.By(mine, func(x, y github.Comment) int { return cmp.Compare(x.ID, y.ID) })
	e.id, e.url = mine[0].ID, mine[0].URL
	first := posted{at: mine[0].CreatedAt}
	for i, c := range mine { // their texts may differ; their id and time prove that they are ours
		if i > 0 && i < a.Made && !c.CreatedAt.After(lastCopy(a, first)) {
			e.extra = append(e.extra, c.ID)
		}
	}
	return e.observation(), sameBody(mine[0].Body, a.Body), nil
}

func (e *sticky) observation() observation {
	return observation{id: strconv.FormatInt(e.id, 10), url: e.url, extra: e.extra}
}

func (e *sticky) do(ctx context.Context, s Scope, a work.Action) (observation, error) {
	if e.id != 0 {
		return e.observation(), s.GitHub.UpdateComment(ctx, s.Repo.Current, e.id, a.Body)
	}
	return comment{}.do(ctx, s, a)
}
