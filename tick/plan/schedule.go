package plan

import (
	"cmp"
	"maps"
	"slices"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/review"
	"github.com/mergexo/gh-mergexo/internal/work/sorted"
	"github.com/mergexo/gh-mergexo/tick/change"
	"github.com/mergexo/gh-mergexo/tick/known"
)

// waitsForOthers reports whether the item must not begin yet, because issues that it depends on are
// open, or stops it because of one that will not be closed. A person's answer, or the label set once
// more, starts a stopped one all the same.
func (r *itemPlanner) waitsForOthers(kind work.Kind) bool {
	since := func(e work.Event) bool {
		return (e.Kind == work.EventLabelled || e.Kind.IsComment()) && e.SeenAt.After(r.item.Since)
	}
	if r.item.Stopped() && slices.ContainsFunc(r.item.Events, since) {
		return false
	}
	if len(r.item.DependsOn) > work.MostDependencies {
		r.stop(work.Reason{Kind: work.WhyDependsMany, Count: work.MostDependencies})
		return true
	}
	var open []string
	for _, ref := range slices.Sorted(maps.Keys(r.item.Dependencies)) {
		why, name := work.ReasonKind(""), r.v.Short(ref)
		switch r.item.Dependencies[ref] {
		case work.DependencyClosed:
		case work.DependencyOpen:
			open = append(open, cmp.Or(name, "an issue elsewhere"))
		case work.DependencyMissing:
			why = work.WhyDependsMissing
		case work.DependencyDropped:
			why = work.WhyDependsDropped
		case work.DependencyRefused:
			why, name = work.WhyDependsHidden, cmp.Or(name, "an issue elsewhere")
		}
		if why != "" {
			r.stop(work.Reason{Kind: why, Name: name})
			return true
		}
	}
	if b := r.item.Blocked; len(open) == 0 && !b.LookAt.IsZero() && !b.LookAt.After(r.v.Now) {
		open = append(open, "what GitHub is still to be asked for")
	}
	if circle := r.v.Circle(r.item); len(circle) > 0 {
		r.stop(work.Reason{Kind: work.WhyDependsCircle, Names: circle})
		return true
	}
	if len(open) > 0 {
		if r.item.State == work.StateBlocked && r.item.Reason.Kind.OfDependency() {
			r.moves(work.Move{Cause: work.CauseResumed, To: work.StatePending}, r.words("resume", "", "what stopped it is over"))
			r.item.State, r.item.Since, r.item.Reason = work.StatePending, r.v.Now, work.Reason{}
		}
		r.wait(kind, work.Reason{Kind: work.WhyDepends, Names: open})
	}
	return len(open) > 0
}

// stop blocks the item and plans no turn for it. An item that is already blocked for the same
// reason keeps its state.
func (r *itemPlanner) stop(why work.Reason) {
	if r.item.State != work.StateBlocked || !r.item.Reason.Equal(why) {
		r.moves(work.Move{Cause: work.CauseStopped, To: work.StateBlocked, Reason: why}, change.Words{})
		r.item.State = work.StateBlocked
	}
	reviewsOf(r).markDecided(review.Choice{})
	r.waitBlocked("", why)
}

// schedule starts the implementations with the highest scores one by one. Each is scored against
// those in progress and just started. One with a score below 0 would collide too much: it waits
// until its score has risen with time.
func (p *Plan) schedule(v *known.Snapshot) {
	var active []work.Footprint
	for _, i := range v.Items {
		if i.Active() {
			active = append(active, v.Footprint(i.Item, i.Pull.Files))
		}
	}
	waiting := slices.Clone(p.waiting)
	for free := v.Free; len(waiting) > 0; free-- {
		for i := range waiting {
			s := work.ScoreOf(waiting[i].Item.Priority, v.Now.Sub(waiting[i].Since), v.Footprint(waiting[i].Item, nil), active)
			waiting[i].Score = &s
		}
		sorted.By(waiting, func(a, b Turn) int {
			switch {
			case a.Score.Total > b.Score.Total:
				return -1
			case a.Score.Total < b.Score.Total:
				return 1
			}
			return a.Since.Compare(b.Since)
		})
		best := waiting[0]
		if free <= 0 || best.Score.Total < 0 {
			break
		}
		best.Reason += ", score " + best.Score.Terms()
		p.add(best)
		active = append(active, v.Footprint(best.Item, nil))
		waiting = waiting[1:]
	}
	for _, t := range waiting {
		t.Held = work.Reason{Kind: work.WhyNoSlot}
		if t.Score.Total < 0 {
			t.Held.Kind = work.WhyCollides
		}
		p.add(t)
	}
}
