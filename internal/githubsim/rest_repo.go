package githubsim

import (
	"maps"
	"net/http"
	"slices"
)

var repoRoutes = []route{
	{"GET ", getRepo},
	{"GET /collaborators", listCollaborators},
	{"GET /collaborators/{login}", getCollaborator},
	{"GET /collaborators/{login}/permission", getPermission},
	{"GET /assignees/{login}", getAssignee},
	{"GET /rules/branches/{branch...}", listRules},
}

func getRepo(c *call) (reply, *apiError) {
	out := c.repository(c.repo)
	if c.repo.fork != nil {
		out.Parent = c.repository(c.repo.fork)
		out.Source = out.Parent
	}
	return ok(out), nil
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

func listCollaborators(c *call) (reply, *apiError) {
	if e := c.repo.need(c.viewer, "write"); e != nil {
		return reply{}, e
	}
	var list []*user
	for _, u := range c.h.sortedUsers() {
		if _, listed := c.repo.perms[u.id]; (listed || u == c.repo.owner) && !u.deleted {
			list = append(list, u)
		}
	}
	return pageOf(c, list, c.collaborator), nil
}

func getCollaborator(c *call) (reply, *apiError) {
	u := c.h.user(c.r.PathValue("login"))
	if u == nil {
		return reply{}, notFound()
	}
	if _, listed := c.repo.perms[u.id]; !listed && u != c.repo.owner {
		return reply{}, notFound()
	}
	return noContent(), nil
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

func getAssignee(c *call) (reply, *apiError) {
	u := c.h.user(c.r.PathValue("login"))
	if u == nil || !c.repo.can(u, "triage") {
		return reply{}, notFound()
	}
	return noContent(), nil
}

// listRules tells the protection of a branch as rules.
func listRules(c *call) (reply, *apiError) {
	out := []map[string]any{}
	guard, ok := c.repo.protected[c.r.PathValue("branch")]
	source := map[string]any{"ruleset_source_type": "Repository", "ruleset_source": c.repo.fullName(), "ruleset_id": 1}
	add := func(kind string, parameters map[string]any) {
		rule := map[string]any{"type": kind, "parameters": parameters}
		maps.Copy(rule, source)
		out = append(out, rule)
	}
	if ok && len(guard.checks) > 0 {
		var checks []map[string]any
		for _, name := range guard.checks {
			checks = append(checks, map[string]any{"context": name})
		}
		add("required_status_checks", map[string]any{"required_status_checks": checks, "strict_required_status_checks_policy": false})
	}
	if ok && guard.reviews > 0 {
		add("pull_request", map[string]any{
			"required_approving_review_count": guard.reviews, "dismiss_stale_reviews_on_push": false, "require_code_owner_review": false,
			"require_last_push_approval": false, "required_review_thread_resolution": false,
		})
	}
	return reply{status: http.StatusOK, body: out}, nil
}

// sortedUsers are all accounts in the order of their making.
func (h *Hub) sortedUsers() []*user {
	list := make([]*user, 0, len(h.users))
	for _, u := range h.users {
		list = append(list, u)
	}
	slices.SortFunc(list, func(a, b *user) int { return compareID(a.id, b.id) })
	return list
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
