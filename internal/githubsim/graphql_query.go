package githubsim

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"slices"
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
	return &gqlRepo{x, r}, nil
}

// Node finds an object by its global id.
func (*gqlRoot) Node(ctx context.Context, a struct{ ID graphql.ID }) (*gqlNode, error) {
	if n := gqlFrom(ctx).node(string(a.ID)); n != nil {
		return n, nil
	}
	return nil, noNode(string(a.ID))
}

// Nodes finds several objects; what is not there is null, with an error of its own.
func (*gqlRoot) Nodes(ctx context.Context, a struct{ IDs []graphql.ID }) []*gqlNode {
	x := gqlFrom(ctx)
	out := make([]*gqlNode, len(a.IDs))
	for i, id := range a.IDs {
		if out[i] = x.node(string(id)); out[i] == nil {
			e := noNode(string(id))
			x.errs = append(x.errs, gqlItem{Type: e.kind, Path: []any{"nodes", i}, Message: e.message})
		}
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
	repo := func(r *Repo) bool { return r.can(x.viewer, "read") }
	switch v := v.(type) {
	case *Repo:
		return repo(v)
	case *issue:
		return !v.deleted && repo(v.repo)
	case *pull:
		return !v.deleted && repo(v.repo)
	case *comment:
		return !v.issue.deleted && repo(v.issue.repo)
	case *review:
		return repo(v.pull.repo) && (!v.pending() || v.author == x.viewer)
	case *thread:
		return repo(v.pull.repo) && v.visibleTo(x.viewer)
	case *reviewComment:
		return repo(v.pull().repo) && v.visibleTo(x.viewer)
	case *checkRun:
		return repo(v.repo) && !x.handler.blind[x.viewer]
	case *checkSuite:
		return repo(v.repo) && !x.handler.blind[x.viewer]
	case *status:
		return repo(v.repo)
	case *user:
		return !v.deleted
	case *label:
		return true
	}
	return false
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

func (g *gqlNode) ID() graphql.ID { return graphql.ID(g.id) }

func (g *gqlNode) ToRepository() (*gqlRepo, bool) {
	v, ok := g.v.(*Repo)
	return &gqlRepo{g.x, v}, ok
}

func (g *gqlNode) ToIssue() (*gqlIssue, bool) {
	v, ok := g.v.(*issue)
	return &gqlIssue{g.x, v}, ok
}

func (g *gqlNode) ToPullRequest() (*gqlPull, bool) {
	v, ok := g.v.(*pull)
	return &gqlPull{g.x, v}, ok
}

func (g *gqlNode) ToIssueComment() (*gqlComment, bool) {
	v, ok := g.v.(*comment)
	return &gqlComment{g.x, v}, ok
}

func (g *gqlNode) ToPullRequestReview() (*gqlReview, bool) {
	v, ok := g.v.(*review)
	return &gqlReview{g.x, v}, ok
}

func (g *gqlNode) ToPullRequestReviewThread() (*gqlThread, bool) {
	v, ok := g.v.(*thread)
	return &gqlThread{g.x, v}, ok
}

func (g *gqlNode) ToPullRequestReviewComment() (*gqlDiffComment, bool) {
	v, ok := g.v.(*reviewComment)
	return &gqlDiffComment{g.x, v}, ok
}

func (g *gqlNode) ToCheckRun() (*gqlCheckRun, bool) {
	v, ok := g.v.(*checkRun)
	return &gqlCheckRun{g.x, v}, ok
}

func (g *gqlNode) ToCheckSuite() (*gqlCheckSuite, bool) {
	v, ok := g.v.(*checkSuite)
	return &gqlCheckSuite{g.x, v}, ok
}

func (g *gqlNode) ToStatusContext() (*gqlStatus, bool) {
	v, ok := g.v.(*status)
	return &gqlStatus{g.x, v}, ok
}

func (g *gqlNode) ToStatusCheckRollup() (*gqlRollup, bool) {
	v, ok := g.v.(*gqlRollup)
	return v, ok
}

func (g *gqlNode) ToLabel() (*gqlLabel, bool) {
	v, ok := g.v.(*label)
	return &gqlLabel{v}, ok
}

func (g *gqlNode) account(kind string) (*gqlAccount, bool) {
	v, ok := g.v.(*user)
	return &gqlAccount{v}, ok && v.kind == kind
}

func (g *gqlNode) ToUser() (*gqlAccount, bool)         { return g.account("User") }
func (g *gqlNode) ToBot() (*gqlAccount, bool)          { return g.account("Bot") }
func (g *gqlNode) ToOrganization() (*gqlAccount, bool) { return g.account("Organization") }

// gqlIssueOrPull is an issue or a pull request.
type gqlIssueOrPull struct {
	x  *gql
	is *issue
}

func (g *gqlIssueOrPull) ToIssue() (*gqlIssue, bool) { return &gqlIssue{g.x, g.is}, g.is.pull == nil }

func (g *gqlIssueOrPull) ToPullRequest() (*gqlPull, bool) {
	return &gqlPull{g.x, g.is.pull}, g.is.pull != nil
}

type gqlSearchResult struct {
	IssueCount int32
	Nodes      *[]*gqlIssueOrPull
	PageInfo   gqlPageInfo
}

// Search finds issues and pull requests, as far as gh's lists need it.
func (*gqlRoot) Search(ctx context.Context, a struct {
	PageArgs
	Query, Type string
},
) *gqlSearchResult {
	x := gqlFrom(ctx)
	var found []*issue
	for _, r := range x.h.repos {
		if !r.can(x.viewer, "read") {
			continue
		}
		for _, is := range slices.Backward(r.issues) {
			if !is.deleted && x.matches(is, strings.Fields(a.Query)) {
				found = append(found, is)
			}
		}
	}
	p := gqlPaginate(found, a.PageArgs, func(is *issue) *gqlIssueOrPull { return &gqlIssueOrPull{x, is} })
	return &gqlSearchResult{p.TotalCount, p.Nodes, p.PageInfo}
}

// matches tells whether an issue meets every qualifier and word of a search.
func (x *gql) matches(is *issue, terms []string) bool {
	for _, t := range terms {
		key, want, _ := strings.Cut(t, ":")
		want = strings.Trim(want, `"`)
		if want == "@me" && x.viewer != nil {
			want = x.viewer.login
		}
		if !meets(is, key, want, t) {
			return false
		}
	}
	return true
}

func meets(is *issue, key, want, term string) bool {
	switch key {
	case "repo":
		return strings.EqualFold(is.repo.fullName(), want)
	case "type", "is", "state":
		switch want {
		case "pr":
			return is.pull != nil
		case "issue":
			return is.pull == nil
		case "merged":
			return is.pull != nil && !is.pull.merged.IsZero()
		default:
			return is.state == want
		}
	case "label":
		return slices.ContainsFunc(is.labels, func(l *label) bool { return strings.EqualFold(l.name, want) })
	case "author":
		return is.author != nil && strings.EqualFold(is.author.login, want)
	case "assignee":
		return slices.ContainsFunc(is.assignees, func(u *user) bool { return strings.EqualFold(u.login, want) })
	case "head":
		return is.pull != nil && is.pull.headRef == want
	case "base":
		return is.pull != nil && is.pull.baseRef == want
	}
	return strings.Contains(strings.ToLower(is.title+"\n"+is.body), strings.ToLower(term))
}
