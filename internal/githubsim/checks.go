package githubsim

import (
	"slices"
	"strings"
	"time"
)

// latestChecks are the newest run of each name on a commit, in the order of their first appearance.
func (r *Repo) latestChecks(sha string) []*checkRun {
	var out []*checkRun
	for _, c := range r.checkRuns[sha] {
		i := slices.IndexFunc(out, func(o *checkRun) bool { return o.name == c.name && o.suite.app == c.suite.app })
		if i < 0 {
			out = append(out, c)
		} else {
			out[i] = c
		}
	}
	return out
}

// latestStatuses are the newest status of each context on a commit, in the order of their first
// appearance.
func (r *Repo) latestStatuses(sha string) []*status {
	var out []*status
	for _, s := range r.statuses[sha] {
		i := slices.IndexFunc(out, func(o *status) bool { return strings.EqualFold(o.context, s.context) })
		if i < 0 {
			out = append(out, s)
		} else {
			out[i] = s
		}
	}
	return out
}

// rollup is GraphQL's StatusState over checks and statuses of a commit: SUCCESS, FAILURE, ERROR,
// PENDING, EXPECTED; "" when there are none.
func (r *Repo) rollup(sha string) string {
	worst := -1
	order := []string{"SUCCESS", "EXPECTED", "PENDING", "FAILURE", "ERROR"}
	see := func(state string) { worst = max(worst, slices.Index(order, state)) }
	for _, c := range r.latestChecks(sha) {
		see(c.rollupState())
	}
	for _, s := range r.latestStatuses(sha) {
		see(strings.ToUpper(s.state))
	}
	if worst < 0 {
		return ""
	}
	return order[worst]
}

func (c *checkRun) rollupState() string {
	switch {
	case c.status != "completed":
		return "PENDING"
	case c.conclusion == "success" || c.conclusion == "neutral" || c.conclusion == "skipped":
		return "SUCCESS"
	}
	return "FAILURE"
}

// combined is the state of GET commits/{ref}/status: pending when there are no statuses at all.
func combined(list []*status) string {
	state := "success"
	for _, s := range list {
		switch s.state {
		case "failure", "error":
			return "failure"
		case "pending", expected:
			state = "pending"
		}
	}
	if len(list) == 0 {
		return "pending"
	}
	return state
}

// newCheck is what an app reports of a check.
type newCheck struct {
	sha, name, status, conclusion string
	app                           string
	detailsURL, externalID        string
	title, summary, text          string
}

// addCheck makes a check run, in its app's suite.
func (r *Repo) addCheck(in newCheck) *checkRun {
	h, at := r.hub, r.hub.now()
	if in.app == "" {
		in.app = actionsApp
	}
	i := slices.IndexFunc(r.checkSuites[in.sha], func(s *checkSuite) bool { return s.app == in.app })
	if i < 0 {
		id, node := h.newID(kindCheckSuite)
		suite := &checkSuite{repo: r, id: id, nodeID: node, sha: in.sha, branch: r.branchOf(in.sha), app: in.app, created: at, updated: at}
		r.checkSuites[in.sha] = append(r.checkSuites[in.sha], suite)
		h.nodes[node] = suite
		i = len(r.checkSuites[in.sha]) - 1
	}
	suite := r.checkSuites[in.sha][i]
	suite.updated = at
	id, node := h.newID(kindCheckRun)
	c := &checkRun{
		repo: r, suite: suite, id: id, nodeID: node, sha: in.sha, name: in.name, detailsURL: in.detailsURL, externalID: in.externalID,
		title: in.title, summary: in.summary, text: in.text, started: at,
	}
	r.checkRuns[in.sha] = append(r.checkRuns[in.sha], c)
	h.nodes[node] = c
	c.advance(in.status, in.conclusion, at)
	return c
}

// advance sets status and conclusion; a conclusion completes the run.
func (c *checkRun) advance(status, conclusion string, at time.Time) {
	if conclusion != "" {
		status = "completed"
	}
	if status == "" {
		status = "queued"
	}
	c.status, c.conclusion, c.completed = status, conclusion, time.Time{}
	if status == "completed" {
		c.completed = at
	}
	c.suite.updated = at
}

// newStatus is what somebody says of a commit.
type newStatus struct{ sha, context, state, description, targetURL string }

// addStatus makes a commit status.
func (r *Repo) addStatus(actor *user, in newStatus) *status {
	if in.context == "" {
		in.context = "default"
	}
	id, node := r.hub.newID(kindStatus)
	s := &status{
		repo: r, id: id, nodeID: node, sha: in.sha, context: in.context, state: in.state, description: in.description,
		targetURL: in.targetURL, creator: actor, created: r.hub.now(),
	}
	r.statuses[in.sha] = append(r.statuses[in.sha], s)
	r.hub.nodes[node] = s
	return s
}

// branchOf is a branch whose head is the commit, "" when there is none.
func (r *Repo) branchOf(sha string) string {
	var names []string
	for name, oid := range r.git.heads() {
		if oid == sha {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	if len(names) == 0 {
		return ""
	}
	return names[0]
}
