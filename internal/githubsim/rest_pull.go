package githubsim

import (
	"net/http"
	"strings"
	"time"
)

var pullRoutes = []route{
	{"GET /pulls", listPulls},
	{"POST /pulls", createPull},
	{"GET /pulls/{number}", withPull(getPull)},
	{"PATCH /pulls/{number}", withPull(patchPull)},
	{"GET /pulls/{number}/files", withPull(listPullFiles)},
	{"GET /pulls/{number}/commits", withPull(listPullCommits)},
}

func withPull(fn func(*call, *pull) (reply, *apiError)) endpoint {
	return func(c *call) (reply, *apiError) {
		if p := c.repo.pull(int(c.number("number"))); p != nil {
			return fn(c, p)
		}
		return reply{}, notFound()
	}
}

func listPulls(c *call) (reply, *apiError) {
	state := c.query("state")
	if state == "" {
		state = "open"
	}
	var list []*pull
	for _, p := range c.repo.pulls() {
		if (state == "all" || p.state == state) && c.fits(p) && c.h.listed(&p.lag) {
			list = append(list, p)
		}
	}
	sort, direction := c.order(map[bool]string{true: "desc", false: "asc"}[c.query("sort") == "" || c.query("sort") == "created"])
	sortBy(list, direction, func(p *pull) time.Time {
		if sort == "updated" {
			return p.updated
		}
		return p.created
	})
	return pageOf(c, list, c.pullSimple), nil
}

// fits applies the head and base filters. A head without an owner filters nothing, as at GitHub.
func (c *call) fits(p *pull) bool {
	if base := c.query("base"); base != "" && base != p.baseRef {
		return false
	}
	owner, branch, ok := strings.Cut(c.query("head"), ":")
	if !ok {
		return true
	}
	return p.headRepo != nil && branch == p.headRef && strings.EqualFold(owner, p.headRepo.owner.login)
}

func createPull(c *call) (reply, *apiError) {
	var in struct {
		Title, Body, Head, Base string
		Draft                   bool
		CanModify               bool `json:"maintainer_can_modify"`
	}
	if e := c.decode(&in); e != nil {
		return reply{}, e
	}
	p, e := c.repo.addPull(c.viewer, newPull{title: in.Title, body: in.Body, head: in.Head, base: in.Base, draft: in.Draft})
	if e != nil {
		return reply{}, e
	}
	p.canModify = in.CanModify && !p.sameRepo()
	out, e := c.pull(p)
	return created(out), e
}

func getPull(c *call, p *pull) (reply, *apiError) {
	if strings.Contains(c.r.Header.Get("Accept"), "diff") {
		return plainDiff(p)
	}
	out, e := c.pull(p)
	return ok(out), e
}

// plainDiff is the pull request's change as git writes it.
func plainDiff(p *pull) (reply, *apiError) {
	d, err := p.diff()
	if err != nil {
		return reply{}, gitFailed(err)
	}
	text, err := p.repo.git.run("diff", "--no-color", "--no-ext-diff", d.base, p.headOID())
	if err != nil {
		return reply{}, gitFailed(err)
	}
	return reply{status: http.StatusOK, text: text + "\n", header: http.Header{"Content-Type": {"application/vnd.github.diff; charset=utf-8"}}}, nil
}

func patchPull(c *call, p *pull) (reply, *apiError) {
	var in struct {
		Title, Body, State, Base *string
		CanModify                *bool `json:"maintainer_can_modify"`
	}
	if e := c.decode(&in); e != nil {
		return reply{}, e
	}
	if in.Title != nil || in.Body != nil {
		if e := c.repo.editIssue(c.viewer, p.issue, in.Title, in.Body); e != nil {
			return reply{}, e
		}
	}
	if in.Base != nil {
		if e := c.repo.setBase(c.viewer, p, *in.Base); e != nil {
			return reply{}, e
		}
	}
	if in.State != nil {
		if e := c.repo.setState(c.viewer, p.issue, *in.State, ""); e != nil {
			return reply{}, e
		}
	}
	if in.CanModify != nil && !p.sameRepo() {
		p.canModify = *in.CanModify
	}
	out, e := c.pull(p)
	return ok(out), e
}

// maxPullFiles and maxPullCommits are GitHub's caps on what a pull request lists.
const (
	maxPullFiles   = 3000
	maxPullCommits = 250
)

func listPullFiles(c *call, p *pull) (reply, *apiError) {
	d, err := p.diff()
	if err != nil {
		return reply{}, gitFailed(err)
	}
	list := c.files(p.repo, p.headOID(), d.files)
	return pageOf(c, list[:min(len(list), maxPullFiles)], func(f fileJSON) fileJSON { return f }), nil
}

func listPullCommits(c *call, p *pull) (reply, *apiError) {
	d, err := p.diff()
	if err != nil {
		return reply{}, gitFailed(err)
	}
	return pageOf(c, d.commits[:min(len(d.commits), maxPullCommits)], c.repoCommit), nil
}

func (c *call) repoCommit(x commitInfo) commitJSON { return c.commit(c.repo, x) }
