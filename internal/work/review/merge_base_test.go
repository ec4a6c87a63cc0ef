package review

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// An approval counts only for the commits that it was given for, also if heads and bases change and
// come back, and other verdicts are given and dismissed in between.
func TestAnApprovalCountsOnlyForTheSameCommits(t *testing.T) {
	policy := Policy{Order: []Reviewer{{Name: "quinn"}, {Name: "ann", Human: true, Login: "ann"}}, RequireHuman: true, Author: "operator", MaxFixCycles: 9}
	people := map[string]work.Account{"ann": {ID: 1, Login: "ann"}, "": {ID: 2, Login: "bob"}}
	type subject struct{ head, base string }
	rapid.Check(t, func(t *rapid.T) {
		f := Facts{Number: 1, State: work.PullOpen, Record: Record{State: Reviewing}}
		now := subject{"h1", "b1"}
		given := map[string]map[subject]Decision{"quinn": {}, "ann": {}, "": {}} // the last word of each about each
		for id := range rapid.IntRange(1, 12).Draw(t, "how much happens") {
			switch rapid.IntRange(0, 3).Draw(t, "what") {
			case 0:
				now.head = rapid.SampledFrom([]string{"h1", "h2"}).Draw(t, "head")
			case 1:
				now.base = rapid.SampledFrom([]string{"b1", "b2", "b1-b2"}).Draw(t, "merge base")
			default:
				name := rapid.SampledFrom([]string{"quinn", "ann", ""}).Draw(t, "who")
				if _, said := given[name][now]; said && name == "quinn" { // an agent reviews the same commits once
					continue
				}
				v := Verdict{
					ID: int64(id + 1), ReviewID: int64(id + 1), Reviewer: name, Human: name != "quinn", By: people[name], Head: now.head, MergeBase: now.base,
					Decision: Approve, Validity: rapid.SampledFrom([]Validity{Counts, Counts, Counts, BaseMoved}).Draw(t, "validity"),
				}
				if name == "quinn" {
					v.Validity = Counts
				}
				if v.Validity == Counts { // else it may be about anything
					given[name][now] = v.Decision
				}
				f.Verdicts = append(f.Verdicts, v)
			}
		}
		f.Head, f.MergeBase = now.head, now.base
		a := approvalsOf(f, policy)
		for _, name := range []string{"quinn", "ann"} {
			if approved := given[name][now] == Approve; approved == slices.Contains(a.Wanting, name) {
				t.Fatalf("%s approved %v: %v, wanting: %v", name, now, approved, a.Wanting)
			}
		}
		person := given["ann"][now] == Approve || given[""][now] == Approve
		if a.Person != person || a.All != (len(a.Wanting) == 0) {
			t.Fatalf("a person approved %v: %v, of %+v", now, person, a)
		}
		c := decide(f, policy)
		if (c.State == Approved) != (a.All && person) {
			t.Fatalf("%s: %+v", c.State, a)
		}
		if c.Ask == AskReview && slices.ContainsFunc(f.Verdicts, func(v Verdict) bool {
			return v.Validity == Counts && v.Reviewer == c.Reviewer.Name && v.Head == now.head && v.MergeBase == now.base
		}) {
			t.Fatalf("%s is asked about %v again", c.Reviewer.Name, now)
		}
	})
}

// Each base for which a reviewer looks at a head has a key of its own, so that no review is taken
// for another one; the first is the one without a number.
func TestAKeyForEachBase(t *testing.T) {
	f := Facts{Number: 1, Head: "h", MergeBase: "b3", Verdicts: []Verdict{
		{Reviewer: "quinn", Head: "h", MergeBase: "b1"},
		{Reviewer: "quinn", Head: "h", MergeBase: "b2"},
		{Reviewer: "sam", Head: "h", MergeBase: "b1"},
		{Reviewer: "quinn", Head: "g", MergeBase: "b1"},
		{Reviewer: "quinn", Head: "h", MergeBase: "b1", KeptFrom: "g"},
	}}
	for name, want := range map[string]string{"quinn": "h.2", "sam": "h.1", "priya": "h"} {
		if got := f.Subject(name); got != want {
			t.Errorf("%s: %s", name, got)
		}
	}
	for _, due := range []Due{{Reviewer: "quinn", Epoch: 1, Cycle: 2, Head: "h"}, {Reviewer: "quinn", Epoch: 1, Cycle: 2, Head: "h", Again: 2}} {
		e, ok := work.EventOfKey(DueKey(7, due))
		if got, is := DueOf(e); !ok || !is || got != due {
			t.Errorf("%+v: %+v", due, got)
		}
	}
}

// Who may not be called in, and looks anyway, is not named in vain.
func TestWhoLooksAnywayIsNotNamedInVain(t *testing.T) {
	p := Policy{Pool: map[string]Reviewer{}}
	for _, r := range []Reviewer{{Name: "quinn", MayCallIn: []string{"sam"}}, {Name: "priya"}, {Name: "sam"}} {
		p.Pool[r.Name] = r
		if r.Name != "sam" {
			p.Order = append(p.Order, r)
		}
	}
	before := []Insertion{{Name: "sam", By: "quinn"}}
	in, vain := CallIn(p, Verdict{Reviewer: "priya", CalledIn: []string{"sam", "quinn", "priya", "nobody"}}, before)
	if len(in) > 0 || !slices.Equal(vain, []string{"priya", "nobody"}) {
		t.Errorf("in %v, in vain %v", in, vain)
	}
}
