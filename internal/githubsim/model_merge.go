package githubsim

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// mergeability is what git says about merging the head into the base.
type mergeability string

// The words are GraphQL's.
const (
	mergeClean    mergeability = "MERGEABLE"
	mergeConflict mergeability = "CONFLICTING"
	mergeUnknown  mergeability = "UNKNOWN"
)

// mergeable asks git whether the pull request merges cleanly. A closed one is not computed any
// more.
func (p *pull) mergeable(_ context.Context) mergeability {
	h := p.repo.hub
	if p.state == "open" && h.mergeUnknown > 0 {
		h.mergeUnknown--
		return mergeUnknown
	}
	return p.computeMergeable()
}

// computeMergeable is mergeable without its lag.
func (p *pull) computeMergeable() mergeability {
	if p.state != "open" {
		return mergeUnknown
	}
	m, err := p.repo.git.mergeTree(p.baseOID(), p.headOID())
	switch {
	case err != nil:
		return mergeUnknown
	case m.clean:
		return mergeClean
	}
	return mergeConflict
}

// mergeState is GraphQL's mergeStateStatus for what mergeable said: DIRTY, UNKNOWN, DRAFT, BEHIND,
// BLOCKED, UNSTABLE or CLEAN. A head that is behind where that matters is BLOCKED while anything
// else is missing. A queue blocks nothing.
func (p *pull) mergeState(m mergeability) string {
	switch {
	case m == mergeConflict:
		return "DIRTY"
	case m == mergeUnknown:
		return "UNKNOWN"
	case p.draft:
		return "DRAFT"
	case p.repo.mergeRefusal != "":
		return "BLOCKED"
	}
	if missing := p.unmet(); slices.ContainsFunc(missing, func(l lack) bool { return !l.behind }) {
		return "BLOCKED"
	} else if len(missing) > 0 {
		return "BEHIND"
	}
	if state := p.repo.rollup(p.headOID()); state != "" && state != "SUCCESS" {
		return "UNSTABLE"
	}
	return "CLEAN"
}

// mergeOrder is what a merge is asked to do.
type mergeOrder struct {
	method, sha, title, message string
}

// mergePull merges by git and closes what the merge closes.
func (r *Repo) mergePull(actor *user, p *pull, order mergeOrder) (string, *apiError) {
	if order.method == "" {
		order.method = "merge"
	}
	if e := r.mayMerge(actor, p, order); e != nil {
		return "", e
	}
	head, base := p.headOID(), p.baseOID()
	oid, clean, err := r.mergeCommit(actor, p, order, base, head)
	if err != nil {
		return "", refusal(http.StatusInternalServerError, err.Error())
	}
	if !clean {
		return "", notAllowed(notMergeable)
	}
	if oid, err = r.otherTree(oid); err != nil {
		return "", refusal(http.StatusInternalServerError, err.Error())
	}
	return oid, r.land(actor, p, halfMerge{actor, oid, base, head})
}

// otherTree lands something else than what was merged, when that was ordered.
func (r *Repo) otherTree(oid string) (string, error) {
	t := r.takeTrouble(func(t *mergeTrouble) bool { return len(t.files) > 0 })
	if t == nil {
		return oid, nil
	}
	return r.git.smuggle(oid, t.files)
}

// land moves the base branch to the commit and says that the pull request is merged.
func (r *Repo) land(actor *user, p *pull, m halfMerge) *apiError {
	half := r.takeTrouble(func(t *mergeTrouble) bool { return t.half }) != nil
	if half {
		p.half = &m
	}
	if err := r.git.setRef("refs/heads/"+p.baseRef, m.oid, m.base); err != nil {
		p.half = nil
		return notAllowed("Base branch was modified. Review and try the merge again.")
	}
	if half {
		r.acceptPush(actor)
		return refusal(http.StatusInternalServerError, "Server Error")
	}
	r.finishMerge(p, m)
	return nil
}

// finishMerge does what follows from a commit that has landed.
func (r *Repo) finishMerge(p *pull, m halfMerge) {
	p.half = nil
	p.headSHA, p.baseSHA = m.head, m.base
	r.markMerged(m.by, p, m.oid)
	r.acceptPush(m.by)
	r.closeBy(m.by, p, m.oid)
	if r.deleteOnMerge && p.sameRepo() && p.headRef != r.defaultBranch {
		if err := r.git.deleteRef("refs/heads/" + p.headRef); err == nil {
			p.record(m.by, "head_ref_deleted", nil)
			r.acceptPush(m.by)
		}
	}
}

const notMergeable = "Pull Request is not mergeable"

// notAllowed is a 405.
func notAllowed(why string) *apiError { return refusal(http.StatusMethodNotAllowed, why) }

// mayMerge refuses what GitHub refuses, in its words.
func (r *Repo) mayMerge(actor *user, p *pull, order mergeOrder) *apiError {
	if e := r.need(actor, "write"); e != nil {
		return e
	}
	switch {
	case p.state != "open":
		return notAllowed(notMergeable)
	case p.draft:
		return notAllowed("Pull Request is still a draft")
	case methodNames[order.method] == "":
		return invalid(errorItem{Resource: "PullRequest", Field: "merge_method", Code: "invalid"})
	case order.sha != "" && order.sha != p.headOID():
		return refusal(http.StatusConflict, "Head branch was modified. Review and try the merge again.")
	case r.mergeRefusal != "":
		return notAllowed(r.mergeRefusal)
	}
	if t := r.takeTrouble(func(t *mergeTrouble) bool { return t.refuse != nil }); t != nil {
		return t.refuse
	}
	return r.mayMergeBy(p, order.method)
}

// methodNames are those of merges in sentences.
var methodNames = map[string]string{"merge": "Merge commits", "squash": "Squash merges", "rebase": "Rebase merges"}

// mayMergeBy refuses a method that is not allowed, and what the base's rules refuse.
func (r *Repo) mayMergeBy(p *pull, method string) *apiError {
	forbids := func(d Rules) bool { return len(d.Methods) > 0 && !slices.Contains(d.Methods, method) }
	switch {
	case !r.allows(method):
		return notAllowed(methodNames[method] + " are not allowed on this repository.")
	case p.computeMergeable() == mergeConflict:
		return notAllowed(notMergeable)
	case method == "merge" && r.anyDemand(p.baseRef, func(d Rules) bool { return d.Linear }):
		return notAllowed("This branch must not contain merge commits.")
	case r.anyDemand(p.baseRef, forbids):
		return notAllowed("Repository rule violations found\n\n" + methodNames[method] + " are not allowed on this branch.\n\n")
	}
	if why := p.refusal(); why != "" {
		return notAllowed(why)
	}
	return nil
}

// mergeCommit makes the commit that the base branch moves to.
func (r *Repo) mergeCommit(actor *user, p *pull, order mergeOrder, base, head string) (oid string, clean bool, err error) {
	by := actor.signature(r.hub.now())
	if order.method == "rebase" {
		return r.git.replay(base, head, by)
	}
	m, err := r.git.mergeTree(base, head)
	if err != nil || !m.clean {
		return "", false, err
	}
	title, message := order.title, order.message
	parents := []string{base, head}
	if order.method == "squash" {
		parents = []string{base}
		if title == "" {
			title = fmt.Sprintf("%s (#%d)", p.title, p.number)
		}
		if message == "" {
			message = r.squashMessage(base, head)
		}
	}
	if title == "" {
		title = fmt.Sprintf("Merge pull request #%d from %s/%s", p.number, p.repo.owner.login, p.headRef)
		if message == "" {
			message = p.title
		}
	}
	oid, err = r.git.commitTree(m.tree, parents, strings.TrimRight(title+"\n\n"+message, "\n")+"\n", by, by)
	return oid, err == nil, err
}

// squashMessage lists the messages of the commits, as GitHub does; of a single one only its body is
// left.
func (r *Repo) squashMessage(base, head string) string {
	list, err := r.git.between(base, head)
	if err != nil {
		return ""
	}
	if len(list) == 1 {
		_, body, _ := strings.Cut(list[0].message, "\n")
		return strings.TrimSpace(body)
	}
	var parts []string
	for _, c := range slices.Backward(list) {
		parts = append(parts, "* "+c.message)
	}
	return strings.Join(parts, "\n\n")
}

// markMerged closes the pull request as merged by the commit.
func (r *Repo) markMerged(actor *user, p *pull, oid string) {
	p.merged, p.mergedBy, p.mergeSHA = r.hub.now(), actor, oid
	p.record(actor, "merged", func(e *event) { e.commitSHA = oid })
	p.close(actor, "", "")
}

// closeBy closes the issues that a pull request merged to the default branch fixes.
func (r *Repo) closeBy(actor *user, p *pull, oid string) {
	if p.baseRef != r.defaultBranch || r.keepsIssues {
		return
	}
	for _, is := range r.closes(p.title + "\n" + p.body) {
		if is.state == "open" {
			is.close(actor, "completed", oid)
		}
	}
}
