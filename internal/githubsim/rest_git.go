package githubsim

import (
	"encoding/base64"
	"maps"
	"net/http"
	"slices"
	"strings"
)

var gitRoutes = []route{
	{"GET /branches", listBranches},
	{"GET /branches/{branch...}", getBranch},
	{"GET /branches/{branch...}/protection", getProtection},
	{"GET /git/ref/{ref...}", getRef},
	{"GET /git/matching-refs/{ref...}", matchingRefs},
	{"POST /git/refs", createRef},
	{"PATCH /git/refs/{ref...}", patchRef},
	{"DELETE /git/refs/{ref...}", deleteRef},
	{"GET /git/commits/{ref}", withCommit(getGitCommit)},
	{"GET /git/trees/{tree}", getTree},
	{"GET /git/blobs/{sha}", getBlob},
	{"GET /commits", listCommits},
	{"GET /commits/{ref...}", withCommit(getCommit)},
	{"GET /compare/{range...}", compare},
	{"GET /contents", getContents},
	{"GET /contents/{path...}", getContents},
}

// shortBranch is a branch in a list.
type shortBranch struct {
	Name      string    `json:"name"`
	Commit    objectRef `json:"commit"`
	Protected bool      `json:"protected"`
}

func listBranches(c *call) (reply, *apiError) {
	heads := c.repo.git.heads()
	return pageOf(c, slices.Sorted(maps.Keys(heads)), func(name string) shortBranch {
		_, guarded := c.repo.protected[name]
		return shortBranch{Name: name, Commit: objectRef{SHA: heads[name], URL: c.urls.at(c.repo) + "/commits/" + heads[name]}, Protected: guarded}
	}), nil
}

func getBranch(c *call) (reply, *apiError) {
	name := c.r.PathValue("branch")
	oid, found := c.repo.git.head(name)
	if !found {
		return reply{}, refusal(http.StatusNotFound, "Branch not found")
	}
	x, err := c.repo.git.commit(oid)
	if err != nil {
		return reply{}, gitFailed(err)
	}
	_, guarded := c.repo.protected[name]
	at := c.urls.at(c.repo) + "/branches/" + escapePath(name)
	return ok(map[string]any{
		"name": name, "commit": c.repoCommit(x), "protected": guarded, "protection": map[string]any{"enabled": guarded}, "protection_url": at + "/protection",
		"_links": map[string]string{"self": at, "html": c.urls.page(c.repo) + "/tree/" + escapePath(name)},
	}), nil
}

func getProtection(c *call) (reply, *apiError) {
	if !c.repo.can(c.viewer, "admin") {
		return reply{}, notFound()
	}
	name := c.r.PathValue("branch")
	guard, found := c.repo.protected[name]
	if !found {
		return reply{}, refusal(http.StatusNotFound, "Branch not protected")
	}
	at := c.urls.at(c.repo) + "/branches/" + escapePath(name) + "/protection"
	out := map[string]any{"url": at, "enabled": true}
	if len(guard.checks) > 0 {
		out["required_status_checks"] = map[string]any{
			"url": at + "/required_status_checks", "contexts": guard.checks, "contexts_url": at + "/required_status_checks/contexts", "strict": false,
			"checks": []map[string]any{},
		}
	}
	return ok(out), nil
}

func getRef(c *call) (reply, *apiError) {
	name := c.r.PathValue("ref")
	if oid, found := c.repo.refs()["refs/"+name]; found {
		return ok(c.ref(c.repo, "refs/"+name, oid)), nil
	}
	return reply{}, notFound()
}

func matchingRefs(c *call) (reply, *apiError) {
	all := c.repo.refs()
	out := []refJSON{}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if strings.HasPrefix(name, "refs/"+c.r.PathValue("ref")) {
			out = append(out, c.ref(c.repo, name, all[name]))
		}
	}
	return reply{status: http.StatusOK, body: out}, nil
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

// refInput is the body of making and moving a ref.
type refInput struct {
	Ref   string
	SHA   string
	Force bool
}

func createRef(c *call) (reply, *apiError) {
	var in refInput
	if e := c.decode(&in); e != nil {
		return reply{}, e
	}
	if e := c.repo.need(c.viewer, "write"); e != nil {
		return reply{}, e
	}
	if !strings.HasPrefix(in.Ref, "refs/") || strings.Count(in.Ref, "/") < 2 {
		return reply{}, refusal(http.StatusUnprocessableEntity, "Reference name must start with 'refs/'")
	}
	if _, found := c.repo.git.resolve(in.SHA); !found || !isOID(in.SHA) {
		return reply{}, refusal(http.StatusUnprocessableEntity, "Object does not exist")
	}
	if _, found := c.repo.refs()[in.Ref]; found {
		return reply{}, refusal(http.StatusUnprocessableEntity, "Reference already exists")
	}
	if err := c.repo.git.setRef(in.Ref, in.SHA, zeroOID); err != nil {
		return reply{}, refusal(http.StatusUnprocessableEntity, "Reference update failed")
	}
	c.repo.acceptPush(c.viewer)
	return created(c.ref(c.repo, in.Ref, in.SHA)), nil
}

func patchRef(c *call) (reply, *apiError) {
	var in refInput
	if e := c.decode(&in); e != nil {
		return reply{}, e
	}
	if e := c.repo.need(c.viewer, "write"); e != nil {
		return reply{}, e
	}
	name := "refs/" + c.r.PathValue("ref")
	old, found := c.repo.refs()[name]
	if !found {
		return reply{}, refusal(http.StatusUnprocessableEntity, "Reference does not exist")
	}
	if _, found := c.repo.git.resolve(in.SHA); !found {
		return reply{}, refusal(http.StatusUnprocessableEntity, "Object does not exist")
	}
	if !in.Force && !c.repo.git.isAncestor(old, in.SHA) {
		return reply{}, refusal(http.StatusUnprocessableEntity, "Update is not a fast forward")
	}
	if err := c.repo.git.setRef(name, in.SHA, old); err != nil {
		return reply{}, refusal(http.StatusUnprocessableEntity, "Reference update failed")
	}
	c.repo.acceptPush(c.viewer)
	return ok(c.ref(c.repo, name, in.SHA)), nil
}

func deleteRef(c *call) (reply, *apiError) {
	if e := c.repo.need(c.viewer, "write"); e != nil {
		return reply{}, e
	}
	name := "refs/" + c.r.PathValue("ref")
	if _, found := c.repo.refs()[name]; !found {
		return reply{}, refusal(http.StatusUnprocessableEntity, "Reference does not exist")
	}
	if err := c.repo.git.deleteRef(name); err != nil {
		return reply{}, gitFailed(err)
	}
	c.repo.acceptPush(c.viewer)
	return noContent(), nil
}

func getGitCommit(c *call, sha string) (reply, *apiError) {
	x, err := c.repo.git.commit(sha)
	if err != nil {
		return reply{}, gitFailed(err)
	}
	return ok(c.gitCommit(c.repo, x)), nil
}

// treeEntry is a line of a git tree.
type treeEntry struct {
	Path string `json:"path"`
	Mode string `json:"mode"`
	Type string `json:"type"`
	SHA  string `json:"sha"`
	Size *int   `json:"size,omitempty"`
	URL  string `json:"url"`
}

func getTree(c *call) (reply, *apiError) {
	name := c.r.PathValue("tree")
	oid, err := c.repo.git.run("rev-parse", "--verify", "--quiet", "--end-of-options", name+"^{tree}")
	if err != nil {
		return reply{}, notFound()
	}
	list, err := c.repo.git.list(oid, "", c.query("recursive") != "")
	if err != nil {
		return reply{}, gitFailed(err)
	}
	tree := []treeEntry{}
	for _, e := range list {
		t := treeEntry{Path: e.path, Mode: e.mode, Type: e.kind, SHA: e.oid, URL: c.urls.at(c.repo) + "/git/" + e.kind + "s/" + e.oid}
		if e.kind == "blob" {
			t.Size = &e.size
		}
		tree = append(tree, t)
	}
	return ok(map[string]any{"sha": oid, "url": c.urls.at(c.repo) + "/git/trees/" + oid, "tree": tree, "truncated": false}), nil
}

func getBlob(c *call) (reply, *apiError) {
	sha := c.r.PathValue("sha")
	if !isOID(sha) {
		return reply{}, notFound()
	}
	data, err := c.repo.git.exec(nil, "", "--git-dir="+c.repo.git.dir, "cat-file", "blob", sha)
	if err != nil {
		return reply{}, notFound()
	}
	return ok(map[string]any{
		"sha": sha, "node_id": namedNodeID("B", c.repo.id, sha), "size": len(data), "url": c.urls.at(c.repo) + "/git/blobs/" + sha, "encoding": "base64",
		"content": base64.StdEncoding.EncodeToString(data),
	}), nil
}
