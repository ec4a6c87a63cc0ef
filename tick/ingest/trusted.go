package ingest

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/ingest/batch"
)

// A turn may wait for hours, and its agent may work for one. So those for whom it
// is made are asked about again, right before the agent is paid and before a push.

// StillMay reports whether the author of an event may ask for it now; of a label that
// begins the work also why not, in words for people.
func (h *Issues) StillMay(ctx context.Context, e work.Event) (may bool, why string, err error) {
	switch {
	case e.Author.Login == "": // known by its key alone, or nobody's
		return true, "", nil
	case e.Kind == work.EventLabelled:
		return h.mayBegin(ctx, e)
	case e.Kind.Said():
		may, err = h.people.MayCommand(ctx, e.Author, h.P.Now())
		return may, "", err
	}
	return true, "", nil
}

// mayBegin asks about who set a label; of one that we set, about who gave the command.
func (h *Issues) mayBegin(ctx context.Context, e work.Event) (may bool, why string, err error) {
	if !slices.Contains(h.P.Accounts.Operators(h.R.Name.Host), e.Author.ID) {
		may, err = h.people.MaySetLabel(ctx, e.Author, h.P.Now())
		return may, fmt.Sprintf("the label %s was set by %s, who has no triage permission any more", e.State, e.Author.Login), err
	}
	timeline, err := h.R.GitHub.TimelineOf(ctx, h.Repo.Current, e.Number)
	at := slices.IndexFunc(timeline, func(t github.TimelineEvent) bool { return strconv.FormatInt(t.ID, 10) == e.Source })
	if err != nil || at < 0 {
		return err == nil, "", err
	}
	w, err := h.wordFor(ctx, github.Issue{Number: e.Number}, timeline[at])
	return w.lost == "", w.lost + ", and may not write to the repository any more", err
}

// askCommandersAgain ends commands that wait to be carried out since an earlier pass
// and whose authors may give none any more.
func (h *Issues) askCommandersAgain(ctx context.Context) error {
	var waiting []work.Event
	err := h.View(ctx, func(ctx context.Context, tx *store.Tx) error {
		pending, err := tx.ListPendingCommands(ctx, h.Repo.ID)
		for _, e := range pending {
			if e.State == work.SaidLocally {
				continue
			}
			_, planned, err := tx.GetAction(ctx, work.NoticeToken(h.Repo.Key(), e.Number, e.Key))
			if err != nil {
				return err
			}
			if !planned {
				waiting = append(waiting, e)
			}
		}
		return err
	})
	if err != nil {
		return err
	}
	for _, e := range waiting {
		may, err := h.people.MayCommand(ctx, e.Author, h.P.Now())
		if batch.OutOfTime(err) { // what was read is worth keeping
			h.StopReading(err)
			return nil
		}
		if fatal := h.DeferOne(err, "ask about %s", e.URL); fatal != nil {
			return fatal
		}
		if err == nil && !may {
			h.Revoked = append(h.Revoked, e)
			h.Decline(e)
		}
	}
	return nil
}

func (h *Issues) storeRevoked(ctx context.Context, tx *store.Tx) error {
	for _, e := range h.Revoked {
		if err := tx.FinishEvents(ctx, []int64{e.ID}, work.OutcomeNoCommander, h.P.Now()); err != nil {
			return err
		}
	}
	return nil
}
