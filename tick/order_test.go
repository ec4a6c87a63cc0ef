package tick

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/mergexo/gh-mergexo/internal/work"
)

func waiting(repo int64, number, priority int, kind work.Kind, minutes int) PlannedTurn {
	return PlannedTurn{Item: work.Item{RepoID: repo, Priority: priority}, Number: number, Kind: kind, Since: noon.Add(-time.Duration(minutes) * time.Minute)}
}

func numbers(turns []PlannedTurn) (ns []int) {
	for _, t := range turns {
		ns = append(ns, t.Number)
	}
	return ns
}

func TestOrder(t *testing.T) {
	const feedback, start = work.KindImplementationFeedback, work.KindBugfixStart
	for _, c := range []struct {
		name  string
		plans []Plan
		want  []int
	}{
		{"priority, then age", []Plan{{Turns: []PlannedTurn{waiting(1, 1, 3, start, 5), waiting(1, 2, 5, start, 1), waiting(1, 3, 3, start, 9)}}}, []int{2, 3, 1}},
		{"waiting raises priority", []Plan{{Turns: []PlannedTurn{waiting(1, 1, 5, start, 1), waiting(1, 2, 1, start, 5*60)}}}, []int{2, 1}},
		{"feedback and new work take turns", []Plan{{Turns: []PlannedTurn{waiting(1, 1, 3, feedback, 9), waiting(1, 2, 3, feedback, 8), waiting(1, 3, 3, start, 7), waiting(1, 4, 3, start, 6)}}}, []int{1, 3, 2, 4}},
		{"the longer wait goes first among the two", []Plan{{Turns: []PlannedTurn{waiting(1, 1, 3, feedback, 1), waiting(1, 2, 3, start, 7)}}}, []int{2, 1}},
		{"repositories take turns", []Plan{
			{Turns: []PlannedTurn{waiting(1, 1, 3, start, 9), waiting(1, 2, 3, start, 8)}},
			{Turns: []PlannedTurn{waiting(2, 3, 1, start, 2)}},
		}, []int{1, 3, 2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := numbers(order(c.plans, noon)); fmt.Sprint(got) != fmt.Sprint(c.want) {
				t.Errorf("order %v, want %v", got, c.want)
			}
		})
	}
}

// TestL26NobodyStarves plays passes with one slot over any mixture of work and
// any arrivals: everything is started in the end, each thing once.
func TestL26NobodyStarves(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now := noon
		var line []PlannedTurn
		next := 1
		add := func(n int) {
			for range n {
				kind := work.KindBugfixStart
				if rapid.Bool().Draw(t, "feedback") {
					kind = work.KindImplementationFeedback
				}
				repo := int64(rapid.IntRange(1, 3).Draw(t, "repo"))
				line = append(line, PlannedTurn{Item: work.Item{RepoID: repo, Priority: rapid.IntRange(1, 5).Draw(t, "priority")}, Number: next, Kind: kind, Since: now})
				next++
			}
		}
		add(rapid.IntRange(1, 12).Draw(t, "first"))
		started := map[int]bool{}
		for step := 0; len(line) > 0; step++ {
			if step > 2000 {
				t.Fatalf("%d things were never started", len(line))
			}
			ordered := order(byRepo(line), now)
			if len(ordered) != len(line) {
				t.Fatalf("%d in line, %d ordered", len(line), len(ordered))
			}
			first := ordered[0]
			if started[first.Number] {
				t.Fatalf("#%d was started twice", first.Number)
			}
			started[first.Number] = true
			for i := range line {
				if line[i].Number == first.Number {
					line = append(line[:i], line[i+1:]...)
					break
				}
			}
			now = now.Add(time.Minute)
			if step < 40 {
				add(rapid.IntRange(0, 1).Draw(t, "arrivals"))
			}
		}
	})
}

func byRepo(line []PlannedTurn) []Plan {
	turns := map[int64][]PlannedTurn{}
	for _, t := range line {
		turns[t.Item.RepoID] = append(turns[t.Item.RepoID], t)
	}
	var plans []Plan
	for repo := int64(1); repo <= 3; repo++ {
		if len(turns[repo]) > 0 {
			plans = append(plans, Plan{Turns: turns[repo]})
		}
	}
	return plans
}
