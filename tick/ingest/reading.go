package ingest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
	"github.com/mergexo/gh-mergexo/tick/ingest/pulse"
	"github.com/mergexo/gh-mergexo/tick/notice"
)

// reading is one ingest of one repository: what it knows all through, and the slice of it
// that was read and is not stored yet.
type reading struct {
	database
	env         *env.Env
	notices     *notice.Notices
	ingest      *Ingest
	repo        *env.Repo
	row         work.Repo   // with moved cursors
	look        *pulse.Look // how it is read as one of many; nil: as one of a few
	lists       lists
	queue       queue
	openPulls   openPulls
	permissions *permissions
	search      search
	boxes       []mergeBox
	boxesCut    bool // not all of them are read in this pass

	known      known        // what earlier passes and slices left
	lookups    lookups      // what was asked of the database for one list of comments
	prefetched map[int]bool // issues that were asked about in advance
	starts     int          // of them, for how many the first looks of a turn were asked

	lights  map[int]string // what light queries said of pull requests, as fingerprints
	changed map[int]bool   // issues and pull requests that were listed
	rotated bool           // the oldest details were read again in this pass

	mu             sync.Mutex      // guards what walks that run side by side add to
	brought        bool            // some list had more than it had before
	doubtful       bool            // the name may stand for another repository by now
	adopting       bool            // the database may know less than GitHub and the mirror
	partial        bool            // more of the lists of comments is taken in after this slice
	obeyed         []work.Event    // commands that were carried out before the database was lost
	answeredBefore map[string]bool // event keys that our own writing in earlier slices names as answered
	incomplete     error           // why not everything was read
	trouble        []string
	forgotten      map[int]bool // issues and pull requests that are left as they were, unless they are taken in after all
	leftTracked    map[int]bool // pull requests among them that were known before
	tried          map[int]bool // pull requests whose details were asked for
	unread         map[int]bool // pull requests about which GitHub knows more than we could read
	rested         map[int]bool // quiet ones that are not asked about in this pass: no list shows anything of them

	partialLists *partialLists // with more pages than one

	added   int
	ignored int
	note    string

	slice
}

// known is what the database says of the requests of earlier passes. It is read
// at once, so that what runs side by side needs no database.
type known struct {
	pages  map[string]work.Validator // by URL
	cuts   map[string]string         // where walks were cut: name to where they continue
	labels []string                  // whose first sight has been

	backlog []int // numbers that were listed and not taken in
}

// deferredPull is a pull request that could not be read.
type deferredPull struct {
	pull store.OpenPull
	err  error
}

func newReading(p *Ingest, r *env.Repo) *reading {
	h := &reading{
		database: database{p.Store}, env: p.Env, notices: p.notices, ingest: p, repo: r, row: r.Row, permissions: newPermissions(p.Env, r),
		known: known{pages: map[string]work.Validator{}, cuts: map[string]string{}}, prefetched: map[int]bool{},
		lights: map[int]string{}, changed: map[int]bool{},
		answeredBefore: map[string]bool{}, forgotten: map[int]bool{}, leftTracked: map[int]bool{}, tried: map[int]bool{}, unread: map[int]bool{},
		slice: newSlice(),
	}
	h.openPulls = newOpenPulls(func(ctx context.Context, number int) (pull work.PullRequest, ok bool, err error) {
		err = h.view(ctx, func(ctx context.Context, tx *store.Tx) error {
			pull, ok, err = tx.GetPull(ctx, h.row.ID, number)
			return err
		})
		return pull, ok, err
	})
	h.partialLists = newPartialLists(h)
	h.lists = h.walks()
	return h
}

// lookFor has the repository be read as one of many. What its pulse doubts is found out
// before anything that is read is judged.
func (h *reading) lookFor(look *pulse.Look) {
	h.look = look
	if look != nil {
		h.doubtful = look.Shown.Doubted
	}
}

// database is used whether or not the time for GitHub is up: what was read is judged and
// stored all the same.
type database struct{ db *store.DB }

func (d database) view(ctx context.Context, read func(context.Context, *store.Tx) error) error {
	ctx = context.WithoutCancel(ctx)
	return d.db.View(ctx, func(tx *store.Tx) error { return read(ctx, tx) })
}

func (d database) update(ctx context.Context, write func(context.Context, *store.Tx) error) error {
	ctx = context.WithoutCancel(ctx)
	return d.db.Update(ctx, func(tx *store.Tx) error { return write(ctx, tx) })
}

// item finds the newest work item of an issue, as changed by this slice.
func (h *reading) item(ctx context.Context, number int) (work.Item, bool, error) {
	if item, ok := h.changedItem(number); ok {
		return item, true, nil
	}
	var item work.Item
	var ok bool
	err := h.view(ctx, func(ctx context.Context, tx *store.Tx) error {
		var err error
		item, ok, err = tx.FindItem(ctx, h.row.ID, number)
		return err
	})
	return item, ok, err
}

// pull finds a tracked pull request, as changed by this slice.
func (h *reading) pull(ctx context.Context, number int) (work.PullRequest, bool, error) {
	if news, ok := h.readPull(number); ok {
		return news.row, true, nil
	}
	if pull, open, err := h.openPulls.whole(ctx, number); open || err != nil {
		return pull, open, err
	}
	return h.openPulls.read(ctx, number)
}

// stopReading keeps what was read before the time or the allowance was up.
func (h *reading) stopReading(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, ok := errors.AsType[*work.WaitError](h.incomplete); !ok { // it says until when
		h.incomplete = err
	}
	h.note = moreNext
}

// moreNext is said of a repository of which not everything was read.
const moreNext = "more is read in the next pass"

// deferOne keeps an error that concerns one issue or pull request from the
// others, and has it tried again in the next pass. What concerns all of them
// is given back.
func (h *reading) deferOne(err error, what string, args ...any) error {
	if err == nil {
		return nil
	}
	err = fmt.Errorf(what+": %w", append(args, err)...)
	if !github.IsItemError(err) {
		return err
	}
	h.trouble = append(h.trouble, err.Error())
	h.env.Log.Warn("not read", "repo_full_name", h.repo.Name.FullName(), "error", err)
	return nil
}

// storeItem stores a work item that changed, or is new.
func (h *reading) storeItem(ctx context.Context, tx *store.Tx, item work.Item) error {
	if item.ID != 0 {
		return tx.SetIssue(ctx, item)
	}
	id, err := tx.AddItem(ctx, item)
	item.ID = id
	h.putItem(item)
	return err
}

// storeAgain takes up what is known but was not answered, when its author took
// an edit back, or somebody opened its thread again.
func (h *reading) storeAgain(ctx context.Context, tx *store.Tx, e work.Event, now time.Time) error {
	e.RepoID = h.row.ID
	if err := tx.ReadAgain(ctx, e, now); err != nil {
		return err
	}
	open := func(t work.Thread) bool { return t.Top == e.ThreadTop && !t.Resolved }
	if news, read := h.readPull(e.Number); e.Kind != work.EventReview || !read || !slices.ContainsFunc(news.threads, open) {
		return nil
	}
	// What route passed over is reopened with the threads; this is what a turn
	// was cancelled for.
	return tx.TakeUpAgain(ctx, e.RepoID, e.Key, work.OutcomeVoid+work.ReasonGone, now)
}

// now is the time by the clock of the repository's host.
func (h *reading) now() time.Time { return h.repo.GitHub.Now() }

// swept takes in what a light query said.
func (h *reading) swept(who github.Identity) {
	switch {
	case who.NodeID == h.row.NodeID:
		h.repo.Confirm(h.now())
	case who.NodeID != "", who.Gone:
		h.doubtful = true
	}
}

// overlap is read again before the newest change seen: GitHub's lists may lag, and its
// stamps have whole seconds.
const overlap = 5 * time.Minute

// A repository is read in slices, so that a pass needs memory for one of them and not for
// all that is new. Each is judged and stored in one transaction, together with the
// cursors and ETags that vouch for what is in it, and for nothing else. A pass that is
// killed after some of them, or has no more time, has stored what a pass stores that
// read as much and no more: the next one resumes there. What makes that so:
//
//   - what stands together is in one slice: a new issue with all that was said on it, a
//     pull request with the events that its details show, what is found again with both
//   - issues come first, then pull requests, then what people wrote: a pause is known
//     before anything is judged by it, and who has the work before it is read what they say
//   - whether a pause lasts only the last of the comments tells, for one of them may resume
//     the work. What was said in it until then waits, see judgePaused
//   - what is not taken in holds its list back for the next pass, not this one, see hold

// slice is what was read and is not stored yet.
type slice struct {
	history        github.History // what was read of many at once
	listedComments []github.Comment
	reviewComments []github.ReviewComment

	issues map[int]issueNews // by number
	pulls  map[int]*pullNews // by number
	events []candidate       // that lists show; once they are judged together, all that count
	again  []work.Event      // known ones that were read once more

	validators   []work.Validator  // of what is no list
	cuts         map[string]string // where the search for lost pull requests continues, and whether pauses are owed
	backlog      map[int]bool      // numbers that were listed: true while they are not taken in
	seenLabels   []string          // now seen
	deferred     []deferredPull
	removals     []work.Action
	declined     []work.Action        // words to people whose commands or labels do not count
	adopted      map[int]int          // pull requests found again: number to issue
	commands     []work.Event         // new ones that are to be carried out
	revoked      []work.Event         // waiting ones whose authors may give none any more
	handled      map[string]bool      // event keys that our own writing names as answered
	journals     []env.Journal        // turns found again
	takeovers    map[int]env.Takeover // what timelines show of pauses, by number
	pauses       map[int][]work.Pause // stored ones, by number, as far as they were asked for
	pausedEvents []int64              // events that waited for the end of a pause, and were in it
	owed         bool                 // some event is stored that waits for that
	submitted    map[int64]time.Time  // reviews, by id
	reviewStates map[int64]string     // of reviews, by id
	ownWords     map[int]ownWords     // what our own writing says of reviews, by the pull request's number
	dependencies []store.Dependency   // looked at
}

func newSlice() slice {
	return slice{
		issues: map[int]issueNews{}, pulls: map[int]*pullNews{},
		cuts: map[string]string{}, backlog: map[int]bool{},
		adopted: map[int]int{}, handled: map[string]bool{}, takeovers: map[int]env.Takeover{}, pauses: map[int][]work.Pause{},
		submitted: map[int64]time.Time{}, reviewStates: map[int64]string{}, ownWords: map[int]ownWords{},
	}
}

// next begins another slice once the last one is stored.
func (h *reading) next() {
	h.openPulls.stored(h.pulls)
	for _, c := range h.lists.cursors() {
		maps.DeleteFunc(h.known.pages, func(url string, _ work.Validator) bool { return c.passed(url) })
		for _, v := range c.pages {
			h.known.pages[v.URL] = v
		}
		c.stored()
	}
	h.known.labels = append(h.known.labels, h.seenLabels...)
	maps.Copy(h.answeredBefore, h.handled)
	h.slice = newSlice()
}

// answered reports whether our own writing names an event as answered.
func (h *reading) answered(key string) bool { return h.handled[key] || h.answeredBefore[key] }

// runAtOnce does all of some things, so many at a time, and gives the error of each.
func runAtOnce(most int, things []func() error) []error {
	errs := make([]error, len(things))
	next := make(chan int)
	var wg sync.WaitGroup
	for range min(most, len(things)) { // a goroutine for each thing would make its stack as large again
		wg.Go(func() {
			for i := range next {
				errs[i] = things[i]()
			}
		})
	}
	for i := range things {
		next <- i
	}
	close(next)
	wg.Wait()
	return errs
}
