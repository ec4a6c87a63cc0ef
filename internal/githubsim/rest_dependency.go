package githubsim

import (
	"net/http"
	"slices"
)

// Dependencies between issues: "blocked by" and "blocking". Only issues have them, in any
// repository. A host may be too old for them.

var dependencyRoutes = []route{
	{"GET /issues/{number}/dependencies/blocked_by", withDependencies(func(c *call, is *issue) (reply, *apiError) { return pageOf(c, c.visible(is.blockedBy), c.issue), nil })},
	{"GET /issues/{number}/dependencies/blocking", withDependencies(func(c *call, is *issue) (reply, *apiError) { return pageOf(c, c.visible(is.blocking), c.issue), nil })},
	{"POST /issues/{number}/dependencies/blocked_by", withDependencies(addBlocker)},
	{"DELETE /issues/{number}/dependencies/blocked_by/{id}", withDependencies(removeBlocker)},
}

// mostBlockers is how many issues one may be blocked by, and may block.
const mostBlockers = 50

// dependenciesJSON counts an issue's dependencies; the short counts are of open issues.
type dependenciesJSON struct {
	BlockedBy      int `json:"blocked_by"`
	Blocking       int `json:"blocking"`
	TotalBlockedBy int `json:"total_blocked_by"`
	TotalBlocking  int `json:"total_blocking"`
}

// dependencies counts them whether or not the viewer may see the issues.
func (is *issue) dependencies() *dependenciesJSON {
	if is.pull != nil || is.repo.hub.noDependencies {
		return nil
	}
	return &dependenciesJSON{
		BlockedBy: count(is.blockedBy, (*issue).isOpen), TotalBlockedBy: count(is.blockedBy, (*issue).exists),
		Blocking: count(is.blocking, (*issue).isOpen), TotalBlocking: count(is.blocking, (*issue).exists),
	}
}

func (is *issue) exists() bool { return !is.deleted }
func (is *issue) isOpen() bool { return is.exists() && is.state == "open" }

func count(list []*issue, that func(*issue) bool) (n int) {
	for _, is := range list {
		if that(is) {
			n++
		}
	}
	return n
}

// visible leaves out issues that the viewer may not see.
func (c *call) visible(list []*issue) []*issue {
	return slices.DeleteFunc(slices.Clone(list), func(is *issue) bool { return is.deleted || is.repo.need(c.viewer, "read") != nil })
}

func withDependencies(fn func(*call, *issue) (reply, *apiError)) endpoint {
	return withIssue(func(c *call, is *issue) (reply, *apiError) {
		switch {
		case c.h.noDependencies:
			return reply{}, notFound()
		case is.pull != nil:
			return reply{}, refusal(http.StatusUnprocessableEntity, "Pull requests have no dependencies")
		}
		return fn(c, is)
	})
}

func addBlocker(c *call, is *issue) (reply, *apiError) {
	var in struct {
		IssueID int64 `json:"issue_id"`
	}
	if e := c.decode(&in); e != nil {
		return reply{}, e
	}
	by := c.h.issueByID(in.IssueID)
	if by == nil || by.repo.need(c.viewer, "read") != nil {
		return reply{}, notFound()
	}
	if e := c.repo.need(c.viewer, "triage"); e != nil {
		return reply{}, e
	}
	if e := is.block(c.viewer, by); e != nil {
		return reply{}, e
	}
	return created(c.issue(is)), nil
}

func removeBlocker(c *call, is *issue) (reply, *apiError) {
	by := c.h.issueByID(c.number("id"))
	if e := c.repo.need(c.viewer, "triage"); e != nil {
		return reply{}, e
	}
	if by == nil || !slices.Contains(is.blockedBy, by) {
		return reply{}, notFound()
	}
	is.unblock(c.viewer, by)
	return ok(c.issue(is)), nil
}

// block makes an issue blocked by another. Whether GitHub bumps the stamp of the blocked issue is
// not known: it does not here, which is the harder case.
func (is *issue) block(actor *user, by *issue) *apiError {
	switch {
	case by == is || by.pull != nil:
		return refusal(http.StatusUnprocessableEntity, "An issue cannot be blocked by itself or by a pull request")
	case slices.Contains(is.blockedBy, by):
		return refusal(http.StatusUnprocessableEntity, "Target issue has already been taken")
	case len(is.blockedBy) == mostBlockers || len(by.blocking) == mostBlockers:
		return refusal(http.StatusUnprocessableEntity, "An issue has at most 50 dependencies of a kind")
	}
	is.blockedBy, by.blocking = append(is.blockedBy, by), append(by.blocking, is)
	is.record(actor, "blocked_by_added", nil)
	by.record(actor, "blocking_added", nil)
	return nil
}

func (is *issue) unblock(actor *user, by *issue) {
	is.blockedBy, by.blocking = without(is.blockedBy, by), without(by.blocking, is)
	is.record(actor, "blocked_by_removed", nil)
	by.record(actor, "blocking_removed", nil)
}

// issueByID finds an issue of any repository by its database id; nil if there is none.
func (h *Hub) issueByID(id int64) *issue {
	for _, r := range h.repos {
		for _, is := range r.issues {
			if is.id == id && !is.deleted {
				return is
			}
		}
	}
	return nil
}

// Block makes an issue blocked by another one: a number, or one of another repository as
// owner/name#12.
func (r *Repo) Block(number int, actor, by string) error {
	return r.onRelated(number, actor, by, (*issue).block)
}

// Unblock removes what Block made.
func (r *Repo) Unblock(number int, actor, by string) error {
	return r.onRelated(number, actor, by, func(is *issue, who *user, by *issue) *apiError {
		is.unblock(who, by)
		return nil
	})
}

// WithoutDependencies is a host that knows no dependencies, such as GitHub Enterprise Server before 3.19.
func (h *Hub) WithoutDependencies() {
	defer h.enter()()
	h.noDependencies = true
}
