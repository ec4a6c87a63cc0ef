package githubsim

import (
	"net/http"
	"slices"
)

// GitHub's own agents: Copilot may be assigned, and Agent Merge switched on. The API has them in its
// newest version only.

// agentRoutes are below /agents/repos/{owner}/{repo}.
var agentRoutes = []route{
	{"GET /pulls/{number}/agent-merge", withPull(getAgentMerge)},
}

// agentsVersion is the API's version that has them.
const agentsVersion = "2026-03-10"

// getAgentMerge answers with 404 where Agent Merge is off, and to those who may not write.
func getAgentMerge(c *call, p *pull) (reply, *apiError) {
	if c.r.Header.Get("X-Github-Api-Version") != agentsVersion || !p.agentMerge || !c.repo.can(c.viewer, "write") {
		return reply{}, notFound()
	}
	return ok(map[string]bool{"enabled": true}), nil
}

// SetAgentMerge switches Agent Merge on or off. Whether GitHub bumps the stamp of the pull request
// is not known: it does not here, which is the harder case.
func (r *Repo) SetAgentMerge(number int, actor string, on bool) error {
	return r.onPull(number, actor, func(u *user, p *pull) *apiError {
		if e := r.need(u, "write"); e != nil {
			return e
		}
		p.agentMerge = on
		return nil
	})
}

// Assign assigns people, or bots, to an issue or a pull request.
func (r *Repo) Assign(number int, actor string, logins ...string) error {
	return r.assignment(number, actor, logins, (*issue).assign)
}

// Unassign removes what Assign made.
func (r *Repo) Unassign(number int, actor string, logins ...string) error {
	return r.assignment(number, actor, logins, (*issue).unassign)
}

func (is *issue) assign(actor, who *user) {
	if !slices.Contains(is.assignees, who) {
		is.assignees = append(is.assignees, who)
		is.record(actor, "assigned", func(e *event) { e.user = who })
	}
}

func (is *issue) unassign(actor, who *user) {
	if slices.Contains(is.assignees, who) {
		is.assignees = without(is.assignees, who)
		is.record(actor, "unassigned", func(e *event) { e.user = who })
	}
}

// setAssignees makes exactly these the assignees.
func (r *Repo) setAssignees(actor *user, is *issue, list []*user) *apiError {
	if e := r.need(actor, "triage"); e != nil {
		return e
	}
	for _, who := range list {
		is.assign(actor, who)
	}
	for _, who := range slices.Clone(is.assignees) {
		if !slices.Contains(list, who) {
			is.unassign(actor, who)
		}
	}
	is.touch()
	return nil
}

func (r *Repo) assignment(number int, actor string, logins []string, deed func(is *issue, actor, who *user)) error {
	return r.onIssue(number, actor, func(u *user, is *issue) *apiError {
		if e := r.need(u, "triage"); e != nil {
			return e
		}
		for _, login := range logins {
			who, err := r.actor(login)
			if err != nil {
				return refusal(http.StatusUnprocessableEntity, err.Error())
			}
			deed(is, u, who)
		}
		is.touch()
		return nil
	})
}
