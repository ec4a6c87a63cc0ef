package githubsim

import (
	"slices"
	"time"
)

var commentRoutes = []route{
	{"GET /issues/{number}/comments", withIssue(listIssueComments)},
	{"POST /issues/{number}/comments", withIssue(createComment)},
	{"GET /issues/comments", listComments},
	{"GET /issues/comments/{id}", withComment(getComment)},
	{"PATCH /issues/comments/{id}", withComment(patchComment)},
	{"DELETE /issues/comments/{id}", withComment(deleteComment)},
}

// bodyInput is the body of everything that is only words.
type bodyInput struct {
	Body string `json:"body"`
}

func withComment(fn func(*call, *comment) (reply, *apiError)) endpoint {
	return func(c *call) (reply, *apiError) {
		if x := c.repo.comment(c.number("id")); x != nil {
			return fn(c, x)
		}
		return reply{}, notFound()
	}
}

// shown leaves out what is older than since and what the lists do not show yet.
func (c *call) shown(list []*comment, since time.Time) []*comment {
	var out []*comment
	for _, x := range list {
		if !x.updated.Before(since) && c.h.listed(&x.lag) {
			out = append(out, x)
		}
	}
	return out
}

func listIssueComments(c *call, is *issue) (reply, *apiError) {
	since, e := c.since()
	if e != nil {
		return reply{}, e
	}
	return pageOf(c, c.shown(is.comments, since), c.comment), nil
}

func listComments(c *call) (reply, *apiError) {
	since, e := c.since()
	if e != nil {
		return reply{}, e
	}
	list := c.shown(c.repo.comments, since)
	list = byStamp(c, list, func(x *comment) (created, updated time.Time) { return x.created, x.updated })
	return pageOf(c, list, c.comment), nil
}

// byStamp sorts comments as the request asks for; without a word they stand as they are.
func byStamp[T any](c *call, list []T, stamps func(T) (created, updated time.Time)) []T {
	sort := c.query("sort")
	if sort == "" {
		return list
	}
	list = slices.Clone(list)
	_, direction := c.order("desc")
	sortBy(list, direction, func(x T) time.Time {
		created, updated := stamps(x)
		if sort == "updated" {
			return updated
		}
		return created
	})
	return list
}

func createComment(c *call, is *issue) (reply, *apiError) {
	var in bodyInput
	if e := c.decode(&in); e != nil {
		return reply{}, e
	}
	x, e := c.repo.addComment(c.viewer, is, in.Body)
	if e != nil {
		return reply{}, e
	}
	return created(c.comment(x)), nil
}

func getComment(c *call, x *comment) (reply, *apiError) { return ok(c.comment(x)), nil }

func patchComment(c *call, x *comment) (reply, *apiError) {
	var in bodyInput
	if e := c.decode(&in); e != nil {
		return reply{}, e
	}
	if e := c.repo.editComment(c.viewer, x, in.Body); e != nil {
		return reply{}, e
	}
	return ok(c.comment(x)), nil
}

func deleteComment(c *call, x *comment) (reply, *apiError) {
	return noContent(), c.repo.deleteComment(c.viewer, x)
}
