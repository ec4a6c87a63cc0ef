package githubsim

import (
	"net/http"
	"slices"
)

var checkRoutes = []route{
	{"GET /commits/{ref...}/check-runs", withCommit(listCheckRuns)},
	{"GET /commits/{ref...}/check-suites", withCommit(listCheckSuites)},
	{"GET /commits/{ref...}/status", withCommit(combinedStatus)},
	{"GET /commits/{ref...}/statuses", withCommit(listStatuses)},
	{"POST /statuses/{ref}", withCommit(createStatus)},
	{"POST /check-runs", createCheckRun},
	{"GET /check-runs/{id}", withCheckRun(getCheckRun)},
	{"PATCH /check-runs/{id}", withCheckRun(patchCheckRun)},
	{"GET /check-runs/{id}/annotations", withCheckRun(listAnnotations)},
	{"GET /check-suites/{id}", withCheckSuite(getCheckSuite)},
	{"GET /check-suites/{id}/check-runs", withCheckSuite(listSuiteRuns)},
}

// withCommit finds the commit that the path names by id, branch or tag.
func withCommit(fn func(c *call, sha string) (reply, *apiError)) endpoint {
	return func(c *call) (reply, *apiError) {
		name := c.r.PathValue("ref")
		sha, found := c.repo.git.resolve(name)
		if !found {
			return reply{}, noCommit(name)
		}
		return fn(c, sha)
	}
}

// runsReply answers with one page of check runs in their envelope.
func (c *call) runsReply(list []*checkRun) (reply, *apiError) {
	list = slices.DeleteFunc(slices.Clone(list), func(x *checkRun) bool {
		name, state := c.query("check_name"), c.query("status")
		return (name != "" && name != x.name) || (state != "" && state != x.status)
	})
	part, header := paged(c, list)
	out := make([]checkRunJSON, len(part))
	for i, x := range part {
		out[i] = c.checkRun(x)
	}
	return reply{status: http.StatusOK, body: map[string]any{"total_count": len(list), "check_runs": out}, header: header}, nil
}

func listCheckRuns(c *call, sha string) (reply, *apiError) {
	if c.query("filter") == "all" {
		return c.runsReply(c.repo.checkRuns[sha])
	}
	return c.runsReply(c.repo.latestChecks(sha))
}

func listCheckSuites(c *call, sha string) (reply, *apiError) {
	list := c.repo.checkSuites[sha]
	part, header := paged(c, list)
	out := make([]checkSuiteJSON, len(part))
	for i, s := range part {
		var e *apiError
		if out[i], e = c.checkSuite(s); e != nil {
			return reply{}, e
		}
	}
	return reply{status: http.StatusOK, body: map[string]any{"total_count": len(list), "check_suites": out}, header: header}, nil
}

func combinedStatus(c *call, sha string) (reply, *apiError) {
	list := c.repo.latestStatuses(sha)
	part, header := paged(c, list)
	out := make([]statusJSON, len(part))
	for i, s := range part {
		out[i] = c.status(s)
	}
	at := c.urls.at(c.repo) + "/commits/" + sha
	body := map[string]any{
		"state": combined(list), "statuses": out, "sha": sha, "total_count": len(list), "repository": c.repoOnce(c.repo), "commit_url": at, "url": at + "/status",
	}
	return reply{status: http.StatusOK, body: body, header: header}, nil
}

func listStatuses(c *call, sha string) (reply, *apiError) {
	return pageOf(c, reversed(c.repo.statuses[sha]), c.status), nil
}

func createStatus(c *call, sha string) (reply, *apiError) {
	var in struct {
		State       string
		TargetURL   string `json:"target_url"`
		Description string
		Context     string
	}
	if e := c.decode(&in); e != nil {
		return reply{}, e
	}
	if e := c.repo.need(c.viewer, "write"); e != nil {
		return reply{}, e
	}
	if !slices.Contains([]string{"error", "failure", "pending", "success"}, in.State) {
		return reply{}, invalid(errorItem{Resource: "Status", Field: "state", Code: "invalid"})
	}
	s := c.repo.addStatus(c.viewer, newStatus{sha: sha, context: in.Context, state: in.State, description: in.Description, targetURL: in.TargetURL})
	return created(c.status(s)), nil
}

// checkInput is the body of making and changing a check run.
type checkInput struct {
	Name       string
	HeadSHA    string `json:"head_sha"`
	Status     string
	Conclusion string
	DetailsURL string `json:"details_url"`
	ExternalID string `json:"external_id"`
	Output     struct{ Title, Summary, Text string }
}

// createCheckRun works for bots only: GitHub lets only apps write checks.
func createCheckRun(c *call) (reply, *apiError) {
	var in checkInput
	if e := c.decode(&in); e != nil {
		return reply{}, e
	}
	if !c.viewer.isBot() {
		return reply{}, forbidden("You must authenticate via a GitHub App.")
	}
	sha, found := c.repo.git.resolve(in.HeadSHA)
	if !found {
		return reply{}, noCommit(in.HeadSHA)
	}
	if in.Name == "" {
		return reply{}, missing("CheckRun", "name")
	}
	x := c.repo.addCheck(newCheck{
		sha: sha, name: in.Name, status: in.Status, conclusion: in.Conclusion, app: botSlug(c.viewer), detailsURL: in.DetailsURL, externalID: in.ExternalID,
		title: in.Output.Title, summary: in.Output.Summary, text: in.Output.Text,
	})
	return created(c.checkRun(x)), nil
}

func withCheckRun(fn func(*call, *checkRun) (reply, *apiError)) endpoint {
	return func(c *call) (reply, *apiError) {
		if x, found := c.h.nodeByID(nodeID(kindCheckRun, c.number("id"))).(*checkRun); found && x.repo == c.repo {
			return fn(c, x)
		}
		return reply{}, notFound()
	}
}

func getCheckRun(c *call, x *checkRun) (reply, *apiError) { return ok(c.checkRun(x)), nil }

func patchCheckRun(c *call, x *checkRun) (reply, *apiError) {
	var in checkInput
	if e := c.decode(&in); e != nil {
		return reply{}, e
	}
	if !c.viewer.isBot() {
		return reply{}, forbidden("You must authenticate via a GitHub App.")
	}
	if in.Status == "" {
		in.Status = x.status
	}
	x.advance(in.Status, in.Conclusion, c.h.now())
	return ok(c.checkRun(x)), nil
}

func withCheckSuite(fn func(*call, *checkSuite) (reply, *apiError)) endpoint {
	return func(c *call) (reply, *apiError) {
		if s, found := c.h.nodeByID(nodeID(kindCheckSuite, c.number("id"))).(*checkSuite); found && s.repo == c.repo {
			return fn(c, s)
		}
		return reply{}, notFound()
	}
}

func getCheckSuite(c *call, s *checkSuite) (reply, *apiError) {
	out, e := c.checkSuite(s)
	return ok(out), e
}

func listSuiteRuns(c *call, s *checkSuite) (reply, *apiError) { return c.runsReply(s.runs()) }
