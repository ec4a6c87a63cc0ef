package ingest

import (
	"context"
	"slices"
	"time"

	"github.com/mergexo/gh-mergexo/actions"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// load reads the repository's stored state.
func (h *reading) load(ctx context.Context) error {
	return h.view(ctx, func(ctx context.Context, tx *store.Tx) error {
		pulls, err := tx.ListOpenPulls(ctx, h.row.ID)
		if err != nil {
			return err
		}
		for _, pull := range pulls {
			h.openPulls[pull.Number] = pull
		}
		pages, err := tx.ListValidators(ctx, h.row.ID)
		if err != nil {
			return err
		}
		for _, v := range pages {
			h.known.pages[v.URL] = v
		}
		backlog, err := tx.ListBacklog(ctx, h.row.ID)
		if err != nil {
			return err
		}
		for _, b := range backlog {
			c := &number{Backlogged: b, waited: true, waits: h.waits(b), unheard: !b.Since.IsZero()}
			if h.numbers[b.Number] = c; !c.waits {
				h.changed[b.Number] = true
			}
		}
		if h.known.firstLook, err = tx.GetFirstLook(ctx, h.row.ID); err != nil {
			return err
		}
		h.known.labels, err = tx.ListSeenLabels(ctx, h.row.ID)
		return err
	})
}

// conclude stores the last slice. In an idle pass that is only a heartbeat.
func (h *reading) conclude(ctx context.Context, tx *store.Tx, now time.Time) error {
	if err := h.store(ctx, tx, now); err != nil {
		return err
	}
	if err := h.storeRepoLabels(ctx, tx, now); err != nil {
		return err
	}
	if h.shown != nil && h.incomplete == nil && len(h.trouble) == 0 { // else the next pass reads it again
		if err := tx.PutNewest(ctx, h.row.ID, h.shown.Stamps); err != nil {
			return err
		}
	}
	for _, c := range h.numbers { // issues that others depend on
		if c.done && !c.stays && c.issue != nil {
			if err := tx.DropBacklogRead(ctx, h.row.ID, c.Number, h.mark); err != nil {
				return err
			}
		}
	}
	if err := tx.Heartbeat(ctx, h.row.ID, now); err != nil || len(h.trouble) == 0 {
		return err
	}
	return tx.DeferRepo(ctx, h.row.ID, time.Time{}, h.told(), false)
}

// store stores a slice: first items and pull requests, for their rows.
func (h *reading) store(ctx context.Context, tx *store.Tx, now time.Time) error {
	h.newItems = map[int]int64{}
	for _, put := range []func(context.Context, *store.Tx, time.Time) error{
		h.storeItems, h.storePulls, h.storeEvents, h.storeTakenBack, h.storePutBack, h.storeReviews, h.storeMergeBoxes, h.storePromoted, h.storeDesigns, h.storeBeside,
		h.storeRoadmaps, h.storeDependencies, h.storeBlockers, h.storeAgain, h.storeAdopted, h.storeCopies, h.storeDeclined, h.storeNearLabels, h.storeRevoked,
	} {
		if err := put(ctx, tx, now); err != nil {
			return err
		}
	}
	if err := tx.LookedAt(ctx, h.stillHidden, now); err != nil {
		return err
	}
	return h.env.KeepClock(ctx, tx, h.repo)
}

func (h *reading) storeItems(ctx context.Context, tx *store.Tx, _ time.Time) error {
	for _, n := range sortedKeys(h.items) {
		item := h.items[n]
		if item.ID != 0 {
			if err := tx.SetIssue(ctx, item); err != nil {
				return err
			}
			continue
		}
		id, err := tx.AddItem(ctx, item)
		if err != nil {
			return err
		}
		h.newItems[n] = id
	}
	return nil
}

func (h *reading) storePulls(ctx context.Context, tx *store.Tx, _ time.Time) error {
	for _, n := range sortedKeys(h.pulls) {
		if err := h.storePull(ctx, tx, n, h.pulls[n]); err != nil {
			return err
		}
	}
	return nil
}

// storeCopies plans the removal of further copies of our comments.
func (h *reading) storeCopies(ctx context.Context, tx *store.Tx, now time.Time) error {
	for _, c := range h.judged.copies {
		for _, id := range c.ids {
			if _, err := tx.AddAction(ctx, actions.Removal(h.row, c.of, id, now)); err != nil {
				return err
			}
		}
	}
	return nil
}

// storePull stores a pull request's snapshot and what else its details show. Events and reviews
// follow once all pull requests have their rows.
func (h *reading) storePull(ctx context.Context, tx *store.Tx, number int, news *pullNews) error {
	if !news.read {
		return nil
	}
	if item, added := h.newItems[h.adopted[number]]; added {
		news.row.ItemID = item
	}
	id, err := tx.PutPull(ctx, news.row)
	if err != nil {
		return err
	}
	news.row.ID = id
	if news.row.ItemID != 0 {
		if err := tx.AddProposals(ctx, news.row.ItemID, news.proposed); err != nil {
			return err
		}
	}
	if news.end != nil {
		news.end.PullID = id
		if err := tx.PutPullEnd(ctx, *news.end); err != nil {
			return err
		}
	}
	if news.lost != nil {
		if err := tx.SetLost(ctx, id, *news.lost); err != nil {
			return err
		}
	}
	if news.labelHead != "" {
		if err := tx.SetLabelHead(ctx, id, news.labelHead); err != nil {
			return err
		}
	}
	if news.threads == nil {
		return nil
	}
	threads := news.threads
	if news.fewer {
		stored, err := tx.ListThreads(ctx, id)
		if err != nil {
			return err
		}
		read := func(x work.Thread) bool {
			return slices.ContainsFunc(news.threads, func(y work.Thread) bool { return x.NodeID == y.NodeID })
		}
		threads = slices.Concat(news.threads, slices.DeleteFunc(stored, read))
	}
	if err := tx.PutThreads(ctx, id, threads); err != nil {
		return err
	}
	return tx.ReopenEvents(ctx, id, work.OutcomeResolved)
}

// storeEvents adds new events and supersedes older versions of edited ones.
func (h *reading) storeEvents(ctx context.Context, tx *store.Tx, now time.Time) error {
	events := make([]work.Event, len(h.events))
	for i, c := range h.events {
		e := c.event
		e.ItemID, e.RepoID, e.SeenAt = h.itemOf(c), h.row.ID, now
		if e.Outcome != "" {
			e.ProcessedAt = now
		}
		events[i] = e
	}
	added, err := tx.AddEvents(ctx, events)
	if err != nil {
		return err
	}
	h.newEvents = added
	for _, e := range added {
		if err := h.restoreStop(ctx, tx, e); err != nil {
			return err
		}
		if e.Outcome == work.OutcomeOwn && e.ItemID != 0 {
			if err := tx.AddProposals(ctx, e.ItemID, work.Proposed(e.Body)); err != nil {
				return err
			}
		}
	}
	var ended []store.Version // of what counts instead of its older versions
	for _, e := range added {
		if !e.Kind.Written() || slices.ContainsFunc(h.events, func(c candidate) bool { return c.keeps && c.event.Key == e.Key }) {
			continue
		}
		for _, v := range versionKeys(e) {
			ended = append(ended, store.Version{Newest: e.ID, RepoID: e.RepoID, Number: e.Number, Kind: work.EventKind(v[0]), Source: v[1]})
		}
	}
	_, err = tx.SupersedeOlderVersions(ctx, ended, now)
	return err
}

// storeDeclined plans each answer to a declined person once, where it was first due: after the
// database is lost, a pass finds it there again.
func (h *reading) storeDeclined(ctx context.Context, tx *store.Tx, now time.Time) error {
	slices.SortStableFunc(h.declined, func(a, b work.Action) int { return a.Number - b.Number })
	for _, a := range h.declined {
		before, planned, err := tx.GetAction(ctx, a.Token)
		if err != nil {
			return err
		}
		a.PlannedAt = now
		switch {
		case a.Kind == work.ActionSticky:
			if err := tx.RenewAction(ctx, a); err != nil {
				return err
			}
			continue
		case planned && before.State != work.ActionVoid:
			continue
		}
		if _, err := tx.AddAction(ctx, a); err != nil {
			return err
		}
	}
	return nil
}

// storeAgain reopens known, unanswered events after their authors reverted an edit or somebody unresolved
// their threads.
func (h *reading) storeAgain(ctx context.Context, tx *store.Tx, now time.Time) error {
	for _, e := range h.judged.readAgain {
		e.RepoID = h.row.ID
		if e.Kind == work.EventCheck {
			if err := tx.ReopenEvent(ctx, e.RepoID, e.Key, work.OutcomeVoid+work.ReasonClosed, now); err != nil {
				return err
			}
			continue
		}
		if err := tx.RecordEditBack(ctx, e, now); err != nil {
			return err
		}
		news, read := h.readPull(e.Number)
		open := func(t work.Thread) bool { return t.Top == e.ThreadTop && !t.Resolved }
		if e.Kind != work.EventReview || !read || !slices.ContainsFunc(news.threads, open) {
			continue
		}
		// The store reopens events that were skipped because their thread was resolved. This call
		// reopens events whose turn was cancelled.
		if err := tx.ReopenEvent(ctx, e.RepoID, e.Key, work.OutcomeVoid+work.ReasonGone, now); err != nil {
			return err
		}
	}
	return nil
}
