package tick

import (
	"fmt"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/tick/known"
	"github.com/mergexo/gh-mergexo/tick/plan"
)

func waiting(repo int64, number, priority int, kind work.Kind, minutes int) plan.Turn {
	return plan.Turn{Item: work.Item{RepoID: repo, Priority: priority}, Number: number, Kind: kind, Since: noon.Add(-time.Duration(minutes) * time.Minute)}
}

func numbers(turns []plan.Turn) (ns []int) {
	for _, t := range turns {
		ns = append(ns, t.Number)
	}
	return ns
}

func TestOrder(t *testing.T) {
	const feedback, start = work.KindImplementationFeedback, work.KindBugfixStart
	for _, c := range []struct {
		name  string
		plans []plan.Plan
		want  []int
	}{
		{"priority, then age", []plan.Plan{{Decisions: []plan.Decision{waiting(1, 1, 3, start, 5), waiting(1, 2, 5, start, 1), waiting(1, 3, 3, start, 9)}}}, []int{2, 3, 1}},
		{"waiting raises priority", []plan.Plan{{Decisions: []plan.Decision{waiting(1, 1, 5, start, 1), waiting(1, 2, 1, start, 5*60)}}}, []int{2, 1}},
		{"feedback and new work take turns", []plan.Plan{{Decisions: []plan.Decision{waiting(1, 1, 3, feedback, 9), waiting(1, 2, 3, feedback, 8), waiting(1, 3, 3, start, 7), waiting(1, 4, 3, start, 6)}}}, []int{1, 3, 2, 4}},
		{"the longer wait goes first among the two", []plan.Plan{{Decisions: []plan.Decision{waiting(1, 1, 3, feedback, 1), waiting(1, 2, 3, start, 7)}}}, []int{2, 1}},
		{"repositories take turns", []plan.Plan{
			{Decisions: []plan.Decision{waiting(1, 1, 3, start, 9), waiting(1, 2, 3, start, 8)}},
			{Decisions: []plan.Decision{waiting(2, 3, 1, start, 2)}},
		}, []int{1, 3, 2}},
		{"who was served longest ago goes first", []plan.Plan{
			{Decisions: []plan.Decision{waiting(1, 1, 3, start, 9), waiting(1, 2, 3, start, 8)}, Served: known.RoundRobin{Fresh: 7}},
			{Decisions: []plan.Decision{waiting(2, 3, 1, start, 2), waiting(2, 4, 1, feedback, 9)}, Served: known.RoundRobin{Fresh: 4, Feedback: 5}},
		}, []int{3, 1, 4, 2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := numbers(order(c.plans)); fmt.Sprint(got) != fmt.Sprint(c.want) {
				t.Errorf("order %v, want %v", got, c.want)
			}
		})
	}
}
