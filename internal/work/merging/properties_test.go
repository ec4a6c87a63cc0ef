package merging

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// Whatever is wrong, in whatever order it came: nothing is merged unless nothing is, and
// a stop is told before what only waits.
func TestNothingIsMergedWhileAnyGateIsClosed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f, p := ready()
		picked := rapid.SliceOfDistinct(rapid.SampledFrom(closings()), func(x closing) string { return x.name }).Draw(t, "what is wrong")
		for _, x := range picked {
			x.do(&f, &p)
		}
		c := Decide(f, p)
		if len(picked) == 0 && c.Ask != AskMerge {
			t.Fatalf("all gates are open: %+v", c)
		}
		closed := slices.ContainsFunc(c.Gates, func(g Gate) bool { return !g.Open })
		if len(picked) > 0 && !closed {
			t.Fatalf("%d things are wrong, and every gate is open", len(picked))
		}
		if closed && (c.Ask == AskMerge || c.Ask == AskEnqueue) {
			t.Fatalf("a gate is closed, and it is to be merged: %+v", c)
		}
		stop := slices.ContainsFunc(c.Gates, func(g Gate) bool { return g.Stop })
		if c.Stop != stop || closed && c.Why.None() {
			t.Fatalf("stop %v, told as %v: %+v", stop, c.Stop, c.Why)
		}
	})
}

// Of one base one goes at a time, the oldest of those that may; nobody waits for one that
// nothing is to be done about, but for who has just been brought up to date.
func TestOneGoesAtATimeForEachBase(t *testing.T) {
	asks := []Ask{AskNothing, AskMerge, AskUpdate}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 8).Draw(t, "how many")
		all := make([]Candidate, n)
		for i := range all {
			all[i] = Candidate{
				Number: i + 1, Base: rapid.SampledFrom([]string{"main", "next"}).Draw(t, "base"), Sent: rapid.IntRange(0, 9).Draw(t, "sent") == 0,
				Choice: Choice{Ask: rapid.SampledFrom(asks).Draw(t, "ask"), Gates: []Gate{{Code: gateChecks, Open: rapid.Bool().Draw(t, "checks")}}},
			}
			if rapid.Bool().Draw(t, "updated") {
				all[i].Updated = noon.Add(-time.Duration(rapid.IntRange(0, 120).Draw(t, "minutes ago")) * time.Minute)
			}
		}
		chosen, waits := Next(rapid.Permutation(all).Draw(t, "order"), noon, time.Hour)
		of := map[string][]int{}
		for _, c := range chosen {
			of[all[c-1].Base] = append(of[all[c-1].Base], c)
			if all[c-1].Choice.Ask == AskNothing || all[c-1].Sent {
				t.Fatalf("#%d is chosen", c)
			}
		}
		for _, x := range all {
			first := of[x.Base]
			if len(first) > 1 || x.Sent && len(first) > 0 {
				t.Fatalf("%v of %s are chosen", first, x.Base)
			}
			by, waiting := waits[x.Number]
			ready := x.Choice.Ask != AskNothing && !x.Sent
			if ready && !waiting && !slices.Contains(first, x.Number) {
				t.Fatalf("#%d is forgotten", x.Number)
			}
			if waiting && (by == x.Number || all[by-1].Base != x.Base) {
				t.Fatalf("#%d waits for #%d", x.Number, by)
			}
			if ready && waiting && by > x.Number && !all[by-1].Sent && all[by-1].Updated.IsZero() {
				t.Fatalf("#%d waits for the younger #%d", x.Number, by)
			}
		}
	})
}
