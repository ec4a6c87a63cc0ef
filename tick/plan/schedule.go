package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/explain"
	"github.com/mergexo/gh-mergexo/internal/work/review"
	"github.com/mergexo/gh-mergexo/internal/work/score"
)

// implement puts an implementation in line, once everything that it depends on
// is closed.
func (r *itemPlanner) implement(t PlannedTurn) {
	var open []string
	for _, ref := range r.item.DependsOn {
		switch r.item.Dependencies[ref] {
		case work.DependencyClosed:
		case work.DependencyMissing:
			r.stop(work.Reason{Kind: work.WhyDependsMissing, Name: r.v.short(ref)})
			return
		case work.DependencyRefused:
			r.stop(work.Reason{Kind: work.WhyDependsHidden, Name: r.v.short(ref)})
			return
		case work.DependencyOpen, "":
			open = append(open, r.v.short(ref))
		}
	}
	if circle := r.v.circle(r.item.Item); len(circle) > 0 {
		r.stop(work.Reason{Kind: work.WhyDependsCircle, Names: circle})
		return
	}
	if len(open) > 0 {
		r.wait(t.Kind, work.Reason{Kind: work.WhyDepends, Names: open})
		return
	}
	if r.affords(t.Kind) {
		r.p.Waiting = append(r.p.Waiting, r.complete(t))
	}
}

// short is a reference as people write it within the repository.
func (v *Snapshot) short(ref string) string {
	return strings.TrimPrefix(strings.TrimPrefix(ref, v.Repo.Name.String()), v.Repo.Name.Host+"/")
}

// circle finds a way along the dependencies of implementations that wait back
// to one of them.
func (v *Snapshot) circle(of work.Item) []string {
	needs := map[string][]string{}
	for _, i := range v.Items {
		if i.Asks() && (i.State == work.StateReady || i.State == work.StateBlocked) {
			needs[strings.ToLower(work.Dependency{Repo: v.Repo.Name, Number: i.Number}.String())] = i.DependsOn
		}
	}
	home := strings.ToLower(work.Dependency{Repo: v.Repo.Name, Number: of.Number}.String())
	way := []string{home}
	seen := map[string]bool{}
	var walk func(string) bool
	walk = func(at string) bool {
		for _, next := range needs[at] {
			next = strings.ToLower(next)
			if next == home {
				return true
			}
			if seen[next] {
				continue
			}
			seen[next] = true
			way = append(way, next)
			if walk(next) {
				return true
			}
			way = way[:len(way)-1]
		}
		return false
	}
	if !walk(home) {
		return nil
	}
	for i := range way {
		way[i] = v.short(way[i])
	}
	return append(way, way[0])
}

// stop blocks the item without a turn. The same reason again only follows what moves
// in it.
func (r *itemPlanner) stop(why work.Reason) {
	if r.item.State != work.StateBlocked || !r.item.Reason.Equal(why) {
		r.p.Moves = append(r.p.Moves, work.Move{Item: r.item.ID, Cause: work.CauseStopped, To: work.StateBlocked, Reason: why})
		r.item.State = work.StateBlocked
	}
	reviewsOf(r).looked(review.Choice{})
	r.waitBlocked("", why)
}

// schedule begins the implementations that are worth most, one after the
// other, each weighed against those under way and those just begun. One whose
// score is below 0 would collide too much: it waits, until it has waited so
// long that its score has risen.
func (p *Plan) schedule(v *Snapshot) {
	var active []score.Footprint
	for _, i := range v.Items {
		if i.Active() {
			active = append(active, v.footprint(i.Item, i.Pull.Files))
		}
	}
	waiting := slices.Clone(p.Waiting)
	for free := v.Free; len(waiting) > 0; free-- {
		for i := range waiting {
			s := score.Of(waiting[i].Item.Priority, v.Now.Sub(waiting[i].Since), v.footprint(waiting[i].Item, nil), active, v.Policy.Weights)
			waiting[i].Score = &s
		}
		slices.SortStableFunc(waiting, func(a, b PlannedTurn) int {
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
		best.Reason += ", score " + terms(*best.Score)
		p.add(best)
		active = append(active, v.footprint(best.Item, nil))
		waiting = waiting[1:]
	}
	for _, t := range waiting {
		why := work.Reason{Kind: work.WhyNoSlot, Text: terms(*t.Score)}
		if t.Score.Total < 0 {
			why.Kind = work.WhyCollides
		}
		p.Lines = append(p.Lines, Line{
			Item: t.Item.ID, Number: t.Number, Kind: t.Kind, What: "wait", Reason: explain.What(why, explain.Place{}), Code: why.Kind, Why: []work.Reason{why}, Score: t.Score,
		})
	}
}

// terms shows a score's terms.
func terms(s score.Score) string {
	return fmt.Sprintf("%.2f (priority %d, conflict risk %.2f = files %.2f, modules %.2f, size %.1f; waiting %.1f days)",
		s.Total, s.Priority, s.Risk, s.Overlap, s.Modules, s.Size, s.Days)
}

// footprint is what an item touches: the files of its pull request, or what its
// touch paths match on the base. A path that matches nothing is a new file. The
// design document is each one's own.
func (v *Snapshot) footprint(item work.Item, files []string) score.Footprint {
	f := score.Footprint{Files: map[string]bool{}, Size: item.Size}
	for _, path := range files {
		if path != item.Document {
			f.Files[path] = true
		}
	}
	if len(files) > 0 {
		return f
	}
	for _, glob := range item.TouchPaths {
		found := false
		for _, path := range v.paths() {
			if v.Policy.Match(glob, path) {
				f.Files[path], found = true, true
			}
		}
		if !found {
			f.Files[glob] = true
		}
	}
	return f
}

// paths are those that a glob may mean: of the base, and what is changed by what is
// under way. Without git, which status does not ask, the second are known all the same.
func (v *Snapshot) paths() []string {
	paths := slices.Clone(v.Files)
	for _, i := range v.Items {
		if i.Active() {
			paths = append(paths, i.Pull.Files...)
		}
	}
	return paths
}
