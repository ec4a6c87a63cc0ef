package status

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/review"
	"github.com/mergexo/gh-mergexo/tick/folder"
	"github.com/mergexo/gh-mergexo/tick/known"
	"github.com/mergexo/gh-mergexo/tick/plan"
)

const head = "cccccccccccccccccccccccccccccccccccccccc"

// underReview is an item whose pull request quinn and ann review.
func underReview(now review.Record, verdicts ...review.Verdict) ItemFacts {
	quinn, ann := review.Reviewer{Name: "quinn"}, review.Reviewer{Name: "ann", Human: true, Login: "ann-example"}
	repo := work.Repo{Name: work.RepoName{Host: "github.com", Owner: "octo", Name: "app"}}
	return ItemFacts{Repo: repo, Item: known.Item{
		Item:      work.Item{Number: 12, State: work.StateAwaitingFeedback},
		Pull:      work.PullRequest{Number: 13, State: work.PullOpen, HeadOID: head, URL: "https://github.com/octo/app/pull/13"},
		Reviews:   review.Facts{Record: now, Verdicts: verdicts},
		Reviewers: review.Policy{Order: []review.Reviewer{quinn, ann}, MaxFixCycles: 2},
	}}
}

func of(decision review.Decision, head string, as review.Validity) review.Verdict {
	return review.Verdict{Reviewer: "quinn", Head: head, Decision: decision, Validity: as}
}

func TestTheLastWordOfAReviewer(t *testing.T) {
	yes, no := review.Approve, review.RequestChanges
	for _, c := range []struct {
		state         review.State
		last          []review.Verdict
		want, drawing string
	}{
		{review.Reviewing, nil, "is next", "[quinn] → ann"},
		{review.Pending, nil, "is next", "[quinn] → ann"},
		{review.Approved, nil, "not asked yet", "quinn → ann"},
		{review.Reviewing, []review.Verdict{of(no, "old", review.Counts)}, "requested changes on an earlier commit; is next", "[quinn] → ann"},
		{review.Reviewing, []review.Verdict{of(yes, "old", review.Counts)}, "approved an earlier commit; is next", "[quinn] → ann"},
		{review.Reviewing, []review.Verdict{of(no, head, review.Counts), of(yes, head, review.Counts)}, "approves", "[quinn ✓] → ann"},
		{review.Fixing, []review.Verdict{of(yes, "old", review.Counts), of(no, head, review.Counts)}, "requests changes", "[quinn ✗] → ann"},
		{review.HumanReview, []review.Verdict{of(no, head, review.Counts)}, "requests changes", "[quinn ✗] → ann"},
		{review.HumanReview, []review.Verdict{of(yes, head, review.TakenBack)}, "approval was dismissed", "[quinn] → ann"},
		{review.Failed, nil, "not asked yet", "[quinn] → ann"},
		{review.Merged, []review.Verdict{of(yes, head, review.Moved)}, "approves", "quinn ✓ → ann"},
		{review.Merged, []review.Verdict{of(no, head, review.TakenBack)}, "request for changes was dismissed", "quinn → ann"},
	} {
		f := underReview(review.Record{State: c.state, Reviewer: "quinn", Head: head}, c.last...)
		f.Begins = &plan.Turn{Kind: work.KindFix}
		r := f.review()
		if got, drawn := r.Reviewers[0].says, r.drawing(); got != c.want || drawn != c.drawing {
			t.Errorf("%s %v: %q, %q; want %q, %q", c.state, c.last, got, drawn, c.want, c.drawing)
		}
	}
}

// Of an item that people hold back, no turn is said to come next.
func TestAHeldItemSaysOfNothingThatItIsNext(t *testing.T) {
	for name, hold := range map[string]func(*ItemFacts){
		"held":        func(f *ItemFacts) { f.HeldBack = &review.Held{By: "ann"} },
		"paused":      func(f *ItemFacts) { f.Pause = &work.Pause{By: "ann"} },
		"pause --all": func(f *ItemFacts) { f.Halt = &folder.Halt{} },
	} {
		for _, state := range []review.State{review.Pending, review.Reviewing, review.Fixing} {
			f := underReview(review.Record{State: state, Reviewer: "quinn", Head: head}, of(review.RequestChanges, "old", review.Counts))
			f.Begins, f.Turn = &plan.Turn{Kind: work.KindFix}, &work.Turn{Kind: work.KindFix}
			hold(&f)
			if says := f.review().Reviewers[0].says; strings.Contains(says, "next") {
				t.Errorf("%s, %s: %q", name, state, says)
			}
		}
	}
}

// Between a verdict and the next pass, the reviews are as that pass decides, like what the item waits for.
func TestReviewsAreAsTheNextPassDecides(t *testing.T) {
	f := underReview(review.Record{State: review.Reviewing, Reviewer: "quinn", Head: head}, of(review.Approve, head, review.Counts))
	f.Review = &review.Record{State: review.Approved, Head: head}
	if v := f.review(); v.State != review.Approved || v.Current != "" || v.drawing() != "quinn ✓ → ann" {
		t.Errorf("%s by %q: %s", v.State, v.Current, v.drawing())
	}
}

// Before a pass has decided anything, the reviews are those that the next one begins.
func TestReviewsThatBegin(t *testing.T) {
	f := underReview(review.Record{})
	if v := f.review(); v != nil {
		t.Errorf("reviewed before it is planned: %+v", v)
	}
	f.Review = &review.Record{State: review.Reviewing, Reviewer: "quinn"}
	if v := f.review(); v == nil || v.State != "pending" || v.Current != "quinn" {
		t.Errorf("got %+v", v)
	}
}

func TestWhatWentWrongInAReview(t *testing.T) {
	f := underReview(review.Record{State: review.Failed, Reviewer: "quinn", Head: head, Retries: 3, LastError: "exit 3"})
	if v := f.review(); v.State != "error" || v.LastError != "exit 3" || v.Current != "quinn" {
		t.Errorf("stored: %+v", v)
	}
	f = underReview(review.Record{State: review.Reviewing, Reviewer: "quinn", Head: head})
	f.Turn = &work.Turn{Kind: work.KindReview, Reviewer: "quinn", Attempts: 2, LastError: "exit 4"}
	if v := f.review(); v.LastError != "exit 4" {
		t.Errorf("it waits: %+v", v)
	}
	f.Turn = &work.Turn{Kind: work.KindImplementationFeedback, Attempts: 2, LastError: "exit 5"}
	if v := f.review(); v.LastError != "" {
		t.Errorf("of an answer to people: %+v", v)
	}
}

// What people read of reviews on a terminal.
func TestReviewsOnATerminal(t *testing.T) {
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	f := underReview(review.Record{State: review.Merged, Head: head, MergeType: review.MergedForced}, review.Verdict{
		Reviewer: "quinn", Head: head, Decision: review.RequestChanges, At: now.Add(-time.Hour), URL: "https://github.com/octo/app/pull/13#pullrequestreview-4",
	})
	f.Now, f.HeldBack = now, &review.Held{By: "ann"}
	f.Reviews.Findings = []review.Finding{{ID: "a", Reviewer: "quinn", Severity: review.Major, Path: "a.go", Body: "\x1b[2JIt leaks."}}
	s := f.story(nil)
	var b bytes.Buffer
	out := terminal.Output{W: &b, TTY: true, Width: 80}
	if err := s.Print(out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"\nreview                merged, forced; 0 of 2 fix cycles\n",
		"\nreviewers             quinn ✗ → ann\n",
		"\nreview held by        ann\n",
		"\nREVIEWER\nNAME   TYPE   VERDICT           COMMIT        WHEN\n" +
			"quinn  agent  requests changes  cccccccccccc  about 1 hour ago\n" +
			"    LINK  https://github.com/octo/app/pull/13#pullrequestreview-4\n" +
			"ann    human  not asked yet\n",
		"\nFINDING\nSEVERITY  WHERE  REVIEWER  TEXT\nmajor     a.go   quinn     \\u001b[2JIt leaks.\n    LINK  https://github.com/octo/app/pull/13\n",
	} {
		if !bytes.Contains(b.Bytes(), []byte(want)) {
			t.Errorf("no %q in\n%s", want, &b)
		}
	}
}
