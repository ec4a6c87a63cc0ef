package ingest

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
	"github.com/mergexo/gh-mergexo/tick/folder"
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
			h.journals = append(h.journals, h.foundOf(ctx, j))
		}
	}
	return nil
}

// foundJournal is a journal whose turn the database lacks.
type foundJournal struct {
	env.Journal
	bundle *store.Bundle // its commit for other machines; nil: there is no commit, or no other machine
}

func (h *reading) foundOf(ctx context.Context, j env.Journal) foundJournal {
	return foundJournal{j, h.env.Bundle(ctx, &env.Lease{Repo: h.repo, Turn: work.Turn{Key: j.Turn}}, j.Commit)}
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
func (h *reading) storeJournal(ctx context.Context, tx *store.Tx, j foundJournal, item int64) error {
	claimed := time.UnixMilli(j.Claimed)
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
	if b := j.bundle; b != nil {
		b.Turn = id
		if _, err := tx.PutBundle(ctx, *b); err != nil {
			return err
		}
	}
	if err := h.assignJournal(ctx, tx, j.Journal, id); err != nil {
		return err
	}
	for _, a := range j.Planned(turn, h.now()) {
		if _, err := tx.AddAction(ctx, a); err != nil {
			return err
		}
		if err := tx.AddProposals(ctx, turn.ItemID, work.Proposed(a.Body)); err != nil {
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

// CompareJournals adds the turns that this machine's mirrors know as answered and a database that it
// shares does not: the database was lost or set back, or knows the machine only now. Of repositories
// that it has read for the first time, ingest has added them already. Once a repository has been read
// whole, its turns no longer wait for this machine.
func (p *Ingest) CompareJournals(ctx context.Context, ready []*env.Repo) {
	for _, u := range slices.Clone(p.Unread) {
		if u.Machine != p.Machine.Name {
			continue
		}
		var done bool
		if i := slices.IndexFunc(ready, func(r *env.Repo) bool { return folder.MirrorName(r.Row) == u.Mirror }); i >= 0 {
			var err error
			if done, err = newReading(p, ready[i]).compareJournals(ctx, u); err != nil {
				p.Log.WarnContext(ctx, "could not compare a mirror's journals with the database", "repo_full_name", ready[i].Name.FullName(), "error", err)
				continue
			}
		} else if !slices.ContainsFunc(p.All, func(r *env.Repo) bool { return r.Row.NodeID == "" || folder.MirrorName(r.Row) == u.Mirror }) { // the config does not name it
			done = p.Store.Update(ctx, func(tx *store.Tx) error { return tx.DropUnreadJournals(ctx, u.Mirror) }) == nil // else the next pass does
		}
		if done {
			p.Unread = slices.DeleteFunc(p.Unread, func(o store.UnreadJournals) bool { return o == u })
		}
	}
}

// compareJournals compares the journals of one mirror. It reports whether the repository was read whole
// before, so that this was the last time.
func (h *reading) compareJournals(ctx context.Context, u store.UnreadJournals) (done bool, err error) {
	if err := h.load(ctx); err != nil {
		return false, err
	}
	done = !h.adopting && h.searchDone()
	newest, err := h.newestJournals(ctx)
	if err != nil || h.search.journals == nil {
		return false, err
	}
	var found []foundJournal
	for _, issue := range slices.Sorted(maps.Keys(newest)) {
		lacks, err := h.lacks(ctx, newest[issue])
		if err != nil {
			return false, err
		}
		if lacks {
			found = append(found, h.foundOf(ctx, newest[issue]))
		}
	}
	err = h.env.Store.Update(store.Under(ctx, h.repo.Planning()), func(tx *store.Tx) error {
		for _, j := range found {
			item, _, err := tx.FindItem(ctx, h.row.ID, j.Issue)
			if err == nil {
				err = h.storeJournal(ctx, tx, j, item.ID)
			}
			if err != nil {
				return err
			}
		}
		if !done {
			return nil
		}
		return tx.DropUnreadJournals(ctx, u.Mirror)
	})
	return done, err
}

// lacks reports whether the database knows the work of a journal but not its turn, and the turn still
// has something to do there: its events are pending, or its head is that of the pull request and no
// comment or review tells whether it was answered.
func (h *reading) lacks(ctx context.Context, j env.Journal) (yes bool, err error) {
	if h.env.InFlight(work.Turn{Key: j.Turn}) {
		return false, nil
	}
	err = h.view(ctx, func(ctx context.Context, tx *store.Tx) error {
		_, known, err := tx.FindTurn(ctx, j.Turn)
		if err != nil || known {
			return err
		}
		item, ok, err := tx.FindItem(ctx, h.row.ID, j.Issue)
		if err != nil || !ok || item.Flow != j.Flow || !item.State.Open() {
			return err
		}
		if j.Kind.Start() {
			yes = item.State == work.StatePending && (j.Kind == work.KindImplementationStart || item.LabelEvent == j.LabelID)
			return nil
		}
		pull, ok, err := tx.GetPull(ctx, h.row.ID, j.Number)
		if err != nil || !ok || pull.ItemID != item.ID {
			return err
		}
		pending, err := tx.ListPendingEvents(ctx, h.row.ID)
		if err != nil {
			return err
		}
		for _, key := range j.Events {
			if slices.ContainsFunc(pending, func(e work.Event) bool { return e.Key == key && e.TurnID == 0 }) {
				yes = true
				return nil
			}
			e, _ := work.EventOfKey(key)
			known, err := tx.HasEvent(ctx, h.row.ID, key)
			if err != nil {
				return err
			}
			yes = yes || !known && !e.Kind.IsComment() && pull.HeadOID == j.Head
		}
		return nil
	})
	return yes, err
}
