package githubsim

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// Sub-issues: an issue has at most one parent, in any repository. A host may be too old for them.

var subIssueRoutes = []route{
	{"GET /issues/{number}/sub_issues", withSubIssues(func(c *call, is *issue) (reply, *apiError) { return pageOf(c, c.visible(is.children), c.issue), nil })},
	{"GET /issues/{number}/parent", withSubIssues(getParent)},
	{"POST /issues/{number}/sub_issues", withSubIssues(addSubIssue)},
	{"DELETE /issues/{number}/sub_issue", withSubIssues(removeSubIssue)},
	{"PATCH /issues/{number}/sub_issues/priority", withSubIssues(moveSubIssue)},
}

const (
	mostSubIssues   = 100 // of one issue; closed ones count
	mostGenerations = 8   // of sub-issues below one that has no parent
)

// subIssuesJSON counts an issue's sub-issues.
type subIssuesJSON struct {
	Total            int `json:"total"`
	Completed        int `json:"completed"`
	PercentCompleted int `json:"percent_completed"`
}

// subIssues counts them whether or not the viewer may see the issues.
func (is *issue) subIssues() *subIssuesJSON {
	if is.pull != nil || is.repo.hub.noSubIssues {
		return nil
	}
	out := &subIssuesJSON{Total: count(is.children, (*issue).exists)}
	out.Completed = out.Total - count(is.children, (*issue).isOpen)
	if out.Total > 0 {
		out.PercentCompleted = out.Completed * 100 / out.Total
	}
	return out
}

// parentURL is the address of an issue's parent; nil where there is none that the viewer may see.
func (c *call) parentURL(is *issue) *string {
	if c.h.noSubIssues || len(c.visible(is.parents())) == 0 {
		return nil
	}
	return new(fmt.Sprintf("%s/issues/%d", c.urls.at(is.parent.repo), is.parent.number))
}

// parents are the parent, or nothing.
func (is *issue) parents() []*issue {
	if is.parent == nil || is.parent.deleted {
		return nil
	}
	return []*issue{is.parent}
}

func withSubIssues(fn func(*call, *issue) (reply, *apiError)) endpoint {
	return withIssue(func(c *call, is *issue) (reply, *apiError) {
		switch {
		case c.h.noSubIssues:
			return reply{}, notFound()
		case is.pull != nil:
			return reply{}, refusal(http.StatusUnprocessableEntity, "Pull requests have no sub-issues")
		}
		return fn(c, is)
	})
}

func getParent(c *call, is *issue) (reply, *apiError) {
	for _, p := range c.visible(is.parents()) {
		return ok(c.issue(p)), nil
	}
	return reply{}, notFound()
}

// subIssueInput is the body of the requests about one sub-issue.
type subIssueInput struct {
	SubIssueID    int64 `json:"sub_issue_id"`
	ReplaceParent bool  `json:"replace_parent"`
	AfterID       int64 `json:"after_id"`
	BeforeID      int64 `json:"before_id"`
}

// subIssueOf reads the request and finds the issue that it names.
func (c *call) subIssueOf() (in subIssueInput, child *issue, e *apiError) {
	if e := c.decode(&in); e != nil {
		return in, nil, e
	}
	child = c.h.issueByID(in.SubIssueID)
	if child == nil || child.repo.need(c.viewer, "read") != nil {
		return in, nil, notFound()
	}
	return in, child, c.repo.need(c.viewer, "triage")
}

func addSubIssue(c *call, is *issue) (reply, *apiError) {
	in, child, e := c.subIssueOf()
	if e == nil {
		e = is.adopt(c.viewer, child, in.ReplaceParent)
	}
	if e != nil {
		return reply{}, e
	}
	return created(c.issue(child)), nil
}

func removeSubIssue(c *call, is *issue) (reply, *apiError) {
	_, child, e := c.subIssueOf()
	if e == nil {
		e = is.release(c.viewer, child)
	}
	if e != nil {
		return reply{}, e
	}
	return ok(c.issue(child)), nil
}

func moveSubIssue(c *call, is *issue) (reply, *apiError) {
	in, child, e := c.subIssueOf()
	if e != nil {
		return reply{}, e
	}
	if e := is.arrange(child, c.h.issueByID(in.AfterID), c.h.issueByID(in.BeforeID)); e != nil {
		return reply{}, e
	}
	return ok(c.issue(child)), nil
}

// subIssueRefusal is a 422 in the words of sub-issues.
func subIssueRefusal(why string) *apiError {
	return refusal(http.StatusUnprocessableEntity, "An error occurred while adding the sub-issue to the parent issue. "+why)
}

// mayAdopt refuses a child that an issue cannot have; nil is one that is not opened yet.
func (is *issue) mayAdopt(child *issue, replace bool) *apiError {
	above := 0
	for p := is; len(p.parents()) > 0; p = p.parent {
		above++
		if p.parent == child && child != nil {
			return subIssueRefusal("Sub issue is an ancestor of the parent issue")
		}
	}
	switch {
	case count(is.children, (*issue).exists) >= mostSubIssues:
		return subIssueRefusal("Parent issue cannot have more than 100 sub-issues")
	case above+1+child.generations() > mostGenerations:
		return subIssueRefusal("Parent issue cannot have more than 8 layers of sub-issues")
	case child == nil:
	case child == is || child.pull != nil:
		return subIssueRefusal("An issue is no sub-issue of itself, and a pull request is none")
	case slices.Contains(is.children, child):
		return subIssueRefusal("Issue may not contain duplicate sub-issues")
	case len(child.parents()) > 0 && !replace:
		return subIssueRefusal("Sub issue may only have one parent")
	}
	return nil
}

// generations is how deep the tree of an issue's sub-issues is.
func (is *issue) generations() (n int) {
	if is == nil {
		return 0
	}
	for _, c := range is.children {
		if c.exists() {
			n = max(n, 1+c.generations())
		}
	}
	return n
}

// adopt makes an issue the last sub-issue of another. Whether GitHub bumps the stamp of either is
// not known: it does not here, which is the harder case.
func (is *issue) adopt(actor *user, child *issue, replace bool) *apiError {
	if e := is.mayAdopt(child, replace); e != nil {
		return e
	}
	if child.parent != nil {
		_ = child.parent.release(actor, child) // it is one of its children
	}
	is.children, child.parent = append(is.children, child), is
	is.record(actor, "sub_issue_added", nil)
	child.record(actor, "parent_issue_added", nil)
	return nil
}

// release makes a sub-issue an issue of its own.
func (is *issue) release(actor *user, child *issue) *apiError {
	if !slices.Contains(is.children, child) {
		return notFound()
	}
	is.children, child.parent = without(is.children, child), nil
	is.record(actor, "sub_issue_removed", nil)
	child.record(actor, "parent_issue_removed", nil)
	return nil
}

// arrange puts a sub-issue behind another one, or before it.
func (is *issue) arrange(child, after, before *issue) *apiError {
	if !slices.Contains(is.children, child) {
		return notFound()
	}
	rest := without(slices.Clone(is.children), child)
	at := slices.Index(rest, after) + 1
	if after == nil {
		at = slices.Index(rest, before)
	}
	if (after == nil) == (before == nil) || at < 0 || after != nil && at == 0 {
		return refusal(http.StatusUnprocessableEntity, "Name one other sub-issue, in after_id or before_id")
	}
	is.children = slices.Insert(rest, at, child)
	return nil
}

// AddSubIssue makes an issue a sub-issue: of number, the child being a number or one of another
// repository as owner/name#12. It leaves the parent that it has.
func (r *Repo) AddSubIssue(number int, actor, child string) error {
	return r.onRelated(number, actor, child, func(is *issue, who *user, child *issue) *apiError { return is.adopt(who, child, true) })
}

// RemoveSubIssue removes what AddSubIssue made.
func (r *Repo) RemoveSubIssue(number int, actor, child string) error {
	return r.onRelated(number, actor, child, func(is *issue, who *user, child *issue) *apiError { return is.release(who, child) })
}

// MoveSubIssue puts a sub-issue first of its parent's.
func (r *Repo) MoveSubIssue(number int, actor, child string) error {
	return r.onRelated(number, actor, child, func(is *issue, _ *user, child *issue) *apiError {
		if is.children[0] == child {
			return nil
		}
		return is.arrange(child, nil, is.children[0])
	})
}

// onRelated runs a deed on an issue and another one: a number, or owner/name#12.
func (r *Repo) onRelated(number int, actor, other string, deed func(*issue, *user, *issue) *apiError) error {
	return r.onIssue(number, actor, func(u *user, is *issue) *apiError {
		home, n := r, other
		if name, digits, elsewhere := strings.Cut(other, "#"); elsewhere {
			home, n = r.hub.repo(name), digits
		}
		if home == nil {
			return notFound()
		}
		number, err := strconv.Atoi(n)
		second := home.issue(number)
		if err != nil || second == nil {
			return notFound()
		}
		return deed(is, u, second)
	})
}

// SubIssues lists an issue's sub-issues in their order, as owner/name#12.
func (r *Repo) SubIssues(number int) (refs []string) {
	defer r.hub.enter()()
	if is := r.issue(number); is != nil {
		refs = namesOf(is.children)
	}
	return refs
}

// Blockers lists the issues by which an issue is blocked, closed ones too, as owner/name#12.
func (r *Repo) Blockers(number int) (refs []string) {
	defer r.hub.enter()()
	if is := r.issue(number); is != nil {
		refs = namesOf(is.blockedBy)
	}
	return refs
}

func namesOf(list []*issue) (refs []string) {
	for _, is := range list {
		if is.exists() {
			refs = append(refs, fmt.Sprintf("%s#%d", is.repo.fullName(), is.number))
		}
	}
	return refs
}

// WithoutSubIssues is a host that knows no sub-issues, such as GitHub Enterprise Server before 3.17.
func (h *Hub) WithoutSubIssues() {
	defer h.enter()()
	h.noSubIssues = true
}
