package review

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// want compares what a pass decides.
func want(t *testing.T, w *world, state State, ask Ask, who string) Choice {
	t.Helper()
	c := w.pass()
	if c.State != state || c.Ask != ask || c.Reviewer.Name != who {
		t.Fatalf("%s, %q of %q (%v), want %s, %q of %q", c.State, c.Ask, c.Reviewer.Name, c.Why, state, ask, who)
	}
	return c
}

func TestTheSecondIsAskedAfterTheFirstApproved(t *testing.T) {
	w := newWorld(quinn, priya)
	want(t, w, Reviewing, AskReview, "quinn")
	w.says("quinn", w.f.Head, Approve)
	want(t, w, Reviewing, AskReview, "priya")
	w.says("priya", w.f.Head, Approve)
	if c := want(t, w, Approved, AskNothing, ""); !slices.Equal(c.After, []Event{EventApproved, EventComplete}) || c.Why.Kind != work.WhyReviewApproved {
		t.Errorf("it came there by %v, and waits for %v", c.After, c.Why)
	}
}

func TestTheSameReviewerLooksAgainAfterAFix(t *testing.T) {
	w := newWorld(priya, quinn)
	w.says("priya", w.f.Head, Approve)
	w.pass()
	w.says("quinn", w.f.Head, RequestChanges)
	want(t, w, Fixing, AskFix, "quinn")
	w.fixed(FixPushed)
	c := want(t, w, Reviewing, AskReview, "quinn")
	if c.Cycle != 1 || !slices.Equal(c.After, []Event{EventFixed}) {
		t.Errorf("cycle %d by %v", c.Cycle, c.After)
	}
	w.says("quinn", w.f.Head, Approve)
	want(t, w, Reviewing, AskReview, "priya") // who has not approved this head
}

func TestAnApprovalIsOfOneHead(t *testing.T) {
	w := newWorld(quinn)
	w.pass()
	w.says("quinn", w.f.Head, Approve)
	want(t, w, Approved, AskNothing, "")
	w.push()
	if c := want(t, w, Reviewing, AskReview, "quinn"); !slices.Equal(c.After, []Event{EventPushed}) {
		t.Errorf("by %v", c.After)
	}
}

func TestNobodyElseApproves(t *testing.T) {
	w := newWorld(quinn, priya)
	w.pass()
	w.says("priya", w.f.Head, Approve)
	w.f.Verdicts = append(w.f.Verdicts, Verdict{ID: 90, Human: true, Head: w.f.Head, Decision: Approve, Validity: Counts})
	want(t, w, Reviewing, AskReview, "quinn")
}

func TestWhoIsCalledInMustApproveToo(t *testing.T) {
	for _, d := range []Decision{Approve, RequestChanges} {
		w := newWorld(quinn, priya)
		w.pass()
		w.says("quinn", w.f.Head, d, "sam", "grace", "sam")
		if d == RequestChanges {
			want(t, w, Fixing, AskFix, "quinn")
			w.fixed(FixPushed)
			want(t, w, Reviewing, AskReview, "quinn")
			w.says("quinn", w.f.Head, Approve)
		}
		want(t, w, Reviewing, AskReview, "sam")
		w.says("sam", w.f.Head, Approve)
		want(t, w, Reviewing, AskReview, "priya")
		w.says("priya", w.f.Head, Approve)
		want(t, w, Approved, AskNothing, "")
	}
	_, vain := CallIn(newWorld(quinn).p, Verdict{Reviewer: "quinn", CalledIn: []string{"grace", "nobody"}}, nil)
	if !slices.Equal(vain, []string{"grace", "nobody"}) {
		t.Errorf("in vain: %v", vain)
	}
}

func TestTheThirdRejectionStops(t *testing.T) {
	w := newWorld(quinn)
	for i := range 3 {
		want(t, w, Reviewing, AskReview, "quinn")
		w.finds(w.says("quinn", w.f.Head, RequestChanges), "finding"+string(rune('a'+i)), Major)
		if i < 2 {
			want(t, w, Fixing, AskFix, "quinn")
			w.fixed(FixPushed)
		}
	}
	c := want(t, w, HumanReview, AskNothing, "quinn")
	if c.Why.Kind != work.WhyReviewCycles || c.Why.Count != 2 || c.Why.Number != 7 {
		t.Errorf("stopped for %v", c.Why)
	}
	w.push()
	want(t, w, HumanReview, AskNothing, "quinn") // no push of anybody has the agents begin again
	w.f.Retried = true
	if c := want(t, w, Reviewing, AskReview, "quinn"); c.Epoch != 1 || c.Cycle != 0 {
		t.Errorf("epoch %d, cycle %d", c.Epoch, c.Cycle)
	}
}

func TestAfterARetryTheRejectionThatStandsIsFixed(t *testing.T) {
	w := newWorld(quinn)
	w.p.MaxFixCycles = 1
	for range 2 {
		w.pass()
		w.finds(w.says("quinn", w.f.Head, RequestChanges), "f"+w.f.Head, Major)
		if w.pass().Ask == AskFix {
			w.fixed(FixPushed)
		}
	}
	want(t, w, HumanReview, AskNothing, "quinn")
	w.f.Retried = true
	want(t, w, Fixing, AskFix, "quinn")
}

func TestTheSameFindingsStop(t *testing.T) {
	w := newWorld(quinn)
	w.p.MaxFixCycles = 10
	w.pass()
	w.finds(w.says("quinn", w.f.Head, RequestChanges), "leak", Major)
	w.pass()
	w.fixed(FixPushed)
	w.pass()
	w.finds(w.says("quinn", w.f.Head, RequestChanges), "style", Nit) // beside the leak, which stays open
	if c := want(t, w, HumanReview, AskNothing, "quinn"); c.Why.Kind != work.WhyReviewCircle || !slices.Equal(c.Why.Names, []string{"leak.go", "style.go"}) {
		t.Errorf("stopped for %v", c.Why)
	}

	again := newWorld(quinn)
	again.pass()
	again.finds(again.says("quinn", again.f.Head, RequestChanges), "leak", Major)
	again.pass()
	again.fixed(FixPushed)
	again.pass()
	v := again.says("quinn", again.f.Head, RequestChanges)
	again.finds(v, "race", Major)
	again.f.Findings[0].ResolvedBy = v.ID
	want(t, again, Fixing, AskFix, "quinn") // one is done, another came
}

func TestAFixThatChangesNothingIsNotTriedAgain(t *testing.T) {
	for _, o := range []FixOutcome{FixUnchanged, FixAsked} {
		w := newWorld(quinn)
		w.pass()
		w.says("quinn", w.f.Head, RequestChanges)
		w.pass()
		w.fixed(o)
		if c := want(t, w, HumanReview, AskNothing, "quinn"); c.Why.Kind != work.WhyReviewNotFixed {
			t.Errorf("stopped for %v", c.Why)
		}
	}
}

func TestAPersonIsAskedOnceAHeadAndWaitedFor(t *testing.T) {
	w := newWorld(grace, quinn)
	want(t, w, Reviewing, AskRequest, "grace")
	if c := want(t, w, Reviewing, AskNothing, "grace"); c.Why.Kind != work.WhyReviewPerson || c.Why.Who != "grace" {
		t.Errorf("waits for %v", c.Why)
	}
	w.says("grace", w.f.Head, RequestChanges)
	want(t, w, Fixing, AskFix, "grace")
	w.fixed(FixPushed)
	want(t, w, Reviewing, AskRequest, "grace")
	w.says("grace", w.f.Head, Approve)
	want(t, w, Reviewing, AskReview, "quinn")
	w.says("grace", w.f.Head, RequestChanges) // a person may change their mind
	want(t, w, Fixing, AskFix, "grace")
}

func TestALastWordThatIsTakenBackBringsNoEarlierOneBack(t *testing.T) {
	w := newWorld(grace)
	w.pass()
	w.says("grace", w.f.Head, Approve)
	want(t, w, Approved, AskNothing, "")
	w.says("grace", w.f.Head, RequestChanges)
	w.f.Verdicts[1].Validity = TakenBack
	if c := w.pass(); c.State != Reviewing || c.Why.Kind != work.WhyReviewPerson {
		t.Errorf("%s, %v", c.State, c.Why)
	}

	gate := newWorld(quinn)
	gate.p.RequireHuman = true
	gate.pass()
	gate.says("quinn", gate.f.Head, Approve)
	for i, d := range []Decision{Approve, RequestChanges} {
		gate.f.Verdicts = append(gate.f.Verdicts, Verdict{ID: int64(90 + i), Human: true, Head: gate.f.Head, Decision: d, Validity: Counts, By: work.Account{ID: 7}})
	}
	want(t, gate, Checking, AskNothing, "")
}

func TestAPersonsGateStaysOverAFix(t *testing.T) {
	w := newWorld(quinn)
	w.p.RequireHuman = true
	w.pass()
	w.says("quinn", w.f.Head, Approve)
	if c := want(t, w, Checking, AskNothing, ""); c.Why.Kind != work.WhyReviewPerson {
		t.Errorf("waits for %v", c.Why)
	}
	w.f.Verdicts = append(w.f.Verdicts, Verdict{ID: 9, Human: true, Head: w.f.Head, Decision: Approve, Validity: Counts})
	want(t, w, Approved, AskNothing, "")
	w.push()
	w.pass()
	w.says("quinn", w.f.Head, Approve)
	want(t, w, Checking, AskNothing, "")
}

func TestAGateThatTheConfigAddsHoldsForWhatIsApproved(t *testing.T) {
	w := newWorld(quinn)
	w.pass()
	w.says("quinn", w.f.Head, Approve)
	want(t, w, Approved, AskNothing, "")
	w.p.RequireHuman = true
	want(t, w, Checking, AskNothing, "")
	w.p.Order = append(w.p.Order, priya)
	want(t, w, Reviewing, AskReview, "priya")
	w.p.Order, w.p.RequireHuman = nil, false
	want(t, w, "", AskNothing, "")
}

func TestAVerdictThatIsTakenBackIsNotGivenAgain(t *testing.T) {
	w := newWorld(quinn)
	w.pass()
	w.says("quinn", w.f.Head, Approve)
	w.pass()
	w.f.Verdicts[0].Validity = TakenBack
	if c := want(t, w, HumanReview, AskNothing, "quinn"); c.Why.Kind != work.WhyReviewTakenBack {
		t.Errorf("stopped for %v", c.Why)
	}
	w.f.Retried = true
	want(t, w, HumanReview, AskNothing, "quinn") // the next step is a push
	w.push()
	w.f.Retried = true
	want(t, w, Reviewing, AskReview, "quinn")
}

func TestAFailureStopsUntilItIsRetried(t *testing.T) {
	w := newWorld(quinn)
	c := w.pass()
	w.f.Record.FailedKey, w.f.Record.FailedWhy = c.Key, work.Reason{Kind: work.WhyFailed, Text: "it crashed"}
	c = want(t, w, Failed, AskNothing, "quinn")
	if c.Why.Kind != work.WhyReviewFailed || c.Why.Text != "it crashed" || c.Why.Name != "quinn" {
		t.Errorf("stopped for %+v", c.Why)
	}
	w.f.Retried = true
	want(t, w, Reviewing, AskReview, "quinn")
}

func TestWhatHoldsAReviewBack(t *testing.T) {
	w := newWorld(quinn)
	w.f.NoReview = work.Reason{Kind: work.WhyReviewDraft}
	if c := want(t, w, Pending, AskNothing, "quinn"); c.Why.Kind != work.WhyReviewDraft {
		t.Errorf("waits for %v", c.Why)
	}
	w.f.NoReview = work.Reason{}
	want(t, w, Reviewing, AskReview, "quinn")
	w.says("quinn", w.f.Head, RequestChanges)
	w.f.NoFix = work.Reason{Kind: work.WhyReviewHeld}
	want(t, w, Fixing, AskNothing, "quinn")
}

// GitHub is said to lack the new head only if it was read after the push.
func TestTheHeadOfAFixIsWaitedFor(t *testing.T) {
	w := newWorld(quinn)
	w.pass()
	w.says("quinn", w.f.Head, RequestChanges)
	w.pass()
	before := w.f.Head
	w.fixed(FixPushed)
	after := w.f.Head
	w.f.Head = before // GitHub shows the old one still
	pushed := w.f.Fixes[len(w.f.Fixes)-1].At
	for read, why := range map[time.Time]work.ReasonKind{{}: work.WhyHeadNotRead, pushed: work.WhyHeadNotRead, pushed.Add(time.Second): work.WhyHeadNotShown} {
		w.f.ReadAt = read
		if c := want(t, w, Fixing, AskNothing, "quinn"); c.Why.Kind != why || c.Why.Commit != after {
			t.Errorf("read at %v: waits for %v", read, c.Why)
		}
	}
	w.f.Head = after
	want(t, w, Reviewing, AskReview, "quinn")
}

func TestSomebodyElsesIsTheirsToFix(t *testing.T) {
	w := newWorld(quinn)
	w.f.NotFixable = true
	w.pass()
	w.says("quinn", w.f.Head, RequestChanges)
	want(t, w, Fixing, AskNothing, "quinn")
	w.push()
	want(t, w, Reviewing, AskReview, "quinn")
}

func TestHowItWasMerged(t *testing.T) {
	for name, tt := range map[string]struct {
		before func(w *world)
		want   MergeType
	}{
		"before anybody looked": {func(*world) {}, MergedForced},
		"after everybody":       {func(w *world) { w.says("quinn", w.f.Head, Approve); w.pass() }, MergedApproved},
		"after a later push":    {func(w *world) { w.says("quinn", w.f.Head, Approve); w.pass(); w.push() }, MergedForced},
		"by us":                 {func(w *world) { w.f.MergedBy = MergedAuto }, MergedAuto},
	} {
		w := newWorld(quinn)
		w.pass()
		tt.before(w)
		w.f.State = work.PullMerged
		if c := want(t, w, Merged, AskNothing, ""); c.MergeType != tt.want {
			t.Errorf("%s: %s, want %s", name, c.MergeType, tt.want)
		}
		w.says("quinn", w.f.Head, RequestChanges) // late
		if c := want(t, w, Merged, AskNothing, ""); c.MergeType != tt.want || len(c.After) > 0 {
			t.Errorf("%s: late: %+v", name, c)
		}
	}
}

func TestReopenedBeginsAgain(t *testing.T) {
	w := newWorld(quinn)
	w.pass()
	w.f.State = work.PullClosed
	want(t, w, Closed, AskNothing, "")
	w.f.State = work.PullOpen
	if c := want(t, w, Reviewing, AskReview, "quinn"); !slices.Equal(c.After, []Event{EventReopened, EventDue}) {
		t.Errorf("by %v", c.After)
	}
}

func TestTheTableHasNoTrapAndOneWayForEachEvent(t *testing.T) {
	seen := map[string]bool{}
	for _, x := range Transitions() {
		key := string(x.From) + " " + string(x.Event)
		if seen[key] {
			t.Errorf("%q leads two ways", key)
		}
		seen[key] = true
	}
	for _, s := range States() {
		ends := s == Merged
		for _, e := range events() {
			to, moves := next(s, e)
			ends = ends || to == Merged
			if s == Merged && moves {
				t.Errorf("%s ends nothing: %s", s, e)
			}
			if s == Closed && moves && e != EventMerged && e != EventReopened {
				t.Errorf("%s: %s", s, e)
			}
			if s.Stopped() && moves && to != Pending && to != Merged && to != Closed && to != "" {
				t.Errorf("%s continues by itself: %s", s, e)
			}
		}
		if !ends {
			t.Errorf("%s cannot be merged", s)
		}
	}
}

func TestWhatMarkersCarry(t *testing.T) {
	v := Verdict{Reviewer: "quinn", Head: strings.Repeat("a", 40), Epoch: 1, Cycle: 2, Decision: RequestChanges, CalledIn: []string{"sam"}, Highest: Major, Count: 3, Unread: []string{"a.go"}, Validity: Counts}
	body := Finding{ID: "0123456789abcdef", Reviewer: "quinn", Cycle: 2, Head: v.Head, Severity: Major, Confidence: "high", Path: "a--b.go", Line: 7, Body: "--> <!-- \u00e9"}
	got, resolved, inBody, ok := ParseMark(Mark(v, []string{"ffff"}, []Finding{body}))
	if !ok || got.Reviewer != v.Reviewer || got.Epoch != 1 || got.Cycle != 2 || got.Highest != Major || got.Count != 3 || !slices.Equal(got.CalledIn, v.CalledIn) || !slices.Equal(got.Unread, v.Unread) ||
		!slices.Equal(resolved, []string{"ffff"}) || len(inBody) != 1 || inBody[0] != body {
		t.Errorf("%v %+v %v %+v", ok, got, resolved, inBody)
	}
	marked := work.Mark("text", work.Marks{Token: strings.Repeat("0", 64), Handled: []string{"7:review_due:x:y"}, Review: Mark(v, nil, nil)})
	if m, ok := work.ParseMarks(marked); !ok || m.Review != Mark(v, nil, nil) || len(m.Handled) != 1 {
		t.Errorf("%+v", m)
	}
	if x, ok := ParseFinding(MarkFinding(body)); !ok || x.ID != body.ID || x.Severity != Major || x.Reviewer != "quinn" || x.Body != body.Body || x.Path != "" {
		t.Errorf("%+v", x)
	}
	for _, bad := range []string{"", "!", Mark(Verdict{}, nil, nil), MarkFinding(Finding{})} {
		if _, _, _, ok := ParseMark(bad); ok {
			t.Errorf("%q is a review's", bad)
		}
		if _, ok := ParseFinding(bad); ok {
			t.Errorf("%q is a finding's", bad)
		}
	}
}

func TestWhomAPersonCallsIn(t *testing.T) {
	body := "Please look.\r\n<!-- escalate: sam-2 -->\n> <!-- escalate: quoted -->\n```\n<!-- escalate: code -->\n```\ntext <!-- escalate: middle -->\n<!-- escalate: Sam -->\n<!-- escalate: priya -->"
	if got := CalledIn(body); !slices.Equal(got, []string{"sam-2", "priya"}) {
		t.Errorf("%v", got)
	}
}

func TestKeysOfEvents(t *testing.T) {
	due := Due{Reviewer: "sam-2", Epoch: 1, Cycle: 2, Head: strings.Repeat("c", 40)}
	e, ok := work.EventOfKey(DueKey(7, due))
	if got, is := DueOf(e); !ok || !is || got != due || e.Number != 7 {
		t.Errorf("%+v %v", got, e)
	}
	fix := FixDue{ReviewID: 4000000001, Epoch: 1, Cycle: 2}
	e, ok = work.EventOfKey(FixKey(7, fix))
	if got, is := FixDueOf(e); !ok || !is || got != fix {
		t.Errorf("%+v %v", got, e)
	}
	if _, is := DueOf(e); is {
		t.Error("a fix is no review")
	}
	if FindingID(strings.Repeat("0123456789", 7)) != "0123456789012345" {
		t.Error("a finding's name")
	}
}

func TestHowAVerdictIsPosted(t *testing.T) {
	for _, tt := range []struct {
		author, who int64
		may         bool
		d           Decision
		want        string
	}{
		{1, 1, true, Approve, "COMMENT"},
		{1, 2, false, RequestChanges, "COMMENT"},
		{1, 2, true, Approve, "APPROVE"},
		{1, 2, true, RequestChanges, "REQUEST_CHANGES"},
	} {
		if got := EventOf(tt.author, tt.who, tt.may, tt.d); got != tt.want {
			t.Errorf("%+v: %s", tt, got)
		}
	}
}

func TestTheLineWhenTheConfigChanges(t *testing.T) {
	p := newWorld(quinn, priya, sam).p
	names := func(in ...Insertion) string {
		var s []string
		for _, r := range Line(p, in) {
			s = append(s, r.Name)
		}
		return strings.Join(s, " ")
	}
	for _, tt := range []struct {
		want string
		in   []Insertion
	}{
		{"quinn priya sam", nil},
		{"quinn sam priya", []Insertion{{Name: "sam", By: "quinn"}}},
		{"quinn priya sam", []Insertion{{Name: "quinn", By: "sam"}}},
		{"quinn sam grace priya", []Insertion{{Name: "sam", By: "quinn"}, {Name: "grace", By: "quinn"}}},
		{"quinn priya sam grace", []Insertion{{Name: "grace", By: "gone"}}},
		{"quinn priya sam", []Insertion{{Name: "gone", By: "quinn"}, {Name: "sam", By: "gone"}}},
	} {
		if got := names(tt.in...); got != tt.want {
			t.Errorf("%v: %s, want %s", tt.in, got, tt.want)
		}
	}
}

// moves reports whether the state differs from the stored one.
func (c Choice) moves(r Record) bool { return len(c.After) > 0 || c.State != r.State }
