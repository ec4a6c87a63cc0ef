//go:build unix

package crashtest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/githubsim"
	"github.com/mergexo/gh-mergexo/internal/testhome"
)

// What people and GitHub do while pull requests are merged.

// merges are the scenarios in which what was approved is merged by us.
func merges() []scenario {
	start := issue("Crash on start", "agent:bugfix", "")
	return []scenario{
		{name: "auto-merge", input: start, reviews: approves, merges: true, sampled: true},
		{name: "queue", input: steps(queueUp, start), reviews: approves, merges: true, between: queueMoves, recalls: stopsOutOfTheQueue, sampled: true},
		{name: "push before the merge", input: steps(ahead(githubsim.Fault{Method: "PUT", Path: "*/merge"}, personPushes), start), reviews: approves, merges: true, control: true},
		{name: "comment before the merge", input: steps(ahead(lookAtPull, commentOn(pullNumber)), start), reviews: approves, merges: true, control: true},
		{name: "changes requested before the merge", input: steps(ahead(lookAtPull, asksForChanges), start), reviews: approves, merges: true, between: approvesInTheEnd, control: true},
		{
			name: "who approved may not write", input: start, reviews: approves, policy: "max_fix_cycles = 1\nrequire_human_approval = true", merges: true,
			between: approvesAndLeaves, control: true,
		},
		{name: "base rewritten before the merge", input: steps(bobCommits, ahead(lookAtPull, takeOut), start), reviews: approves, merges: true, control: true},
		{name: "half merged", input: steps(halves, start), reviews: approves, merges: true, control: true},
		{name: "another tree lands", input: steps(smuggles, start), reviews: approves, merges: true, control: true},
		{name: "taken out of the queue", input: steps(queueUp, start), reviews: approves, merges: true, between: takenOut, control: true},
	}
}

// lookAtPull is the look at the pull request with which a merge begins, once all that is
// new of it was read; the first such request opens it.
var lookAtPull = githubsim.Fault{Method: "GET", Path: "*/pulls/2", Nth: 2}

// ahead has something done right before a request takes effect, in a second of its own.
func ahead(f githubsim.Fault, do func(*world) error) func(*world) error {
	return func(w *world) error {
		f := f
		f.Do = func() error {
			w.later.Add(2)
			return do(w)
		}
		w.hub.AddFault(f)
		return nil
	}
}

// asksForChanges has bob request changes.
func asksForChanges(w *world) error {
	_, err := w.repo.Review(pullNumber, "bob", "REQUEST_CHANGES", "Say why.")
	return err
}

// approvesInTheEnd has bob approve once he requested changes and the pull request is still open.
func approvesInTheEnd(w *world) error {
	all := w.repo.Reviews(pullNumber)
	last := slices.IndexFunc(all, func(r githubsim.Review) bool { return r.Author == "bob" && r.State == "APPROVED" })
	asked := slices.ContainsFunc(all, func(r githubsim.Review) bool { return r.Author == "bob" && r.State == "CHANGES_REQUESTED" })
	if p, open := w.repo.Pull(pullNumber); !open || p.State != "open" || !asked || last >= 0 {
		return nil
	}
	_, err := w.repo.Review(pullNumber, "bob", "APPROVE", "")
	return err
}

// approvesAndLeaves has bob approve and lose his permission right before the merge, and ann approve
// after him, if it is still open.
func approvesAndLeaves(w *world) error {
	by := func(who string) bool {
		return slices.ContainsFunc(w.repo.Reviews(pullNumber), func(r githubsim.Review) bool { return r.Author == who })
	}
	p, found := w.repo.Pull(pullNumber)
	switch {
	case !found || p.State != "open" || by("ann"):
		return nil
	case by("bob"):
		_, err := w.repo.Review(pullNumber, "ann", "APPROVE", "")
		return err
	}
	if _, err := w.repo.Review(pullNumber, "bob", "APPROVE", ""); err != nil {
		return err
	}
	w.hub.AddFault(githubsim.Fault{Method: "GET", Path: "*/pulls/2", Do: func() error { return w.repo.SetPermission("bob", "read") }})
	return nil
}

// bobCommits puts a commit on the base.
func bobCommits(w *world) error {
	_, err := w.repo.PushCommit("main", "bob", map[string]string{"src/bobs.txt": "Taken out later.\n"}, "Bob's")
	return err
}

// takeOut rewrites the base without the commit, which the branch still has.
func takeOut(w *world) error {
	_, err := w.repo.ForcePush("main", "bob", "main~1", map[string]string{"src/else.txt": "Something else.\n"}, "Without it")
	return err
}

func halves(w *world) error {
	w.repo.HalveNextMerges(1)
	return nil
}

func smuggles(w *world) error {
	w.repo.AlterNextMerges(1, "smuggled.txt", "Nobody approved this.\n")
	return nil
}

// queueUp has merges into main go through a queue.
func queueUp(w *world) error {
	w.repo.SetRuleset("careful", "main", githubsim.Rules{Queue: "squash"})
	return nil
}

// left reports whether the pull request has left the queue before.
func left(w *world, number int) bool {
	return slices.ContainsFunc(w.repo.Timeline(number), func(e githubsim.TimelineEntry) bool { return e.Event == "removed_from_merge_queue" })
}

// queueMoves takes what stands in the queue a step further. The first group falls out of
// it for a red check; those after it land.
func queueMoves(w *world) error {
	for _, q := range w.repo.Queue() {
		if q.Group != "" && !left(w, q.Number) {
			if _, err := w.repo.SetCheck(q.Group, "unit", "completed", "failure"); err != nil {
				return err
			}
			if err := w.repo.SetQueueState(q.Number, "UNMERGEABLE"); err != nil {
				return err
			}
		}
		if err := w.repo.StepQueue(q.Number); err != nil {
			return err
		}
	}
	return nil
}

// stopsOutOfTheQueue is that a person has to decide about the pull request that fell out of
// the queue, and that no head was queued twice. Whether a pass that lost the database
// finds that it was in the queue depends on when it looks.
func stopsOutOfTheQueue(w *world) error {
	added, heads, said := 0, 1, 0
	for _, e := range w.repo.Timeline(pullNumber) {
		if e.Event == "added_to_merge_queue" {
			added++
		}
	}
	for _, r := range w.rig.runs {
		if r.kind == "fix" {
			heads++
		}
	}
	for _, c := range w.repo.Comments(pullNumber) {
		if strings.Contains(c.Body, "it fell out of the merge queue") {
			said++
		}
	}
	if p, _ := w.repo.Pull(pullNumber); p.State != "open" || said != 1 || added > heads {
		return fmt.Errorf("the pull request is %s, %d comments say that it fell out of the queue, and %d heads were queued %d times", p.State, said, heads, added)
	}
	return nil
}

// takenOut has somebody take out of the queue what stands there, once.
func takenOut(w *world) error {
	for _, q := range w.repo.Queue() {
		if !left(w, q.Number) {
			return w.repo.Dequeue(q.Number, "ann")
		}
	}
	return nil
}

// onMerges are points at the requests that merge.
func (h history) onMerges() (points []point) {
	for _, n := range h.numbers(`/merge, write (\d+)$`) {
		for _, act := range []deed{actLose, actRefuse, actKill} {
			points = append(points, point{act: act, at: atWrite, when: after, n: n})
		}
		for _, gone := range []string{database, wholeState} {
			points = append(points, point{act: actKill, at: atWrite, when: after, n: n, gone: gone})
		}
	}
	for _, n := range h.numbers(`^request (\d+): PUT \S*/merge, `) {
		for _, act := range []deed{actLose, actRefuse, actKill} {
			points = append(points, point{act: act, at: atRequest, when: before, n: n})
		}
	}
	return points
}

// TestLostAnswersOfMerges loses the answer to a merge in every way, before and after it
// was applied, with the pass and with what is stored: it is merged once, and all that
// follows comes of it.
func TestLostAnswersOfMerges(t *testing.T) {
	testhome.OnlyLong(t)
	if mode != "sample" && mode != "ci" {
		t.Skip("the same points as script/crash has")
	}
	s := scenarioNamed(t, "auto-merge")
	want, seen := once(t, "", s, point{})
	if want.err != nil {
		t.Fatalf("the run that nothing happens to: %v", want.err)
	}
	points := seen.onMerges()
	if len(points) != 8 {
		t.Fatalf("there are %d points at merges, not 8: it is sent once", len(points))
	}
	for _, p := range points {
		t.Run(p.String(), func(t *testing.T) {
			t.Parallel()
			got, _ := once(t, "", s, p)
			if err := differs(got, want, p); err != nil {
				t.Error(err)
			}
			if !got.struck {
				t.Error("not reached")
			}
		})
	}
}
