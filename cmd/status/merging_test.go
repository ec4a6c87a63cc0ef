package status

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/explain"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
	"github.com/mergexo/gh-mergexo/internal/work/review"
)

var noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// toMerge is an approved pull request that auto_merge merges, with its gates computed from GitHub's
// data.
func toMerge(change func(*merging.Facts, *merging.Policy)) ItemFacts {
	f := underReview(review.Record{State: review.Approved, Head: head, Why: work.Reason{Kind: work.WhyReviewApproved, Number: 13}}, of(review.Approve, head, review.Counts))
	f.Now, f.Pull.Base, f.Pull.UpdatedAt = noon, "main", noon
	f.Pull.HeadSince = noon.Add(-time.Hour)
	f.Called, f.Place = "octo/app", explain.Place{Pull: true, Repo: "octo/app"}
	facts := merging.Facts{
		Pull: f.Pull, Approved: true, Now: noon,
		Box: merging.Box{
			State: work.PullOpen, Head: head, Base: "main", Mergeable: "MERGEABLE", Status: "CLEAN", Change: merging.Change{Paths: []string{"a.go"}}, UpdatedAt: noon, ChecksKnown: true,
			Methods: merging.Methods(), Permission: "WRITE", Rules: merging.Rules{Known: true},
		},
	}
	policy := merging.Policy{Auto: true, ChecksTimeout: time.Hour, Approvers: []string{""}}
	if change != nil {
		change(&facts, &policy)
	}
	f.Landing.Policy, f.Landing.Box, f.Merge = policy, facts.Box, merging.Decide(facts, policy)
	return f
}

func integrationRuns(f *merging.Facts, _ *merging.Policy) {
	f.Box.Checks = []merging.Check{{Name: "integration", State: merging.Runs, Required: true}}
}

func shownOn(t *testing.T, s Story, out terminal.Output) string {
	t.Helper()
	var b bytes.Buffer
	out.W, out.Bare = &b, &b
	if err := s.Print(out); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// gateLines are the lines of all gates.
func gateLines(line func(merging.Code) string) string {
	var b strings.Builder
	for _, row := range merging.Table() {
		b.WriteString(line(row.Code) + "\n")
	}
	return b.String()
}

// On a terminal the gates are listed in the order of GitHub's merge box, the closed ones with what
// opens them.
func TestShowListsTheGates(t *testing.T) {
	shown := shownOn(t, toMerge(integrationRuns).story(nil), terminal.Output{TTY: true, Width: 110})
	want := "\nmerge                 squash into main\n" + gateLines(func(code merging.Code) string {
		if code == "checks" {
			return "✗ checks              the check integration has not finished yet → it is merged once they are green"
		}
		return "✓ " + string(code)
	}) + "\nREVIEWER\n"
	if !strings.Contains(shown, want) {
		t.Errorf("got\n%s\nwithout\n%s", shown, want)
	}
	if strings.Contains(shown, "people on") {
		t.Errorf("people are said to merge it:\n%s", shown)
	}
	piped := shownOn(t, toMerge(integrationRuns).story(nil), terminal.Output{})
	for _, want := range []string{
		"\nwaiting for:\tthe check integration has not finished yet\nnext:\tit is merged once they are green\n",
		"\nmerge:\tsquash into main\n",
		"\ngate\tbehind\topen\t\t\ngate\tchecks\tclosed\tthe check integration has not finished yet\tit is merged once they are green\ngate\tapprovals\topen\t\t\n",
	} {
		if !strings.Contains(piped, want) {
			t.Errorf("got\n%s\nwithout\n%s", piped, want)
		}
	}
}

// The reason in status instead of "people merge it".
func TestWhatAMergeWaitsFor(t *testing.T) {
	queue := func(f *merging.Facts, _ *merging.Policy) {
		f.Box.Queue, f.Box.Status = merging.Queue{Required: true}, "BLOCKED"
	}
	for name, c := range map[string]struct {
		is                 func(*merging.Facts, *merging.Policy)
		then               func(*ItemFacts)
		queue, waits, next string
	}{
		"due":     {nil, due, "", "a pass merges it", "all gates are open"},
		"checks":  {integrationRuns, nil, "", "the check integration has not finished yet", "it is merged once they are green"},
		"its own": {func(f *merging.Facts, p *merging.Policy) { p.Method = merging.Rebase }, due, "", "a pass merges it", "all gates are open"},
		"behind": {
			func(f *merging.Facts, _ *merging.Policy) { f.Box.Status = "BEHIND" }, due,
			"", "it is behind `main`, and has to be up to date with it", "its branch is brought up to date when",
		},
		"another first": {
			nil,
			func(f *ItemFacts) {
				f.Waits = []work.Reason{{Kind: work.WhyMergeNext, Number: 13, Count: 7, Branch: "main"}}
			},
			"", "octo/app#7 is merged into `main` first", "it is judged again after that",
		},
		"queue": {queue, due, "not in it; main demands it", "a pass puts it into the merge queue of `main`", "all gates are open"},
		"queued": {
			func(f *merging.Facts, p *merging.Policy) {
				queue(f, p)
				f.Box.Queue.In, f.Box.Queue.State, f.Box.Queue.Position = true, "AWAITING_CHECKS", 2
			},
			nil, "awaiting checks, position 2", "it is in the merge queue at position 2 (awaiting checks)", "GitHub merges it when its turn comes",
		},
		"stop": {
			func(f *merging.Facts, _ *merging.Policy) { f.Box.Permission = "READ" }, nil,
			"", "the account has read permission and may not merge", "give it write permission",
		},
	} {
		f := toMerge(c.is)
		if c.then != nil {
			c.then(&f)
		}
		i, m := f.item(), f.merge(nil)
		if m.Queue.says() != c.queue || i.WaitingFor != c.waits || !strings.HasPrefix(i.NextStep, c.next) {
			t.Errorf("%s: queue %q, waits for %q, next %q", name, m.Queue.says(), i.WaitingFor, i.NextStep)
		}
	}
}

func due(f *ItemFacts) { f.MergeDue = true }

// Before GitHub's merge box has been read, its gates are unknown.
func TestGatesThatAreNotKnown(t *testing.T) {
	f := toMerge(func(f *merging.Facts, _ *merging.Policy) {
		f.Box, f.Approved, f.Wanting = merging.Box{}, false, []string{"ann"}
	})
	f.Reviews.Record.State = review.Reviewing
	s := shownOn(t, f.story(nil), terminal.Output{TTY: true, Width: 110})
	want := "\nmerge                 into main\n" + gateLines(func(code merging.Code) string {
		switch {
		case code == "approvals":
			return "✗ approvals           not approved at this head by ann → they review it"
		case code == "unread":
			return "✗ unread              GitHub's merge box was not read since it changed → the next pass reads it"
		case code.FromBox(), code == "human_approval": // the change may edit a file that agents obey
			return "? " + string(code)
		}
		return "✓ " + string(code)
	})
	if !strings.Contains(s, want) {
		t.Errorf("got\n%s\nwithout\n%s", s, want)
	}
	v := f.merge(nil)
	for _, g := range v.Gates {
		if g.Code == "checks" && (g.Open || g.Kind != "merge_not_read") {
			t.Errorf("JSON: %+v", g)
		}
	}
}

// With auto_merge off, merging is not mentioned, and people merge.
func TestNobodyMergesUnlessSwitchedOn(t *testing.T) {
	f := toMerge(func(_ *merging.Facts, p *merging.Policy) { p.Auto = false })
	s := shownOn(t, f.story(nil), terminal.Output{})
	if strings.Contains(s, "merge:") || strings.Contains(s, "gate\t") || !strings.Contains(s, "waiting for:\tpeople on octo/app#13: every reviewer has approved it\n") {
		t.Errorf("got\n%s", s)
	}
	if v := f.merge(nil); v != nil {
		t.Errorf("JSON: %+v", v)
	}
}

// The landed commit.
func TestWhatLanded(t *testing.T) {
	landed := merging.Merge{
		Stage: merging.Landed, Method: merging.Squash, Head: head, Base: "main", Commit: strings.Repeat("d", 40), Parent: strings.Repeat("e", 40),
		Landed: "tree", At: noon.Add(-2 * time.Hour), LandedAt: noon.Add(-time.Hour),
	}
	for name, c := range map[string]struct {
		change func(*merging.Merge)
		want   string
		same   string // compared, same
	}{
		"the same": {
			func(*merging.Merge) {},
			"merged:\tsquash as dddddddddddd into main, 2026-11-22T11:00:00Z\nwhat landed:\tcompared: the same as what was approved as cccccccccccc\n", "true true",
		},
		"differs": {
			func(m *merging.Merge) { m.Differs = "a.go\nb.go" },
			"what landed:\tNOT what was approved as cccccccccccc: a.go b.go\n", "true false",
		},
		"not compared, queued": {
			func(m *merging.Merge) { m.Method, m.Landed = "", "" },
			"merged:\tby the merge queue as dddddddddddd into main, 2026-11-22T11:00:00Z\nwhat landed:\tnot compared with what was approved\n", "false false",
		},
	} {
		m := landed
		c.change(&m)
		f := toMerge(nil)
		f.Merge, f.State, f.Pull.State, f.Reviews.Record.State, f.Reviews.Record.MergeType = merging.Choice{}, work.StateCompleted, work.PullMerged, review.Merged, review.MergedAuto
		s := f.story(mergedOf(m))
		if shown := shownOn(t, s, terminal.Output{}); !strings.Contains(shown, c.want) || strings.Contains(shown, "merge:") || !strings.Contains(shown, "merged, auto; ") {
			t.Errorf("%s: got\n%s\nwithout\n%s", name, shown, c.want)
		}
		b, err := json.Marshal(s.Merge)
		if err != nil {
			t.Fatal(err)
		}
		var v struct {
			Gates  []any
			Queue  *struct{}
			Merged struct {
				Stage, Differs string
				Compared       bool
			}
		}
		if err := json.Unmarshal(b, &v); err != nil {
			t.Fatal(err)
		}
		is := map[bool]string{true: "true", false: "false"}
		if got := is[v.Merged.Compared] + " " + is[v.Merged.Compared && v.Merged.Differs == ""]; got != c.same || v.Gates == nil || v.Queue != nil || v.Merged.Stage != "landed" {
			t.Errorf("%s: JSON %s", name, b)
		}
	}
}

// TestMergedPullWaitsAtNoGate: a merged or closed pull request waits at no gate, also if the last plan found one.
func TestMergedPullWaitsAtNoGate(t *testing.T) {
	for state, shown := range map[work.PullState]bool{work.PullOpen: true, work.PullMerged: false, work.PullClosed: false} {
		var f ItemFacts
		f.Pull.State, f.Merge.Gates = state, []merging.Gate{{Code: "checks"}}
		if m := f.merge(nil); (m != nil) != shown {
			t.Errorf("%s: %+v", state, m)
		}
	}
}

// TestWhoLooksNextHasNoMark: an earlier approval is not shown for a reviewer whose review begins next.
func TestWhoLooksNextHasNoMark(t *testing.T) {
	r := &Review{Reviewers: []Reviewer{{Name: "quinn", Decision: "approve", Counts: true, current: true, looks: true}, {Name: "sam"}}}
	if got := r.drawing(); got != "[quinn] → sam" {
		t.Errorf("%q", got)
	}
}
