package githubsim

import (
	"net/http"
	"strconv"
)

var accountRoutes = []route{
	{"GET /", getRoot},
	{"GET /user", getViewer},
	{"GET /user/{id}", getUserByID},
	{"GET /user-attachments/assets/{name}", getAttachment},
	{"GET /stored-attachments/{name}", getStoredAttachment},
}

// getRoot is where gh looks for what a token may do.
func getRoot(c *call) (reply, *apiError) {
	out, e := getViewer(c)
	out.body = map[string]string{"current_user_url": c.urls.api + "/user"}
	return out, e
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
		header: c.viewer.token.header(),
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
