package githubsim

import (
	"net/http"
	"strconv"
	"strings"
)

var accountRoutes = []route{
	{"GET /", getRoot},
	{"GET /user", getViewer},
	{"GET /user/{id}", getUserByID},
	{"GET /users/{login}", getUser},
	{"GET /meta", getMeta},
	{"GET /search/issues", searchIssues},
}

// getRoot answers what gh asks to learn a token's scopes.
func getRoot(c *call) (reply, *apiError) {
	out := ok(map[string]string{"current_user_url": c.urls.api + "/user", "repository_url": c.urls.api + "/repos/{owner}/{repo}"})
	if c.viewer != nil {
		out.header = http.Header{"X-Oauth-Scopes": {"repo, workflow, read:org"}}
	}
	return out, nil
}

func getViewer(c *call) (reply, *apiError) {
	if c.viewer == nil {
		return reply{}, refusal(http.StatusUnauthorized, "Requires authentication")
	}
	if c.viewer.kind == "Bot" { // as an app's installation is
		return reply{}, forbidden("Resource not accessible by integration")
	}
	me := privateUser{fullUser: c.urls.fullUser(c.viewer), TwoFactorAuthentication: true}
	me.UserViewType = "private"
	return reply{
		status: http.StatusOK, body: me,
		header: http.Header{"X-Oauth-Scopes": {"repo, workflow, read:org"}},
	}, nil
}

func getUser(c *call) (reply, *apiError) {
	u := c.h.user(c.r.PathValue("login"))
	if u == nil {
		return reply{}, notFound()
	}
	return ok(c.urls.fullUser(u)), nil
}

func getUserByID(c *call) (reply, *apiError) {
	for _, u := range c.h.users {
		if !u.deleted && strconv.FormatInt(u.id, 10) == c.r.PathValue("id") {
			return ok(c.urls.fullUser(u)), nil
		}
	}
	return reply{}, notFound()
}

func getMeta(*call) (reply, *apiError) {
	return ok(map[string]any{"verifiable_password_authentication": false}), nil
}

// searchIssues knows the qualifiers repo:, is:, label:, author: and state:, and looks for the other words in title and
// body.
func searchIssues(c *call) (reply, *apiError) {
	var hits []*issue
	for _, r := range c.h.repos {
		if !r.can(c.viewer, "read") {
			continue
		}
		for _, is := range r.issues {
			if !is.deleted && is.found(strings.Fields(c.query("q"))) {
				hits = append(hits, is)
			}
		}
	}
	part, header := paged(c, reversed(hits))
	items := []searchItem{}
	for _, is := range part {
		items = append(items, searchItem{issueJSON: c.issue(is), Score: 1})
	}
	body := map[string]any{"total_count": len(hits), "incomplete_results": false, "items": items, "search_type": "lexical"}
	return reply{status: http.StatusOK, body: body, header: header}, nil
}

// searchItem is a hit.
type searchItem struct {
	issueJSON
	Score float64 `json:"score"`
}

// found tells whether the issue meets all words of a search.
func (is *issue) found(words []string) bool {
	for _, w := range words {
		name, value, _ := strings.Cut(w, ":")
		value = strings.Trim(value, `"`)
		var meets bool
		switch name {
		case "repo":
			meets = strings.EqualFold(value, is.repo.fullName())
		case "author":
			meets = strings.EqualFold(value, is.author.login)
		case "label":
			meets = is.hasLabels(value)
		case "is", "state", "type":
			meets = is.isA(value)
		default:
			meets = strings.Contains(strings.ToLower(is.title+" "+is.body), strings.ToLower(w))
		}
		if !meets {
			return false
		}
	}
	return true
}

func (is *issue) isA(word string) bool {
	switch word {
	case "issue":
		return is.pull == nil
	case "pr", "pull-request":
		return is.pull != nil
	case "merged":
		return is.pull != nil && !is.pull.merged.IsZero()
	}
	return is.state == word
}
