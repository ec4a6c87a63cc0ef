package githubsim

import (
	"slices"
	"strings"

	"github.com/graph-gophers/graphql-go"
)

// Reviews are the reviews that the viewer may see: drafts are their author's alone.
func (g *gqlPull) Reviews(a struct {
	PageArgs
	Author *string
	States *[]string
},
) *gqlPage[*gqlReview] {
	var list []*review
	for _, v := range g.p.reviews {
		switch {
		case v.pending() && v.author != g.x.viewer, !g.x.shown(v.lag),
			a.States != nil && !slices.Contains(*a.States, v.state),
			a.Author != nil && (v.author == nil || !strings.EqualFold(v.author.login, *a.Author)):
		default:
			list = append(list, v)
		}
	}
	return gqlPaginate(list, a.PageArgs, g.x.reviewed)
}

// ReviewThreads are the conversations on the diff.
func (g *gqlPull) ReviewThreads(a PageArgs) *gqlPage[*gqlThread] {
	var list []*thread
	for _, t := range g.p.threads {
		if len(g.x.visible(t.comments)) > 0 {
			list = append(list, t)
		}
	}
	return gqlPaginate(list, a, func(t *thread) *gqlThread { return &gqlThread{g.x, t} })
}

// visible leaves the comments that the viewer may see and that lists show yet.
func (x *gql) visible(list []*reviewComment) []*reviewComment {
	var out []*reviewComment
	for _, c := range list {
		if c.visibleTo(x.viewer) && x.shown(c.lag) {
			out = append(out, c)
		}
	}
	return out
}

// gqlReview is a PullRequestReview.
type gqlReview struct {
	*gqlWording
	x *gql
	v *review
}

func (x *gql) reviewed(v *review) *gqlReview { return &gqlReview{&gqlWording{&v.wording}, x, v} }

func (g *gqlReview) ID() graphql.ID            { return graphql.ID(g.v.nodeID) }
func (g *gqlReview) FullDatabaseID() *gqlBig   { return new(gqlBig(g.v.id)) }
func (g *gqlReview) State() string             { return g.v.state }
func (g *gqlReview) Body() string              { return g.v.body }
func (g *gqlReview) URL() gqlURI               { return gqlURI(g.x.urls.reviewPage(g.v)) }
func (g *gqlReview) Author() *gqlAccount       { return gqlAccountOf(g.v.author) }
func (g *gqlReview) AuthorAssociation() string { return g.v.pull.repo.association(g.v.author) }

func (g *gqlReview) Commit() *gqlCommit               { return g.x.commit(g.v.pull.repo, g.v.commitSHA) }
func (g *gqlReview) SubmittedAt() *gqlTime            { return gqlStamp(g.v.submitted) }
func (g *gqlReview) UpdatedAt() gqlTime               { return gqlTime(g.v.updated) }
func (g *gqlReview) ReactionGroups() *[]*gqlReactions { return g.x.reactionGroups(g.v.reactions) }

// gqlThread is a PullRequestReviewThread. One that the viewer sees has a comment.
type gqlThread struct {
	x *gql
	t *thread
}

func (g *gqlThread) ID() graphql.ID       { return graphql.ID(g.t.nodeID) }
func (g *gqlThread) Path() string         { return g.t.path }
func (g *gqlThread) IsResolved() bool     { return g.t.resolved }
func (g *gqlThread) IsOutdated() bool     { return g.t.outdated() }
func (g *gqlThread) top() *gqlDiffComment { return g.x.diffCommented(g.t.top()) }
func (g *gqlThread) Line() *int32         { return g.top().Line() }

// Comments are the conversation.
func (g *gqlThread) Comments(a PageArgs) *gqlPage[*gqlDiffComment] {
	return gqlPaginate(g.x.visible(g.t.comments), a, g.x.diffCommented)
}

// gqlDiffComment is a PullRequestReviewComment.
type gqlDiffComment struct {
	*gqlWording
	x *gql
	c *reviewComment
}

func (x *gql) diffCommented(c *reviewComment) *gqlDiffComment {
	return &gqlDiffComment{&gqlWording{&c.wording}, x, c}
}

func (g *gqlDiffComment) ID() graphql.ID                { return graphql.ID(g.c.nodeID) }
func (g *gqlDiffComment) FullDatabaseID() *gqlBig       { return new(gqlBig(g.c.id)) }
func (g *gqlDiffComment) Body() string                  { return g.c.body }
func (g *gqlDiffComment) URL() gqlURI                   { return gqlURI(g.x.urls.diffCommentPage(g.c)) }
func (g *gqlDiffComment) Author() *gqlAccount           { return gqlAccountOf(g.c.author) }
func (g *gqlDiffComment) CreatedAt() gqlTime            { return gqlTime(g.c.created) }
func (g *gqlDiffComment) UpdatedAt() gqlTime            { return gqlTime(g.c.updated) }
func (g *gqlDiffComment) Path() string                  { return g.c.path }
func (g *gqlDiffComment) DiffHunk() string              { return g.c.diffHunk }
func (g *gqlDiffComment) OriginalCommit() *gqlCommit    { return g.x.commit(g.repo(), g.c.originalSHA) }
func (g *gqlDiffComment) PullRequestReview() *gqlReview { return g.x.reviewed(g.c.review) }
func (g *gqlDiffComment) repo() *Repo                   { return g.c.pull().repo }

// State is PENDING in a draft.
func (g *gqlDiffComment) State() string {
	if g.c.review.pending() {
		return "PENDING"
	}
	return "SUBMITTED"
}

// Outdated tells whether the line was changed since.
func (g *gqlDiffComment) Outdated() bool {
	_, current := g.c.line()
	return !current
}

// Line is null when outdated.
func (g *gqlDiffComment) Line() *int32 {
	n, current := g.c.line()
	if !current {
		return nil
	}
	return gqlLine(n)
}

// Commit is the head, or the commit on which an outdated comment was made.
func (g *gqlDiffComment) Commit() *gqlCommit {
	if g.Outdated() {
		return g.OriginalCommit()
	}
	return g.x.commit(g.repo(), g.c.pull().headOID())
}

// ReplyTo is the thread's first comment, null for that itself.
func (g *gqlDiffComment) ReplyTo() *gqlDiffComment {
	if g.c.inReplyTo == nil {
		return nil
	}
	return g.x.diffCommented(g.c.inReplyTo)
}
