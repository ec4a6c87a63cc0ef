package ingest

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/firstlook"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/ingest/batch"
)

// load reads what the database knows.
func (h *Reading) load(ctx context.Context) error {
	return h.View(ctx, func(ctx context.Context, tx *store.Tx) error {
		pulls, err := tx.ListOpenPulls(ctx, h.Repo.ID)
		if err != nil {
			return err
		}
		h.Open = make(map[int]work.PullRequest, len(pulls))
		for _, pull := range pulls {
			h.Open[pull.Number] = pull
		}
		pages, err := tx.ListValidators(ctx, h.Repo.ID)
		if err != nil {
			return err
		}
		for _, v := range pages {
			h.Known.Pages[v.URL] = v
		}
		names := []string{batch.WalkIssues, batch.WalkComments, batch.WalkReviewComments, firstlook.Walk, batch.WalkPauses}
		names = append(names, batch.Fronts()...)
		for _, label := range batch.Sighted(h.R.Settings) {
			names = append(names, batch.WalkLabel+label)
		}
		if h.Known.Backlog, err = tx.ListBacklog(ctx, h.Repo.ID); err != nil {
			return err
		}
		for _, name := range names {
			if h.Known.Cuts[name], err = tx.GetWalk(ctx, h.Repo.ID, name); err != nil {
				return err
			}
		}
		h.Known.Labels, err = tx.ListSeenLabels(ctx, h.Repo.ID)
		h.Adopting = !seenAll(h.Known.Labels, batch.Sighted(h.R.Settings))
		return err
	})
}

// seenAll reports whether what carries a label was looked for, of each of some.
func seenAll(seen, labels []string) bool {
	return !slices.ContainsFunc(labels, func(l string) bool { return !slices.Contains(seen, l) })
}

// conclude writes the last slice. That of an idle pass is a heartbeat.
func (h *Reading) conclude(ctx context.Context, tx *store.Tx, now time.Time) error {
	if err := h.store(ctx, tx, now); err != nil {
		return err
	}
	if err := h.Issues.storeRepoLabels(ctx, tx, now); err != nil {
		return err
	}
	if err := h.storePulse(ctx, tx, now); err != nil {
		return err
	}
	if err := tx.Heartbeat(ctx, h.Repo.ID, now); err != nil || len(h.Trouble) == 0 {
		return err
	}
	return tx.DeferRepo(ctx, h.Repo.ID, time.Time{}, strings.Join(h.Trouble, "; "), false)
}

// store writes a slice.
func (h *Reading) store(ctx context.Context, tx *store.Tx, now time.Time) error {
	for _, item := range h.Items {
		if err := h.StoreItem(ctx, tx, item); err != nil {
			return err
		}
	}
	for number, pull := range h.PullRows {
		if pull.ItemID == 0 {
			pull.ItemID = h.Items[h.Adopted[number]].ID
		}
		id, err := tx.PutPull(ctx, pull)
		if err != nil {
			return err
		}
		pull.ID = id
		h.PullRows[number] = pull
		if end, ended := h.Ends[number]; ended {
			end.PullID = id
			if err := tx.PutPullEnd(ctx, end); err != nil {
				return err
			}
		}
		if lost, moved := h.Lost[number]; moved {
			if err := tx.SetLost(ctx, id, lost); err != nil {
				return err
			}
		}
		if head, stands := h.LabelHeads[number]; stands {
			if err := tx.SetLabelHead(ctx, id, head); err != nil {
				return err
			}
		}
		if threads, ok := h.Threads[number]; ok {
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
	if err := h.pulls.StoreReviews(ctx, tx); err != nil {
		return err
	}
	if err := h.merges.Store(ctx, tx, now); err != nil {
		return err
	}
	if err := h.pulls.StorePromoted(ctx, tx, now); err != nil {
		return err
	}
	for _, d := range h.Dependencies {
		d.SeenAt = now
		if err := tx.PutDependency(ctx, d); err != nil {
			return err
		}
	}
	for _, e := range h.Again {
		if err := h.StoreAgain(ctx, tx, e, now); err != nil {
			return err
		}
	}
	if err := h.Rebuild.StoreAdopted(ctx, tx, now); err != nil {
		return err
	}
	for _, a := range h.Removals {
		if _, err := tx.AddAction(ctx, a); err != nil {
			return err
		}
	}
	if err := h.Comments.StoreDeclined(ctx, tx, now); err != nil {
		return err
	}
	if err := h.Issues.storeRevoked(ctx, tx); err != nil {
		return err
	}
	if err := h.StoreMissed(ctx, tx); err != nil {
		return err
	}
	for _, d := range h.Deferred {
		until := now.Add(work.Backoff(h.P.Config.Runtime.RetryBase, d.Pull.Failures+1))
		if err := tx.DeferPull(ctx, d.Pull.ID, until, d.Err.Error()); err != nil {
			return err
		}
	}
	if err := h.Comments.StorePaused(ctx, tx, now); err != nil {
		return err
	}
	if err := h.StoreCursors(ctx, tx, now); err != nil {
		return err
	}
	return h.R.KeepClock(ctx, tx)
}

// storePulse stores what the pulse showed of a repository, with what was read of it: a pass
// that dies before leaves it to the next one.
func (h *Reading) storePulse(ctx context.Context, tx *store.Tx, now time.Time) error {
	if h.look == nil {
		return nil
	}
	whole := h.Incomplete == nil && len(h.Trouble) == 0
	return tx.PutPulse(ctx, h.Repo.ID, h.look.Pulse(h.R.Row.Pulse, whole, now))
}

// storeEvents adds what is new, and ends the older versions of what was edited.
func (h *Reading) storeEvents(ctx context.Context, tx *store.Tx, now time.Time) error {
	events := make([]work.Event, len(h.Events))
	for i, c := range h.Events {
		e := c.Event
		e.ItemID, e.RepoID, e.SeenAt = h.ItemOf(c), h.Repo.ID, now
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
		h.Added++
		if e.Outcome != "" {
			h.Ignored++
		}
		if err := h.Rebuild.RecallStop(ctx, tx, e); err != nil {
			return err
		}
	}
	_, err = tx.SupersedeOlderVersions(ctx, versionsOf(added), now)
	return err
}

// versionsOf are the versions of comments that others end by.
func versionsOf(added []work.Event) []store.Version {
	var all []store.Version
	for _, e := range added {
		if !e.Kind.Written() {
			continue
		}
		for _, v := range batch.Versions(e) {
			all = append(all, store.Version{Newest: e.ID, RepoID: e.RepoID, Number: e.Number, Kind: work.EventKind(v[0]), Source: v[1]})
		}
	}
	return all
}
