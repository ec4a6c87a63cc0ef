package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// implement puts an implementation in line, once everything that it depends on
// is closed.
func (r *itemPlanner) implement(t PlannedTurn) {
	var open []string
	for _, ref := range r.item.DependsOn {
		switch r.item.Dependencies[ref] {
		case work.DependencyClosed:
		case work.DependencyMissing:
			r.stop("it depends on "+r.v.short(ref)+", which does not exist or is not visible to this account", r.v.Policy.allTheSame("comment on the issue to have it started all the same"))
			return
		case work.DependencyRefused:
			r.stop("it depends on "+r.v.short(ref)+", which GitHub does not show to this account", r.v.Policy.allTheSame("give the account access to it and comment here, or comment to have it started all the same"))
			return
		case work.DependencyOpen, "":
			open = append(open, r.v.short(ref))
		}
	}
	if circle := r.v.circle(r.item.Item); circle != "" {
		r.stop("its dependencies run in a circle: "+circle, r.v.Policy.allTheSame("close one of them, or comment on this issue to have it started all the same"))
		return
	}
	if len(open) > 0 {
		r.line("wait", t.Kind, "it depends on "+work.JoinNames(open))
		return
	}
	if r.affords(t.Kind) {
		r.p.Waiting = append(r.p.Waiting, r.complete(t))
	}
}

// allTheSame is the way on by a comment on the issue, where one is acted on.
func (p Policy) allTheSame(hint string) string {
	if !p.IssueComments {
		return work.StartOver
	}
	return hint
}

// short is a reference as people write it within the repository.
func (v *Snapshot) short(ref string) string {
	return strings.TrimPrefix(strings.TrimPrefix(ref, v.Repo.Name.String()), v.Repo.Name.Host+"/")
}

// circle finds a way along the dependencies of implementations that wait back
// to one of them.
func (v *Snapshot) circle(of work.Item) string {
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
		return ""
	}
	for i := range way {
		way[i] = v.short(way[i])
	}
	return strings.Join(append(way, way[0]), " → ")
}

// stop blocks the item without a turn.
func (r *itemPlanner) stop(reason, hint string) {
	if r.item.State == work.StateBlocked && r.item.Reason == reason {
		r.line("wait", "", "blocked: "+reason)
		return
	}
	r.p.Moves = append(r.p.Moves, work.Move{Item: r.item.ID, Cause: work.CauseStopped, To: work.StateBlocked, Reason: reason, Hint: hint})
	r.line("wait", "", "blocked: "+reason)
}

// schedule begins the implementations that are worth most, one after the
// other, each weighed against those under way and those just begun. One whose
// score is below 0 would collide too much: it waits, until it has waited so
// long that its score has risen.
func (p *Plan) schedule(v *Snapshot) {
	var active []work.Footprint
	for _, i := range v.Items {
		if i.Active() {
			active = append(active, v.footprint(i.Item, i.Pull.Files))
		}
	}
	waiting := slices.Clone(p.Waiting)
	for free := v.Free; len(waiting) > 0; free-- {
		for i := range waiting {
			s := work.ScoreOf(waiting[i].Item.Priority, v.Now.Sub(waiting[i].Since), v.footprint(waiting[i].Item, nil), active, v.Policy.Weights)
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
		best.Reason += ", score " + explain(*best.Score)
		p.add(best)
		active = append(active, v.footprint(best.Item, nil))
		waiting = waiting[1:]
	}
	for _, t := range waiting {
		why := "every slot is taken; its score is "
		if t.Score.Total < 0 {
			why = "it would collide with what is under way; its score is "
		}
		p.Lines = append(p.Lines, Line{Number: t.Number, Kind: t.Kind, What: "wait", Reason: why + explain(*t.Score), Score: t.Score})
	}
}

// explain shows a score's terms.
func explain(s work.Score) string {
	return fmt.Sprintf("%.2f (priority %d, conflict risk %.2f = files %.2f, modules %.2f, size %.1f; waiting %.1f days)",
		s.Total, s.Priority, s.Risk, s.Overlap, s.Modules, s.Size, s.Days)
}

// footprint is what an item touches: the files of its pull request, or what its
// touch paths match on the base. A path that matches nothing is a new file. The
// design document is each one's own.
func (v *Snapshot) footprint(item work.Item, files []string) work.Footprint {
	f := work.Footprint{Files: map[string]bool{}, Size: item.Size}
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
		for _, path := range v.Files {
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
