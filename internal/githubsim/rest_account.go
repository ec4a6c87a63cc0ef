package githubsim

import (
	"net/http"
	"strconv"
)

var accountRoutes = []route{
	{"GET /user", getViewer},
	{"GET /user/{id}", getUserByID},
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

func getUserByID(c *call) (reply, *apiError) {
	for _, u := range c.h.users {
		if !u.deleted && strconv.FormatInt(u.id, 10) == c.r.PathValue("id") {
			return ok(c.urls.fullUser(u)), nil
		}
	}
	return reply{}, notFound()
}
