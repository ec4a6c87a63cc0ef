package githubsim

import (
	"time"
)

var reactionRoutes = []route{
	{"POST /issues/{number}/reactions", withIssue(reactionsOf(issueReactions).create)},
	{"POST /issues/comments/{id}/reactions", withComment(reactionsOf(commentReactions).create)},
	{"POST /pulls/comments/{id}/reactions", withDiffComment(reactionsOf(diffCommentReactions).create)},
}

// reactable is where the reactions of something are kept, and the stamp that a reaction may bump.
type reactable struct {
	list  *[]*reaction
	stamp *time.Time
}

func issueReactions(is *issue) reactable { return reactable{&is.reactions, &is.updated} }

func commentReactions(x *comment) reactable { return reactable{&x.reactions, &x.updated} }

func diffCommentReactions(x *reviewComment) reactable { return reactable{&x.reactions, &x.updated} }

// reactionEndpoints are the endpoints for the reactions of one kind of thing.
type reactionEndpoints[T any] func(T) reactable

func reactionsOf[T any](find func(T) reactable) reactionEndpoints[T] { return find }

func (f reactionEndpoints[T]) create(c *call, on T) (reply, *apiError) {
	var in struct{ Content string }
	if e := c.decode(&in); e != nil {
		return reply{}, e
	}
	if e := c.repo.need(c.viewer, "read"); e != nil {
		return reply{}, e
	}
	target := f(on)
	re, made, e := c.h.react(c.viewer, target.list, in.Content)
	if e != nil {
		return reply{}, e
	}
	if !made {
		return ok(c.reaction(re)), nil
	}
	if c.h.reactionsBump {
		*target.stamp = c.h.now()
	}
	return created(c.reaction(re)), nil
}
