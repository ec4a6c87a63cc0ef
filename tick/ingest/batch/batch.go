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
	"github.com/mergexo/gh-mergexo/internal/work/outcome"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
	"github.com/mergexo/gh-mergexo/tick/notice"
)

// Batch is what one ingest read of one repository, kept in memory until all
// of it is stored in one transaction: a cursor or an ETag never vouches for
// something that was not stored.
type Batch struct {
	P       *env.Env
	Notices *notice.Notices
	R       *env.Repo
	Repo    work.Repo // with moved cursors
	Open    map[int]work.PullRequest

	Known  known            // what earlier passes left
	asked  asked            // how many were asked about for what they wrote
	levels map[int64]string // people's permissions, as far as they were asked for

	TakenOver map[int64]int64 // accounts whose logins the config names for others, and those others

	Lights         map[int]github.PullLight
	ListedIssues   []github.Issue
	ListedComments []github.Comment
	ReviewComments []github.ReviewComment

	Items    map[int]work.Item        // changed or new, by issue number
	PullRows map[int]work.PullRequest // changed, by number
	Threads  map[int][]work.Thread    // of the pulls whose details were read
	Events   []Inbound
	Again    []work.Event // known ones that were read once more

	Mu           sync.Mutex                  // guards what walks that run side by side add to
	Validators   []work.Validator            // of what is no list
	Pages        map[string][]work.Validator // of the pages that were read, by walk
	stale        []string                    // walks whose older validators go
	Walks        map[string]string           // cut walks: name to where they continue
	Brought      bool                        // some list had more than it had before
	Another      bool                        // the name may stand for another repository by now
	Enough       func() bool                 // whether the time for lists is up
	Backlog      map[int]bool                // numbers that were listed: true while they are not taken in
	Labels       []string                    // now seen
	Deferred     []Deferral
	Removals     []work.Action
	Declined     []work.Action        // words to people whose commands or labels do not count
	Adopting     bool                 // the database may know less than GitHub and the mirror
	Rebuilding   bool                 // and not all of it was found again: nothing else is taken in
	Adopted      map[int]int          // pull requests found again: number to issue
	Commands     []work.Event         // new ones that are to be carried out
	Missed       []missed             // comments of ours that are not there any more
	Revoked      []work.Event         // waiting ones whose authors may give none any more
	Obeyed       []work.Event         // commands that were carried out before the database was lost
	Handled      map[string]bool      // event keys that our own writing names as answered
	Journals     []env.Journal        // turns found again
	Promoted     map[int]*Promotion   // merged designs, by issue
	Taken        map[int]env.Takeover // what timelines show of pauses, by number
	Pauses       map[int][]work.Pause // stored ones, by number, as far as they were asked for
	Submitted    map[int64]time.Time  // reviews, by id
	ReviewStates map[int64]string     // of reviews, by id
	Reviews      map[int]*Reviews     // what was read of them, by the pull request's number
	OwnWords     map[int]OwnWords     // what our own writing says of them, by the pull request's number
	Dependencies []store.Dependency   // looked at
	Incomplete   error                // why not everything was read
	Trouble      []string
	Forgotten    map[int]bool        // pull requests that are left as they were
	Unread       map[int]bool        // pull requests about which GitHub knows more than we could read
	LabelHeads   map[int]string      // heads for which the label of somebody else's pull request stands, by number
	Ends         map[int]outcome.End // of pull requests that were merged or closed, by number
	Lost         map[int]string      // what branches that were moved lack, by number; see detectRewrite

	Added   int
	Ignored int
	Note    string
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
	Pull work.PullRequest
	Err  error
}

// New makes the batch of one repository.
func New(p *env.Env, notices *notice.Notices, r *env.Repo) *Batch {
	return &Batch{
		P: p, Notices: notices, R: r, Repo: r.Row,
		Open: map[int]work.PullRequest{}, Lights: map[int]github.PullLight{},
		Items: map[int]work.Item{}, PullRows: map[int]work.PullRequest{}, Threads: map[int][]work.Thread{}, Walks: map[string]string{}, Pages: map[string][]work.Validator{}, Backlog: map[int]bool{}, Enough: func() bool { return false }, Forgotten: map[int]bool{}, Ends: map[int]outcome.End{}, Lost: map[int]string{}, LabelHeads: map[int]string{},
		Adopted: map[int]int{}, Handled: map[string]bool{}, Promoted: map[int]*Promotion{},
		Taken: map[int]env.Takeover{}, Pauses: map[int][]work.Pause{}, Submitted: map[int64]time.Time{},
		ReviewStates: map[int64]string{}, Reviews: map[int]*Reviews{}, OwnWords: map[int]OwnWords{},
		Known: known{Pages: map[string]work.Validator{}, Cuts: map[string]string{}}, levels: map[int64]string{}, TakenOver: map[int64]int64{},
	}
}

// View and update work on the database whether or not the time for GitHub is up: what
// was read is judged and stored all the same.
func (h *Batch) View(ctx context.Context, read func(*store.Tx) error) error {
	return h.P.Store.View(context.WithoutCancel(ctx), read)
}

// Update writes in one transaction.
func (h *Batch) Update(ctx context.Context, write func(*store.Tx) error) error {
	return h.P.Store.Update(context.WithoutCancel(ctx), write)
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
	err := h.View(ctx, func(tx *store.Tx) error {
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
	if pull, ok := h.Open[number]; ok {
		return pull, true, nil
	}
	var pull work.PullRequest
	var ok bool
	err := h.View(ctx, func(tx *store.Tx) error {
		var err error
		pull, ok, err = tx.GetPull(ctx, h.Repo.ID, number)
		return err
	})
	return pull, ok, err
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
