package githubsim

import (
	"context"

	"github.com/graph-gophers/graphql-go"
)

// gqlPull is a PullRequest.
type gqlPull struct {
	x *gql
	p *pull
}

func (x *gql) pullRequest(p *pull) *gqlPull { return &gqlPull{x, p} }

func (g *gqlPull) ID() graphql.ID                         { return graphql.ID(g.p.nodeID) }
func (g *gqlPull) Number() int32                          { return int32(g.p.number) }
func (g *gqlPull) Title() string                          { return g.p.title }
func (g *gqlPull) Body() string                           { return g.p.body }
func (g *gqlPull) URL() gqlURI                            { return gqlURI(g.x.urls.issuePage(g.p.issue)) }
func (g *gqlPull) State() string                          { return g.p.stateWord() }
func (g *gqlPull) IsDraft() bool                          { return g.p.draft }
func (g *gqlPull) Locked() bool                           { return g.p.locked }
func (g *gqlPull) ClosedAt() *gqlTime                     { return gqlStamp(g.p.closed) }
func (g *gqlPull) CreatedAt() gqlTime                     { return gqlTime(g.p.created) }
func (g *gqlPull) UpdatedAt() gqlTime                     { return gqlTime(g.p.updated) }
func (g *gqlPull) Author() *gqlAccount                    { return gqlAccountOf(g.p.author) }
func (g *gqlPull) HeadRepository() *gqlRepo               { return g.x.repository(g.p.headRepo) }
func (g *gqlPull) IsCrossRepository() bool                { return !g.p.sameRepo() }
func (g *gqlPull) MaintainerCanModify() bool              { return g.p.canModify }
func (g *gqlPull) HeadRef() *gqlRef                       { return g.x.ref(g.p.headRepo, "refs/heads/"+g.p.headRef) }
func (g *gqlPull) HeadRefName() string                    { return g.p.headRef }
func (g *gqlPull) HeadRefOid() gqlOID                     { return gqlOID(g.p.headOID()) }
func (g *gqlPull) BaseRefName() string                    { return g.p.baseRef }
func (g *gqlPull) BaseRefOid() gqlOID                     { return gqlOID(g.p.baseOID()) }
func (g *gqlPull) MergedAt() *gqlTime                     { return gqlStamp(g.p.merged) }
func (g *gqlPull) MergeCommit() *gqlCommit                { return g.x.commit(g.p.repo, g.p.mergeSHA) }
func (g *gqlPull) Milestone() *gqlMilestone               { return nil }
func (g *gqlPull) ProjectCards(PageArgs) gqlCards         { return gqlCards{} }
func (g *gqlPull) ProjectItems(PageArgs) *gqlNoItems      { return &gqlNoItems{} }
func (g *gqlPull) ReactionGroups() *[]*gqlReactions       { return g.x.reactionGroups(g.p.reactions) }
func (g *gqlPull) Labels(a labelArgs) *gqlPage[*gqlLabel] { return a.page(g.p.labels) }

// HeadRepositoryOwner is whose branch it is.
func (g *gqlPull) HeadRepositoryOwner() *gqlAccount {
	if g.p.headRepo == nil {
		return nil
	}
	return gqlAccountOf(g.p.headRepo.owner)
}

// Mergeable is MERGEABLE, CONFLICTING or UNKNOWN, and the same for all fields of an answer.
func (g *gqlPull) Mergeable(ctx context.Context) string {
	if g.x.mergeable[g.p] == "" {
		g.x.mergeable[g.p] = g.p.mergeable(ctx)
	}
	return string(g.x.mergeable[g.p])
}

func (g *gqlPull) size() (added, deleted int32) {
	d, err := g.p.diff()
	if err != nil {
		return 0, 0
	}
	for _, f := range d.files {
		added += int32(f.added)
		deleted += int32(f.deleted)
	}
	return added, deleted
}

// Additions counts the lines that the diff adds.
func (g *gqlPull) Additions() int32 {
	n, _ := g.size()
	return n
}

// ChangedFiles counts the files of the diff.
func (g *gqlPull) ChangedFiles() int32 {
	d, err := g.p.diff()
	if err != nil {
		return 0
	}
	return int32(len(d.files))
}

// gqlFile is a PullRequestChangedFile.
type gqlFile struct {
	Path                 string
	Additions, Deletions int32
}

// Files are those of the diff.
func (g *gqlPull) Files(a PageArgs) (*gqlPage[*gqlFile], error) {
	d, err := g.p.diff()
	if err != nil {
		return nil, err
	}
	return gqlPaginate(d.files, a, func(f fileDiff) *gqlFile { return &gqlFile{f.path, int32(f.added), int32(f.deleted)} }), nil
}

// Deletions counts the lines that the diff takes away.
func (g *gqlPull) Deletions() int32 {
	_, n := g.size()
	return n
}

type gqlPullCommit struct {
	ID     graphql.ID
	Commit *gqlCommit
}

// Commits are the pull request's commits, oldest first.
func (g *gqlPull) Commits(a PageArgs) (*gqlPage[*gqlPullCommit], error) {
	d, err := g.p.diff()
	if err != nil {
		return nil, err
	}
	return gqlPaginate(d.commits, a, func(c commitInfo) *gqlPullCommit {
		return &gqlPullCommit{graphql.ID(namedNodeID("PURC", g.p.id, c.oid)), &gqlCommit{g.x, g.p.repo, c}}
	}), nil
}

// StatusCheckRollup is the head's checks.
func (g *gqlPull) StatusCheckRollup() (*gqlRollup, error) {
	return g.x.rollup(g.p.repo, g.p.headOID())
}

// Assignees are whose it is.
func (g *gqlPull) Assignees(a PageArgs) *gqlPage[*gqlAccount] {
	return gqlPaginate(g.p.assignees, a, gqlAccountOf)
}

// Comments are the conversation.
func (g *gqlPull) Comments(a PageArgs) *gqlPage[*gqlComment] { return g.x.comments(g.p.issue, a) }

// TotalCommentsCount counts the conversation and the diff's comments.
func (g *gqlPull) TotalCommentsCount() *int32 {
	n := len(g.p.comments)
	for _, c := range g.p.diffComments {
		if c.visibleTo(g.x.viewer) {
			n++
		}
	}
	return new(int32(n))
}

// TimelineItems are what happened.
func (g *gqlPull) TimelineItems(a timelineArgs) *gqlPage[*gqlEvent] { return a.page(g.x, g.p.issue) }

type gqlReviewRequest struct {
	ID                graphql.ID
	RequestedReviewer *gqlAccount
}

// ReviewRequests are those who were asked for a review.
func (g *gqlPull) ReviewRequests(a PageArgs) *gqlPage[*gqlReviewRequest] {
	return gqlPaginate(g.p.reviewers, a, func(u *user) *gqlReviewRequest {
		return &gqlReviewRequest{graphql.ID(namedNodeID("RR", g.p.id, u.login)), gqlAccountOf(u)}
	})
}
