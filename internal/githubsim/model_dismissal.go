package githubsim

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// dismissReview takes a verdict back. One that is a comment only cannot be, and on a protected
// branch only an administrator may.
func (r *Repo) dismissReview(actor *user, v *review, message string) *apiError {
	if e := r.need(actor, "write"); e != nil {
		return e
	}
	_, guarded := r.protected[v.pull.baseRef]
	switch {
	case strings.TrimSpace(message) == "":
		return unprocessable("message can't be blank")
	case v.state != "APPROVED" && v.state != "CHANGES_REQUESTED":
		return unprocessable("Can not dismiss a " + strings.ToLower(v.state) + " pull request review")
	case guarded && !r.can(actor, "admin"):
		return unprocessable("You are not allowed to dismiss reviews on a protected branch")
	}
	v.dismiss(actor, message)
	v.pull.touch()
	return nil
}

// dismiss is dismissReview without its conditions.
func (v *review) dismiss(actor *user, message string) {
	was := v.state
	v.state, v.updated = "DISMISSED", v.pull.repo.hub.now()
	v.pull.record(actor, "review_dismissed", func(e *event) { e.dismissed, e.wasState, e.message = v, was, message })
}

// dropStale dismisses the approvals of a head that was pushed over, where the base's rules say so.
func (p *pull) dropStale(pusher *user) {
	if !p.repo.anyDemand(p.baseRef, func(d Rules) bool { return d.DismissStale }) {
		return
	}
	for _, v := range p.reviews {
		if v.state == "APPROVED" {
			v.dismiss(pusher, "")
		}
	}
}

// requestReview asks people for their review. GitHub refuses all of them when one cannot be asked.
func (r *Repo) requestReview(actor *user, p *pull, logins []string) *apiError {
	if e := r.need(actor, "triage"); e != nil {
		return e
	}
	var asked []*user
	for _, login := range logins {
		u := r.hub.user(login)
		switch {
		case u != nil && u == p.author:
			return refusal(http.StatusUnprocessableEntity, "Review cannot be requested from pull request author.")
		case u == nil || r.association(u) == "NONE":
			return refusal(http.StatusUnprocessableEntity, fmt.Sprintf(
				"Reviews may only be requested from collaborators. One or more of the users or teams you specified is not a collaborator of the %s repository.", r.fullName()))
		}
		asked = append(asked, u)
	}
	for _, u := range asked {
		if !slices.Contains(p.reviewers, u) {
			p.reviewers = append(p.reviewers, u)
			p.record(actor, "review_requested", func(e *event) { e.user = u })
			p.touch()
		}
	}
	return nil
}

// setDraft makes a draft of a pull request, or calls it ready.
func (r *Repo) setDraft(actor *user, p *pull, draft bool) *apiError {
	if e := r.mayEdit(actor, p.author); e != nil {
		return e
	}
	if p.draft != draft {
		p.draft = draft
		if draft {
			p.leaveQueue(actor)
		}
		p.record(actor, map[bool]string{true: "convert_to_draft", false: "ready_for_review"}[draft], nil)
		p.touch()
	}
	return nil
}
