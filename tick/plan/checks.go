package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/explain"
	"github.com/mergexo/gh-mergexo/internal/work/review"
	"github.com/mergexo/gh-mergexo/tick/known"
)

// finishStale finishes events that no longer apply: those of an old head, reviews due for it,
// checks that are green, and all conflicts but the last.
func (r *itemPlanner) finishStale() {
	var old, green []work.Event
	last := int64(0)
	for _, e := range r.item.Events {
		if e.Kind == work.EventConflict && e.Source == r.item.Pull.HeadOID {
			last = e.ID
		}
	}
	r.item.Events = known.Without(r.item.Events, func(e work.Event) bool {
		due, ofReview := review.DueOf(e)
		switch {
		case ofReview && due.Head != r.item.Pull.HeadOID:
			old = append(old, e)
		case e.Kind != work.EventCheck && e.Kind != work.EventConflict:
			return false
		case e.Source != r.item.Pull.HeadOID, e.Kind == work.EventConflict && e.ID != last:
			old = append(old, e)
		case e.Kind == work.EventConflict:
			return false
		case r.item.Pull.Rollup == "SUCCESS" && e.State == "": // a merge group's checks are not the head's
			green = append(green, e)
		default:
			return false
		}
		return true
	})
	r.finish("stale: the head moved on", old...)
	r.finish(work.OutcomeVoid+"the checks are green by now", green...)
}

// besideOthers plans the wait of a fix while GitHub's own agent may fix the same branch, and the
// comment that says so, once for each pull request. It reports whether it waits.
func (r *itemPlanner) besideOthers() bool {
	if !r.item.Pull.Beside.Holds() {
		return false
	}
	number, why := r.item.Pull.Number, r.item.Pull.Beside.Reason()
	w := explain.Reason(why, r.v.Place(r.item))
	token := work.BesideToken(r.v.Repo.Key(), number)
	body := fmt.Sprintf("Waiting for %s. Comments of people are still answered, and reviews continue.\n\n- Next step: %s.", w.What, w.Next())
	if r.item.Notices[token] == "" {
		r.comment(number, token, body, "GitHub's own agent works on it", "GitHub's own agent works on it")
	}
	r.wait("", why)
	return true
}

// fixChecks plans the turn that fixes red checks and a conflict with the base, both at once,
// because fixing either moves the head. People's comments come first. It reports whether there is
// anything to fix.
func (r *itemPlanner) fixChecks() bool {
	var events []work.Event
	var reasons []string
	for _, e := range r.item.Events {
		switch {
		case e.Kind == work.EventCheck:
			events = append(events, e)
			reasons = append(reasons, "red checks: "+strings.Join(work.CheckNames(e), ", "))
		case e.Kind == work.EventConflict && r.item.Pull.Mergeable == work.Conflicting:
			events = append(events, e)
			reasons = append(reasons, "it conflicts with "+r.item.Pull.Base)
		}
	}
	if len(events) == 0 {
		return false
	}
	if why := r.noProgress(events); !why.None() {
		r.stop(why)
		return true
	}
	if r.besideOthers() {
		return true
	}
	r.plan(Turn{
		Kind: work.KindFix, Number: r.item.Pull.Number, Branch: r.item.Pull.Branch, Base: r.item.Pull.Base, Head: r.item.Pull.HeadOID,
		Events: events, Reason: strings.Join(slices.Compact(reasons), "; "),
	})
	return true
}
