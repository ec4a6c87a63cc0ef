package merging

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/review"
)

const head = "1111111111111111111111111111111111111111"

const base = "3333333333333333333333333333333333333333"

var noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// ready is a pull request that nothing holds.
func ready() (Facts, Policy) {
	f := Facts{
		Pull: work.PullRequest{
			Number: 7, State: work.PullOpen, HeadOID: head, MergeBase: base, Base: "main", UpdatedAt: noon, HeadSince: noon.Add(-time.Minute),
			Author: work.Account{ID: 1, Login: "bot"},
		},
		Box: Box{
			State: work.PullOpen, Head: head, Base: "main", Mergeable: mergeable, Status: clean, UpdatedAt: noon, Change: Change{From: base, Paths: []string{"a.go", "docs/b.md"}}, ChecksKnown: true,
			Methods: Methods(), Permission: "WRITE", Rules: Rules{Known: true},
		},
		Approved: true, Now: noon,
	}
	p := Policy{
		Auto: true, ChecksTimeout: time.Hour, Approvers: []string{""}, Freeze: "agent:freeze",
		Match: func(glob, path string) bool { return glob == path },
	}
	return f, p
}

// closing is one thing that closes a gate.
type closing struct {
	name string
	gate Code
	why  work.ReasonKind
	stop bool
	do   func(*Facts, *Policy)
}

func closings() []closing {
	red := func(name string, state CheckState) func(*Facts, *Policy) {
		return func(f *Facts, _ *Policy) { f.Box.Checks = append(f.Box.Checks, Check{Name: name, State: state}) }
	}
	return []closing{
		{"draft", gateDraft, work.WhyMergeDraft, false, func(f *Facts, _ *Policy) { f.Box.Draft = true }},
		{"conflict", gateConflicts, work.WhyMergeConflicts, false, func(f *Facts, _ *Policy) { f.Box.Mergeable = conflicting }},
		{"mergeability unknown", gateConflicts, work.WhyMergeUnknown, false, func(f *Facts, _ *Policy) { f.Box.Mergeable = "UNKNOWN" }},
		{"behind", gateBehind, work.WhyMergeBehind, false, func(f *Facts, _ *Policy) { f.Box.Status = behind }},
		{"red", gateChecks, work.WhyMergeChecksRed, false, red("unit", Red)},
		{"red for long", gateChecks, work.WhyMergeChecksRed, false, func(f *Facts, _ *Policy) {
			f.Box.Checks = append(f.Box.Checks, Check{Name: "unit", State: Red, Ended: noon.Add(-2 * time.Hour)})
		}},
		{"cancelled", gateChecks, work.WhyMergeChecksRed, false, func(f *Facts, _ *Policy) {
			f.Box.Checks = append(f.Box.Checks, Check{Name: "unit", State: Red, Lapsed: true, Ended: noon.Add(-time.Minute)})
		}},
		{"cancelled for long", gateChecks, work.WhyMergeChecksRed, true, func(f *Facts, _ *Policy) {
			f.Box.Checks = append(f.Box.Checks, Check{Name: "unit", State: Red, Lapsed: true, Ended: noon.Add(-2 * time.Hour)})
		}},
		{"never started", gateChecks, work.WhyMergeNoCI, false, func(f *Facts, _ *Policy) {
			f.Box.Checks = append(f.Box.Checks, Check{Name: "unit", State: Runs, Unstarted: true, Ended: noon.Add(-2 * time.Hour)})
		}},
		{"running", gateChecks, work.WhyMergeChecksRun, false, red("unit", Runs)},
		{"required and missing", gateChecks, work.WhyMergeChecksMissing, false, func(_ *Facts, p *Policy) { p.Required = []string{"lint"} }},
		{"expected by GitHub and missing", gateChecks, work.WhyMergeChecksMissing, false, func(f *Facts, _ *Policy) { f.Box.Expected = []string{"deploy"} }},
		{"required by a rule and missing", gateChecks, work.WhyMergeChecksMissing, false, func(f *Facts, _ *Policy) { f.Box.Rules.Checks = []string{"deploy"} }},
		{"never checked", gateChecks, work.WhyMergeNeverChecked, true, func(f *Facts, p *Policy) {
			p.Required = []string{"lint"}
			f.Pull.HeadSince = noon.Add(-2 * time.Hour)
		}},
		{"checks hidden", gateChecks, work.WhyMergeChecksHidden, false, func(f *Facts, _ *Policy) { f.Box.ChecksKnown, f.Box.Status = false, "UNSTABLE" }},
		{"required checks hidden", gateChecks, work.WhyMergeChecksHidden, true, func(f *Facts, p *Policy) {
			f.Box.ChecksKnown = false
			p.Required = []string{"lint"}
		}},
		{"not approved", gateApprovals, work.WhyMergeReviews, false, func(f *Facts, _ *Policy) { f.Approved, f.Wanting = false, []string{"quinn"} }},
		{"review required", gateReview, work.WhyMergeReviewRequired, false, func(f *Facts, _ *Policy) { f.Box.Decision = "REVIEW_REQUIRED" }},
		{"review required of nobody", gateReview, work.WhyMergeReviewRequired, true, func(f *Facts, p *Policy) { f.Box.Decision, p.Approvers = "REVIEW_REQUIRED", nil }},
		{"more reviews required than anybody gives", gateReview, work.WhyMergeReviewRequired, true, func(f *Facts, _ *Policy) { f.Box.Decision, f.Box.Rules.Approvals = "REVIEW_REQUIRED", 2 }},
		{"a person requests changes, and GitHub does not mind", gateReview, work.WhyMergeChangesAsked, false, func(f *Facts, _ *Policy) { f.Against = []string{"bob"} }},
		{"changes requested", gateReview, work.WhyMergeChangesAsked, false, func(f *Facts, _ *Policy) { f.Box.Decision = "CHANGES_REQUESTED" }},
		{"conversations", gateConversations, work.WhyMergeThreads, false, func(f *Facts, _ *Policy) { f.Box.Rules.Threads, f.Box.Threads = true, 2 }},
		{"comments", gateComments, work.WhyMergeComments, false, func(f *Facts, _ *Policy) { f.Unanswered = 1 }},
		{"hold by a label", gateHold, work.WhyMergeHeld, false, func(f *Facts, p *Policy) { p.Hold, f.Box.Labels = "agent:hold", []string{"Agent:Hold"} }},
		{"taken over", gateHold, work.WhyMergeHeld, false, func(f *Facts, p *Policy) { p.Ignore, f.Box.Labels = "agent:ignore", []string{"agent:ignore"} }},
		{"taken over on the issue", gateHold, work.WhyMergeHeld, false, func(f *Facts, p *Policy) {
			p.Ignore, f.Box.Issue = "agent:ignore", Issue{Number: 1, Wanted: true, Labels: []string{"agent:ignore"}}
		}},
		{"the issue is closed", gateAsked, work.WhyMergeNotAsked, false, func(f *Facts, _ *Policy) { f.Box.Issue = Issue{Number: 1} }},
		{"the label is gone", gateAsked, work.WhyMergeNotAsked, false, func(f *Facts, _ *Policy) {
			f.Asked, f.Box.Issue = []string{"agent:bugfix"}, Issue{Number: 1, Wanted: true, Labels: []string{"bug"}}
		}},
		{"hold", gateHold, work.WhyMergeHeld, false, func(f *Facts, _ *Policy) { f.Held = &review.Held{By: "ann", At: noon} }},
		{"faults of a roadmap", gateDocument, work.WhyPushedFaults, false, func(f *Facts, _ *Policy) { f.Faults = []string{"line 3: none"} }},
		{"freeze", gateFreeze, work.WhyMergeFrozen, false, func(f *Facts, _ *Policy) { f.Box.Freeze = 3 }},
		{"person by config", gateHuman, work.WhyMergePerson, false, func(_ *Facts, p *Policy) { p.RequireHuman = true }},
		{"person by path", gateHuman, work.WhyMergePerson, false, func(_ *Facts, p *Policy) { p.Critical = []string{"docs/b.md"} }},
		{"person by unknown paths", gateHuman, work.WhyMergePerson, false, func(f *Facts, p *Policy) { p.Critical, f.Box.Paths = []string{"x"}, nil }},
		{"person by a file that agents obey", gateHuman, work.WhyMergePerson, false, func(f *Facts, _ *Policy) {
			f.Box.Paths, f.Box.Obeyed = []string{"a.go", "docs/rules.md"}, []string{"docs/rules.md"}
		}},
		{"person by a file from which others take orders", gateHuman, work.WhyMergePerson, false, func(f *Facts, _ *Policy) {
			f.Flow, f.Issue, f.Box.Paths = work.FlowDesign, 12, []string{"docs/design/12-oil.md", "docs/design/13-lock.md"}
		}},
		{"person by deletions", gateHuman, work.WhyMergePerson, false, func(f *Facts, _ *Policy) { f.Box.Deletes = Deletion{Files: 2, Of: 3} }},
		{"person by what may be such a file", gateHuman, work.WhyMergePerson, false, func(f *Facts, _ *Policy) { f.Box.Paths = nil }},
		{"person's word for another head", gateHuman, work.WhyMergePerson, false, func(f *Facts, p *Policy) {
			p.RequireHuman = true
			f.MergeApprovals = []MergeApproval{{Head: "2222222222222222222222222222222222222222"}}
		}},
		{"a file that nobody was shown", gateNotReviewed, work.WhyMergeNotReviewed, false, func(f *Facts, p *Policy) {
			f.Unread, p.Unread = []string{"a.go", "gen/b.go"}, []string{"gen/b.go"}
		}},
		{"queued", gateQueue, work.WhyMergeQueued, false, func(f *Facts, _ *Policy) { f.Box.Queue = Queue{Required: true, In: true, State: "LOCKED"} }},
		{"last push", gateLastPush, work.WhyMergeLastPush, false, func(f *Facts, _ *Policy) {
			f.Box.Rules.LastPush = true
			f.Box.Reviews = append(f.Box.Reviews, Review{ID: 1, State: "APPROVED", Head: head, By: work.Account{ID: 1}})
		}},
		{"blocked", gateBlocked, work.WhyMergeBlocked, false, func(f *Facts, _ *Policy) { f.Box.Status = blocked }},
		{"blocked for long", gateBlocked, work.WhyMergeBlocked, true, func(f *Facts, _ *Policy) {
			f.Box.Status = blocked
			f.Pull.HeadSince = noon.Add(-2 * time.Hour)
		}},
		{"method", gateMethod, work.WhyMergeMethod, true, func(f *Facts, p *Policy) { p.Method, f.Box.Rules.Linear = MergeCommit, true }},
		{"permission", gatePermission, work.WhyMergePermission, true, func(f *Facts, _ *Policy) { f.Box.Permission = "TRIAGE" }},
		{"trouble", gateMerging, work.WhyMergeHalf, true, func(f *Facts, _ *Policy) { f.Trouble = work.Reason{Kind: work.WhyMergeHalf} }},
		{"halt", gateMerging, work.WhyMergeHalted, false, func(f *Facts, _ *Policy) { f.Halt = &Halt{At: noon} }},
		{"unclear", gateMerging, work.WhyMergeUnclear, false, func(f *Facts, _ *Policy) { f.Unclear = true }},
		{"taken", gateMerging, work.WhyMergeTaken, false, func(f *Facts, _ *Policy) { f.Taken, f.Unclear = true, true }},
		{"turn", gateMerging, work.WhyMergeBusy, false, func(f *Facts, _ *Policy) { f.First = work.Reason{Kind: work.WhyMergeBusy} }},
		{"news", gateUnread, work.WhyMergeNotRead, false, func(f *Facts, _ *Policy) { f.Box.UpdatedAt = noon.Add(time.Second) }},
		{"changed in the second of the look", gateUnread, work.WhyMergeNotRead, false, func(f *Facts, _ *Policy) { f.Box.Looked = noon.Add(time.Second / 2) }},
		{"the issue changed in the second of the look", gateUnread, work.WhyMergeNotRead, false, func(f *Facts, _ *Policy) {
			f.Box.Looked, f.Box.Issue = noon.Add(time.Minute), Issue{Number: 1, Wanted: true, UpdatedAt: noon.Add(time.Minute)}
		}},
		{"another head", gateUnread, work.WhyMergeNotRead, false, func(f *Facts, _ *Policy) { f.Box.Head = "2222222222222222222222222222222222222222" }},
		{"another base", gateUnread, work.WhyMergeNotRead, false, func(f *Facts, _ *Policy) { f.Box.Base = "next" }},
	}
}

func TestEachGateIsClosedByWhatItIsAbout(t *testing.T) {
	f, p := ready()
	if c := Decide(f, p); c.Ask != AskMerge || c.Method != Squash {
		t.Fatalf("a pull request that nothing holds: %+v", c)
	}
	seen := map[Code]bool{}
	for _, x := range closings() {
		f, p := ready()
		x.do(&f, &p)
		all := Gates(f, p)
		i := slices.IndexFunc(all, func(g Gate) bool { return g.Code == x.gate })
		if g := all[i]; g.Open || g.Stop != x.stop || g.Why.Kind != x.why {
			t.Errorf("%s: gate %s is %+v", x.name, x.gate, g)
		}
		for _, g := range all {
			if !g.Open && g.Code != x.gate {
				t.Errorf("%s closes %s, too: %+v", x.name, g.Code, g)
			}
		}
		c := Decide(f, p)
		if want := AskNothing; c.Ask != want && x.gate != gateBehind || c.Stop != x.stop || c.Why.Kind != x.why {
			t.Errorf("%s: %+v", x.name, c)
		}
		seen[x.gate] = true
	}
	for i, g := range Gates(f, p) {
		if g.Code != Table()[i].Code {
			t.Errorf("gate %d is %s, not %s", i, g.Code, Table()[i].Code)
		}
		if !seen[g.Code] {
			t.Errorf("nothing closes gate %s", g.Code)
		}
	}
}

func TestWhatOpensAGateAgain(t *testing.T) {
	for _, x := range []struct {
		name string
		do   func(*Facts, *Policy)
		ask  Ask
	}{
		{"a person approves", func(f *Facts, p *Policy) { p.RequireHuman, f.Person = true, true }, AskMerge},
		{"a person's word for this head", func(f *Facts, p *Policy) {
			p.RequireHuman, f.MergeApprovals = true, []MergeApproval{{Head: head, MergeBase: base}}
		}, AskMerge},
		{"a file that nobody was shown, and a person approves", func(f *Facts, _ *Policy) { f.Unread, f.Person = []string{"a.go"}, true }, AskMerge},
		{"a file that nobody was shown, and a person's word", func(f *Facts, _ *Policy) {
			f.Unread, f.MergeApprovals = []string{"a.go"}, []MergeApproval{{Head: head, MergeBase: base}}
		}, AskMerge},
		{"a file that nobody needs to see", func(f *Facts, p *Policy) { f.Unread, p.Unread = []string{"a.go"}, []string{"a.go"} }, AskMerge},
		{"queued by us, and a file was not shown", queued(func(f *Facts) { f.Unread = []string{"a.go"} }), AskDequeue},
		{"a green required check", func(f *Facts, p *Policy) {
			p.Required = []string{"lint"}
			f.Box.Checks = []Check{{Name: "lint", State: Green}}
		}, AskMerge},
		{"a red one beside what is required", func(f *Facts, _ *Policy) {
			f.Box.Checks = []Check{{Name: "lint", State: Green, Required: true}, {Name: "nightly", State: Red}}
		}, AskMerge},
		{"our own status alone", func(f *Facts, _ *Policy) { f.Box.Checks = []Check{{Name: review.StatusContext, State: Runs}} }, AskMerge},
		{"checks that are hidden, and GitHub would merge", func(f *Facts, _ *Policy) { f.Box.ChecksKnown = false }, AskMerge},
		{"checks that are hidden, and a queue", func(f *Facts, _ *Policy) {
			f.Box.ChecksKnown, f.Box.Status, f.Box.Queue.Required = false, blocked, true
		}, AskEnqueue},
		{"checks that are hidden, and it is behind", func(f *Facts, _ *Policy) { f.Box.ChecksKnown, f.Box.Status = false, behind }, AskUpdate},
		{"somebody else approved the last push", func(f *Facts, _ *Policy) {
			f.Box.Rules.LastPush = true
			f.Box.Reviews = []Review{{ID: 1, State: "APPROVED", Head: head, By: work.Account{ID: 2}}}
		}, AskMerge},
		{"a queue", func(f *Facts, _ *Policy) { f.Box.Queue.Required, f.Box.Status, f.Box.Methods = true, blocked, nil }, AskEnqueue},
		{"queued by us, and held", queued(func(f *Facts) { f.Held = &review.Held{By: "pat"} }), AskDequeue},
		{"queued by us, and frozen", queued(func(f *Facts) { f.Box.Freeze = 9 }), AskDequeue},
		{"queued by us, and commented on", queued(func(f *Facts) { f.Unanswered = 1 }), AskDequeue},
		{"queued by us, and being answered", queued(func(f *Facts) { f.First, f.Answers = work.Reason{Kind: work.WhyMergeBusy}, true }), AskDequeue},
		{"queued by us, and merging is stopped", queued(func(f *Facts) { f.Halt = &Halt{} }), AskDequeue},
		{"queued by us, and an approval was taken back", queued(func(f *Facts) { f.Approved = false }), AskDequeue},
		{"queued by us, and something else is done", queued(func(f *Facts) { f.First = work.Reason{Kind: work.WhyMergeBusy} }), AskNothing},
		{"queued by us, and GitHub finds a check red", queued(func(f *Facts) { f.Box.Checks = []Check{{Name: "unit", State: Red}} }), AskNothing},
		{"queued by us, and nothing is against it", queued(func(*Facts) {}), AskNothing},
		{"queued by somebody else, and held", queued(func(f *Facts) { f.Queued, f.Held = false, &review.Held{By: "pat"} }), AskNothing},
		{"out of the queue, and held", queued(func(f *Facts) { f.Box.Queue.In, f.Held = false, &review.Held{By: "pat"} }), AskNothing},
		{"what it changes is not counted yet", func(f *Facts, p *Policy) {
			p.Critical, f.Box.Paths, f.Box.From = []string{"a"}, nil, "" // the last look does not accept that
		}, AskMerge},
		{"behind alone", func(f *Facts, _ *Policy) { f.Box.Status = behind }, AskUpdate},
		{"behind, told as blocked", func(f *Facts, _ *Policy) { f.Box.Status, f.Box.Rules.Strict = blocked, true }, AskUpdate},
		{"blocked, and nothing of the base is missing", func(f *Facts, _ *Policy) { f.Box.Status, f.Box.Rules.Strict, f.Current = blocked, true, true }, AskNothing},
		{"blocked by a check, and perhaps behind", func(f *Facts, _ *Policy) {
			f.Box.Status, f.Box.Rules.Strict = blocked, true
			f.Box.Checks = []Check{{Name: "unit", State: Runs}}
		}, AskNothing},
		{"behind and running", func(f *Facts, _ *Policy) {
			f.Box.Status = behind
			f.Box.Checks = []Check{{Name: "unit", State: Runs}}
		}, AskNothing},
		{"auto_merge is off", func(_ *Facts, p *Policy) { p.Auto = false }, AskNothing},
		{"it is closed", func(f *Facts, _ *Policy) { f.Pull.State = work.PullClosed }, AskNothing},
	} {
		f, p := ready()
		x.do(&f, &p)
		if c := Decide(f, p); c.Ask != x.ask {
			t.Errorf("%s: %+v", x.name, c)
		}
	}
}

func TestTheMethodIsTheFirstThatIsAllowed(t *testing.T) {
	for _, x := range []struct {
		repo, rules []Method
		linear      bool
		asked       Method
		want        Method
		ok          bool
	}{
		{Methods(), nil, false, "", Squash, true},
		{[]Method{Rebase, MergeCommit}, nil, false, "", MergeCommit, true},
		{[]Method{Rebase, MergeCommit}, nil, true, "", Rebase, true},
		{Methods(), []Method{Rebase}, false, "", Rebase, true},
		{Methods(), nil, false, MergeCommit, MergeCommit, true},
		{[]Method{Squash}, nil, false, MergeCommit, MergeCommit, false},
		{nil, nil, false, "", "", false},
	} {
		m, ok := methodOf(Box{Methods: x.repo, Rules: Rules{Methods: x.rules, Linear: x.linear}}, Policy{Method: x.asked})
		if m != x.want || ok != x.ok {
			t.Errorf("%+v gives %q, %v", x, m, ok)
		}
	}
}

// queued has the pull request in the queue by our own request.
func queued(and func(*Facts)) func(*Facts, *Policy) {
	return func(f *Facts, _ *Policy) {
		f.Box.Queue, f.Box.Status, f.Queued = Queue{Required: true, In: true, State: "QUEUED"}, blocked, true
		and(f)
	}
}

// A message of ours has one line for us, the last one. A rebase keeps the messages of the commits.
func TestAMergeMessageHasOneLineOfOurs(t *testing.T) {
	f, _ := ready()
	f.Pull.Title, f.Pull.Branch = "Oil it", "agent/bugfix/1-oil-it"
	for _, m := range Methods() {
		_, message := Message(m, f.Pull, 1, true, "token")
		if want := map[Method]int{Squash: 1, MergeCommit: 1}[m]; strings.Count(message, "ergexo") != want || want == 1 && !strings.HasSuffix(message, "\n\n"+Trailer+"token") {
			t.Errorf("%s: %q", m, message)
		}
	}
}

func TestWhatDeletesTooMuch(t *testing.T) {
	folder := func(name string, n int) (all []string) {
		for i := range n {
			all = append(all, fmt.Sprint(name, "/", i))
		}
		return all
	}
	rest := folder("rest", 100)
	for name, c := range map[string]struct {
		tracked, deleted []string
		want             Deletion
	}{
		"nothing":                   {rest, nil, Deletion{}},
		"half":                      {rest, rest[:50], Deletion{}},
		"more than half":            {rest, rest[:51], Deletion{Files: 51, Of: 100}},
		"a small folder":            {slices.Concat(rest, folder("a", 20)), folder("a", 20), Deletion{}},
		"a folder":                  {slices.Concat(rest, folder("a", 21)), folder("a", 21), Deletion{Folder: "a", Files: 21, Of: 21}},
		"a folder but for one file": {slices.Concat(rest, folder("a", 22)), folder("a", 21), Deletion{}},
		"a folder that is not at the top": {
			slices.Concat(rest, folder("a/b", 21), folder("a/c", 1)), folder("a/b", 21), Deletion{},
		},
		"an empty repository": {nil, nil, Deletion{}},
	} {
		if got := Deletes(c.tracked, c.deleted); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}
