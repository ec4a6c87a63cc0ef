package notice

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/prompts"
	"github.com/mergexo/gh-mergexo/store"
)

// While people have an item, the comment that says why it is stopped must not
// ask them for an answer that nobody will see. It says so instead, and is what
// it was when they have resumed the item. Where the comment stands is known
// from the stop; with the database lost it is made again when the item stops again.

// ShowHanding has the comment say who has the item now.
func (p *Notices) ShowHanding(ctx context.Context, tx *store.Tx, h work.PauseBanner, now time.Time) error {
	stop, known, err := tx.FindStop(ctx, h.Stop.ItemID)
	if err != nil || !known {
		return err
	}
	began := stop.Taken
	stop.Taken = h.Pause.Began
	if err := tx.PutStop(ctx, stop); err != nil || !stop.Lasts() {
		return err
	}
	said, ok, err := tx.GetAction(ctx, stop.Token)
	if err != nil || !ok || said.Kind != work.ActionSticky {
		return err
	}
	text, _, _ := strings.Cut(said.Body, "\n\n<!-- mergexo-")
	if stop.Taken.IsZero() {
		unheard, err := countUnheard(ctx, tx, stop.ItemID, began)
		if err != nil {
			return err
		}
		text = givenBackText(text, unheard)
	} else {
		text = takenText(text, h.Pause, p.RemoteByID(said.RepoID).Settings.Labels.Ignore)
	}
	said.Body, said.Base, said.PlannedAt, said.NotBefore = prompts.MarkBody(text, work.Marks{Token: said.Token}), "", now, time.Time{}
	return tx.RenewAction(ctx, said)
}

// countUnheard counts what was said about an item since a pause began, and
// skipped.
func countUnheard(ctx context.Context, tx *store.Tx, item int64, since time.Time) (int, error) {
	events, err := tx.ListItemEvents(ctx, item)
	n := 0
	for _, e := range events {
		if e.Outcome == work.OutcomePaused && e.Kind.Said() && !work.StampOf(e).Before(since) {
			n++
		}
	}
	return n, err
}

// takenLead and unheardLead begin what is set before the comment's text.
const (
	takenLead   = "**Paused** by "
	unheardLead = "**Resumed.** "
)

// withoutLead is the comment's text as it was.
func withoutLead(text string) string {
	for _, lead := range []string{takenLead, unheardLead} {
		if strings.HasPrefix(text, lead) {
			_, text, _ = strings.Cut(text, "\n\n")
		}
	}
	return text
}

func takenText(text string, pause work.Pause, label string) string {
	return fmt.Sprintf("%s%s since %s: no agent works on this, and comments made during the pause are never acted on. "+
		"To hand it back, comment `/mergexo resume` or take the label `%s` away. From then on this holds again:\n\n%s",
		takenLead, pause.By, work.UTC(pause.Began), label, withoutLead(text))
}

func givenBackText(text string, unheard int) string {
	text = withoutLead(text)
	switch unheard {
	case 0:
		return text
	case 1:
		return unheardLead + "One comment made during the pause was not acted on: repeat what the agent should know.\n\n" + text
	}
	return fmt.Sprintf("%s%d comments made during the pause were not acted on: repeat what the agent should know.\n\n%s", unheardLead, unheard, text)
}
