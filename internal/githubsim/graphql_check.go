package githubsim

import (
	"fmt"
	"strings"

	"github.com/graph-gophers/graphql-go"
)

// gqlRollup is a StatusCheckRollup.
type gqlRollup struct {
	x   *gql
	r   *Repo
	sha string
}

// rollup is null without checks, and refused to a token that may not see them.
func (x *gql) rollup(r *Repo, sha string) (*gqlRollup, error) {
	if x.handler.blind[x.viewer] {
		return nil, &gqlError{"FORBIDDEN", "Resource not accessible by personal access token"}
	}
	if r.rollup(sha) == "" {
		return nil, nil //nolint:nilnil // no checks is an answer
	}
	return &gqlRollup{x, r, sha}, nil
}

func (g *gqlRollup) ID() graphql.ID { return graphql.ID(namedNodeID(kindRollup, g.r.id, g.sha)) }
func (g *gqlRollup) State() string  { return g.r.rollup(g.sha) }

// gqlContext is a check run or a status.
type gqlContext struct {
	x      *gql
	run    *checkRun
	status *status
}

func (g *gqlContext) ToCheckRun() (*gqlCheckRun, bool) { return &gqlCheckRun{g.x, g.run}, g.run != nil }

func (g *gqlContext) ToStatusContext() (*gqlStatus, bool) {
	return &gqlStatus{g.x, g.status}, g.status != nil
}

type gqlContexts struct {
	gqlPage[*gqlContext]
	CheckRunCount, StatusContextCount int32
}

// Contexts are the check runs and the statuses.
func (g *gqlRollup) Contexts(a PageArgs) *gqlContexts {
	runs, statuses := g.r.latestChecks(g.sha), g.r.latestStatuses(g.sha)
	var list []*gqlContext
	for _, c := range runs {
		list = append(list, &gqlContext{g.x, c, nil})
	}
	for _, s := range statuses {
		list = append(list, &gqlContext{g.x, nil, s})
	}
	page := gqlPaginate(list, a, func(c *gqlContext) *gqlContext { return c })
	return &gqlContexts{*page, int32(len(runs)), int32(len(statuses))}
}

// gqlCheckRun is a CheckRun.
type gqlCheckRun struct {
	x *gql
	c *checkRun
}

func (g *gqlCheckRun) ID() graphql.ID             { return graphql.ID(g.c.nodeID) }
func (g *gqlCheckRun) DatabaseID() *gqlInt        { return new(gqlInt(g.c.id)) }
func (g *gqlCheckRun) Name() string               { return g.c.name }
func (g *gqlCheckRun) Status() string             { return strings.ToUpper(g.c.status) }
func (g *gqlCheckRun) Conclusion() *string        { return gqlEnum(g.c.conclusion) }
func (g *gqlCheckRun) StartedAt() *gqlTime        { return gqlStamp(g.c.started) }
func (g *gqlCheckRun) CompletedAt() *gqlTime      { return gqlStamp(g.c.completed) }
func (g *gqlCheckRun) DetailsURL() *gqlURI        { return gqlLink(g.c.detailsURL) }
func (g *gqlCheckRun) CheckSuite() *gqlCheckSuite { return &gqlCheckSuite{g.x, g.c.suite} }

func (g *gqlCheckRun) ExternalID() *string { return orNull(g.c.externalID) }
func (g *gqlCheckRun) Title() *string      { return orNull(g.c.title) }
func (g *gqlCheckRun) Summary() *string    { return orNull(g.c.summary) }

// URL is where people see it.
func (g *gqlCheckRun) URL() gqlURI {
	return gqlURI(fmt.Sprintf("%s/runs/%d", g.x.urls.page(g.c.repo), g.c.id))
}

// IsRequired tells whether a merge of that pull request takes it.
func (g *gqlCheckRun) IsRequired(a requiredArgs) (bool, error) {
	return a.required(g.x, g.c.repo, g.c.name)
}

// requiredArgs name a pull request.
type requiredArgs struct {
	PullRequestID     *graphql.ID
	PullRequestNumber *int32
}

// required tells whether the pull request's base demands the check.
func (a requiredArgs) required(x *gql, r *Repo, name string) (bool, error) {
	var p *pull
	switch {
	case a.PullRequestNumber != nil:
		if p = r.pull(int(*a.PullRequestNumber)); p == nil {
			return false, noNumber("a PullRequest", *a.PullRequestNumber)
		}
	case a.PullRequestID != nil:
		if n := x.node(string(*a.PullRequestID)); n != nil {
			p, _ = n.v.(*pull)
		}
		if p == nil {
			return false, noNode(string(*a.PullRequestID))
		}
	default:
		return false, &gqlError{"UNPROCESSABLE", "Either a pull request ID or a pull request number must be provided."}
	}
	return p.repo.requires(p.baseRef, name), nil
}

// gqlCheckSuite is a CheckSuite.
type gqlCheckSuite struct {
	x *gql
	s *checkSuite
}

func (g *gqlCheckSuite) WorkflowRun() *gqlRun { return nil }

// gqlRun is a WorkflowRun; checks come from no workflow here.
type gqlRun struct {
	ID         graphql.ID
	DatabaseID *int32
	Workflow   *gqlWorkflow
}

type gqlWorkflow struct {
	ID         graphql.ID
	DatabaseID *int32
	Name       string
}

// gqlStatus is a StatusContext.
type gqlStatus struct {
	x *gql
	s *status
}

func (g *gqlStatus) ID() graphql.ID       { return graphql.ID(g.s.nodeID) }
func (g *gqlStatus) Context() string      { return g.s.context }
func (g *gqlStatus) State() string        { return strings.ToUpper(g.s.state) }
func (g *gqlStatus) Description() *string { return orNull(g.s.description) }
func (g *gqlStatus) TargetURL() *gqlURI   { return gqlLink(g.s.targetURL) }
func (g *gqlStatus) CreatedAt() gqlTime   { return gqlTime(g.s.created) }

// Creator is who set it.
func (g *gqlStatus) Creator() *gqlAccount { return gqlAccountOf(g.s.creator) }

// IsRequired tells whether a merge of that pull request takes it.
func (g *gqlStatus) IsRequired(a requiredArgs) (bool, error) {
	return a.required(g.x, g.s.repo, g.s.context)
}

// gqlCommitStatus is a Status.
type gqlCommitStatus struct {
	c    *gqlCommit
	list []*status
}

func (g *gqlCommitStatus) State() string { return strings.ToUpper(combined(g.list)) }

// Contexts are the newest statuses, one of each name.
func (g *gqlCommitStatus) Contexts() []*gqlStatus {
	var out []*gqlStatus
	for _, s := range g.list {
		out = append(out, &gqlStatus{g.c.x, s})
	}
	return out
}
