package plan

import (
	"strings"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
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
		"interrupted": {turn(func(*work.Turn) {}), []string{"state: `interrupted` since"}},
		"waiting":     {turn(func(t *work.Turn) { t.NotBefore, t.UpdatedAt = noon.Add(time.Hour), noon }), []string{"state: `waiting` since"}},
		"a draft":     {func(i *known.Item) { i.Pull.Draft = true }, []string{"state: `awaiting_feedback` since", "waits for: people on #2", "; it is a draft\n"}},
		"held":        {func(i *known.Item) { i.HeldBack = &review.Held{By: "bob"} }, []string{"; held back by bob\n"}},
		"stopped": {func(i *known.Item) {
			i.State, i.Since, i.Reason = work.StateBlocked, noon, work.Reason{Kind: work.WhyQuestion, Text: "Which?"}
			i.Stop = work.Stop{Reason: i.Reason, Since: noon.Add(-time.Hour), Attempts: 2}
		}, []string{"state: `blocked` since 2026-11-21 11:00 UTC", "waits for: a person: ", " (2 attempts)\n"}},
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
