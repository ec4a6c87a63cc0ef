package githubsim

var reviewRoutes = []route{
	{"GET /pulls/{number}/reviews", withPull(listReviews)},
	{"POST /pulls/{number}/reviews", withPull(createReview)},
	{"GET /pulls/{number}/reviews/{review}", withReview(getReview)},
	{"PUT /pulls/{number}/reviews/{review}", withReview(putReview)},
	{"DELETE /pulls/{number}/reviews/{review}", withReview(deleteReview)},
	{"GET /pulls/{number}/reviews/{review}/comments", withReview(listReviewDiffComments)},
	{"POST /pulls/{number}/reviews/{review}/events", withReview(submitReview)},
	{"PUT /pulls/{number}/reviews/{review}/dismissals", withReview(dismissReview)},
}

// withReview finds the review of the path; somebody else's draft does not exist.
func withReview(fn func(*call, *review) (reply, *apiError)) endpoint {
	return withPull(func(c *call, p *pull) (reply, *apiError) {
		v := p.reviewByID(c.number("review"))
		if v == nil || (v.pending() && v.author != c.viewer) {
			return reply{}, notFound()
		}
		return fn(c, v)
	})
}

func listReviews(c *call, p *pull) (reply, *apiError) {
	var list []*review
	for _, v := range p.reviews {
		if !v.pending() || v.author == c.viewer {
			list = append(list, v)
		}
	}
	return pageOf(c, list, c.review), nil
}

// diffCommentInput is one comment on the diff in a request.
type diffCommentInput struct {
	Path      string
	Body      string
	CommitID  string `json:"commit_id"`
	Side      string
	Line      int
	StartLine int `json:"start_line"`
	Position  int
	InReplyTo int64  `json:"in_reply_to"`
	Subject   string `json:"subject_type"`
}

func (in diffCommentInput) order() newDiffComment {
	return newDiffComment{
		path: in.Path, body: in.Body, commit: in.CommitID, side: in.Side, line: in.Line, startLine: in.StartLine, position: in.Position,
		file: in.Subject == "file",
	}
}

func createReview(c *call, p *pull) (reply, *apiError) {
	var in struct {
		CommitID string `json:"commit_id"`
		Body     string
		Event    string
		Comments []diffCommentInput
	}
	if e := c.decode(&in); e != nil {
		return reply{}, e
	}
	order := newReview{event: in.Event, body: in.Body, commit: in.CommitID}
	for _, x := range in.Comments {
		d := x.order()
		d.commit = in.CommitID
		order.comments = append(order.comments, d)
	}
	v, e := c.repo.addReview(c.viewer, p, order)
	if e != nil {
		return reply{}, e
	}
	return ok(c.review(v)), nil
}

func getReview(c *call, v *review) (reply, *apiError) { return ok(c.review(v)), nil }

func putReview(c *call, v *review) (reply, *apiError) {
	var in bodyInput
	if e := c.decode(&in); e != nil {
		return reply{}, e
	}
	if e := c.repo.editReview(c.viewer, v, in.Body); e != nil {
		return reply{}, e
	}
	return ok(c.review(v)), nil
}

func deleteReview(c *call, v *review) (reply, *apiError) {
	out := c.review(v)
	return ok(out), c.repo.deletePending(c.viewer, v)
}

func listReviewDiffComments(c *call, v *review) (reply, *apiError) {
	return pageOf(c, v.comments, c.diffComment), nil
}

func submitReview(c *call, v *review) (reply, *apiError) {
	var in struct{ Body, Event string }
	if e := c.decode(&in); e != nil {
		return reply{}, e
	}
	if e := c.repo.submitReview(c.viewer, v, in.Event, in.Body); e != nil {
		return reply{}, e
	}
	return ok(c.review(v)), nil
}

func dismissReview(c *call, v *review) (reply, *apiError) {
	var in struct{ Message string }
	if e := c.decode(&in); e != nil {
		return reply{}, e
	}
	if e := c.repo.dismiss(c.viewer, v, in.Message); e != nil {
		return reply{}, e
	}
	return ok(c.review(v)), nil
}
