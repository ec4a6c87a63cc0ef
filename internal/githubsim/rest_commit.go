package githubsim

import (
	"net/http"
	"slices"
	"strings"
)

// compareJSON is the answer of compare.
type compareJSON struct {
	URL             string       `json:"url"`
	HTMLURL         string       `json:"html_url"`
	PermalinkURL    string       `json:"permalink_url"`
	DiffURL         string       `json:"diff_url"`
	PatchURL        string       `json:"patch_url"`
	BaseCommit      commitJSON   `json:"base_commit"`
	MergeBaseCommit commitJSON   `json:"merge_base_commit"`
	Status          string       `json:"status"`
	AheadBy         int          `json:"ahead_by"`
	BehindBy        int          `json:"behind_by"`
	TotalCommits    int          `json:"total_commits"`
	Commits         []commitJSON `json:"commits"`
	Files           []fileJSON   `json:"files"`
}

func compare(c *call) (reply, *apiError) {
	from, to, found := strings.Cut(c.r.PathValue("range"), "...")
	if !found {
		return reply{}, notFound()
	}
	g := c.repo.git
	base, foundBase := g.resolve(afterColon(from))
	head, foundHead := g.resolve(afterColon(to))
	if !foundBase || !foundHead {
		return reply{}, notFound()
	}
	fork, err := g.mergeBase(base, head)
	if err != nil {
		return reply{}, gitFailed(err)
	}
	if fork == "" {
		return reply{}, refusal(http.StatusNotFound, "No common ancestor between "+from+" and "+to+".")
	}
	ahead, err := g.between(fork, head)
	if err != nil {
		return reply{}, gitFailed(err)
	}
	behind, err := g.between(fork, base)
	if err != nil {
		return reply{}, gitFailed(err)
	}
	files, err := g.files(fork, head)
	if err != nil {
		return reply{}, gitFailed(err)
	}
	return c.comparison(from+"..."+to, base, fork, head, ahead, behind, files)
}

// afterColon drops the owner of "owner:branch": forks share their objects' names with us only after
// a pull request.
func afterColon(s string) string {
	if _, branch, found := strings.Cut(s, ":"); found {
		return branch
	}
	return s
}

func (c *call) comparison(names, base, fork, head string, ahead, behind []commitInfo, files []fileDiff) (reply, *apiError) {
	g := c.repo.git
	baseInfo, err := g.commit(base)
	if err != nil {
		return reply{}, gitFailed(err)
	}
	forkInfo, err := g.commit(fork)
	if err != nil {
		return reply{}, gitFailed(err)
	}
	page := c.urls.page(c.repo) + "/compare/" + escapePath(names)
	out := compareJSON{
		URL: c.urls.at(c.repo) + "/compare/" + escapePath(names), HTMLURL: page, PermalinkURL: c.urls.page(c.repo) + "/compare/" + base + "..." + head,
		DiffURL: page + ".diff", PatchURL: page + ".patch", BaseCommit: c.repoCommit(baseInfo), MergeBaseCommit: c.repoCommit(forkInfo),
		Status: relation(len(ahead), len(behind)), AheadBy: len(ahead), BehindBy: len(behind), TotalCommits: len(ahead),
		Files: c.files(c.repo, head, files),
	}
	part, header := paged(c, reversed(ahead))
	out.Commits = c.commits(c.repo, part)
	return reply{status: http.StatusOK, body: out, header: header}, nil
}

func relation(ahead, behind int) string {
	switch {
	case ahead > 0 && behind > 0:
		return "diverged"
	case ahead > 0:
		return "ahead"
	case behind > 0:
		return "behind"
	}
	return "identical"
}

func getContents(c *call) (reply, *apiError) {
	path, ref := strings.Trim(c.r.PathValue("path"), "/"), c.query("ref")
	if ref == "" {
		ref = c.repo.defaultBranch
	}
	oid, found := c.repo.git.resolve(ref)
	if !found {
		return reply{}, refusal(http.StatusNotFound, "No commit found for the ref "+ref)
	}
	if path != "" {
		list, err := c.repo.git.list(oid, path, false)
		if err != nil {
			return reply{}, gitFailed(err)
		}
		i := slices.IndexFunc(list, func(e entry) bool { return e.path == path })
		if i < 0 {
			return reply{}, notFound()
		}
		if list[i].kind == "blob" {
			data, _ := c.repo.git.file(oid, path)
			return ok(c.content(c.repo, ref, list[i], append([]byte{}, data...))), nil
		}
		path += "/"
	}
	list, err := c.repo.git.list(oid, path, false)
	if err != nil {
		return reply{}, gitFailed(err)
	}
	out := make([]contentJSON, len(list))
	for i, e := range list {
		out[i] = c.content(c.repo, ref, e, nil)
	}
	return reply{status: http.StatusOK, body: out}, nil
}
