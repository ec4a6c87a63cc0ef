package githubsim

import (
	"slices"
	"time"
)

var reactionRoutes = []route{
	{"GET /issues/{number}/reactions", withIssue(reactionsOf(issueReactions).list)},
	{"POST /issues/{number}/reactions", withIssue(reactionsOf(issueReactions).create)},
	{"DELETE /issues/{number}/reactions/{reaction}", withIssue(reactionsOf(issueReactions).remove)},
	{"GET /issues/comments/{id}/reactions", withComment(reactionsOf(commentReactions).list)},
	{"POST /issues/comments/{id}/reactions", withComment(reactionsOf(commentReactions).create)},
	{"DELETE /issues/comments/{id}/reactions/{reaction}", withComment(reactionsOf(commentReactions).remove)},
	{"GET /pulls/comments/{id}/reactions", withDiffComment(reactionsOf(diffCommentReactions).list)},
	{"POST /pulls/comments/{id}/reactions", withDiffComment(reactionsOf(diffCommentReactions).create)},
	{"DELETE /pulls/comments/{id}/reactions/{reaction}", withDiffComment(reactionsOf(diffCommentReactions).remove)},
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

func (f reactionEndpoints[T]) list(c *call, on T) (reply, *apiError) {
	var list []*reaction
	for _, re := range *f(on).list {
		if want := c.query("content"); want == "" || want == re.content {
			list = append(list, re)
		}
	}
	return pageOf(c, list, c.reaction), nil
}

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

func (f reactionEndpoints[T]) remove(c *call, on T) (reply, *apiError) {
	target, id := f(on), c.number("reaction")
	i := slices.IndexFunc(*target.list, func(re *reaction) bool { return re.id == id })
	if i < 0 || (*target.list)[i].user != c.viewer {
		return reply{}, notFound()
	}
	*target.list = slices.Delete(*target.list, i, i+1)
	return noContent(), nil
}
