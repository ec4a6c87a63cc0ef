package githubsim

var reviewRoutes = []route{
	{"GET /pulls/{number}/reviews", withPull(listReviews)},
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
