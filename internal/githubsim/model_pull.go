package githubsim

import (
	"fmt"
	"net/http"
	"strings"
)

// newPull is what a person fills in to open a pull request.
type newPull struct {
	title, body string
	head        string // branch or owner:branch
	base        string
	draft       bool
}

// addPull opens a pull request.
func (r *Repo) addPull(actor *user, in newPull) (*pull, *apiError) {
	if e := r.need(actor, "read"); e != nil {
		return nil, e
	}
	headRepo, headRef, e := r.checkPull(actor, in)
	if e != nil {
		return nil, e
	}
	p := r.makePull(actor, in, headRepo, headRef)
	if err := p.keepHead(); err != nil {
		return nil, refusal(http.StatusInternalServerError, err.Error())
	}
	r.refer(actor, p.issue, in.body)
	return p, nil
}

// checkPull finds the head and refuses what GitHub refuses.
func (r *Repo) checkPull(actor *user, in newPull) (headRepo *Repo, headRef string, e *apiError) {
	if strings.TrimSpace(in.title) == "" {
		return nil, "", missing("PullRequest", "title")
	}
	if e := checkBody("PullRequest", in.body); e != nil {
		return nil, "", e
	}
	headRepo, headRef = r.findHead(in.head)
	bad := func(field string) *apiError {
		return invalid(errorItem{Resource: "PullRequest", Field: field, Code: "invalid"})
	}
	baseOID, ok := r.git.head(in.base)
	if !ok {
		return nil, "", bad("base")
	}
	if headRepo == nil {
		return nil, "", bad("head")
	}
	headOID, ok := headRepo.git.head(headRef)
	if !ok {
		return nil, "", bad("head")
	}
	if !headRepo.can(actor, "write") {
		return nil, "", pullRefusal("must be a collaborator")
	}
	for _, p := range r.pulls() {
		if p.state == "open" && p.headRepo == headRepo && p.headRef == headRef && p.baseRef == in.base {
			return nil, "", pullRefusal(fmt.Sprintf("A pull request already exists for %s:%s.", headRepo.owner.login, headRef))
		}
	}
	if headRepo == r && r.git.isAncestor(headOID, baseOID) {
		return nil, "", pullRefusal(fmt.Sprintf("No commits between %s and %s", in.base, in.head))
	}
	return headRepo, headRef, nil
}

// findHead reads "branch" or "owner:branch".
func (r *Repo) findHead(head string) (*Repo, string) {
	owner, branch, ok := strings.Cut(head, ":")
	if !ok {
		return r, head
	}
	for _, c := range r.hub.repos {
		if strings.EqualFold(c.owner.login, owner) && (c == r || c.fork == r) {
			return c, branch
		}
	}
	return nil, branch
}

// makePull makes the record of a pull request.
func (r *Repo) makePull(actor *user, in newPull, headRepo *Repo, headRef string) *pull {
	is := r.makeIssue(actor, in.title, in.body)
	id, node := r.newID(kindPull)
	p := &pull{issue: is, id: id, nodeID: node, draft: in.draft, headRepo: headRepo, headRef: headRef, baseRef: in.base}
	p.headSHA, _ = headRepo.git.head(headRef)
	p.baseSHA, _ = r.git.head(in.base)
	is.pull = p
	is.lag = r.hub.newLag("pulls")
	delete(r.hub.nodes, is.nodeID)
	r.hub.nodes[node] = p
	return p
}

// keepHead points refs/pull/N/head at the head, fetched from the fork when need be.
func (p *pull) keepHead() error {
	ref := p.headName()
	if p.headRepo != nil && !p.sameRepo() {
		if _, err := p.repo.git.run("fetch", "--quiet", "--no-tags", p.headRepo.git.dir, "+"+p.headSHA+":"+ref); err != nil {
			return fmt.Errorf("fetch the head of pull request %d: %w", p.number, err)
		}
		return nil
	}
	return p.repo.git.setRef(ref, p.headSHA, "")
}

// freeze fixes head and base at what they are: they no longer follow their branches.
func (p *pull) freeze() { p.headSHA, p.baseSHA = p.headOID(), p.baseOID() }

// reopenable refuses to reopen what cannot be.
func (p *pull) reopenable() *apiError {
	bad := func(why string) *apiError { return pullRefusal("state cannot be changed. " + why) }
	if !p.merged.IsZero() {
		return bad("The pull request cannot be reopened.")
	}
	if p.headRepo == nil {
		return bad("The repository that submitted this pull request has been deleted.")
	}
	if _, ok := p.headRepo.git.head(p.headRef); !ok {
		return bad(fmt.Sprintf("The %s branch has been deleted.", p.headRef))
	}
	for _, o := range p.repo.pulls() {
		if o != p && o.state == "open" && o.headRepo == p.headRepo && o.headRef == p.headRef && o.baseRef == p.baseRef {
			return bad(fmt.Sprintf("There is already an open pull request from %s to %s.", p.headRef, p.baseRef))
		}
	}
	p.headSHA, _ = p.headRepo.git.head(p.headRef)
	return nil
}

// setBase aims the pull request at another branch.
func (r *Repo) setBase(actor *user, p *pull, base string) *apiError {
	if base == p.baseRef {
		return nil
	}
	if e := r.mayEdit(actor, p.author); e != nil {
		return e
	}
	if _, ok := r.git.head(base); !ok {
		return pullRefusal(fmt.Sprintf("Proposed base branch '%s' was not found", base))
	}
	p.record(actor, "base_ref_changed", func(e *event) { e.from, e.to = p.baseRef, base })
	p.baseRef = base
	p.touch()
	return nil
}
