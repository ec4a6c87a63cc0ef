package tick

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// harvest is what one ingest read of one repository, kept in memory until all
// of it is stored in one transaction: a cursor or an ETag never vouches for
// something that was not stored.
type harvest struct {
	p    *Ingest
	r    *remote
	repo work.Repo // with moved cursors
	open map[int]work.PullRequest

	known  known            // what earlier passes left
	asked  asked            // how many were asked about for what they wrote
	levels map[int64]string // people's permissions, as far as they were asked for

	takenOver map[int64]int64 // accounts whose logins the config names for others, and those others

	lights         map[int]github.PullLight
	listedIssues   []github.Issue
	listedComments []github.Comment
	reviewComments []github.ReviewComment

	items    map[int]work.Item        // changed or new, by issue number
	pullRows map[int]work.PullRequest // changed, by number
	threads  map[int][]work.Thread    // of the pulls whose details were read
	events   []candidate
	again    []work.Event // known ones that were read once more

	mu           sync.Mutex                   // guards what walks that run side by side add to
	validators   []store.Validator            // of what is no list
	pages        map[string][]store.Validator // of the pages that were read, by walk
	stale        []string                     // walks whose older validators go
	walks        map[string]string            // cut walks: name to where they go on
	brought      bool                         // some list had more than it had before
	another      bool                         // the name may stand for another repository by now
	enough       func() bool                  // whether the time for lists is up
	backlog      map[int]bool                 // numbers that were listed: true while they are not taken in
	labels       []string                     // now seen
	deferred     []deferral
	removals     []work.Action
	declined     []work.Action        // words to people whose commands or labels do not count
	adopting     bool                 // the database may know less than GitHub and the mirror
	rebuilding   bool                 // and not all of it was found again: nothing else is taken in
	adopted      map[int]int          // pull requests found again: number to issue
	commands     []work.Event         // new ones that are to be carried out
	missed       []missed             // comments of ours that are not there any more
	revoked      []work.Event         // waiting ones whose authors may give none any more
	obeyed       []work.Event         // commands that were carried out before the database was lost
	handled      map[string]bool      // event keys that our own writing names as answered
	journals     []journal            // turns found again
	promoted     map[int]*promotion   // merged designs, by issue
	taken        map[int]takeover     // what timelines show of pauses, by number
	pauses       map[int][]work.Pause // stored ones, by number, as far as they were asked for
	submitted    map[int64]time.Time  // reviews, by id
	dependencies []store.Dependency   // looked at
	late         error                // why not everything was read
	trouble      []string
	forgotten    map[int]bool   // pull requests that are left as they were
	unread       map[int]bool   // pull requests about which GitHub knows more than we could read
	lost         map[int]string // what branches that were moved lack, by number: see weigh

	added   int
	ignored int
	note    string
}

// known is what the database says of the requests of earlier passes. It is read
// at once, so that what runs side by side needs no database.
type known struct {
	pages  map[string]store.Validator // by URL
	cuts   map[string]string          // where walks were cut: name to where they go on
	labels []string                   // whose first sight has been

	backlog []int // numbers that were listed and not taken in
}

// candidate is an event that may be new.
type candidate struct {
	event   work.Event
	pull    bool   // it stands on a pull request, otherwise on an issue
	pending bool   // part of a draft review
	former  bool   // it belongs to the item that it names, whichever comes after that on the issue
	node    string // of a comment or a review
	review  int64  // that a comment on a diff came with
}

// deferral is a pull request that could not be read.
type deferral struct {
	pull work.PullRequest
	err  error
}

func newHarvest(p *Ingest, r *remote) *harvest {
	return &harvest{
		p: p, r: r, repo: r.repo,
		open: map[int]work.PullRequest{}, lights: map[int]github.PullLight{},
		items: map[int]work.Item{}, pullRows: map[int]work.PullRequest{}, threads: map[int][]work.Thread{}, walks: map[string]string{}, pages: map[string][]store.Validator{}, backlog: map[int]bool{}, enough: func() bool { return false }, forgotten: map[int]bool{}, lost: map[int]string{},
		adopted: map[int]int{}, handled: map[string]bool{}, promoted: map[int]*promotion{},
		taken: map[int]takeover{}, pauses: map[int][]work.Pause{}, submitted: map[int64]time.Time{},
		known: known{pages: map[string]store.Validator{}, cuts: map[string]string{}}, levels: map[int64]string{}, takenOver: map[int64]int64{},
	}
}

// load reads what the database knows.
func (h *Reading) load(ctx context.Context) error {
	return h.view(ctx, func(tx *store.Tx) error {
		pulls, err := tx.ListOpenPulls(ctx, h.repo.ID)
		if err != nil {
			return err
		}
		for _, pull := range pulls {
			h.open[pull.Number] = pull
		}
		pages, err := tx.ListValidators(ctx, h.repo.ID)
		if err != nil {
			return err
		}
		for _, v := range pages {
			h.known.pages[v.URL] = v
		}
		names := []string{walkIssues, walkComments, walkReviewComments, walkAdopted}
		for _, l := range flowLabels(h.r.Settings) {
			names = append(names, walkLabel+l.name)
		}
		if h.known.backlog, err = tx.ListBacklog(ctx, h.repo.ID); err != nil {
			return err
		}
		for _, name := range names {
			if h.known.cuts[name], err = tx.GetWalk(ctx, h.repo.ID, name); err != nil {
				return err
			}
		}
		h.known.labels, err = tx.ListSeenLabels(ctx, h.repo.ID)
		return err
	})
}

// view and update work on the database whether or not the time for GitHub is up: what
// was read is judged and stored all the same.
func (h *harvest) view(ctx context.Context, read func(*store.Tx) error) error {
	return h.p.Store.View(context.WithoutCancel(ctx), read)
}

func (h *harvest) update(ctx context.Context, write func(*store.Tx) error) error {
	return h.p.Store.Update(context.WithoutCancel(ctx), write)
}

// fetch reads side by side what every pass reads, so that an idle pass takes
// one round trip.
func (h *Reading) fetch(ctx context.Context) error {
	reads := []func(context.Context) error{h.pulls.sweepPulls, h.readIssues, h.readComments, h.readReviewComments}
	errs := make([]error, len(reads))
	var wg sync.WaitGroup
	for i, read := range reads {
		wg.Go(func() { errs[i] = read(ctx) })
	}
	wg.Wait()
	return firstError(errs)
}

// firstError prefers an error that says what to do over one that follows from
// it.
func firstError(errs []error) error {
	for _, err := range errs {
		if _, ok := errors.AsType[*work.WaitError](err); ok {
			return err
		}
	}
	return errors.Join(errs...)
}

// item finds the newest work item of an issue, as changed by this harvest.
func (h *harvest) item(ctx context.Context, number int) (work.Item, bool, error) {
	if item, ok := h.items[number]; ok {
		return item, true, nil
	}
	var item work.Item
	var ok bool
	err := h.view(ctx, func(tx *store.Tx) error {
		var err error
		item, ok, err = tx.FindItem(ctx, h.repo.ID, number)
		return err
	})
	return item, ok, err
}

// pull finds a tracked pull request, as changed by this harvest.
func (h *harvest) pull(ctx context.Context, number int) (work.PullRequest, bool, error) {
	if pull, ok := h.pullRows[number]; ok {
		return pull, true, nil
	}
	if pull, ok := h.open[number]; ok {
		return pull, true, nil
	}
	var pull work.PullRequest
	var ok bool
	err := h.view(ctx, func(tx *store.Tx) error {
		var err error
		pull, ok, err = tx.GetPull(ctx, h.repo.ID, number)
		return err
	})
	return pull, ok, err
}

// store writes the harvest. An idle one is a heartbeat.
func (h *Reading) store(ctx context.Context, tx *store.Tx, now time.Time) error {
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
		if lost, moved := h.lost[number]; moved {
			if err := tx.SetLost(ctx, id, lost); err != nil {
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
	for _, c := range h.events {
		if err := h.storeEvent(ctx, tx, c, now); err != nil {
			return err
		}
	}
	if err := h.pulls.storePromoted(ctx, tx, now); err != nil {
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
	if err := h.rebuild.storeAdopted(ctx, tx, now); err != nil {
		return err
	}
	for _, a := range h.removals {
		if _, err := tx.AddAction(ctx, a); err != nil {
			return err
		}
	}
	if err := h.comments.storeDeclined(ctx, tx, now); err != nil {
		return err
	}
	if err := h.issues.storeRevoked(ctx, tx); err != nil {
		return err
	}
	if err := h.storeMissed(ctx, tx); err != nil {
		return err
	}
	for _, d := range h.deferred {
		until := now.Add(work.Backoff(h.p.Config.Runtime.RetryBase, d.pull.Failures+1))
		if err := tx.DeferPull(ctx, d.pull.ID, until, d.err.Error()); err != nil {
			return err
		}
	}
	if err := h.storeCursors(ctx, tx, now); err != nil {
		return err
	}
	if err := h.issues.storeRepoLabels(ctx, tx, now); err != nil {
		return err
	}
	if err := h.r.keepClock(ctx, tx); err != nil {
		return err
	}
	if err := tx.Heartbeat(ctx, h.repo.ID, now); err != nil || len(h.trouble) == 0 {
		return err
	}
	return tx.DeferRepo(ctx, h.repo.ID, time.Time{}, strings.Join(h.trouble, "; "), false)
}

// cut keeps what was read before the time or the allowance was up.
func (h *harvest) cut(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, ok := errors.AsType[*work.WaitError](h.late); !ok { // it says until when
		h.late = err
	}
	h.note = moreNext
}

// moreNext is said of a repository of which not everything was read.
const moreNext = "more is read in the next pass"

// isolate keeps an error that concerns one issue or pull request from the
// others, and has it tried again in the next pass. What concerns all of them
// is given back.
func (h *harvest) isolate(err error, what string, args ...any) error {
	if err == nil {
		return nil
	}
	err = fmt.Errorf(what+": %w", append(args, err)...)
	if !splits(err) {
		return err
	}
	h.trouble = append(h.trouble, err.Error())
	h.p.Log.Warn("not read", "repo_full_name", h.r.Name.FullName(), "error", err)
	return nil
}

func (h *harvest) storeItem(ctx context.Context, tx *store.Tx, item work.Item) error {
	if item.ID != 0 {
		return tx.SetIssue(ctx, item)
	}
	id, err := tx.AddItem(ctx, item)
	item.ID = id
	h.items[item.Number] = item
	return err
}

func (h *Reading) storeEvent(ctx context.Context, tx *store.Tx, c candidate, now time.Time) error {
	e := c.event
	e.ItemID = h.itemOf(c)
	e.RepoID, e.SeenAt = h.repo.ID, now
	if e.Outcome != "" {
		e.ProcessedAt = now
	}
	added, err := tx.AddEvent(ctx, e)
	if err != nil || !added {
		return err
	}
	h.added++
	if e.Outcome != "" {
		h.ignored++
	}
	if err := h.rebuild.recallStop(ctx, tx, e); err != nil {
		return err
	}
	if !e.Kind.Written() {
		return nil
	}
	for _, v := range versions(e) {
		if _, err := tx.SupersedeOlderVersions(ctx, h.repo.ID, e.Number, work.EventKind(v[0]), v[1], e.Key, now); err != nil {
			return err
		}
	}
	return nil
}

// storeAgain takes up what is known but was not answered, when its author took
// an edit back, or somebody opened its thread again.
func (h *harvest) storeAgain(ctx context.Context, tx *store.Tx, e work.Event, now time.Time) error {
	e.RepoID = h.repo.ID
	if err := tx.ReadAgain(ctx, e, now); err != nil {
		return err
	}
	open := func(t work.Thread) bool { return t.Top == e.ThreadTop && !t.Resolved }
	if e.Kind != work.EventReview || !slices.ContainsFunc(h.threads[e.Number], open) {
		return nil
	}
	// What route passed over is reopened with the threads; this is what a turn
	// was called off for.
	return tx.TakeUpAgain(ctx, e.RepoID, e.Key, work.OutcomeVoid+work.ReasonGone, now)
}
