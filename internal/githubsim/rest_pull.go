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
	{"GET /pulls/{number}/merge", withPull(isMerged)},
	{"PUT /pulls/{number}/merge", withPull(mergeNow)},
	{"PUT /pulls/{number}/update-branch", withPull(updateBranch)},
	{"GET /pulls/{number}/requested_reviewers", withPull(listReviewers)},
	{"POST /pulls/{number}/requested_reviewers", withPull(addReviewers)},
	{"DELETE /pulls/{number}/requested_reviewers", withPull(removeReviewers)},
	{"GET /commits/{sha}/pulls", listCommitPulls},
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
		return reply{}, refusal(http.StatusNotAcceptable, "githubsim gives no diffs here")
	}
	out, e := c.pull(p)
	return ok(out), e
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

func isMerged(_ *call, p *pull) (reply, *apiError) {
	if p.merged.IsZero() {
		return reply{}, notFound()
	}
	return noContent(), nil
}

// mergedJSON is the answer of a merge.
type mergedJSON struct {
	SHA     string `json:"sha"`
	Merged  bool   `json:"merged"`
	Message string `json:"message"`
}

func mergeNow(c *call, p *pull) (reply, *apiError) {
	var in struct {
		Title   string `json:"commit_title"`
		Message string `json:"commit_message"`
		SHA     string
		Method  string `json:"merge_method"`
	}
	if e := c.decode(&in); e != nil {
		return reply{}, e
	}
	oid, e := c.repo.mergePull(c.viewer, p, mergeOrder{method: in.Method, sha: in.SHA, title: in.Title, message: in.Message})
	if e != nil {
		return reply{}, e
	}
	return ok(mergedJSON{SHA: oid, Merged: true, Message: "Pull Request successfully merged"}), nil
}

func updateBranch(c *call, p *pull) (reply, *apiError) {
	var in struct {
		Expected string `json:"expected_head_sha"`
	}
	if e := c.decode(&in); e != nil {
		return reply{}, e
	}
	if e := c.repo.updateBranch(c.viewer, p, in.Expected); e != nil {
		return reply{}, e
	}
	body := map[string]string{"message": "Updating pull request branch.", "url": c.urls.pullAt(p)}
	return reply{status: http.StatusAccepted, body: body}, nil
}

func (c *call) reviewersOf(p *pull) map[string]any {
	return map[string]any{"users": c.urls.users(p.reviewers), "teams": []struct{}{}}
}

func listReviewers(c *call, p *pull) (reply, *apiError) { return ok(c.reviewersOf(p)), nil }

func addReviewers(c *call, p *pull) (reply, *apiError) {
	e := c.changeReviewers(p, true)
	return created(c.pullSimple(p)), e
}

func removeReviewers(c *call, p *pull) (reply, *apiError) {
	e := c.changeReviewers(p, false)
	return ok(c.pullSimple(p)), e
}

func (c *call) changeReviewers(p *pull, add bool) *apiError {
	var in struct{ Reviewers []string }
	if e := c.decode(&in); e != nil {
		return e
	}
	who, all := c.findUsers(in.Reviewers)
	for _, u := range who {
		all = all && c.repo.can(u, "read")
	}
	if !all {
		return unprocessable("Reviews may only be requested from collaborators. One or more of the users or teams you specified is not a collaborator of the " + c.repo.fullName() + " repository.")
	}
	return c.repo.request(c.viewer, p, who, add)
}

// listCommitPulls lists the pull requests that carry or carried the commit.
func listCommitPulls(c *call) (reply, *apiError) {
	sha, found := c.repo.git.resolve(c.r.PathValue("sha"))
	if !found {
		return reply{}, noCommit(c.r.PathValue("sha"))
	}
	var list []*pull
	for _, p := range c.repo.pulls() {
		d, err := p.diff()
		if err != nil {
			return reply{}, gitFailed(err)
		}
		for _, x := range d.commits {
			if x.oid == sha || p.mergeSHA == sha {
				list = append(list, p)
				break
			}
		}
	}
	return pageOf(c, list, c.pullSimple), nil
}

func noCommit(name string) *apiError {
	return refusal(http.StatusUnprocessableEntity, "No commit found for SHA: "+name)
}
