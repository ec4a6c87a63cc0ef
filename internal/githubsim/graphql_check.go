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

func (g *gqlRollup) ID() graphql.ID     { return graphql.ID(namedNodeID(kindRollup, g.r.id, g.sha)) }
func (g *gqlRollup) State() string      { return g.r.rollup(g.sha) }
func (g *gqlRollup) Commit() *gqlCommit { return g.x.commit(g.r, g.sha) }

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
func (g *gqlCheckRun) ExternalID() *string        { return orNull(g.c.externalID) }
func (g *gqlCheckRun) Title() *string             { return orNull(g.c.title) }
func (g *gqlCheckRun) Summary() *string           { return orNull(g.c.summary) }
func (g *gqlCheckRun) Text() *string              { return orNull(g.c.text) }
func (g *gqlCheckRun) CheckSuite() *gqlCheckSuite { return &gqlCheckSuite{g.x, g.c.suite} }

// URL is the page of the run.
func (g *gqlCheckRun) URL() gqlURI {
	return gqlURI(fmt.Sprintf("%s/runs/%d", g.x.urls.page(g.c.repo), g.c.id))
}

// gqlCheckSuite is a CheckSuite.
type gqlCheckSuite struct {
	x *gql
	s *checkSuite
}

func (g *gqlCheckSuite) ID() graphql.ID       { return graphql.ID(g.s.nodeID) }
func (g *gqlCheckSuite) DatabaseID() *gqlInt  { return new(gqlInt(g.s.id)) }
func (g *gqlCheckSuite) CreatedAt() gqlTime   { return gqlTime(g.s.created) }
func (g *gqlCheckSuite) UpdatedAt() gqlTime   { return gqlTime(g.s.updated) }
func (g *gqlCheckSuite) Commit() *gqlCommit   { return g.x.commit(g.s.repo, g.s.sha) }
func (g *gqlCheckSuite) WorkflowRun() *gqlRun { return nil }

// App is whose suite it is.
func (g *gqlCheckSuite) App() *gqlApp {
	return &gqlApp{ID: graphql.ID(namedNodeID("A", 0, g.s.app)), Name: g.s.app, Slug: g.s.app}
}

// Status is COMPLETED once every run is.
func (g *gqlCheckSuite) Status() string {
	for _, c := range g.s.repo.checkRuns[g.s.sha] {
		if c.suite == g.s && c.status != "completed" {
			return "IN_PROGRESS"
		}
	}
	return "COMPLETED"
}

type gqlApp struct {
	ID         graphql.ID
	DatabaseID *int32
	Name, Slug string
}

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
func (g *gqlStatus) Creator() *gqlAccount { return gqlAccountOf(g.s.creator) }
func (g *gqlStatus) CreatedAt() gqlTime   { return gqlTime(g.s.created) }

// gqlCommitStatus is a Status.
type gqlCommitStatus struct {
	c    *gqlCommit
	list []*status
}

func (g *gqlCommitStatus) ID() graphql.ID {
	return graphql.ID(namedNodeID("S", g.c.r.id, g.c.info.oid))
}
func (g *gqlCommitStatus) Commit() *gqlCommit { return g.c }
func (g *gqlCommitStatus) State() string      { return strings.ToUpper(combined(g.list)) }

// Contexts are the newest statuses, one of each name.
func (g *gqlCommitStatus) Contexts() []*gqlStatus {
	var out []*gqlStatus
	for _, s := range g.list {
		out = append(out, &gqlStatus{g.c.x, s})
	}
	return out
}
