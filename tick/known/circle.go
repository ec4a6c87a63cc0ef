package known

import (
	"strings"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// Circle returns a cycle of dependencies among waiting implementations that leads back to an item;
// nil if there is none.
func (v *Snapshot) Circle(of work.Item) []string {
	needs := map[string][]string{}
	for _, i := range v.Items {
		if i.NeedsDecision() && (i.State == work.StateReady || i.State == work.StateBlocked) {
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
		way[i] = v.Short(way[i])
	}
	return append(way, way[0])
}
