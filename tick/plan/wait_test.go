package plan

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/explain"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
	"github.com/mergexo/gh-mergexo/internal/work/review"
	"github.com/mergexo/gh-mergexo/tick/change"
	"github.com/mergexo/gh-mergexo/tick/known"
)

// patient is a scene in which waits are told.
func patient(change ...func(*known.Snapshot)) known.Snapshot {
	v := scene(labels, func(v *known.Snapshot) { v.Policy.ChecksTimeout, v.Policy.RemindAfter = time.Hour, 24*time.Hour })
	for _, c := range change {
		c(&v)
	}
	return v
}

// tellings returns the comments about waits that a plan posts.
func tellings(p Plan) (all []string) {
	for _, a := range Of[change.Notice](p) {
		if strings.Contains(a.Body, "Waiting since") {
			all = append(all, a.Body)
		}
	}
	return all
}

// Each reason for which an open item may wait has somebody who can end it and a time after which
// they are told. The plan stores since when it lasts, and has itself asked again at that time; then
// it tells it once.
func TestEachWaitIsToldOnce(t *testing.T) {
	kinds := 0
	for _, e := range explain.Entries() {
		over := []work.ReasonKind{work.WhyMerged, work.WhyDesignMerged, work.WhyClosed, work.WhyRoadmapUnfolding, work.WhyRoadmapFollowed, work.WhyRoadmapClosed, work.WhyRoadmapCancelled}
		if e.After == explain.Never && !slices.Contains(over, e.Kind) {
			t.Errorf("%s: nobody is ever told", e.Kind)
		}
		if e.After == explain.Never || e.After == explain.AtOnce {
			continue
		}
		kinds++
		v := patient()
		o := Outlook{Waits: []work.Reason{{Kind: e.Kind, Who: "carol", Text: "text", Name: "name", Names: []string{"unit"}, Number: 2, Count: 2}}}
		at := func(v known.Snapshot) (work.Wait, []string) {
			p := Plan{Repo: v.Repo}
			plannerOf(v, &p, v.Items[0]).age(o)
			if made := Of[change.Wait](p); len(made) == 1 {
				return made[0].Wait, tellings(p)
			}
			return v.Items[0].Wait, tellings(p)
		}
		patience := map[explain.After]time.Duration{explain.Overdue: time.Hour, explain.Reminded: 24 * time.Hour, explain.IfNobodyCan: 24 * time.Hour}[e.After]
		w, said := at(v)
		if e.Who == "" || len(said) > 0 || !w.Since.Equal(noon) || !w.LookAt.Equal(noon.Add(patience)) {
			t.Errorf("%s: at first %+v, who %q, said %q", e.Kind, w, e.Who, said)
		}
		v.Items[0].Wait, v.Now = w, w.LookAt
		if !v.Items[0].Wait.Due(v.Now) {
			t.Errorf("%s: it is never decided about again", e.Kind)
		}
		w, said = at(v)
		if len(said) != 1 || !w.ToldAt.Equal(v.Now) || !w.LookAt.IsZero() || !strings.Contains(said[0], "Next step: ") {
			t.Errorf("%s: after %s %+v, said %q", e.Kind, patience, w, said)
		}
		if named := len(explain.Logins(o.Waits[0])) > 0; named != strings.Contains(strings.Join(said, ""), "@") {
			t.Errorf("%s: mentions %v: %q", e.Kind, named, said)
		}
		v.Items[0].Wait, v.Now = w, v.Now.Add(100*24*time.Hour)
		if again, said := at(v); len(said) > 0 || !again.Same(w) || !again.ToldAt.Equal(w.ToldAt) {
			t.Errorf("%s: it is told again: %+v, %q", e.Kind, again, said)
		}
	}
	if kinds < 70 {
		t.Errorf("only %d kinds", kinds)
	}
}

// Whatever keeps an approved pull request from being merged, or a review from being given, is told
// once, in passes a minute apart.
func TestNothingWaitsForEverInSilence(t *testing.T) {
	policy := func(change func(*merging.Policy)) func(*known.Snapshot) {
		return item(func(i *known.Item) { change(&i.Landing.Policy) })
	}
	checks := func(state merging.CheckState) func(*known.Snapshot) {
		return box(func(b *merging.Box) { b.Checks = []merging.Check{{Name: "unit", State: state, Required: true}} })
	}
	closed := map[merging.Code]bool{}
	for name, c := range map[string]struct {
		v    known.Snapshot
		want string // the comment; stopped: a stop tells it
	}{
		"a person reviews, and never does": {patient(reviewedBy("grace")), "@grace Waiting since"},
		"any person has to approve":        {patient(reviewedBy("quinn"), verdict("quinn", "aaa", review.Approve), item(func(i *known.Item) { i.Reviewers.RequireHuman = true })), "a review by a person"},
		"a draft":                          {patient(reviewedBy("quinn"), item(func(i *known.Item) { i.Pull.Draft = true })), "is a draft"},
		"a hold":                           {patient(reviewedBy("quinn"), item(func(i *known.Item) { i.HeldBack = &review.Held{By: "bob", At: noon} })), "@bob Waiting since"},
		"a pause":                          {patient(item(func(i *known.Item) { i.Pause = &work.Pause{Number: 1, By: "bob", Began: noon} })), "@bob Waiting since"},
		"people merge it":                  {patient(reviewedBy("quinn"), verdict("quinn", "aaa", review.Approve)), "every reviewer has approved it"},
		"mergeable is unknown":             {patient(landable, box(func(b *merging.Box) { b.Mergeable = "UNKNOWN" })), "whether it can be merged"},
		"a check that nobody starts, or approves": {patient(landable, checks(merging.Runs)), "unit has not finished"},
		"a red check":                          {patient(landable, checks(merging.Red)), "unit failed"},
		"a rule counts whoever only reads":     {patient(landable, box(func(b *merging.Box) { b.Decision = "REVIEW_REQUIRED" })), "an approving review"},
		"somebody else than the last pusher":   {patient(landable, box(func(b *merging.Box) { b.Rules.LastPush = true })), "last pusher"},
		"a thread was never resolved":          {patient(landable, box(func(b *merging.Box) { b.Rules.Threads, b.Threads = true, 1 })), "resolved conversations"},
		"changes were asked for, and are made": {patient(landable, verdict("grace", "old", review.RequestChanges)), "@"},
		"a file that agents obey":              {patient(landable, box(func(b *merging.Box) { b.Paths, b.Obeyed = []string{"AGENTS.md"}, []string{"AGENTS.md"} })), "AGENTS.md, which agents obey"},
		"critical paths": {patient(landable, policy(func(p *merging.Policy) {
			p.Critical, p.Match = []string{"**"}, func(string, string) bool { return true }
		})), "critical_paths"},
		"a file was shown to nobody": {patient(landable, item(func(i *known.Item) {
			i.Reviews.Verdicts = slices.Clone(i.Reviews.Verdicts)
			for n := range i.Reviews.Verdicts {
				i.Reviews.Verdicts[n].Unread = []string{"gen/a.go"}
			}
		})), "not shown 1 file of this head whole: gen/a.go"},
		"faults of a roadmap":               {patient(landable, item(func(i *known.Item) { i.Faults = []string{"line 3: x"} })), "has faults there: line 3: x"},
		"a freeze":                          {patient(landable, box(func(b *merging.Box) { b.Freeze = 3 })), "agent:freeze"},
		"a queue that stands still":         {patient(landable, box(func(b *merging.Box) { b.Queue = merging.Queue{In: true, State: "LOCKED", Required: true} })), "in the merge queue"},
		"it is behind, and no update helps": {patient(landable, box(func(b *merging.Box) { b.Status = "BEHIND" })), "it is behind"},
		"an approval was dismissed since":   {patient(landable, box(func(b *merging.Box) { b.Reviews = []merging.Review{{ID: 4000, State: "DISMISSED"}} })), "not approved at this head by quinn"},
		"merging is halted":                 {patient(landable, func(v *known.Snapshot) { v.Halt = &merging.Halt{At: noon} }), "merging is stopped in this repository"},
		"news that is never read":           {patient(landable, box(func(b *merging.Box) { b.UpdatedAt = noon.Add(time.Second) })), "not read since it changed"},
		"a rule that GitHub does not show":  {patient(landable, item(func(i *known.Item) { i.Pull.HeadSince = noon }), box(func(b *merging.Box) { b.Status = "BLOCKED" })), "stopped"},
		"its issue lost its label":          {patient(landable, item(func(i *known.Item) { i.Label = "agent:bug" }), box(func(b *merging.Box) { b.Issue = merging.Issue{Number: 1, Wanted: true} })), "does not have the label"},
		"a draft that was approved":         {patient(landable, box(func(b *merging.Box) { b.Draft = true })), "is a draft"},
		"a hold of the merge":               {patient(landable, item(func(i *known.Item) { i.HeldBack = &review.Held{By: "bob", At: noon} })), "@bob Waiting since"},
		"no method":                         {patient(landable, box(func(b *merging.Box) { b.Methods = nil })), "stopped"},
		"no permission":                     {patient(landable, box(func(b *merging.Box) { b.Permission = "READ" })), "stopped"},
		"the last look says no":             {patient(landable, box(func(b *merging.Box) { b.Found = work.Reason{Kind: work.WhyMergeNotRead} })), "since it changed"},
		"dependencies": {patient(noPull, state(work.StateReady), item(func(i *known.Item) {
			i.Flow, i.DependsOn, i.Dependencies = work.FlowImplementation, []string{"#9"}, map[string]work.DependencyState{"#9": work.DependencyOpen}
			e := labelled()
			e.Kind = work.EventMerged
			i.Events = append(i.Events, e)
		})), "depends on"},
	} {
		v := c.v
		for n := range v.Items[0].Reviews.Verdicts {
			v.Items[0].Reviews.Verdicts[n].By = work.Account{ID: int64(40 + n), Login: v.Items[0].Reviews.Verdicts[n].Reviewer}
		}
		for _, g := range Merging(v, v.Items[0]).Gates {
			closed[g.Code] = closed[g.Code] || !g.Open
		}
		var said []string
		stopped := false
		for n := range 30 {
			v.Now = noon.Add(time.Duration(n) * time.Hour)
			i := v.Items[0]
			if n > 0 && !i.NeedsDecision() && !i.Wait.Due(v.Now) && !i.AutoMerges() {
				continue // the pass does not read it
			}
			p := For(v)
			said = append(said, tellings(p)...)
			v = carriedOut(v, p)
			for a := range v.Items[0].Landing.Actions { // the last look does not send it
				v.Items[0].Landing.Actions[a].State = work.ActionPlanned
			}
			stopped = stopped || v.Items[0].State == work.StateBlocked
		}
		wanted := strings.HasSuffix(name, "and are made") || strings.HasPrefix(name, "a person reviews")
		if asked := slices.Contains(v.Items[0].Reviews.Requested, "grace"); asked != wanted {
			t.Errorf("%s: grace is asked: %v", name, asked)
		}
		switch {
		case c.want == "stopped" && stopped && len(said) == 0:
		case c.want == "stopped", stopped, len(said) != 1, !strings.Contains(fmt.Sprint(said), c.want):
			t.Errorf("%s: said %q, stopped %v", name, said, stopped)
		}
	}
	for _, gate := range merging.Table() {
		if !closed[gate.Code] && gate.Code != "comments" { // a turn answers them
			t.Errorf("no pull request waits at the gate %s", gate.Code)
		}
	}
}

// An item that a budget stopped resumes once the config allows more, and begins what is due.
func TestARaisedLimitIsReadAnew(t *testing.T) {
	for due, is := range dues() {
		v := patient(is, stoppedFor(work.Reason{Kind: work.WhyItemBudget, Name: work.MaxTurnsPerItem, Used: 1, Limit: 1, Begun: 1}))
		v.Items[0].Wait = work.Wait{Reason: work.Reason{Kind: work.WhyItemBudget, Head: "aaa"}, Since: noon, LookAt: noon}
		p := For(v)
		if after := carriedOut(v, p); after.Items[0].State != work.StateBlocked || !after.Items[0].Wait.Due(v.Now) {
			t.Errorf("%s: with the same limit\n%s", due, told(p))
		}
		v.Policy.Budgets.TurnsPerItem = 5
		p = For(v)
		if wrong := lasts(v, p, due); wrong != "" {
			t.Errorf("%s is due: %s\n%s", due, wrong, told(p))
		}
	}
}
