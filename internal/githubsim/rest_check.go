package githubsim

import "net/http"

var checkRoutes = []route{
	{"GET /check-runs/{id}", withCheckRun(getCheckRun)},
	{"GET /check-runs/{id}/annotations", withCheckRun(listAnnotations)},
	{"POST /statuses/{sha}", postStatus},
	{"GET /commits/{ref...}/status", getCombinedStatus},
	{"GET /commits/{ref...}/check-runs", listCheckRuns},
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

func withCheckSuite(fn func(*call, *checkSuite) (reply, *apiError)) endpoint {
	return func(c *call) (reply, *apiError) {
		if s, found := c.h.nodeByID(nodeID(kindCheckSuite, c.number("id"))).(*checkSuite); found && s.repo == c.repo {
			return fn(c, s)
		}
		return reply{}, notFound()
	}
}

// checkRunsJSON is a page of a commit's check runs.
type checkRunsJSON struct {
	Total int            `json:"total_count"`
	Runs  []checkRunJSON `json:"check_runs"`
}

// listCheckRuns lists the newest run of each name, as filter=latest does.
func listCheckRuns(c *call) (reply, *apiError) {
	if c.h.blind(c.viewer) {
		return reply{}, forbidden("Resource not accessible by personal access token")
	}
	sha, found := c.repo.git.resolve(c.r.PathValue("ref"))
	if !found {
		return reply{}, refusal(http.StatusUnprocessableEntity, "No commit found for SHA: "+c.r.PathValue("ref"))
	}
	list := c.repo.latestChecks(sha)
	out := checkRunsJSON{Total: len(list), Runs: []checkRunJSON{}}
	part, header := paged(c, list)
	for _, x := range part {
		out.Runs = append(out.Runs, c.checkRun(x))
	}
	return reply{status: http.StatusOK, body: out, header: header}, nil
}
