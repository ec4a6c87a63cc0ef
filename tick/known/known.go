package known

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/explain"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
	"github.com/mergexo/gh-mergexo/internal/work/roadmap"
	"github.com/mergexo/gh-mergexo/internal/work/spending"
)

// Policy is the config for routing.
type Policy struct {
	QuietPeriod   time.Duration
	ChecksTimeout time.Duration // how long checks, and GitHub, may take before a comment tells it
	RemindAfter   time.Duration // the same for people; 0: no comment does
	Labels        work.Labels
	MaxEvents     int // of one turn
	Budgets       work.Budgets

	Title func(string) string                    // makes a pull request's title safe for a commit: it closes no issues and skips no checks; nil keeps it
	Clean func(string) string                    // makes other people's text harmless after ours on the same line
	Mark  func(body string, m work.Marks) string // adds marks to a body and keeps it within GitHub's limit
	Match func(glob, path string) bool           // reports whether the glob matches the path
}

// Snapshot is everything that routing one repository may depend on.
type Snapshot struct {
	Repo      work.Repo
	Policy    Policy
	Now       time.Time
	Items     []Item            // if one page has all items: those that need a decision; otherwise those that other items are compared with
	Untracked []Item            // issues and pull requests with pending commands but no work item
	Halted    bool              // `pause --all` is in force; a pass plans nothing then, but a command in a terminal does
	Ignored   map[int]work.Flow // issues that begin once people remove the ignore label, as far as this pass saw them
	Held      []work.Holder     // the turns that the held slot locks name
	Free      int               // free slots
	Files     []string          // of the base branch; read only if implementations are scored
	Day       spending.Day      // over all repositories
	Served    RoundRobin

	Halt *merging.Halt // merging is halted in the repository; nil if not
	Sent []work.Action // sent merges and branch updates without a known result; and updates whose pull requests merge next

	Tables   []roadmap.Shown  // of roadmaps of the repository whose comments may be out of date
	Roadmaps []roadmap.Record // those that have not ended
	Unfold   []roadmap.Facts  // of those among them that changed

	Writers []string // some people who may write to the repository, as far as GitHub was asked; read if it has reviews

	Terminal string // how a terminal names the item, for a command given there; otherwise ""
}

// RoundRobin has the newest turn of a repository in each of its two queues; 0 if there was none.
// Turn ids rise in the order in which turns begin, so this is the round robin's memory between
// passes.
type RoundRobin struct {
	Feedback int64
	Fresh    int64
}

// DecidedInputs records which inputs the reviews of a pull request were decided from.
type DecidedInputs struct {
	Pull   int64
	Count  int    // changes counted by then
	Policy string // hash of the config for reviews
}

// Place returns what texts about an item on GitHub depend on.
func (v Snapshot) Place(i Item) explain.Place {
	p := v.Policy
	return explain.Place{
		Item: v.Terminal, ReadAt: v.Repo.HeartbeatAt, Pull: i.HasPull() && i.Pull.State == work.PullOpen, Label: i.Label, Ignore: p.Labels.Ignore,
	}
}

// Here is Place for texts on this machine, which may name costs.
func (v Snapshot) Here(i Item) explain.Place {
	at := v.Place(i)
	at.Spending = true
	return at
}

// Short shortens a reference as people write it within the repository.
func (v *Snapshot) Short(ref string) string {
	return strings.TrimPrefix(strings.TrimPrefix(ref, v.Repo.Name.String()), v.Repo.Name.Host+"/")
}

// Circle returns a cycle of dependencies among items that wait to begin that leads back to an item;
// nil if there is none.
func (v *Snapshot) Circle(of Item) []string {
	key := func(i Item) string {
		return strings.ToLower(work.Dependency{Repo: v.Repo.Name, Number: i.Number}.String())
	}
	if len(of.Dependencies) == 0 {
		return nil
	}
	needs := map[string]map[string]work.DependencyState{}
	for _, m := range v.Roadmaps { // each ends once all below it is closed
		if m.State.Over() {
			continue
		}
		below := map[string]work.DependencyState{}
		for n := range v.Items {
			if strings.EqualFold(m.Ref, v.Items[n].SubIssueOf) {
				below[key(v.Items[n])] = work.DependencyOpen
			}
		}
		if strings.EqualFold(m.Ref, of.SubIssueOf) {
			below[key(of)] = work.DependencyOpen
		}
		needs[strings.ToLower(m.Ref)] = below
	}
	for _, i := range v.Items {
		if i.NeedsDecision() && !i.Replans() && (i.State == work.StatePending || i.State == work.StateReady || i.State == work.StateBlocked) {
			needs[key(i)] = i.Dependencies
		}
	}
	home := key(of)
	needs[home] = of.Dependencies
	way := []string{home}
	seen := map[string]bool{}
	var walk func(string) bool
	walk = func(at string) bool {
		for _, next := range slices.Sorted(maps.Keys(needs[at])) {
			if needs[at][next] == work.DependencyClosed {
				continue
			}
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
		way[i] = v.Short(way[i])
	}
	return append(way, way[0])
}

// Footprint returns the files that an item touches: those of its pull request, or those on the base
// that its touch paths match. A path that matches nothing is a new file. The design document is
// left out: each item has its own.
func (v *Snapshot) Footprint(item work.Item, files []string) work.Footprint {
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

// paths returns the files a glob may match: those of the base, and those that active items change.
// status does not ask git, and so has only the latter.
func (v *Snapshot) paths() []string {
	paths := slices.Clone(v.Files)
	for _, i := range v.Items {
		if i.Active() {
			paths = append(paths, i.Pull.Files...)
		}
	}
	return paths
}
