package githubsim

import (
	"slices"
)

// addComment writes a conversation comment.
func (r *Repo) addComment(actor *user, is *issue, body string) (*comment, *apiError) {
	if e := is.mayTalk(actor); e != nil {
		return nil, e
	}
	if e := needBody("IssueComment", body); e != nil {
		return nil, e
	}
	if len(is.comments) >= r.hub.maxComments {
		return nil, forbidden("Commenting is disabled on issues with more than 2500 comments")
	}
	c := r.makeComment(actor, is, body)
	is.touch()
	r.refer(actor, is, body)
	return c, nil
}

// makeComment makes the record of a comment.
func (r *Repo) makeComment(actor *user, is *issue, body string) *comment {
	h := r.hub
	id, node := r.newID(kindComment)
	c := &comment{issue: is, id: id, nodeID: node, body: body, author: actor, created: h.now(), updated: h.now(), lag: h.newLag("comments")}
	is.comments = append(is.comments, c)
	r.comments = append(r.comments, c)
	h.nodes[node] = c
	is.record(actor, "commented", func(e *event) { e.comment = c })
	return c
}

// editComment changes a comment's words.
func (r *Repo) editComment(actor *user, c *comment, body string) *apiError {
	if e := r.mayEdit(actor, c.author); e != nil {
		return e
	}
	if e := needBody("IssueComment", body); e != nil {
		return e
	}
	if body != c.body {
		c.edit(c.author, c.created, c.body, actor, r.hub.now(), body)
		c.body, c.updated = body, r.hub.now()
		c.issue.touch()
		r.refer(actor, c.issue, body)
	}
	return nil
}

// deleteComment takes a comment away; no trace of it is left, but the issue's stamp.
func (r *Repo) deleteComment(actor *user, c *comment) *apiError {
	if e := r.mayEdit(actor, c.author); e != nil {
		return e
	}
	is := c.issue
	is.comments = without(is.comments, c)
	r.comments = without(r.comments, c)
	is.timeline = slices.DeleteFunc(is.timeline, func(e *event) bool { return e.comment == c })
	delete(r.hub.nodes, c.nodeID)
	is.touch()
	return nil
}

// without removes one element.
func without[T comparable](list []T, gone T) []T {
	return slices.DeleteFunc(list, func(v T) bool { return v == gone })
}
