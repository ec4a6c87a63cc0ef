package ingest

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// readJournals finds the turns that a lost database knew as answered but not fully applied. Effects
// that were sent are found again on GitHub.
func (h *reading) readJournals(ctx context.Context) error {
	if !h.adopting && !h.begunFromBacklog() {
		return nil
	}
	newest, err := h.newestJournals(context.WithoutCancel(ctx)) // reads git only
	if err != nil {
		return err
	}
	for _, j := range newest {
		wanted, err := h.unfinished(ctx, j)
		if err != nil {
			return err
		}
		if wanted {
			h.journals = append(h.journals, j)
		}
	}
	return nil
}

// newestJournals returns the newest journal of each issue in the mirror. It reads them once per
// pass: journals written after that belong to turns in flight.
func (h *reading) newestJournals(ctx context.Context) (map[int]env.Journal, error) {
	if h.search.journals != nil {
		return h.search.journals, nil
	}
	if err := h.env.Preflight(ctx); err != nil {
		return nil, nil //nolint:nilerr // without git this pass claims no turn either, and reports why
	}
	keys, err := h.repo.Git().Journals(ctx)
	if err != nil {
		return nil, h.deferOne(err, "read the journals")
	}
	newest := map[int]env.Journal{}
	for _, key := range keys {
		b, ok, err := h.repo.Git().Journal(ctx, key)
		if err != nil || !ok {
			return nil, errors.Join(err, ctx.Err())
		}
		j, err := env.DecodeJournal(b)
		if err := h.deferOne(err, "read journal %s", key); err != nil {
			return nil, err
		}
		if err == nil && j.Claimed >= newest[j.Issue].Claimed {
			newest[j.Issue] = j
		}
	}
	h.search.journals = newest
	return newest, nil
}

// begunFromBacklog reports whether an item new to the database comes from the backlog of an earlier
// pass. The database may have been lost before that pass, so journals are read again.
func (h *reading) begunFromBacklog() bool {
	return slices.ContainsFunc(h.known.backlog, func(n int) bool {
		item, ok := h.changedItem(n)
		return ok && item.ID == 0
	})
}

// unfinished reports whether a journal's turn must be resumed.
func (h *reading) unfinished(ctx context.Context, j env.Journal) (bool, error) {
	var known bool
	err := h.view(ctx, func(ctx context.Context, tx *store.Tx) error {
		var err error
		_, known, err = tx.FindTurn(ctx, j.Turn)
		return err
	})
	item, tracked := h.changedItem(j.Issue)
	if err != nil || known || !tracked || h.env.InFlight(work.Turn{Key: j.Turn}) {
		return false, err
	}
	if h.promotionOf(j.Issue) != nil {
		return j.Kind == work.KindImplementationStart, nil
	}
	if j.Kind.Start() {
		return item.State == work.StatePending && item.LabelEvent == j.LabelID, nil
	}
	if h.adopted[j.Number] != j.Issue || !item.State.Open() {
		return false, nil
	}
	return slices.ContainsFunc(j.Events, func(key string) bool { return !h.answered(key) }), nil
}

// storeJournal adds the rows of a turn found in a journal. The next pass resumes it like any other
// answered turn.
func (h *reading) storeJournal(ctx context.Context, tx *store.Tx, j env.Journal) error {
	claimed, item := time.UnixMilli(j.Claimed), h.itemID(j.Issue)
	if p := h.promotionOf(j.Issue); p != nil {
		item = p.item.ID
	}
	turn := work.Turn{
		RepoID: h.row.ID, ItemID: item, Number: j.Number, Kind: j.Kind, Key: j.Turn, Step: work.StepAnswered,
		Reason: "found again in the mirror's journal", EventKeys: j.Events, ClaimedAt: claimed, UpdatedAt: h.now(),
		Used: work.UsageSum{UnknownTokens: 1, UnknownCost: 1},
	}
	j.Fill(&turn)
	id, err := tx.AddTurn(ctx, turn)
	if errors.Is(err, store.ErrStale) {
		return nil
	}
	if err != nil {
		return err
	}
	turn.ID = id
	run := work.Run{Turn: id, Attempt: true, Agent: j.Agent, Session: j.Session, Began: claimed, Ended: claimed}
	if _, err := tx.AddRun(ctx, run); err != nil {
		return err
	}
	if err := h.assignJournal(ctx, tx, j, id); err != nil {
		return err
	}
	for _, a := range j.Planned(turn, h.now()) {
		if _, err := tx.AddAction(ctx, a); err != nil {
			return err
		}
	}
	return h.notices.Move(ctx, tx, work.Move{Item: turn.ItemID, Cause: work.CauseAdopted, To: work.StateRunning}, h.now())
}

func (h *reading) assignJournal(ctx context.Context, tx *store.Tx, j env.Journal, turnID int64) error {
	pending, err := tx.ListPendingEvents(ctx, h.row.ID)
	if err != nil {
		return err
	}
	var ids []int64
	for _, e := range pending {
		if e.TurnID == 0 && slices.Contains(j.Events, e.Key) {
			ids = append(ids, e.ID)
		}
	}
	return tx.AssignEvents(ctx, turnID, ids)
}
