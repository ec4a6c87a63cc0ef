package githubsim

import (
	"fmt"
	"net/http"
)

// updateBranch prepares to merge the base into the head: what is returned does it, unless the head
// has moved by then.
func (r *Repo) updateBranch(actor *user, p *pull, expected string) (func(), *apiError) {
	if p.headRepo == nil {
		return nil, notUpdatable("The head repository is gone")
	}
	if e := p.headRepo.need(actor, "write"); e != nil {
		return nil, e
	}
	head, base := p.headOID(), p.baseOID()
	switch {
	case p.state != "open":
		return nil, notUpdatable("Pull request is closed")
	case expected != "" && expected != head:
		return nil, notUpdatable("expected head sha didn’t match current head ref.")
	case !p.behind():
		return nil, notUpdatable("There are no new commits on the base branch.")
	case p.computeMergeable() == mergeConflict:
		return nil, notUpdatable("merge conflict between base and head")
	}
	return func() { p.mergeBase(actor, head, base) }, nil
}

func notUpdatable(why string) *apiError { return refusal(http.StatusUnprocessableEntity, why) }

// mergeBase merges the base into the head branch. A head that has moved is left alone, as it is at
// GitHub.
func (p *pull) mergeBase(actor *user, head, base string) {
	m, err := p.repo.git.mergeTree(base, head)
	if err != nil || !m.clean || p.headOID() != head {
		return
	}
	by := actor.signature(p.repo.hub.now())
	oid, err := p.repo.git.commitTree(m.tree, []string{head, base}, fmt.Sprintf("Merge branch '%s' into %s\n", p.baseRef, p.headRef), by, by)
	if err != nil {
		return
	}
	to := p.headRepo
	if !p.sameRepo() {
		if _, err := to.git.run("fetch", "--quiet", "--no-tags", p.repo.git.dir, oid); err != nil {
			return
		}
	}
	if err := to.git.setRef("refs/heads/"+p.headRef, oid, head); err == nil {
		to.acceptPush(actor)
	}
}
