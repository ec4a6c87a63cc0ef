package githubsim

import (
	"cmp"
	"slices"
	"strings"

	"github.com/graph-gophers/graphql-go"
)

// gqlRepo is a Repository.
type gqlRepo struct {
	x *gql
	r *Repo
}

func (g *gqlRepo) ID() graphql.ID        { return graphql.ID(g.r.nodeID) }
func (g *gqlRepo) Name() string          { return g.r.name }
func (g *gqlRepo) NameWithOwner() string { return g.r.fullName() }

func (g *gqlRepo) DatabaseID() *gqlInt      { return new(gqlInt(g.r.id)) }
func (g *gqlRepo) URL() gqlURI              { return gqlURI(g.x.urls.page(g.r)) }
func (g *gqlRepo) Owner() *gqlAccount       { return gqlAccountOf(g.r.owner) }
func (g *gqlRepo) UpdatedAt() gqlTime       { return gqlTime(g.r.updated) }
func (g *gqlRepo) PushedAt() *gqlTime       { return gqlStamp(g.r.pushed) }
func (g *gqlRepo) IsArchived() bool         { return g.r.archived }
func (g *gqlRepo) AutoMergeAllowed() bool   { return false }
func (g *gqlRepo) MergeCommitAllowed() bool { return g.r.allows("merge") }
func (g *gqlRepo) SquashMergeAllowed() bool { return g.r.allows("squash") }
func (g *gqlRepo) RebaseMergeAllowed() bool { return g.r.allows("rebase") }

// DeleteBranchOnMerge is the repository's setting.
func (g *gqlRepo) DeleteBranchOnMerge() bool { return g.r.deleteOnMerge }

// DefaultBranchRef is null in an empty repository.
func (g *gqlRepo) DefaultBranchRef() *gqlRef { return g.x.ref(g.r, "refs/heads/"+g.r.defaultBranch) }

// ViewerPermission is the viewer's level; null for an app.
func (g *gqlRepo) ViewerPermission() *string {
	if g.x.viewer == nil || g.x.viewer.kind == "Bot" {
		return nil
	}
	return gqlEnum(g.r.level(g.x.viewer))
}

// Ref finds a branch.
func (g *gqlRepo) Ref(a struct{ QualifiedName string }) *gqlRef {
	return g.x.ref(g.r, "refs/heads/"+strings.TrimPrefix(a.QualifiedName, "refs/heads/"))
}

// Object finds a commit by its id, or by a revision's name.
func (g *gqlRepo) Object(a struct {
	Expression *string
	Oid        *gqlOID
},
) *gqlObject {
	name := ""
	if a.Expression != nil {
		name = *a.Expression
	}
	if a.Oid != nil {
		name = string(*a.Oid)
	}
	oid, found := g.r.git.resolve(name)
	if !found {
		return nil
	}
	return &gqlObject{x: g.x, r: g.r, kind: "commit", oid: oid}
}

// repository is null for one that is not there or may not be seen.
func (x *gql) repository(r *Repo) *gqlRepo {
	if r == nil || !r.can(x.viewer, "read") {
		return nil
	}
	return &gqlRepo{x, r}
}

// PullRequest finds a pull request by number.
func (g *gqlRepo) PullRequest(a struct{ Number int32 }) (*gqlPull, error) {
	if p := g.r.pull(int(a.Number)); p != nil {
		return g.x.pullRequest(p), nil
	}
	return nil, noNumber("a PullRequest", a.Number)
}

// Issue finds an issue by number.
func (g *gqlRepo) Issue(a struct{ Number int32 }) (*gqlIssue, error) {
	if is := g.r.issue(int(a.Number)); is != nil && is.pull == nil {
		return &gqlIssue{g.x, is}, nil
	}
	return nil, noNumber("an Issue", a.Number)
}

// Issues lists issues.
func (g *gqlRepo) Issues(a struct {
	issueArgs
	FilterBy *GqlIssueFilter
},
) *gqlPage[*gqlIssue] {
	var list []*issue
	for _, is := range g.r.issues {
		if is.pull == nil && !is.deleted && a.chosen(is, strings.ToUpper(is.state)) && a.FilterBy.takes(is) && g.x.shown(is.lag) {
			list = append(list, is)
		}
	}
	slices.SortStableFunc(list, a.order)
	return gqlPaginate(list, a.PageArgs, func(is *issue) *gqlIssue { return &gqlIssue{g.x, is} })
}

// GqlOrder is an order of issues or labels.
type GqlOrder struct{ Direction, Field string }

// issueArgs choose among issues or pull requests.
type issueArgs struct {
	PageArgs
	Labels  *[]string
	OrderBy *GqlOrder
	States  *[]string
}

func (a issueArgs) chosen(is *issue, state string) bool {
	if a.States != nil && !slices.Contains(*a.States, state) {
		return false
	}
	return a.Labels == nil || slices.ContainsFunc(is.labels, func(l *label) bool {
		return slices.ContainsFunc(*a.Labels, func(name string) bool { return strings.EqualFold(l.name, name) })
	})
}

func (a issueArgs) order(x, y *issue) int {
	if a.OrderBy == nil {
		return cmp.Compare(x.number, y.number)
	}
	by := 0
	switch a.OrderBy.Field {
	case "UPDATED_AT":
		by = x.updated.Compare(y.updated)
	case "COMMENTS":
		by = cmp.Compare(len(x.comments), len(y.comments))
	}
	by = cmp.Or(by, cmp.Compare(x.number, y.number))
	if a.OrderBy.Direction == "DESC" {
		return -by
	}
	return by
}

// PullRequests lists pull requests.
func (g *gqlRepo) PullRequests(a struct {
	issueArgs
	BaseRefName, HeadRefName *string
},
) *gqlPage[*gqlPull] {
	var list []*pull
	for _, p := range g.r.pulls() {
		switch {
		case !a.chosen(p.issue, p.stateWord()), !g.x.shown(p.lag),
			a.BaseRefName != nil && *a.BaseRefName != p.baseRef, a.HeadRefName != nil && *a.HeadRefName != p.headRef:
		default:
			list = append(list, p)
		}
	}
	slices.SortStableFunc(list, func(p, q *pull) int { return a.order(p.issue, q.issue) })
	if a.OrderBy != nil && *a.OrderBy == (GqlOrder{"ASC", "CREATED_AT"}) { // their cursors are ages, which numbers stand for
		return gqlPaginateBy(list, a.PageArgs, func(p *pull) int { return p.number }, g.x.pullRequest)
	}
	return gqlPaginate(list, a.PageArgs, g.x.pullRequest)
}

// shown tells whether lists show an object yet. Other than REST's lists, asking does not count as a
// read.
func (x *gql) shown(l lag) bool { return l.reads == 0 && !x.h.now().Before(l.until) }

// gqlLabel is a Label.
type gqlLabel struct{ l *label }

func (g *gqlLabel) ID() graphql.ID       { return graphql.ID(g.l.nodeID) }
func (g *gqlLabel) Name() string         { return g.l.name }
func (g *gqlLabel) Color() string        { return g.l.color }
func (g *gqlLabel) Description() *string { return orNull(g.l.description) }

// labelArgs choose among labels.
type labelArgs struct {
	PageArgs
	OrderBy GqlOrder
}

func (a labelArgs) page(list []*label) *gqlPage[*gqlLabel] {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(x, y *label) int {
		by := cmp.Compare(x.id, y.id)
		if a.OrderBy.Field == "NAME" {
			by = strings.Compare(strings.ToLower(x.name), strings.ToLower(y.name))
		}
		if a.OrderBy.Direction == "DESC" {
			return -by
		}
		return by
	})
	return gqlPaginate(list, a.PageArgs, func(l *label) *gqlLabel { return &gqlLabel{l} })
}
