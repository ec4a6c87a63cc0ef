package githubsim

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/graph-gophers/graphql-go"
)

// gqlRoot is where queries and mutations begin.
type gqlRoot struct{}

// Viewer is whose token it is.
func (*gqlRoot) Viewer(ctx context.Context) *gqlAccount { return gqlAccountOf(gqlFrom(ctx).viewer) }

type gqlRateLimit struct {
	Cost, Limit, NodeCount, Remaining, Used int32
	ResetAt                                 gqlTime
}

// RateLimit is the budget after this query was charged.
func (*gqlRoot) RateLimit(ctx context.Context) *gqlRateLimit {
	x := gqlFrom(ctx)
	return &gqlRateLimit{
		Cost: int32(x.cost.points), NodeCount: int32(x.cost.nodes),
		Limit: int32(x.budget.limit), Remaining: int32(x.budget.remaining()), Used: int32(x.budget.used),
		ResetAt: gqlTime(x.budget.reset),
	}
}

// Repository finds a repository, also by a former name.
func (*gqlRoot) Repository(ctx context.Context, a struct {
	FollowRenames bool
	Name, Owner   string
},
) (*gqlRepo, error) {
	x := gqlFrom(ctx)
	r := x.h.repo(a.Owner + "/" + a.Name)
	if r == nil || !r.can(x.viewer, "read") {
		return nil, &gqlError{"NOT_FOUND", fmt.Sprintf("Could not resolve to a Repository with the name '%s/%s'.", a.Owner, a.Name)}
	}
	if x.shutOut(r) {
		return nil, &gqlError{"FORBIDDEN", samlMessage}
	}
	return &gqlRepo{x, r}, nil
}

// Node finds an object by its global id.
func (*gqlRoot) Node(ctx context.Context, a struct{ ID graphql.ID }) (*gqlNode, error) {
	x := gqlFrom(ctx)
	if n := x.node(string(a.ID)); n != nil {
		if x.shutOut(repoOf(n.v)) {
			return nil, &gqlError{"FORBIDDEN", samlMessage}
		}
		return n, nil
	}
	return nil, noNode(string(a.ID))
}

// Nodes finds several objects; what is not there is null, with an error of its own.
func (*gqlRoot) Nodes(ctx context.Context, a struct{ IDs []graphql.ID }) []*gqlNode {
	x := gqlFrom(ctx)
	out := make([]*gqlNode, len(a.IDs))
	for i, id := range a.IDs {
		e := noNode(string(id))
		if out[i] = x.node(string(id)); out[i] != nil {
			r, ok := out[i].v.(*Repo)
			switch {
			case x.shutOut(repoOf(out[i].v)):
				e = &gqlError{"FORBIDDEN", samlMessage}
			case !ok || r.hidden == "":
				continue
			default:
				e = &gqlError{"FORBIDDEN", r.hidden}
			}
			out[i] = nil
		}
		x.errs = append(x.errs, gqlItem{Type: e.kind, Path: []any{"nodes", i}, Message: e.message})
	}
	return out
}

// gqlNode is any object that has a global id.
type gqlNode struct {
	x  *gql
	id string
	v  any
}

// node finds an object that the viewer may see; nil when there is none.
func (x *gql) node(id string) *gqlNode {
	if repo, sha, ok := readNamedNodeID(kindRollup, id); ok {
		r := x.h.repoByID(fmt.Sprint(repo))
		if r == nil || !r.can(x.viewer, "read") || r.rollup(sha) == "" {
			return nil
		}
		return &gqlNode{x, id, &gqlRollup{x, r, sha}}
	}
	v := x.h.nodeByID(id)
	if v == nil || !x.maySee(v) {
		return nil
	}
	return &gqlNode{x, id, v}
}

// maySee hides private repositories, drafts of others and what was deleted.
func (x *gql) maySee(v any) bool {
	r := repoOf(v)
	if r == nil || !r.can(x.viewer, "read") {
		return false
	}
	switch v := v.(type) {
	case *issue:
		return !v.deleted
	case *pull:
		return !v.deleted
	case *comment:
		return !v.issue.deleted
	case *review:
		return !v.pending() || v.author == x.viewer
	case *thread:
		return v.visibleTo(x.viewer)
	case *reviewComment:
		return v.visibleTo(x.viewer)
	}
	return true
}

// repoOf is the repository of what has a global id; nil: it is of none.
func repoOf(v any) *Repo {
	switch v := v.(type) {
	case *issue:
		return v.repo
	case *pull:
		return v.repo
	case *Repo:
		return v
	case *queueEntry:
		return v.pull.repo
	case *comment:
		return v.issue.repo
	case *review:
		return v.pull.repo
	case *thread:
		return v.pull.repo
	case *reviewComment:
		return v.pull().repo
	case *gqlRollup:
		return v.r
	}
	return nil
}

// kindRollup is the prefix of the ids of check rollups, which are named by their commit.
const kindRollup kind = "SCR"

// readNamedNodeID undoes namedNodeID.
func readNamedNodeID(k kind, id string) (repo int64, name string, ok bool) {
	text, ok := strings.CutPrefix(id, string(k)+"_")
	if !ok {
		return 0, "", false
	}
	b, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(b) < 8 {
		return 0, "", false
	}
	return int64(binary.BigEndian.Uint64(b)), string(b[8:]), true
}

func (g *gqlNode) ToIssue() (*gqlIssue, bool) {
	v, ok := g.v.(*issue)
	return &gqlIssue{g.x, v}, ok
}

func (g *gqlNode) ToPullRequest() (*gqlPull, bool) {
	v, ok := g.v.(*pull)
	return g.x.pullRequest(v), ok
}

func (g *gqlNode) ToIssueComment() (*gqlComment, bool) {
	v, ok := g.v.(*comment)
	if !ok {
		return nil, false
	}
	return g.x.commented(v), true
}

func (g *gqlNode) ToPullRequestReview() (*gqlReview, bool) {
	v, ok := g.v.(*review)
	if !ok {
		return nil, false
	}
	return g.x.reviewed(v), true
}

func (g *gqlNode) ToPullRequestReviewThread() (*gqlThread, bool) {
	v, ok := g.v.(*thread)
	return &gqlThread{g.x, v}, ok
}

func (g *gqlNode) ToPullRequestReviewComment() (*gqlDiffComment, bool) {
	v, ok := g.v.(*reviewComment)
	if !ok {
		return nil, false
	}
	return g.x.diffCommented(v), true
}

func (g *gqlNode) ToRepository() (*gqlRepo, bool) {
	v, ok := g.v.(*Repo)
	return &gqlRepo{g.x, v}, ok
}

func (g *gqlNode) ToMergeQueueEntry() (*gqlEntry, bool) {
	v, ok := g.v.(*queueEntry)
	return &gqlEntry{g.x, v}, ok
}

func (g *gqlNode) ToStatusCheckRollup() (*gqlRollup, bool) {
	v, ok := g.v.(*gqlRollup)
	return v, ok
}
