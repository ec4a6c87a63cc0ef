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

// mergeable asks git whether the pull request merges cleanly. A closed one is not computed any more.
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

// mergeState is GraphQL's mergeStateStatus for what mergeable said: DIRTY, UNKNOWN, DRAFT, BLOCKED, UNSTABLE or CLEAN.
func (p *pull) mergeState(m mergeability) string {
	switch {
	case m == mergeConflict:
		return "DIRTY"
	case m == mergeUnknown:
		return "UNKNOWN"
	case p.draft:
		return "DRAFT"
	case p.repo.mergeRefusal != "" || p.unmet() != "":
		return "BLOCKED"
	}
	if state := p.repo.rollup(p.headOID()); state != "" && state != "SUCCESS" {
		return "UNSTABLE"
	}
	return "CLEAN"
}

// unmet names the demand of the base branch's protection that is not met, "" when all are.
func (p *pull) unmet() string {
	guard, ok := p.repo.protected[p.baseRef]
	if !ok {
		return ""
	}
	head := p.headOID()
	for _, name := range guard.checks {
		if !p.repo.passed(head, name) {
			return fmt.Sprintf("Required status check %q is expected.", name)
		}
	}
	if guard.lastPush && !slices.ContainsFunc(p.approvers(), func(u *user) bool { return u != p.pusher() }) {
		return "New changes require approval from someone other than the last pusher."
	}
	if have := len(p.approvers()); have < guard.reviews {
		return fmt.Sprintf("At least %d approving review is required by reviewers with write access.", guard.reviews)
	}
	return ""
}

// pusher is who pushed the head, as far as it is known.
func (p *pull) pusher() *user {
	if p.pushed != nil {
		return p.pushed
	}
	return p.author
}

// approvers are the people with write access whose last word was an approval.
func (p *pull) approvers() []*user {
	last := map[*user]string{}
	for _, v := range p.reviews {
		if v.state == "APPROVED" || v.state == "CHANGES_REQUESTED" || v.state == "DISMISSED" {
			last[v.author] = v.state
		}
	}
	var out []*user
	for u, state := range last {
		if state == "APPROVED" && p.repo.can(u, "write") {
			out = append(out, u)
		}
	}
	return out
}

// mergeOrder is what a merge is asked to do.
type mergeOrder struct {
	method, sha, title, message string
}

// mergePull merges by git and closes what the merge closes.
func (r *Repo) mergePull(actor *user, p *pull, order mergeOrder) (string, *apiError) {
	if e := r.mayMerge(actor, p, order); e != nil {
		return "", e
	}
	head, base := p.headOID(), p.baseOID()
	oid, clean, err := r.mergeCommit(actor, p, order, base, head)
	if err != nil {
		return "", refusal(http.StatusInternalServerError, err.Error())
	}
	if !clean {
		return "", refusal(http.StatusMethodNotAllowed, "Pull Request is not mergeable")
	}
	if err := r.git.setRef("refs/heads/"+p.baseRef, oid, base); err != nil {
		return "", refusal(http.StatusMethodNotAllowed, "Base branch was modified. Review and try the merge again.")
	}
	p.headSHA, p.baseSHA = head, base
	r.markMerged(actor, p, oid)
	r.acceptPush(actor)
	r.closeBy(actor, p, oid)
	if r.deleteOnMerge && p.sameRepo() && p.headRef != r.defaultBranch {
		if err := r.git.deleteRef("refs/heads/" + p.headRef); err == nil {
			p.record(actor, "head_ref_deleted", nil)
			r.acceptPush(actor)
		}
	}
	return oid, nil
}

// mayMerge refuses what GitHub refuses, in its words.
func (r *Repo) mayMerge(actor *user, p *pull, order mergeOrder) *apiError {
	if e := r.need(actor, "write"); e != nil {
		return e
	}
	notAllowed := func(why string) *apiError { return refusal(http.StatusMethodNotAllowed, why) }
	switch {
	case p.state != "open":
		return notAllowed("Pull Request is not mergeable")
	case p.draft:
		return notAllowed("Pull Request is still a draft")
	case !slices.Contains([]string{"", "merge", "squash", "rebase"}, order.method):
		return invalid(errorItem{Resource: "PullRequest", Field: "merge_method", Code: "invalid"})
	case order.sha != "" && order.sha != p.headOID():
		return refusal(http.StatusConflict, "Head branch was modified. Review and try the merge again.")
	case r.mergeRefusal != "":
		return notAllowed(r.mergeRefusal)
	}
	if why := p.unmet(); why != "" {
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

// squashMessage lists the messages of the commits, as GitHub does; of a single one only its body is left.
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
	if p.baseRef != r.defaultBranch {
		return
	}
	for _, is := range r.closes(p.title + "\n" + p.body) {
		if is.state == "open" {
			is.close(actor, "completed", oid)
		}
	}
}
