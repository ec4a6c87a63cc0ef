package ingest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// dependencyLife is the time after which an open dependency is read again, even if the last read
// failed.
const dependencyLife = 5 * time.Minute

// edgeSettles is how long after an edge of a design was set GitHub's list of blockers may not show
// it yet. Until then the design's list counts.
const edgeSettles = time.Minute

// readDependencies reads the issues that implementations wait for: each when it changed, or every
// dependencyLife, and never again once it is closed. They may be in any repository: an error with
// one affects only what waits for it.
func (h *reading) readDependencies(ctx context.Context) error {
	waiting := h.due.dependencies
	of := map[int64]int{}
	for _, d := range waiting {
		of[d.ItemID]++
	}
	type answer struct {
		state work.DependencyState
		edge  bool
		err   error
	}
	states, read := h.statesNow(), map[string]answer{} // by reference: several items may wait for one issue
	for _, d := range waiting {
		ref := strings.ToLower(d.Ref)
		state, changed := states[ref]
		switch {
		case of[d.ItemID] > work.MostDependencies:
			continue // the design has that fault
		case !d.EdgeAt.IsZero() && h.now().Sub(d.EdgeAt) >= edgeSettles:
			h.edges = append(h.edges, d)
			h.put(func(ctx context.Context, tx *store.Tx, now time.Time) error { return tx.LeaveToGitHub(ctx, d, now) })
			continue
		case h.now().Sub(d.SeenAt) < dependencyLife && (!changed || state == d.State):
			continue
		}
		seen, known := read[ref]
		if !known {
			seen.state, seen.edge, seen.err = h.dependencyState(ctx, d.Ref)
			read[ref] = seen
		}
		switch {
		case github.OutOfTime(seen.err):
			return seen.err
		case seen.err != nil:
			h.tellUnread(fmt.Errorf("read the dependency %s: %w", d.Ref, seen.err))
		default:
			d.State, d.Edge = seen.state, seen.edge
		}
		h.put(func(ctx context.Context, tx *store.Tx, now time.Time) error {
			return h.storeDependency(ctx, tx, d, now)
		})
	}
	return nil
}

// storeDependency stores what was read of an issue that a design names, and plans that GitHub lists it as blocking if it is
// open. Where GitHub refuses that, the design's list keeps counting.
func (h *reading) storeDependency(ctx context.Context, tx *store.Tx, d store.Dependency, now time.Time) error {
	d.SeenAt = now
	if err := tx.PutDependency(ctx, d); err != nil || !d.Edge || d.State != work.DependencyOpen {
		return err
	}
	item, err := tx.GetItem(ctx, d.ItemID)
	if err != nil {
		return err
	}
	token := work.BlockToken(h.row.Key(), item.Number, d.Ref, "", fmt.Sprintf("design %d", item.DesignPull))
	if _, known, err := tx.GetAction(ctx, token); err != nil || known {
		return err
	}
	err = tx.PlanAction(ctx, work.Action{
		RepoID: h.row.ID, ItemID: item.ID, Kind: work.ActionBlock, Need: work.NeedRequired, Token: token, State: work.ActionPlanned,
		Number: item.Number, Target: d.Ref, PlannedAt: now, Why: "the design depends on it",
	})
	return err
}

// dependencyState reads the state of a dependency, even if the issue has moved, and whether it can
// block an issue by GitHub's list: a pull request cannot, nor can an issue on another host, or on one
// without dependencies.
func (h *reading) dependencyState(ctx context.Context, ref string) (state work.DependencyState, edge bool, err error) {
	d, ok := work.ParseDependency(ref, h.repo.Name)
	if !ok {
		return work.DependencyMissing, false, nil // it names no issue
	}
	repo := d.Repo
	if repo.Equal(h.repo.Name) {
		repo = h.row.Current
	}
	hub, ok := h.hostOf(h.repo, repo.Host)
	if !ok {
		return work.DependencyMissing, false, nil // the config does not name its host
	}
	is, ok, err := hub.IssueWherever(ctx, repo, d.Number)
	switch {
	case github.IsStatus(err, 403, 451): // an organization's rules forbid it, or it was taken down
		h.log.WarnContext(ctx, "GitHub does not show a dependency", "repo_full_name", h.repo.Name.FullName(), "dependency", ref, "error", err)
		return work.DependencyRefused, false, nil
	case err != nil:
		return "", false, err
	case !ok:
		return work.DependencyMissing, false, nil
	}
	return is.Dependency(), !is.IsPull && is.Blockers.Supported && repo.Host == h.repo.Name.Host, nil
}

// blockersLife is the time after which the issues that block one are read again, if nothing that
// this program sees says that they changed. Whether GitHub shows a new blocker as a change of the
// issue is not documented.
const blockersLife = 30 * time.Minute

// mostBlocked is for how many issues of a repository a pass reads what blocks them.
const mostBlocked = 50

// blockedItem is an item whose issue others block, and the stored states of what it depends on, by reference.
type blockedItem struct {
	work.Item
	known map[string]work.DependencyState
}

// readBlockers reads what blocks the issues that work has not begun on: where GitHub counts
// others than before, where one of them changed, and every blockersLife.
func (h *reading) readBlockers(ctx context.Context) error {
	for _, item := range stored(ctx, h, h.listBlocked) {
		if err := h.deferOne(h.readBlockersOf(ctx, item), "read what blocks #%d", item.Number); err != nil {
			return err // one that is deferred is due in the next pass, too
		}
	}
	return nil
}

// listBlocked returns the items whose blockers are due, and the implementations whose design's list GitHub's
// replaces.
func (h *reading) listBlocked(ctx context.Context, tx *store.Tx) (due []blockedItem, err error) {
	items, err := tx.ListBlocked(ctx, h.row.ID, h.statesNow(), h.now())
	for _, e := range h.edges {
		if err == nil && !slices.ContainsFunc(items, func(i work.Item) bool { return i.ID == e.ItemID }) {
			var item work.Item
			item, err = tx.GetItem(ctx, e.ItemID)
			items = append(items, item)
		}
	}
	for _, item := range items[:min(len(items), mostBlocked)] {
		if err != nil {
			return nil, err
		}
		var stored []store.Dependency
		stored, err = tx.ListDependencies(ctx, item.ID)
		of := blockedItem{item, map[string]work.DependencyState{}}
		for _, d := range stored {
			of.known[d.Ref] = d.State
		}
		due = append(due, of)
	}
	return due, err
}

// tellLateBlockers plans a comment on an issue that others block since work on it began: that work is not held. The
// comment is edited when they change, and when none is left.
func (h *reading) tellLateBlockers(ctx context.Context, item blockedItem, list []work.Blocker) {
	if item.State != work.StateRunning && item.State != work.StateAwaitingFeedback {
		return
	}
	var open []string
	late := false
	for _, x := range list {
		if x.Ref != "" && x.State == work.DependencyOpen {
			open = append(open, strings.TrimPrefix(strings.TrimPrefix(x.Ref, h.repo.Name.String()), h.repo.Name.Host+"/"))
			late = late || item.known[x.Ref] != work.DependencyOpen
		}
	}
	token := work.NoticeToken(h.row.Key(), item.Number, "blocked late")
	if !late && !stored(ctx, h, func(ctx context.Context, tx *store.Tx) (told bool, err error) {
		_, told, err = tx.GetAction(ctx, token)
		return told, err
	}) {
		return
	}
	body := "No issue blocks this one any more."
	if len(open) > 0 {
		body = fmt.Sprintf("Blocked by %s now, but work on this issue has begun, and continues. To hold it, comment `/mergexo pause`; to end it, `/mergexo cancel`.", strings.Join(open, ", "))
	}
	h.declined = append(h.declined, work.Action{
		RepoID: h.row.ID, ItemID: item.ID, Kind: work.ActionSticky, Need: work.NeedRequired, Token: token, State: work.ActionPlanned,
		Number: item.Number, Body: h.repo.Mark(body, work.Marks{Token: token}), Why: "blocked after it began",
	})
}

// readBlockersOf reads what blocks an issue, and how much of it is open by GitHub's count: it counts
// issues that it does not list for an account that may not see them. Such a count may be older than
// the list, so that one alone proves nothing.
func (h *reading) readBlockersOf(ctx context.Context, item blockedItem) error {
	is, err := h.issueOf(ctx, item.Number) // nothing blocks one that is gone
	if err != nil {
		return err
	}
	hidden := work.DependencyOpen
	if _, twice := item.known[""]; twice {
		hidden = work.DependencyRefused
	}
	var list []work.Blocker
	if is.Blockers.All > 0 {
		list, err = h.repo.GitHub.BlockedBy(ctx, h.row.Current, item.Number)
		if github.IsStatus(err, 403, 451) {
			hidden, err = work.DependencyRefused, nil
		}
		if err != nil {
			return err
		}
	}
	open := 0
	for i, x := range list {
		list[i].Ref = h.called(x.Ref)
		if x.State == work.DependencyOpen {
			open++
		}
	}
	of, life := work.Blocked{Open: is.Blockers.Open}, blockersLife
	if open < of.Open {
		list, life = append(list, work.Blocker{State: hidden}), dependencyLife
	}
	if slices.ContainsFunc(list, func(x work.Blocker) bool { return x.State != work.DependencyClosed }) {
		of.LookAt = h.now().Add(life)
	}
	h.put(func(ctx context.Context, tx *store.Tx, now time.Time) error {
		return tx.SetBlockers(ctx, item.ID, of, list, now)
	})
	h.tellLateBlockers(ctx, item, list)
	return nil
}

// called returns a reference with the name by which the config calls its repository, which may have
// been renamed, or be spelled otherwise.
func (h *reading) called(ref string) string {
	d, ok := work.ParseDependency(ref, h.repo.Name)
	if !ok {
		return ref
	}
	for _, r := range h.all {
		if d.Repo.Equal(r.Row.Current) || d.Repo.Equal(r.Name) {
			d.Repo = r.Name
		}
	}
	return d.String()
}

// statesNow returns the states of the repository's issues that this pass has read, by reference in lower case.
func (h *reading) statesNow() map[string]work.DependencyState {
	states := map[string]work.DependencyState{}
	for n := range h.changed {
		if is, ok := h.readNow(n); ok {
			states[strings.ToLower(work.Dependency{Repo: h.repo.Name, Number: n}.String())] = is.Dependency()
		}
	}
	return states
}
