package plan

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/explain"
	"github.com/mergexo/gh-mergexo/internal/work/review"
	"github.com/mergexo/gh-mergexo/tick/change"
	"github.com/mergexo/gh-mergexo/tick/known"
)

// The comment that answers /mergexo status has the same word for the state, the same time and the
// same reasons as status on this machine.
func TestStatusInACommentSaysHowTheItemStands(t *testing.T) {
	turn := func(change func(*work.Turn)) func(*known.Item) {
		return func(i *known.Item) {
			i.State, i.Turn = work.StateRunning, &work.Turn{ID: 5, ItemID: 10, RepoID: 1, Number: 2, Key: "k", Kind: work.KindImplementationFeedback, Step: work.StepClaimed}
			change(i.Turn)
		}
	}
	for name, c := range map[string]struct {
		is   func(*known.Item)
		want []string
	}{
		"interrupted":         {turn(func(*work.Turn) {}), []string{"state: `interrupted` since"}},
		"waiting":             {turn(func(t *work.Turn) { t.NotBefore, t.UpdatedAt = noon.Add(time.Hour), noon }), []string{"state: `waiting` since"}},
		"its issue is closed": {func(i *known.Item) { i.IssueClosed = true }, []string{"; the issue is closed: to end the work, close the pull request, too"}},
		"a draft":             {func(i *known.Item) { i.Pull.Draft = true }, []string{"state: `awaiting_feedback` since", "waits for: it is a draft\n", "next: mark it as ready for review"}},
		"held":                {func(i *known.Item) { i.HeldBack = &review.Held{By: "bob"} }, []string{"waits for: it is held by bob\n", "next: comment `/mergexo resume`"}},
		"faults":              {func(i *known.Item) { i.Faults = []string{"line 1: x"} }, []string{"waits for: people on #2: the document has faults there: line 1: x\n"}},
		"faults beside": {func(i *known.Item) {
			i.Faults, i.Reviews.Record = []string{"line 1: x"}, review.Record{PullID: i.Pull.ID, Why: work.Reason{Kind: work.WhyReviewChecks}}
		}, []string{"; the document has faults there\n"}},
		"stopped": {func(i *known.Item) {
			i.State, i.Since, i.Reason = work.StateBlocked, noon, work.Reason{Kind: work.WhyQuestion, Text: "Which?"}
			i.Stop = work.Stop{Reason: i.Reason, Since: noon.Add(-time.Hour), Attempts: 2}
		}, []string{"state: `blocked` since 2026-11-21 11:00 UTC", "waits for: a person: ", " (stopped for this 2 times)\n"}},
	} {
		p := For(scene(item(c.is), with(commanded("/mergexo status", 2, "77"))))
		body := ""
		for _, a := range Of[change.Notice](p) {
			if a.Kind == work.ActionComment {
				body = a.Body
			}
		}
		for _, want := range c.want {
			if !strings.Contains(body, want) {
				t.Errorf("%s: no %q in\n%s", name, want, body)
			}
		}
	}
}

// stands returns an item's standing in words, as every view has it.
func stands(s Standing, at explain.Place) string {
	return fmt.Sprintf("%s since %s: %s; next: %s", s.State, work.UTC(s.Since), s.Says(at, false), s.Next(at))
}

// The answer to any command and `status` describe the item alike, once the pass has stored its plan
// and before any turn has a slot or any merge is sent.
func TestStatusAndTheAnswersOfCommandsAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := stirred(t)
		v.Items, v.Untracked = v.Items[:1], nil
		i := &v.Items[0]
		i.Events = known.Without(i.Events, func(e work.Event) bool { return e.Kind == work.EventCommand })
		on := i.Number
		if i.HasPull() {
			on = i.Pull.Number
		}
		verb := rapid.SampledFrom([]work.Verb{work.VerbStatus, work.VerbRetry, work.VerbHold, work.VerbResume, work.VerbUnblock}).Draw(t, "verb")
		e := commanded("/mergexo "+string(verb), on, "77777")
		e.ID = 9999
		i.Events = append(slices.Clone(i.Events), e)
		p := For(v)
		r := answerOf(v, e)
		p.Decisions = slices.DeleteFunc(p.Decisions, func(d Decision) bool {
			_, turn := d.(Turn)
			_, merge := d.(change.Merge)
			return turn || merge
		})
		after := carriedOut(v, p)
		item := after.Items[0]
		if !item.State.Open() {
			return
		}
		live := item.Turn != nil && slices.ContainsFunc(after.Held, func(h work.Holder) bool { return h.Turn == item.Turn.Key })
		now := stands(StandingOf(item, For(after).Outlooks(after)(item), Around{Now: v.Now, Repo: v.Repo, Live: live}), v.Place(item))
		if now != r {
			t.Fatalf("%s answers\n%s\nand status says\n%s\n%s", verb, r, now, told(p))
		}
	})
}

// answerOf returns what the answer to a command says of its item's standing.
func answerOf(v known.Snapshot, e work.Event) string {
	r := plannerOf(v, &Plan{Repo: v.Repo}, v.Items[0]).commander()
	landingOf(r.itemPlanner).lift()
	r.item.Events = known.Without(r.item.Events, func(o work.Event) bool { return o.Key == e.Key })
	r.execute(r.invocation(e))
	return stands(r.standing(r.outlook()), v.Place(r.item))
}

// People are asked to merge an approved pull request once GitHub has its commit status, which a rule may require.
// Where GitHub refuses that for good, they are asked all the same, and this machine says why there is none.
func TestPeopleMergeOnceGitHubHasTheStatus(t *testing.T) {
	for state, want := range map[work.ActionState]struct {
		why  work.ReasonKind
		here string
	}{
		"":                 {work.WhyReviewApproved, "people on #2: every reviewer has approved it"},
		work.ActionPlanned: {work.WhyApprovalDue, "a pass: every reviewer has approved it. HTTP 502."},
		work.ActionSent:    {work.WhyApprovalDue, "a pass: every reviewer has approved it. HTTP 502."},
		work.ActionApplied: {work.WhyReviewApproved, "people on #2: every reviewer has approved it"},
		work.ActionDropped: {work.WhyReviewApproved, "people on #2: every reviewer has approved it. GitHub refused the commit status that says so: HTTP 502."},
	} {
		v := scene(reviewedBy("quinn"), verdict("quinn", "aaa", review.Approve))
		v = carriedOut(v, For(v))
		v.Items[0].Landing.Status = work.Action{State: state, LastError: "HTTP 502"}
		i := v.Items[0]
		s := StandingOf(i, For(v).Outlooks(v)(i), Around{Now: v.Now, Repo: v.Repo})
		if said := s.Says(v.Place(i), true); s.Why.Kind != want.why || said != want.here {
			t.Errorf("%q: %s: %q, want %q", state, s.Why.Kind, said, want.here)
		}
	}
}
