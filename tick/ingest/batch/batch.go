package batch

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/command"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
	"github.com/mergexo/gh-mergexo/tick/notice"
)

// Batch is what one ingest reads of one repository: what it knows all through, and the
// slice of it that was read and is not stored yet.
type Batch struct {
	P       *env.Env
	Notices *notice.Notices
	R       *env.Repo
	Repo    work.Repo // with moved cursors
	Open    OpenPulls

	Known  known            // what earlier passes and slices left
	asked  asked            // how many were asked about for what they wrote
	levels map[int64]string // people's permissions, as far as they were asked for

	TakenOver map[int64]int64 // accounts whose logins the config names for others, and those others

	Lights  map[int]string // what light queries said of pull requests, as fingerprints
	Changed map[int]bool   // issues and pull requests that were listed

	Mu          sync.Mutex           // guards what walks that run side by side add to
	Brought     bool                 // some list had more than it had before
	Another     bool                 // the name may stand for another repository by now
	held        map[string]time.Time // the oldest of what walks showed and was not taken in
	ended       map[string]bool      // walks that were taken in to their ends
	Adopting    bool                 // the database may know less than GitHub and the mirror
	Partial     bool                 // more of the lists of comments is taken in after this slice
	Obeyed      []work.Event         // commands that were carried out before the database was lost
	answered    map[string]bool      // event keys that our own writing in earlier slices names as answered
	Incomplete  error                // why not everything was read
	Trouble     []string
	Forgotten   map[int]bool // issues and pull requests that are left as they were, unless they are taken in after all
	LeftTracked map[int]bool // pull requests among them that were known before
	Tried       map[int]bool // pull requests whose details were asked for
	Unread      map[int]bool // pull requests about which GitHub knows more than we could read
	Rested      map[int]bool // quiet ones that are not asked about in this pass: no list shows anything of them

	Lists *Lists // with more pages than one

	Added   int
	Ignored int
	Note    string

	Slice
}

// known is what the database says of the requests of earlier passes. It is read
// at once, so that what runs side by side needs no database.
type known struct {
	Pages  map[string]work.Validator // by URL
	Cuts   map[string]string         // where walks were cut: name to where they continue
	Labels []string                  // whose first sight has been

	Backlog []int // numbers that were listed and not taken in
}

// Deferral is a pull request that could not be read.
type Deferral struct {
	Pull store.OpenPull
	Err  error
}

// New makes the batch of one repository.
func New(p *env.Env, notices *notice.Notices, r *env.Repo) *Batch {
	h := &Batch{
		P: p, Notices: notices, R: r, Repo: r.Row,
		Lights: map[int]string{}, Changed: map[int]bool{}, TakenOver: map[int64]int64{}, levels: map[int64]string{},
		Known: known{Pages: map[string]work.Validator{}, Cuts: map[string]string{}}, held: map[string]time.Time{}, ended: map[string]bool{},
		asked: asked{map[int64]bool{}, map[int]int{}}, answered: map[string]bool{}, Forgotten: map[int]bool{}, LeftTracked: map[int]bool{}, Tried: map[int]bool{}, Unread: map[int]bool{},
		Slice: newSlice(),
	}
	h.Open = newOpenPulls(func(ctx context.Context, number int) (pull work.PullRequest, ok bool, err error) {
		err = h.View(ctx, func(ctx context.Context, tx *store.Tx) error {
			pull, ok, err = tx.GetPull(ctx, h.Repo.ID, number)
			return err
		})
		return pull, ok, err
	})
	h.Lists = newLists(h)
	return h
}

// View reads the database whether or not the time for GitHub is up: what was read is
// judged and stored all the same.
func (h *Batch) View(ctx context.Context, read func(context.Context, *store.Tx) error) error {
	ctx = context.WithoutCancel(ctx)
	return h.P.Store.View(ctx, func(tx *store.Tx) error { return read(ctx, tx) })
}

// Update writes in one transaction.
func (h *Batch) Update(ctx context.Context, write func(context.Context, *store.Tx) error) error {
	ctx = context.WithoutCancel(ctx)
	return h.P.Store.Update(ctx, func(tx *store.Tx) error { return write(ctx, tx) })
}

// FirstError prefers an error that says what to do over one that follows from
// it.
func FirstError(errs []error) error {
	for _, err := range errs {
		if _, ok := errors.AsType[*work.WaitError](err); ok {
			return err
		}
	}
	return errors.Join(errs...)
}

// Item finds the newest work item of an issue, as changed by this batch.
func (h *Batch) Item(ctx context.Context, number int) (work.Item, bool, error) {
	if item, ok := h.Items[number]; ok {
		return item, true, nil
	}
	var item work.Item
	var ok bool
	err := h.View(ctx, func(ctx context.Context, tx *store.Tx) error {
		var err error
		item, ok, err = tx.FindItem(ctx, h.Repo.ID, number)
		return err
	})
	return item, ok, err
}

// Pull finds a tracked pull request, as changed by this batch.
func (h *Batch) Pull(ctx context.Context, number int) (work.PullRequest, bool, error) {
	if pull, ok := h.PullRows[number]; ok {
		return pull, true, nil
	}
	if pull, open, err := h.Open.Whole(ctx, number); open || err != nil {
		return pull, open, err
	}
	return h.Open.read(ctx, number)
}

// StopReading keeps what was read before the time or the allowance was up.
func (h *Batch) StopReading(err error) {
	h.Mu.Lock()
	defer h.Mu.Unlock()
	if _, ok := errors.AsType[*work.WaitError](h.Incomplete); !ok { // it says until when
		h.Incomplete = err
	}
	h.Note = MoreNext
}

// MoreNext is said of a repository of which not everything was read.
const MoreNext = "more is read in the next pass"

// DeferOne keeps an error that concerns one issue or pull request from the
// others, and has it tried again in the next pass. What concerns all of them
// is given back.
func (h *Batch) DeferOne(err error, what string, args ...any) error {
	if err == nil {
		return nil
	}
	err = fmt.Errorf(what+": %w", append(args, err)...)
	if !IsItemError(err) {
		return err
	}
	h.Trouble = append(h.Trouble, err.Error())
	h.P.Log.Warn("not read", "repo_full_name", h.R.Name.FullName(), "error", err)
	return nil
}

// StoreItem stores a work item that changed, or is new.
func (h *Batch) StoreItem(ctx context.Context, tx *store.Tx, item work.Item) error {
	if item.ID != 0 {
		return tx.SetIssue(ctx, item)
	}
	id, err := tx.AddItem(ctx, item)
	item.ID = id
	h.Items[item.Number] = item
	return err
}

// StoreAgain takes up what is known but was not answered, when its author took
// an edit back, or somebody opened its thread again.
func (h *Batch) StoreAgain(ctx context.Context, tx *store.Tx, e work.Event, now time.Time) error {
	e.RepoID = h.Repo.ID
	if err := tx.ReadAgain(ctx, e, now); err != nil {
		return err
	}
	open := func(t work.Thread) bool { return t.Top == e.ThreadTop && !t.Resolved }
	if e.Kind != work.EventReview || !slices.ContainsFunc(h.Threads[e.Number], open) {
		return nil
	}
	// What route passed over is reopened with the threads; this is what a turn
	// was cancelled for.
	return tx.TakeUpAgain(ctx, e.RepoID, e.Key, work.OutcomeVoid+work.ReasonGone, now)
}

// Now is the time by the clock of the repository's host.
func (h *Batch) Now() time.Time { return h.R.GitHub.Now() }

// Swept takes in what a light query said.
func (h *Batch) Swept(who github.Identity) {
	switch {
	case who.NodeID == h.Repo.NodeID:
		h.R.Confirm(h.Now())
	case who.NodeID != "", who.Gone:
		h.Another = true
	}
}

// Add takes an event into the batch, as a command where it is one.
func (h *Batch) Add(c Inbound) { c.Event = command.AsCommand(c.Event); h.Events = append(h.Events, c) }

const (
	// Overlap is re-read before the newest thing seen: GitHub's lists may lag
	// and its stamps have one-second resolution.
	Overlap = 5 * time.Minute
)
