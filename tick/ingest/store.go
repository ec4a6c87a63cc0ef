package ingest

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// load reads what the database knows.
func (h *reading) load(ctx context.Context) error {
	return h.view(ctx, func(ctx context.Context, tx *store.Tx) error {
		pulls, err := tx.ListOpenPulls(ctx, h.row.ID)
		if err != nil {
			return err
		}
		h.openPulls.know(pulls)
		pages, err := tx.ListValidators(ctx, h.row.ID)
		if err != nil {
			return err
		}
		for _, v := range pages {
			h.known.pages[v.URL] = v
		}
		if h.known.backlog, err = tx.ListBacklog(ctx, h.row.ID); err != nil {
			return err
		}
		if h.known.cuts, err = tx.ListRepoWalks(ctx, h.row.ID); err != nil {
			return err
		}
		h.known.labels, err = tx.ListSeenLabels(ctx, h.row.ID)
		h.adopting = !seenAll(h.known.labels, h.repo.Settings.StartLabels())
		return err
	})
}

// seenAll reports whether what carries a label was looked for, of each of some.
func seenAll(seen, labels []string) bool {
	return !slices.ContainsFunc(labels, func(l string) bool { return !slices.Contains(seen, l) })
}

// conclude writes the last slice. That of an idle pass is a heartbeat.
func (h *reading) conclude(ctx context.Context, tx *store.Tx, now time.Time) error {
	if err := h.store(ctx, tx, now); err != nil {
		return err
	}
	if err := h.storeRepoLabels(ctx, tx, now); err != nil {
		return err
	}
	if err := h.storePulse(ctx, tx, now); err != nil {
		return err
	}
	if err := tx.Heartbeat(ctx, h.row.ID, now); err != nil || len(h.trouble) == 0 {
		return err
	}
	return tx.DeferRepo(ctx, h.row.ID, time.Time{}, strings.Join(h.trouble, "; "), false)
}

// store writes a slice.
func (h *reading) store(ctx context.Context, tx *store.Tx, now time.Time) error {
	for _, item := range h.items {
		if err := h.storeItem(ctx, tx, item); err != nil {
			return err
		}
	}
	for number, pull := range h.pullRows {
		if pull.ItemID == 0 {
			pull.ItemID = h.items[h.adopted[number]].ID
		}
		id, err := tx.PutPull(ctx, pull)
		if err != nil {
			return err
		}
		pull.ID = id
		h.pullRows[number] = pull
		if end, ended := h.ends[number]; ended {
			end.PullID = id
			if err := tx.PutPullEnd(ctx, end); err != nil {
				return err
			}
		}
		if lost, moved := h.lost[number]; moved {
			if err := tx.SetLost(ctx, id, lost); err != nil {
				return err
			}
		}
		if head, stands := h.labelHeads[number]; stands {
			if err := tx.SetLabelHead(ctx, id, head); err != nil {
				return err
			}
		}
		if threads, ok := h.threads[number]; ok {
			if err := tx.PutThreads(ctx, id, threads); err != nil {
				return err
			}
			if err := tx.ReopenEvents(ctx, id, work.OutcomeResolved); err != nil {
				return err
			}
		}
	}
	if err := h.storeEvents(ctx, tx, now); err != nil {
		return err
	}
	if err := h.storeReviews(ctx, tx); err != nil {
		return err
	}
	if err := h.storeMergeBoxes(ctx, tx, now); err != nil {
		return err
	}
	if err := h.storePromoted(ctx, tx, now); err != nil {
		return err
	}
	for _, d := range h.dependencies {
		d.SeenAt = now
		if err := tx.PutDependency(ctx, d); err != nil {
			return err
		}
	}
	for _, e := range h.again {
		if err := h.storeAgain(ctx, tx, e, now); err != nil {
			return err
		}
	}
	if err := h.storeAdopted(ctx, tx, now); err != nil {
		return err
	}
	for _, a := range h.removals {
		if _, err := tx.AddAction(ctx, a); err != nil {
			return err
		}
	}
	if err := h.storeDeclined(ctx, tx, now); err != nil {
		return err
	}
	if err := h.storeRevoked(ctx, tx); err != nil {
		return err
	}
	if err := h.storeMissed(ctx, tx); err != nil {
		return err
	}
	for _, d := range h.deferred {
		until := now.Add(work.Backoff(h.env.Config.Runtime.RetryBase, d.pull.Failures+1))
		if err := tx.DeferPull(ctx, d.pull.ID, until, d.err.Error()); err != nil {
			return err
		}
	}
	if err := h.storePaused(ctx, tx, now); err != nil {
		return err
	}
	if err := h.storeCursors(ctx, tx, now); err != nil {
		return err
	}
	return h.repo.KeepClock(ctx, tx)
}

// storePulse stores what the pulse showed of a repository, with what was read of it: a pass
// that dies before leaves it to the next one.
func (h *reading) storePulse(ctx context.Context, tx *store.Tx, now time.Time) error {
	if h.look == nil {
		return nil
	}
	whole := h.incomplete == nil && len(h.trouble) == 0
	return tx.PutPulse(ctx, h.row.ID, h.look.Pulse(h.repo.Row.Pulse, whole, now))
}

// storeEvents adds what is new, and ends the older versions of what was edited.
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
	for _, e := range added {
		h.added++
		if e.Outcome != "" {
			h.ignored++
		}
		if err := h.recallStop(ctx, tx, e); err != nil {
			return err
		}
	}
	_, err = tx.SupersedeOlderVersions(ctx, endedVersions(added), now)
	return err
}

// endedVersions are the versions of comments that others end by.
func endedVersions(added []work.Event) []store.Version {
	var all []store.Version
	for _, e := range added {
		if !e.Kind.Written() {
			continue
		}
		for _, v := range versionKeys(e) {
			all = append(all, store.Version{Newest: e.ID, RepoID: e.RepoID, Number: e.Number, Kind: work.EventKind(v[0]), Source: v[1]})
		}
	}
	return all
}
