package githubsim

var reviewRoutes = []route{
	{"GET /pulls/{number}/reviews", withPull(listReviews)},
	{"POST /pulls/{number}/reviews", withPull(createReview)},
	{"PUT /pulls/{number}/reviews/{review}", withReview(updateReview)},
	{"PUT /pulls/{number}/reviews/{review}/dismissals", withReview(putDismissal)},
	{"GET /pulls/{number}/reviews/{review}/comments", withReview(listReviewComments)},
	{"GET /pulls/{number}/requested_reviewers", withPull(listRequested)},
	{"POST /pulls/{number}/requested_reviewers", withPull(requestReviewers)},
}

// withReview finds the review of the path; somebody else's draft does not exist.
func withReview(fn func(*call, *review) (reply, *apiError)) endpoint {
	return withPull(func(c *call, p *pull) (reply, *apiError) {
		if v := p.reviewByID(c.number("review")); v != nil && (!v.pending() || v.author == c.viewer) {
			return fn(c, v)
		}
		return reply{}, notFound()
	})
}

func listReviews(c *call, p *pull) (reply, *apiError) {
	var list []*review
	for _, v := range p.reviews {
		if (!v.pending() || v.author == c.viewer) && c.h.listed(&v.lag) {
			list = append(list, v)
		}
	}
	return pageOf(c, list, c.review), nil
}

func createReview(c *call, p *pull) (reply, *apiError) {
	var in struct {
		CommitID string `json:"commit_id"`
		Event    string
		Body     string
		Comments []struct {
			Path, Body, Side string
			Line, Position   int
			StartLine        int `json:"start_line"`
		}
	}
	if e := c.decode(&in); e != nil {
		return reply{}, e
	}
	asked := newReview{event: in.Event, body: in.Body, commit: in.CommitID}
	for _, x := range in.Comments {
		asked.comments = append(asked.comments, newDiffComment{
			path: x.Path, body: x.Body, side: x.Side, line: x.Line, startLine: x.StartLine, position: x.Position,
		})
	}
	v, e := c.repo.addReview(c.viewer, p, asked)
	if e != nil {
		return reply{}, e
	}
	return ok(c.review(v)), nil
}

func updateReview(c *call, v *review) (reply, *apiError) {
	var in bodyInput
	if e := c.decode(&in); e != nil {
		return reply{}, e
	}
	if e := c.repo.editReview(c.viewer, v, in.Body); e != nil {
		return reply{}, e
	}
	return ok(c.review(v)), nil
}

func putDismissal(c *call, v *review) (reply, *apiError) {
	var in struct{ Message, Event string }
	if e := c.decode(&in); e != nil {
		return reply{}, e
	}
	if e := c.repo.dismissReview(c.viewer, v, in.Message); e != nil {
		return reply{}, e
	}
	return ok(c.review(v)), nil
}

func listReviewComments(c *call, v *review) (reply, *apiError) {
	return pageOf(c, v.comments, c.diffComment), nil
}

// requestedJSON are those whose review is asked for.
type requestedJSON struct {
	Users []*simpleUser `json:"users"`
	Teams []struct{}    `json:"teams"`
}

func listRequested(c *call, p *pull) (reply, *apiError) {
	return ok(requestedJSON{Users: c.urls.users(p.reviewers), Teams: []struct{}{}}), nil
}

func requestReviewers(c *call, p *pull) (reply, *apiError) {
	var in struct{ Reviewers []string }
	if e := c.decode(&in); e != nil {
		return reply{}, e
	}
	if e := c.repo.requestReview(c.viewer, p, in.Reviewers); e != nil {
		return reply{}, e
	}
	return created(c.pullSimple(p)), nil
}
