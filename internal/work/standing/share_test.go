package standing

import (
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// What another machine holds waits for that machine, whatever is known here of it, until this
// one has it; what a pass of this machine still does, and what failed, is said first.
func TestWhatAnotherMachineHoldsWaitsForIt(t *testing.T) {
	now := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	item := Item{Item: work.Item{State: work.StateReady, Flow: work.FlowBugfix}, Unanswered: 2}
	theirs := work.Share{Shard: "1/2", Until: now.Add(time.Hour)}
	for name, c := range map[string]struct {
		change func(*Around)
		want   work.ReasonKind
	}{
		"held":                       {func(*Around) {}, work.WhyRepoHeld},
		"asked for again in a while": {func(a *Around) { a.Repo.NotBefore = now.Add(time.Minute) }, work.WhyRepoHeld},
		"ours":                       {func(a *Around) { a.Share.OID = "abc" }, work.WhyToAnswer},
		"not in this share":          {func(a *Around) { a.Share.Theirs = true }, work.WhyRepoTheirs},
		"to be given back":           {func(a *Around) { a.Share.Theirs, a.Share.OID = true, "abc" }, work.WhyRepoTheirs},
		"to be asked for":            {func(a *Around) { a.Share.Comes = true }, work.WhyRepoTheirs},
		"theirs, and worked on":      {func(a *Around) { a.Share.Theirs, a.Live = true, true }, work.WhyToAnswer},
		"no shares":                  {func(a *Around) { a.Share = work.Share{} }, work.WhyToAnswer},
		"it could not be asked for":  {func(a *Around) { a.Repo.Failures = 1 }, work.WhyRepoWaits},
		"worked on":                  {func(a *Around) { a.Live = true }, work.WhyToAnswer},
	} {
		a := Around{Now: now, Share: theirs}
		c.change(&a)
		got := Of(item, a)
		if got.Why.Kind != c.want {
			t.Errorf("%s: it waits for %q, want %q", name, got.Why.Kind, c.want)
		}
		if c.want == work.WhyRepoHeld && got.Why.At != theirs.Until.UnixMilli() {
			t.Errorf("%s: held until %d, want %d", name, got.Why.At, theirs.Until.UnixMilli())
		}
	}
}
