package plan

import (
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/review"
	"github.com/mergexo/gh-mergexo/tick/known"
)

// stale finishes what was said of a head that is not the head any more, or was to be
// reviewed of it, of checks that are green by now or that the config leaves to people, and all but
// the last of the conflicts.
func (r *itemPlanner) stale() {
	var old, green, left []work.Event
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
		case r.v.Policy.Checks == work.ChecksNever:
			left = append(left, e)
		case r.item.Pull.Rollup == "SUCCESS" && e.State == "": // those of a merge queue's group are none of the head's
			green = append(green, e)
		default:
			return false
		}
		return true
	})
	r.finish("stale: the head moved on", old...)
	r.finish(work.OutcomeVoid+"the checks are green by now", green...)
	r.finish(`ignored: checks = "never"`, left...)
}

// mend plans the turn that mends red checks and a conflict with the base: both
// at once, for what mends one of them moves the head. People come first. It reports
// whether there is anything to mend.
func (r *itemPlanner) mend() bool {
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
	switch {
	case len(events) == 0:
		return false
	case !r.v.Policy.FeedbackLoop:
		r.wait("", work.Reason{Kind: work.WhyFeedbackOff, Names: reasons})
		return true
	}
	if why := r.noProgress(events); !why.None() {
		r.stop(why)
		return true
	}
	r.plan(Turn{
		Kind: work.KindFix, Number: r.item.Pull.Number, Branch: r.item.Pull.Branch, Base: r.item.Pull.Base, Head: r.item.Pull.HeadOID,
		Events: events, Reason: strings.Join(slices.Compact(reasons), "; "),
	})
	return true
}
