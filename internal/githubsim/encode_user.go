package githubsim

import (
	"fmt"
	"time"
)

// simpleUser is an account inside other answers.
type simpleUser struct {
	Login             string `json:"login"`
	ID                int64  `json:"id"`
	NodeID            string `json:"node_id"`
	AvatarURL         string `json:"avatar_url"`
	GravatarID        string `json:"gravatar_id"`
	URL               string `json:"url"`
	HTMLURL           string `json:"html_url"`
	FollowersURL      string `json:"followers_url"`
	FollowingURL      string `json:"following_url"`
	GistsURL          string `json:"gists_url"`
	StarredURL        string `json:"starred_url"`
	SubscriptionsURL  string `json:"subscriptions_url"`
	OrganizationsURL  string `json:"organizations_url"`
	ReposURL          string `json:"repos_url"`
	EventsURL         string `json:"events_url"`
	ReceivedEventsURL string `json:"received_events_url"`
	Type              string `json:"type"`
	UserViewType      string `json:"user_view_type"`
	SiteAdmin         bool   `json:"site_admin"`
}

// user encodes an account; a deleted one is null.
func (u urls) user(x *user) *simpleUser {
	if x == nil || x.deleted {
		return nil
	}
	at := u.api + "/users/" + x.login
	return &simpleUser{
		Login: x.login, ID: x.id, NodeID: x.nodeID, AvatarURL: fmt.Sprintf("%s/avatars/u/%d?v=4", u.web, x.id), URL: at,
		HTMLURL: u.web + "/" + x.login, FollowersURL: at + "/followers", FollowingURL: at + "/following{/other_user}",
		GistsURL: at + "/gists{/gist_id}", StarredURL: at + "/starred{/owner}{/repo}", SubscriptionsURL: at + "/subscriptions",
		OrganizationsURL: at + "/orgs", ReposURL: at + "/repos", EventsURL: at + "/events{/privacy}",
		ReceivedEventsURL: at + "/received_events", Type: x.kind, UserViewType: "public",
	}
}

// users encodes several accounts, without the deleted ones.
func (u urls) users(list []*user) []*simpleUser {
	out := []*simpleUser{}
	for _, x := range list {
		if s := u.user(x); s != nil {
			out = append(out, s)
		}
	}
	return out
}

// fullUser is the answer of GET users/{u}.
type fullUser struct {
	simpleUser
	Name        *string   `json:"name"`
	Company     *string   `json:"company"`
	Blog        *string   `json:"blog"`
	Location    *string   `json:"location"`
	Email       *string   `json:"email"`
	Hireable    *bool     `json:"hireable"`
	Bio         *string   `json:"bio"`
	PublicRepos int       `json:"public_repos"`
	PublicGists int       `json:"public_gists"`
	Followers   int       `json:"followers"`
	Following   int       `json:"following"`
	CreatedAt   time.Time `json:"created_at"`
	UpdatedAt   time.Time `json:"updated_at"`
}

// privateUser is the answer of GET user.
type privateUser struct {
	fullUser
	PrivateGists            int  `json:"private_gists"`
	TotalPrivateRepos       int  `json:"total_private_repos"`
	OwnedPrivateRepos       int  `json:"owned_private_repos"`
	DiskUsage               int  `json:"disk_usage"`
	Collaborators           int  `json:"collaborators"`
	TwoFactorAuthentication bool `json:"two_factor_authentication"`
}

func (u urls) fullUser(x *user) fullUser {
	out := fullUser{simpleUser: *u.user(x), CreatedAt: x.created, UpdatedAt: x.created}
	if x.name != "" {
		out.Name = &x.name
	}
	return out
}

// orNull gives null for "".
func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// timeOrNull gives null for the zero time.
func timeOrNull(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}
