package ingest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/sorted"
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
			h.pages[v.URL] = v
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
		if h.lookedUpTo, err = tx.GetFirstLook(ctx, h.row.ID); err != nil {
			return err
		}
		h.seenLabels, err = tx.ListSeenLabels(ctx, h.row.ID)
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
	err := tx.Heartbeat(ctx, h.row.ID, now)
	for _, c := range h.numbers { // issues that others depend on
		if c.done && !c.stays && c.issue != nil {
			err = cmp.Or(err, tx.DropBacklogRead(ctx, h.row.ID, c.Number, h.mark))
		}
	}
	if err != nil || len(h.trouble) == 0 {
		return err
	}
	told := h.trouble[:min(len(h.trouble), mostTold)]
	if more := len(h.trouble) - len(told); more > 0 {
		told = append(slices.Clone(told), fmt.Sprintf("and %d more", more))
	}
	return tx.DeferRepo(ctx, h.row.ID, time.Time{}, strings.Join(told, "; "), false)
}

// store stores a slice: first items and pull requests, for their rows, and what was said; then what belongs to these
// rows.
func (h *reading) store(ctx context.Context, tx *store.Tx, now time.Time) error {
	h.newItems = map[int]int64{}
	for _, put := range slices.Concat(
		[]put{h.storeItems, h.storePulls, h.storeEvents, h.storeTakenBack, h.storePutBack, h.storeReviews, h.storeRoadmaps}, h.puts,
		[]put{h.storeAgain, h.finishHandled, h.storeDeclined},
	) {
		if err := put(ctx, tx, now); err != nil {
			return err
		}
	}
	return h.keepClock(ctx, tx, h.repo)
}

// put stores a part of a slice. It may run twice.
type put func(ctx context.Context, tx *store.Tx, now time.Time) error

// put has something stored with the slice, once items, pull requests and events have their rows.
func (h *reading) put(p put) { h.puts = append(h.puts, p) }

func (h *reading) storeItems(ctx context.Context, tx *store.Tx, _ time.Time) error {
	for _, n := range slices.Sorted(maps.Keys(h.items)) {
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

// storePulls stores the snapshots of pull requests and their threads. Of a read that left some out, the others stay.
func (h *reading) storePulls(ctx context.Context, tx *store.Tx, _ time.Time) (err error) {
	for _, n := range slices.Sorted(maps.Keys(h.pulls)) {
		news := h.pulls[n]
		if news.read == nil {
			continue
		}
		r := *news.read
		if item, added := h.newItems[h.adopted[n]]; added {
			news.row.ItemID = item
		}
		if news.row.ID, err = tx.PutPull(ctx, news.row); err != nil {
			return err
		}
		if r.over {
			continue
		}
		if r.old.DetailsAt.IsZero() && news.row.ItemID != 0 && h.byUs(r.Pull) {
			if err := tx.AddProposals(ctx, news.row.ItemID, work.Proposed(r.Body)); err != nil { // that its description lists
				return err
			}
		}
		var threads []work.Thread
		for _, t := range r.Threads {
			threads = append(threads, work.Thread{NodeID: t.NodeID, Top: t.Top, Resolved: t.Resolved})
		}
		if !r.Since.IsZero() {
			old, err := tx.ListThreads(ctx, news.row.ID)
			if err != nil {
				return err
			}
			read := func(x work.Thread) bool {
				return slices.ContainsFunc(threads, func(y work.Thread) bool { return x.NodeID == y.NodeID })
			}
			threads = slices.Concat(threads, slices.DeleteFunc(old, read))
		}
		if err := errors.Join(tx.PutThreads(ctx, news.row.ID, threads), tx.ReopenEvents(ctx, news.row.ID, work.OutcomeResolved)); err != nil {
			return err
		}
	}
	return nil
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
	sorted.By(h.declined, func(a, b work.Action) int { return a.Number - b.Number })
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
		if err := tx.PlanAction(ctx, a); err != nil {
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
		open := func(t github.Thread) bool { return t.Top == e.ThreadTop && !t.Resolved }
		if news := h.pulls[e.Number]; e.Kind != work.EventReview || news == nil || news.read == nil || !slices.ContainsFunc(news.read.Threads, open) {
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
