package githubsim

import (
	"time"
)

var diffCommentRoutes = []route{
	{"GET /pulls/{number}/comments", withPull(listPullDiffComments)},
	{"POST /pulls/{number}/comments/{id}/replies", withPull(createReply)},
	{"GET /pulls/comments", listDiffComments},
	{"GET /pulls/comments/{id}", withDiffComment(getDiffComment)},
	{"DELETE /pulls/comments/{id}", withDiffComment(deleteDiffComment)},
}

// withDiffComment finds the review comment of the path; one of somebody else's draft does not
// exist.
func withDiffComment(fn func(*call, *reviewComment) (reply, *apiError)) endpoint {
	return func(c *call) (reply, *apiError) {
		if x := c.repo.diffComment(c.number("id")); x != nil && x.visibleTo(c.viewer) {
			return fn(c, x)
		}
		return reply{}, notFound()
	}
}

// sortedDiffComments applies since and the order; drafts are in no list.
func (c *call) sortedDiffComments(all []*reviewComment) (reply, *apiError) {
	since, e := c.since()
	if e != nil {
		return reply{}, e
	}
	var list []*reviewComment
	for _, x := range all {
		if !x.review.pending() && !x.updated.Before(since) && c.h.listed(&x.lag) {
			list = append(list, x)
		}
	}
	list = byStamp(c, list, func(x *reviewComment) (created, updated time.Time) { return x.created, x.updated })
	return pageOf(c, list, c.diffComment), nil
}

func listPullDiffComments(c *call, p *pull) (reply, *apiError) {
	return c.sortedDiffComments(p.diffComments)
}

func listDiffComments(c *call) (reply, *apiError) { return c.sortedDiffComments(c.repo.diffComments) }

func createReply(c *call, p *pull) (reply, *apiError) {
	var in bodyInput
	if e := c.decode(&in); e != nil {
		return reply{}, e
	}
	return c.replyTo(p, c.number("id"), in.Body)
}

func (c *call) replyTo(p *pull, id int64, body string) (reply, *apiError) {
	top := c.repo.diffComment(id)
	if top == nil || top.pull() != p || !top.visibleTo(c.viewer) {
		return reply{}, notFound()
	}
	x, e := c.repo.addReply(c.viewer, p, top, body)
	if e != nil {
		return reply{}, e
	}
	return created(c.diffComment(x)), nil
}

func getDiffComment(c *call, x *reviewComment) (reply, *apiError) { return ok(c.diffComment(x)), nil }

func deleteDiffComment(c *call, x *reviewComment) (reply, *apiError) {
	return noContent(), c.repo.deleteDiffComment(c.viewer, x)
}
