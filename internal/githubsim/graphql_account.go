package githubsim

import (
	"context"
	"strings"

	"github.com/graph-gophers/graphql-go"
)

// gqlAccount is an account, whatever the schema calls it: Actor, User, Bot, Organization,
// RepositoryOwner, RequestedReviewer.
type gqlAccount struct{ u *user }

// gqlAccountOf is null for a deleted one.
func gqlAccountOf(u *user) *gqlAccount {
	if u == nil || u.deleted {
		return nil
	}
	return &gqlAccount{u}
}

func (g *gqlAccount) ID() graphql.ID              { return graphql.ID(g.u.nodeID) }
func (g *gqlAccount) Login() string               { return strings.TrimSuffix(g.u.login, "[bot]") }
func (g *gqlAccount) Name() *string               { return orNull(g.u.name) }
func (g *gqlAccount) DatabaseID() *gqlInt         { return new(gqlInt(g.u.id)) }
func (g *gqlAccount) is(kind string) bool         { return g.u.kind == kind }
func (g *gqlAccount) ToUser() (*gqlAccount, bool) { return g, g.is("User") }
func (g *gqlAccount) ToBot() (*gqlAccount, bool)  { return g, g.is("Bot") }

// ToOrganization is a type assertion of the schema.
func (g *gqlAccount) ToOrganization() (*gqlAccount, bool) { return g, g.is("Organization") }

// ToMannequin is a type assertion of the schema; nobody was imported here.
func (g *gqlAccount) ToMannequin() (*gqlAccount, bool) { return nil, false }

// ToTeam is a type assertion of the schema; there are no teams here.
func (g *gqlAccount) ToTeam() (*gqlTeam, bool) { return nil, false }

// gqlTeam is a team, of which there are none.
type gqlTeam struct {
	ID           graphql.ID
	Name, Slug   string
	Organization *gqlAccount
}

// Teams are an organization's.
func (g *gqlAccount) Teams(struct {
	PageArgs
	OrderBy *GqlOrder
},
) *gqlPage[*gqlTeam] {
	return &gqlPage[*gqlTeam]{Nodes: &[]*gqlTeam{}}
}

// Organization finds an organization.
func (*gqlRoot) Organization(ctx context.Context, a struct{ Login string }) *gqlAccount {
	if u := gqlFrom(ctx).h.user(a.Login); u != nil && u.kind == "Organization" {
		return gqlAccountOf(u)
	}
	return nil
}

// gqlReactions counts the reactions of one kind.
type gqlReactions struct {
	Content          string
	CreatedAt        *gqlTime
	ViewerHasReacted bool
	count            int32
}

// Users are those who reacted.
func (g *gqlReactions) Users(PageArgs) gqlCount { return gqlCount{g.count} }

// gqlCount is a connection of which only the size is served.
type gqlCount struct{ TotalCount int32 }

var reactionNames = map[string]string{
	"+1": "THUMBS_UP", "-1": "THUMBS_DOWN", "laugh": "LAUGH", "confused": "CONFUSED", "heart": "HEART", "hooray": "HOORAY", "rocket": "ROCKET", "eyes": "EYES",
}

// reactionGroups has a group for each kind, used or not.
func (x *gql) reactionGroups(list []*reaction) *[]*gqlReactions {
	groups := []*gqlReactions{}
	for _, word := range reactionWords {
		g := &gqlReactions{Content: reactionNames[word]}
		for _, r := range list {
			if r.content != word {
				continue
			}
			if g.count == 0 {
				g.CreatedAt = gqlStamp(r.created)
			}
			g.count++
			g.ViewerHasReacted = g.ViewerHasReacted || r.user == x.viewer
		}
		groups = append(groups, g)
	}
	return &groups
}
