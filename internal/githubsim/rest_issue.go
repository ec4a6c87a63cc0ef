package githubsim

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

var issueRoutes = []route{
	{"GET /issues", listIssues},
	{"POST /issues", createIssue},
	{"GET /issues/{number}", withIssue(getIssue)},
	{"PATCH /issues/{number}", withIssue(patchIssue)},
	{"GET /issues/{number}/timeline", withIssue(listTimeline)},
}

// withIssue finds the issue or pull request of the path; a deleted issue is gone.
func withIssue(fn func(*call, *issue) (reply, *apiError)) endpoint {
	return func(c *call) (reply, *apiError) {
		n := int(c.number("number"))
		if is := c.repo.issue(n); is != nil {
			return fn(c, is)
		}
		if n > 0 && n <= len(c.repo.issues) {
			if to := c.repo.issues[n-1].movedTo; to != nil && c.r.Method == http.MethodGet {
				return c.redirect(fmt.Sprintf("%s/repositories/%d/issues/%d", c.urls.api, to.repo.id, to.number)), nil
			}
			return reply{}, refusal(http.StatusGone, "This issue was deleted")
		}
		return reply{}, notFound()
	}
}

func listIssues(c *call) (reply, *apiError) {
	since, e := c.since()
	if e != nil {
		return reply{}, e
	}
	if c.pageNumber() > c.h.maxPage {
		return reply{}, refusal(http.StatusUnprocessableEntity, "Pagination with the page parameter is not supported for large datasets, please use cursor based pagination (after/before)")
	}
	var list []*issue
	for _, is := range c.repo.issues {
		if !is.deleted && c.wanted(is, since) && c.h.listed(&is.lag) {
			list = append(list, is)
		}
	}
	sort, direction := c.order("desc")
	switch sort {
	case "updated":
		sortBy(list, direction, func(is *issue) time.Time { return is.updated })
	case "comments":
		slices.SortStableFunc(list, func(a, b *issue) int { return len(b.comments) - len(a.comments) })
	default:
		sortBy(list, direction, func(is *issue) time.Time { return is.created })
	}
	return pageOf(c, list, c.issue), nil
}

// wanted applies the filters of the issues list.
func (c *call) wanted(is *issue, since time.Time) bool {
	state := c.query("state")
	if state == "" {
		state = "open"
	}
	if state != "all" && is.state != state {
		return false
	}
	if is.updated.Before(since) {
		return false
	}
	if by := c.query("creator"); by != "" && !strings.EqualFold(by, is.author.login) {
		return false
	}
	if to := c.query("assignee"); to != "" && to != "*" && !slices.ContainsFunc(is.assignees, func(u *user) bool { return strings.EqualFold(u.login, to) }) {
		return false
	}
	names := c.query("labels")
	return names == "" || is.hasLabels(strings.Split(names, ",")...)
}

// hasLabels tells whether it carries all of them.
func (is *issue) hasLabels(names ...string) bool {
	for _, name := range names {
		if !slices.ContainsFunc(is.labels, func(l *label) bool { return strings.EqualFold(l.name, strings.TrimSpace(name)) }) {
			return false
		}
	}
	return true
}

// issueInput is the body of creating and patching. Pointers tell what was sent.
type issueInput struct {
	Title       *string   `json:"title"`
	Body        *string   `json:"body"`
	State       *string   `json:"state"`
	StateReason string    `json:"state_reason"`
	Labels      *[]string `json:"labels"`
	Assignees   *[]string `json:"assignees"`
}

func createIssue(c *call) (reply, *apiError) {
	var in issueInput
	if e := c.decode(&in); e != nil {
		return reply{}, e
	}
	order := newIssue{title: deref(in.Title), body: deref(in.Body), labels: deref(in.Labels)}
	order.assignees, _ = c.findUsers(deref(in.Assignees))
	is, e := c.repo.addIssue(c.viewer, order)
	if e != nil {
		return reply{}, e
	}
	return created(c.issue(is)), nil
}

func getIssue(c *call, is *issue) (reply, *apiError) { return ok(c.issue(is)), nil }

// patchIssue changes title, body and state of an issue; labels are changed by their own endpoints.
func patchIssue(c *call, is *issue) (reply, *apiError) {
	var in issueInput
	if e := c.decode(&in); e != nil {
		return reply{}, e
	}
	if e := c.repo.need(c.viewer, "read"); e != nil {
		return reply{}, e
	}
	if in.Title != nil || in.Body != nil {
		if e := c.repo.editIssue(c.viewer, is, in.Title, in.Body); e != nil {
			return reply{}, e
		}
	}
	if in.State != nil {
		if e := c.repo.setState(c.viewer, is, *in.State, in.StateReason); e != nil {
			return reply{}, e
		}
	}
	return ok(c.issue(is)), nil
}

// findUsers finds accounts by login; false when one is missing.
func (c *call) findUsers(logins []string) ([]*user, bool) {
	var out []*user
	for _, l := range logins {
		if u := c.h.user(l); u != nil {
			out = append(out, u)
		}
	}
	return out, len(out) == len(logins)
}

func listTimeline(c *call, is *issue) (reply, *apiError) {
	list, e := c.timeline(is)
	if e != nil {
		return reply{}, e
	}
	return pageOf(c, list, func(s stamped) any { return s.value() }), nil
}

// deref gives the zero value for nil.
func deref[T any](p *T) T {
	if p == nil {
		var zero T
		return zero
	}
	return *p
}
