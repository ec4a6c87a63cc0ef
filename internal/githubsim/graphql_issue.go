package githubsim

import (
	"slices"
	"strings"

	"github.com/graph-gophers/graphql-go"
)

// gqlIssue is an Issue.
type gqlIssue struct {
	x  *gql
	is *issue
}

func (g *gqlIssue) ID() graphql.ID         { return graphql.ID(g.is.nodeID) }
func (g *gqlIssue) Title() string          { return g.is.title }
func (g *gqlIssue) Body() string           { return g.is.body }
func (g *gqlIssue) LastEditedAt() *gqlTime { return gqlStamp(g.is.bodyEdited) }

func (g *gqlIssue) Number() int32       { return int32(g.is.number) }
func (g *gqlIssue) URL() gqlURI         { return gqlURI(g.x.urls.issuePage(g.is)) }
func (g *gqlIssue) State() string       { return strings.ToUpper(g.is.state) }
func (g *gqlIssue) Closed() bool        { return g.is.state == "closed" }
func (g *gqlIssue) ClosedAt() *gqlTime  { return gqlStamp(g.is.closed) }
func (g *gqlIssue) CreatedAt() gqlTime  { return gqlTime(g.is.created) }
func (g *gqlIssue) UpdatedAt() gqlTime  { return gqlTime(g.is.updated) }
func (g *gqlIssue) Author() *gqlAccount { return gqlAccountOf(g.is.author) }

// Repository is where the issue is.
func (g *gqlIssue) Repository() *gqlRepo { return g.x.repository(g.is.repo) }

// TimelineItems are what happened.
func (g *gqlIssue) TimelineItems(a timelineArgs) *gqlPage[*gqlEvent] { return a.page(g.x, g.is) }

// Labels are the issue's.
func (g *gqlIssue) Labels(a labelArgs) *gqlPage[*gqlLabel] { return a.page(g.is.labels) }

func (x *gql) comments(is *issue, a PageArgs) *gqlPage[*gqlComment] {
	var list []*comment
	for _, c := range is.comments {
		if x.shown(c.lag) {
			list = append(list, c)
		}
	}
	return gqlPaginate(list, a, x.commented)
}

// gqlMilestone is a Milestone, of which there are none.
type gqlMilestone struct {
	Description *string
	DueOn       *gqlTime
	Number      int32
	Title       string
}

// gqlCards are the cards of classic projects, of which there are none.
type gqlCards struct {
	Nodes      *[]*gqlCard
	TotalCount int32
}

type gqlCard struct {
	Column  *gqlName
	Project gqlName
}

type gqlName struct{ Name string }

// gqlNoItems are items of projects, of which there are none.
type gqlNoItems = gqlPage[*gqlBoardItem]

type gqlBoardItem struct {
	ID      graphql.ID
	Project struct {
		ID    graphql.ID
		Title string
	}
}

// gqlComment is an IssueComment.
type gqlComment struct {
	*gqlWording
	x *gql
	c *comment
}

func (x *gql) commented(c *comment) *gqlComment { return &gqlComment{&gqlWording{&c.wording}, x, c} }

// gqlWording is what GraphQL has of every comment and review: REST shows neither its editor nor
// that it is hidden.
type gqlWording struct{ w *wording }

func (g *gqlWording) LastEditedAt() *gqlTime   { return gqlStamp(g.w.edited) }
func (g *gqlWording) IsMinimized() bool        { return g.w.minimized != "" }
func (g *gqlWording) MinimizedReason() *string { return orNull(g.w.minimized) }

// Editor is who edited last, null if nobody did.
func (g *gqlWording) Editor() *gqlAccount {
	if len(g.w.versions) == 0 {
		return nil
	}
	return gqlAccountOf(g.w.versions[len(g.w.versions)-1].by)
}

// UserContentEdits are the versions, newest first, with the first one.
func (g *gqlWording) UserContentEdits(a PageArgs) *gqlPage[*gqlRevision] {
	all := slices.Clone(g.w.versions)
	slices.Reverse(all)
	return gqlPaginate(all, a, func(v revision) *gqlRevision { return &gqlRevision{v} })
}

// gqlRevision is a UserContentEdit. Its diff is the whole text.
type gqlRevision struct{ v revision }

func (g *gqlRevision) Editor() *gqlAccount { return gqlAccountOf(g.v.by) }
func (g *gqlRevision) EditedAt() gqlTime   { return gqlTime(g.v.at) }
func (g *gqlRevision) Diff() *string       { return &g.v.body }

func (g *gqlComment) ID() graphql.ID                   { return graphql.ID(g.c.nodeID) }
func (g *gqlComment) FullDatabaseID() *gqlBig          { return new(gqlBig(g.c.id)) }
func (g *gqlComment) UpdatedAt() gqlTime               { return gqlTime(g.c.updated) }
func (g *gqlComment) Body() string                     { return g.c.body }
func (g *gqlComment) URL() gqlURI                      { return gqlURI(g.x.urls.commentPage(g.c)) }
func (g *gqlComment) Author() *gqlAccount              { return gqlAccountOf(g.c.author) }
func (g *gqlComment) AuthorAssociation() string        { return g.c.issue.repo.association(g.c.author) }
func (g *gqlComment) CreatedAt() gqlTime               { return gqlTime(g.c.created) }
func (g *gqlComment) IncludesCreatedEdit() bool        { return !g.c.edited.IsZero() }
func (g *gqlComment) ViewerDidAuthor() bool            { return g.c.author == g.x.viewer }
func (g *gqlComment) ReactionGroups() *[]*gqlReactions { return g.x.reactionGroups(g.c.reactions) }
