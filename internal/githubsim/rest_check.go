package githubsim

var checkRoutes = []route{
	{"GET /check-runs/{id}", withCheckRun(getCheckRun)},
	{"GET /check-runs/{id}/annotations", withCheckRun(listAnnotations)},
	{"POST /statuses/{sha}", postStatus},
	{"GET /commits/{ref...}/status", getCombinedStatus},
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
