package githubsim

import (
	"context"
	"slices"
	"strings"

	"github.com/graph-gophers/graphql-go"
)

// What a pull request says of its merge.

func (g *gqlPull) DatabaseID() *gqlInt        { return new(gqlInt(g.p.id)) }
func (g *gqlPull) FullDatabaseID() *gqlBig    { return new(gqlBig(g.p.id)) }
func (g *gqlPull) Closed() bool               { return g.p.state == "closed" }
func (g *gqlPull) Merged() bool               { return !g.p.merged.IsZero() }
func (g *gqlPull) MergedBy() *gqlAccount      { return gqlAccountOf(g.p.mergedBy) }
func (g *gqlPull) Repository() *gqlRepo       { return &gqlRepo{g.x, g.p.repo} }
func (g *gqlPull) BaseRepository() *gqlRepo   { return &gqlRepo{g.x, g.p.repo} }
func (g *gqlPull) BaseRef() *gqlRef           { return g.x.ref(g.p.repo, "refs/heads/"+g.p.baseRef) }
func (g *gqlPull) AuthorAssociation() string  { return g.p.repo.association(g.p.author) }
func (g *gqlPull) ReviewDecision() *string    { return gqlEnum(g.p.reviewDecision()) }
func (g *gqlPull) IsMergeQueueEnabled() bool  { return g.p.repo.queueMethod(g.p.baseRef) != "" }
func (g *gqlPull) IsInMergeQueue() bool       { return g.p.entry() != nil }
func (g *gqlPull) ViewerDidAuthor() bool      { return g.p.author == g.x.viewer }
func (g *gqlPull) AutoMergeRequest() *gqlAuto { return nil }

// ViewerCanMergeAsAdmin is false: rules bind everybody here.
func (g *gqlPull) ViewerCanMergeAsAdmin() bool { return false }

// ViewerCanUpdateBranch tells whether update-branch would do something.
func (g *gqlPull) ViewerCanUpdateBranch() bool {
	return g.p.state == "open" && g.p.headRepo != nil && g.p.headRepo.can(g.x.viewer, "write") && g.p.behind()
}

// MergeStateStatus is what the merge box says.
func (g *gqlPull) MergeStateStatus(ctx context.Context) string {
	return g.p.mergeState(mergeability(g.Mergeable(ctx)))
}

// gqlAuto is an AutoMergeRequest, of which there are none.
type gqlAuto struct {
	EnabledAt   *gqlTime
	MergeMethod string
}

// PotentialMergeCommit is the test merge, null where there is none.
func (g *gqlPull) PotentialMergeCommit() *gqlCommit {
	if g.p.computeMergeable() != mergeClean {
		return nil
	}
	oid, err := g.p.testMerge()
	if err != nil {
		return nil
	}
	return g.x.commit(g.p.repo, oid)
}

// LatestReviews are the newest of each reviewer.
func (g *gqlPull) LatestReviews(a PageArgs) *gqlPage[*gqlReview] {
	return gqlPaginate(g.latest(func(v *review) bool { return true }), a, g.x.reviewed)
}

// LatestOpinionatedReviews are the newest of each reviewer that say yes or no.
func (g *gqlPull) LatestOpinionatedReviews(a struct {
	PageArgs
	WritersOnly bool
},
) *gqlPage[*gqlReview] {
	list := g.latest(func(v *review) bool {
		return v.state != "COMMENTED" && (!a.WritersOnly || g.p.repo.can(v.author, "write"))
	})
	return gqlPaginate(list, a.PageArgs, g.x.reviewed)
}

// latest is the newest submitted review of each author among those that count.
func (g *gqlPull) latest(counts func(*review) bool) []*review {
	var out []*review
	for _, v := range g.p.reviews {
		if v.pending() || !g.x.shown(v.lag) || !counts(v) {
			continue
		}
		out = slices.DeleteFunc(out, func(o *review) bool { return o.author == v.author })
		out = append(out, v)
	}
	return out
}

// gqlEntry is a MergeQueueEntry.
type gqlEntry struct {
	x *gql
	q *queueEntry
}

// MergeQueueEntry is null outside of a queue.
func (g *gqlPull) MergeQueueEntry() *gqlEntry { return g.x.entry(g.p.entry()) }

func (x *gql) entry(q *queueEntry) *gqlEntry {
	if q == nil {
		return nil
	}
	return &gqlEntry{x, q}
}

func (g *gqlEntry) ID() graphql.ID         { return graphql.ID(g.q.nodeID) }
func (g *gqlEntry) State() string          { return string(g.q.state) }
func (g *gqlEntry) Position() int32        { return int32(g.q.position()) }
func (g *gqlEntry) EnqueuedAt() gqlTime    { return gqlTime(g.q.at) }
func (g *gqlEntry) PullRequest() *gqlPull  { return g.x.pullRequest(g.q.pull) }
func (g *gqlEntry) HeadCommit() *gqlCommit { return g.x.commit(g.q.pull.repo, g.q.group) }
func (g *gqlEntry) BaseCommit() *gqlCommit { return g.x.commit(g.q.pull.repo, g.q.base) }
func (g *gqlEntry) Enqueuer() *gqlAccount  { return gqlAccountOf(g.q.by) }

type entryPayload struct {
	ClientMutationID *string
	MergeQueueEntry  *gqlEntry
}

// EnqueuePullRequest puts a pull request into its base's queue.
func (*gqlRoot) EnqueuePullRequest(ctx context.Context, a struct {
	Input struct {
		ClientMutationID *string
		ExpectedHeadOid  *gqlOID
		Jump             *bool
		PullRequestID    graphql.ID
	}
},
) (*entryPayload, error) {
	x, p, err := target[*pull](ctx, a.Input.PullRequestID)
	if err != nil {
		return nil, err
	}
	q, e := p.repo.enqueue(x.viewer, p, word(a.Input.ExpectedHeadOid), a.Input.Jump != nil && *a.Input.Jump)
	if e != nil {
		return nil, refuse(e)
	}
	return &entryPayload{a.Input.ClientMutationID, x.entry(q)}, nil
}

// DequeuePullRequest takes a pull request out of its queue.
func (*gqlRoot) DequeuePullRequest(ctx context.Context, a struct {
	Input struct {
		ClientMutationID *string
		ID               graphql.ID
	}
},
) (*entryPayload, error) {
	x, p, err := target[*pull](ctx, a.Input.ID)
	if err != nil {
		return nil, err
	}
	if e := p.repo.need(x.viewer, "write"); e != nil {
		return nil, refuse(e)
	}
	q := p.entry()
	if !p.leaveQueue(x.viewer) {
		return nil, &gqlError{"UNPROCESSABLE", "Pull request is not in the queue"}
	}
	return &entryPayload{a.Input.ClientMutationID, x.entry(q)}, nil
}

type mergePayload struct {
	Actor            *gqlAccount
	ClientMutationID *string
	PullRequest      *gqlPull
}

// MergePullRequest merges, as PUT merge does.
func (*gqlRoot) MergePullRequest(ctx context.Context, a struct {
	Input struct {
		AuthorEmail, ClientMutationID *string
		CommitBody, CommitHeadline    *string
		ExpectedHeadOid               *gqlOID
		MergeMethod                   string
		PullRequestID                 graphql.ID
	}
},
) (*mergePayload, error) {
	x, p, err := target[*pull](ctx, a.Input.PullRequestID)
	if err != nil {
		return nil, err
	}
	order := mergeOrder{
		method: strings.ToLower(a.Input.MergeMethod), sha: word(a.Input.ExpectedHeadOid), title: word(a.Input.CommitHeadline), message: word(a.Input.CommitBody),
	}
	if _, e := p.repo.mergePull(x.viewer, p, order); e != nil {
		return nil, refuse(e)
	}
	return &mergePayload{gqlAccountOf(x.viewer), a.Input.ClientMutationID, x.pullRequest(p)}, nil
}

// word is "" for null.
func word[T ~string](s *T) string {
	if s == nil {
		return ""
	}
	return string(*s)
}
