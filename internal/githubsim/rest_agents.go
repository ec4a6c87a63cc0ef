package githubsim

import (
	"net/http"
	"slices"
)

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
