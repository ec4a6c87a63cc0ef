package githubsim

var gitRoutes = []route{
	{"GET /git/ref/{ref...}", getRef},
	{"GET /compare/{range...}", compare},
	{"GET /contents/{path...}", getContents},
}

func getRef(c *call) (reply, *apiError) {
	name := c.r.PathValue("ref")
	if oid, found := c.repo.refs()["refs/"+name]; found {
		return ok(c.ref(c.repo, "refs/"+name, oid)), nil
	}
	return reply{}, notFound()
}

// refs are the branches by their full names, and the heads of the pull requests.
func (r *Repo) refs() map[string]string {
	out := map[string]string{}
	for name, oid := range r.git.heads() {
		out["refs/heads/"+name] = oid
	}
	for _, p := range r.pulls() {
		out[p.headName()] = p.headOID()
	}
	return out
}
