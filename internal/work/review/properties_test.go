package review

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// step does one thing to a world that a night may do.
func step(t *rapid.T, w *world, pushes map[int]int) {
	c := w.last
	switch rapid.SampledFrom([]string{
		"work", "work", "work", "work", "person", "stranger", "push", "push under way", "dismiss", "retry", "edit", "loss", "fail", "close", "comes back",
	}).Draw(t, "what") {
	case "work":
		carryOut(t, w, pushes)
	case "person":
		w.says("grace", w.f.Head, rapid.SampledFrom([]Decision{Approve, RequestChanges}).Draw(t, "verdict"), rapid.SampledFrom([]string{"", "sam"}).Draw(t, "calls"))
	case "stranger":
		w.f.Verdicts = append(w.f.Verdicts, Verdict{ID: int64(len(w.f.Verdicts) + 1), Human: true, Head: w.f.Head, Decision: Approve, Validity: Counts, At: w.now()})
	case "push":
		w.push()
	case "push under way":
		if c.Ask == AskReview {
			head := w.f.Head
			w.push()
			w.says(c.Reviewer.Name, head, Approve)
			w.f.Verdicts[len(w.f.Verdicts)-1].Validity = Moved
			w.last.Ask = AskNothing
		}
	case "dismiss":
		if n := len(w.f.Verdicts); n > 0 {
			w.f.Verdicts[rapid.IntRange(0, n-1).Draw(t, "which")].Validity = TakenBack
		}
	case "retry":
		w.f.Retried = true
	case "edit":
		w.p.Order = slices.Clone(rapid.SampledFrom([][]Reviewer{{quinn}, {quinn, priya}, {priya, grace, quinn}, {grace}, {}}).Draw(t, "order"))
		w.p.MaxFixCycles = rapid.IntRange(0, 2).Draw(t, "cycles")
		w.p.RequireHuman = rapid.Bool().Draw(t, "human")
	case "loss":
		w.loseDatabase()
	case "fail":
		if c.Ask == AskReview || c.Ask == AskFix {
			w.f.Record.FailedKey, w.f.Record.FailedWhy = c.Key, work.Reason{Kind: work.WhyFailed, Text: "it crashed"}
		}
	case "close":
		w.f.State = work.PullClosed
	case "comes back":
		w.f.State = work.PullOpen
	}
}

// carryOut does what was asked for last, if it still is.
func carryOut(t *rapid.T, w *world, pushes map[int]int) {
	c := w.last
	w.last.Ask = AskNothing
	switch {
	case w.f.Head != w.f.Record.Head: // the turn is given up: the head moved
	case c.Ask == AskReview:
		v := w.says(c.Reviewer.Name, w.f.Head, rapid.SampledFrom([]Decision{Approve, RequestChanges}).Draw(t, "verdict"), rapid.SampledFrom([]string{"", "sam", "nobody"}).Draw(t, "calls"))
		if v.Decision == RequestChanges {
			w.finds(v, rapid.StringMatching(`[a-z]{8}`).Draw(t, "finding"), Major)
		}
	case c.Ask == AskFix:
		outcome := rapid.SampledFrom([]FixOutcome{FixPushed, FixPushed, FixUnchanged, FixAsked}).Draw(t, "fix")
		w.last = c
		w.fixed(outcome)
		w.last.Ask = AskNothing
		if outcome == FixPushed {
			pushes[c.Epoch]++
		}
	}
}

func TestWhateverHappensApprovedMeansEveryoneOnThisHead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(quinn, priya)
		pushes := map[int]int{}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			before := w.f.Record
			most := w.p.MaxFixCycles
			c := w.pass()
			if to, ok := path(before.State, c.After); !ok || to != c.State {
				t.Fatalf("%s to %s by %v is not in the table", before.State, c.State, c.After)
			}
			if c.State == Approved {
				for _, r := range Line(w.p, w.f.Inserted) {
					if !w.approvedBy(r.Name) {
						t.Fatalf("approved, and %s has not approved %s", r.Name, w.f.Head)
					}
				}
			}
			if c.Ask == AskReview && w.posted[c.Reviewer.Name+" "+w.f.Head] > 0 {
				t.Fatalf("%s is asked a second time for %s", c.Reviewer.Name, w.f.Head)
			}
			if c.Ask == AskFix && pushes[c.Epoch] >= most {
				t.Fatalf("a fix beyond the %d that may be made", most)
			}
			if c.State.Stopped() && (c.Ask != AskNothing || c.Why.None()) {
				t.Fatalf("stopped without a reason, or it continues: %+v", c)
			}
			if c.Ask != AskNothing && w.f.State != work.PullOpen {
				t.Fatalf("%s of a pull request that is not open", c.Ask)
			}
			if again := decide(w.f, w.p); again.State != c.State || len(again.After) != 0 || again.Key != c.Key {
				t.Fatalf("decided twice: %+v, then %+v", c, again)
			}
			step(t, w, pushes)
		}
	})
}

func TestALostDatabaseAsksForTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(quinn, priya, grace)
		pushes := map[int]int{}
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			w.pass()
			step(t, w, pushes)
		}
		w.f.Record.FailedKey = "" // a failure is told by the comment about the stop
		w.f.Retried = false
		want := decide(w.f, w.p)
		w.loseDatabase()
		if got := decide(w.f, w.p); got.State != want.State && w.f.State == work.PullOpen || got.Key != want.Key || got.Ask != want.Ask {
			t.Fatalf("with the database %+v, without it %+v", want, got)
		}
	})
}

func TestWithFairAnswersItEnds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(quinn, priya)
		pushes := map[int]int{}
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			w.pass()
			step(t, w, pushes)
		}
		w.f.State = work.PullOpen
		for range 30 {
			w.f.Record.FailedKey = ""
			switch c := w.pass(); {
			case c.State == Approved, c.State == "":
				return
			case c.State.Stopped():
				w.push() // as a person who takes over does
				w.f.Retried = true
			case c.Ask == AskReview:
				w.says(c.Reviewer.Name, w.f.Head, Approve)
			case c.Ask == AskFix:
				w.fixed(FixPushed)
			case c.Why.Kind == work.WhyReviewPerson:
				w.says("grace", w.f.Head, Approve)
			}
		}
		t.Fatalf("it does not end: %+v", w.last)
	})
}
