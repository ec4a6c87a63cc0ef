package githubsim

import (
	"encoding/base64"
	"net/http"
)

var repoRoutes = []route{
	{"GET ", getRepo},
	{"PATCH ", patchRepo},
	{"GET /readme", getReadme},
	{"GET /collaborators/{login}/permission", getPermission},
}

func getRepo(c *call) (reply, *apiError) {
	out := c.repository(c.repo)
	if c.repo.fork != nil {
		out.Parent = c.repository(c.repo.fork)
		out.Source = out.Parent
	}
	return ok(out), nil
}

// patchRepo renames the repository.
func patchRepo(c *call) (reply, *apiError) {
	var in struct{ Name string }
	if e := c.decode(&in); e != nil {
		return reply{}, e
	}
	if e := c.repo.need(c.viewer, "admin"); e != nil {
		return reply{}, e
	}
	if err := c.h.rename(c.repo, c.repo.owner.login+"/"+in.Name); err != nil {
		return reply{}, refusal(http.StatusUnprocessableEntity, err.Error())
	}
	return ok(c.repository(c.repo)), nil
}

// getReadme gives README.md of the default branch.
func getReadme(c *call) (reply, *apiError) {
	const name = "README.md"
	oid, _ := c.repo.git.resolve("refs/heads/" + c.repo.defaultBranch)
	text, found := c.repo.git.file(oid, name)
	if !found {
		return reply{}, notFound()
	}
	return ok(map[string]any{
		"name": name, "path": name, "type": "file", "size": len(text), "encoding": "base64", "content": base64.StdEncoding.EncodeToString(text),
		"html_url": c.urls.page(c.repo) + "/blob/" + c.repo.defaultBranch + "/" + name,
	}), nil
}

// collaboratorJSON is a user with what they may do.
type collaboratorJSON struct {
	*simpleUser
	Permissions permissions `json:"permissions"`
	RoleName    string      `json:"role_name"`
}

func (c *call) collaborator(u *user) collaboratorJSON {
	return collaboratorJSON{simpleUser: c.urls.user(u), Permissions: c.repo.permissions(u), RoleName: c.repo.level(u)}
}

// permissionJSON is the answer of collaborators/{login}/permission.
type permissionJSON struct {
	Permission string           `json:"permission"`
	RoleName   string           `json:"role_name"`
	User       collaboratorJSON `json:"user"`
}

func getPermission(c *call) (reply, *apiError) {
	if !c.repo.can(c.viewer, "write") {
		return reply{}, forbidden("Must have push access to view collaborator permission.")
	}
	u := c.h.user(c.r.PathValue("login"))
	if u == nil {
		return reply{}, notFound()
	}
	level := c.repo.level(u)
	return ok(permissionJSON{Permission: oldLevel(level), RoleName: level, User: c.collaborator(u)}), nil
}

// userByEmail finds who commits with that address.
func (h *Hub) userByEmail(email string) *user {
	for _, u := range h.users {
		if !u.deleted && u.email() == email {
			return u
		}
	}
	return nil
}
