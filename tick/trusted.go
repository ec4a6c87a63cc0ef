package tick

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/plan"
)

// A turn may wait for hours, and its agent may work for one. So those for whom it
// is made are asked about again, right before the agent is paid and before a push.

// lookTrusted ends a turn before its first effect when somebody for whom it is made
// may ask for nothing any more. What the others wrote makes a new one.
func (p *Looks) lookTrusted(ctx context.Context, l *lease) error {
	h := newReading(p.ingest, l.remote)
	var lost []work.Event
	var begun string // why what began the work counts no more
	for _, e := range l.events {
		may, why, err := h.issues.stillMay(ctx, e)
		if err != nil {
			return err
		}
		if !may {
			lost = append(lost, e)
			begun = cmp.Or(begun, why)
		}
	}
	if len(lost) == 0 {
		return nil
	}
	if begun, err := p.firstEffect(ctx, l); err != nil || begun {
		return err
	}
	if err := p.finishLost(ctx, lost); err != nil {
		return fmt.Errorf("end what %s asked for: %w", plan.Authors(lost), err)
	}
	return noLonger(l, lost, begun)
}

// stillMay reports whether the author of an event may ask for it now; of a label that
// begins the work also why not, in words for people.
func (h *Issues) stillMay(ctx context.Context, e work.Event) (may bool, why string, err error) {
	switch {
	case e.Author.Login == "": // known by its key alone, or nobody's
		return true, "", nil
	case e.Kind == work.EventLabelled:
		return h.mayBegin(ctx, e)
	case e.Kind.Said():
		may, err = h.people.mayCommand(ctx, e.Author, h.p.Now())
		return may, "", err
	}
	return true, "", nil
}

// mayBegin asks about who set a label; of one that we set, about who gave the command.
func (h *Issues) mayBegin(ctx context.Context, e work.Event) (may bool, why string, err error) {
	if !slices.Contains(h.p.accounts.ids(h.r.Name.Host), e.Author.ID) {
		may, err = h.people.maySetLabel(ctx, e.Author, h.p.Now())
		return may, fmt.Sprintf("the label %s was set by %s, who has no triage permission any more", e.State, e.Author.Login), err
	}
	timeline, err := h.r.GitHub.TimelineOf(ctx, h.repo.Current, e.Number)
	at := slices.IndexFunc(timeline, func(t github.TimelineEvent) bool { return strconv.FormatInt(t.ID, 10) == e.Source })
	if err != nil || at < 0 {
		return err == nil, "", err
	}
	w, err := h.wordFor(ctx, github.Issue{Number: e.Number}, timeline[at])
	return w.lost == "", w.lost + ", and may not write to the repository any more", err
}

func (p *Looks) finishLost(ctx context.Context, lost []work.Event) error {
	return p.Store.Update(ctx, func(tx *store.Tx) error {
		for _, e := range lost {
			outcome := work.OutcomeNoPermission
			if e.Kind == work.EventLabelled {
				outcome = work.OutcomeNoLabeller
			}
			if err := tx.FinishEvents(ctx, []int64{e.ID}, outcome, p.Now()); err != nil {
				return err
			}
		}
		return nil
	})
}

// noLonger says what a turn comes to whose askers may not ask any more.
func noLonger(l *lease, lost []work.Event, begun string) error {
	if begun != "" {
		return &work.BlockedError{Reason: begun, Hint: work.ConfirmHint(l.item)}
	}
	reason := fmt.Sprintf("%s may not write to the repository any more", plan.Authors(lost))
	if len(lost) < len(l.events) {
		return &work.SupersededError{Reason: reason}
	}
	return &work.CancelledError{Reason: reason}
}

// askCommandersAgain ends commands that wait to be carried out since an earlier pass
// and whose authors may give none any more.
func (h *Issues) askCommandersAgain(ctx context.Context) error {
	var waiting []work.Event
	err := h.view(ctx, func(tx *store.Tx) error {
		pending, err := tx.ListPendingEvents(ctx, h.repo.ID)
		for _, e := range pending {
			if e.Kind != work.EventCommand || e.State == work.SaidLocally {
				continue
			}
			_, planned, err := tx.GetAction(ctx, work.NoticeToken(h.repo.Key(), e.Number, e.Key))
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
		may, err := h.people.mayCommand(ctx, e.Author, h.p.Now())
		if late(err) { // what was read is worth keeping
			h.cut(err)
			return nil
		}
		if fatal := h.isolate(err, "ask about %s", e.URL); fatal != nil {
			return fatal
		}
		if err == nil && !may {
			h.revoked = append(h.revoked, e)
			h.decline(e)
		}
	}
	return nil
}

func (h *Issues) storeRevoked(ctx context.Context, tx *store.Tx) error {
	for _, e := range h.revoked {
		if err := tx.FinishEvents(ctx, []int64{e.ID}, work.OutcomeNoCommander, h.p.Now()); err != nil {
			return err
		}
	}
	return nil
}
