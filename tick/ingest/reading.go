package ingest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// reading is one read of one repository.
type reading struct {
	// Who reads what: this does not change.
	needs
	ingest     *Ingest
	repo       *env.Repo
	rights     rights
	began      time.Time
	shown      *stamps                   // what GitHub showed of it as one of many; nil: it is one of a few
	pages      map[string]work.Validator // of earlier passes' requests, by URL
	lookedUpTo string                    // how far the first look is
	seenLabels []string                  // labels that the config had when the first look ended
	mark       string                    // of the numbers whose rows have what was read, random

	mu sync.Mutex // guards what concurrent reads write

	row work.Repo // with moved cursors
	backlog
	slice // what is collected of one item, until it is stored

	due            due             // what the last reads begin with
	obeyed         []work.Event    // commands that were carried out before the database was lost
	answeredBefore map[string]bool // event keys that our texts in earlier slices name as answered

	report
}

// backlog is what changed and is to be read: changed.go and first.go find it.
type backlog struct {
	lists     []*list
	openPulls map[int]store.OpenPull // by number
	lights    map[int]string         // fingerprints of pull requests from light queries
	swept     map[int]bool           // open pull requests whose details are to be read
	numbers   map[int]*number
	next      []*number // what of it is not read yet, in the order in which it is read
	heard     int       // comments that lists showed
	slow      bool      // one of the pull requests hangs: the details of each are read by themselves

	// What depends on it: readDependencies, readBlockers, readSubIssues and readDesigns.
	changed   map[int]bool // issues and pull requests that changed
	pullEnded bool         // a pull request that has just ended is among them

	subIssues map[int][]github.Issue // as this pass has read them, by the number of the issue above
}

// report is how the read goes.
type report struct {
	sign       work.Sign // the newest text of ours by another installation
	doubtful   bool      // the name may belong to another repository now
	readSome   bool      // some number was read
	incomplete error     // why not everything was read
	trouble    []string  // what could not be read
	note       string    // for the report: that more is to be read, or which number cannot be
	added      int
	ignored    int
}

func newReading(p *Ingest, r *env.Repo) *reading {
	may := rights{
		settings: r.Settings, operators: func() []int64 { return p.accounts.Operators(r.Name.Host) }, now: r.GitHub.Now,
		fresh: map[int64]string{}, stored: map[int64]permission{}, pinned: map[string]int64{},
	}
	return &reading{
		needs: p.needs, ingest: p, repo: r, began: r.GitHub.Now(), row: r.Row, rights: may,
		pages: map[string]work.Validator{}, mark: store.NewEpoch(),
		backlog: backlog{
			openPulls: map[int]store.OpenPull{}, lights: map[int]string{}, swept: map[int]bool{}, numbers: map[int]*number{}, changed: map[int]bool{}, subIssues: map[int][]github.Issue{},
		},
		slice: newSlice(), answeredBefore: map[string]bool{},
	}
}

// database runs transactions also after the time for GitHub is up: what was read is still judged
// and stored.
type database struct{ db *store.DB }

func (d database) view(ctx context.Context, read func(context.Context, *store.Tx) error) error {
	ctx = context.WithoutCancel(ctx)
	return d.db.View(ctx, func(tx *store.Tx) error { return read(ctx, tx) })
}

// readRows is view for one value. The function may run again, see store.DB.View.
func readRows[T any](ctx context.Context, d database, read func(context.Context, *store.Tx) (T, error)) (value T, err error) {
	ctx = context.WithoutCancel(ctx)
	err = d.db.View(ctx, func(tx *store.Tx) (err error) {
		value, err = read(ctx, tx)
		return err
	})
	return value, err
}

func (d database) update(ctx context.Context, write func(context.Context, *store.Tx) error) error {
	ctx = context.WithoutCancel(ctx)
	return d.db.Update(ctx, func(tx *store.Tx) error { return write(ctx, tx) })
}

// stopReading ends reading when the time or the rate limit is used up. What was read is kept.
func (h *reading) stopReading(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, ok := errors.AsType[*work.WaitError](h.incomplete); !ok { // a WaitError also has the time until which to wait
		h.incomplete = err
	}
	h.note = moreNext
}

// timeIsUp reports whether the time or the rate limit is used up.
func (h *reading) timeIsUp() bool { return h.incomplete != nil }

// moreNext is the note of a repository that was not read whole.
const moreNext = "more is read in the next pass"

// deferOne tells an error that concerns one issue or pull request and returns nil; the next pass
// tries it again. It returns any other error.
func (h *reading) deferOne(err error, what string, args ...any) error {
	if err == nil {
		return nil
	}
	err = fmt.Errorf(what+": %w", append(args, err)...)
	if !github.IsItemError(err) {
		return err
	}
	h.tellUnread(err)
	return nil
}

// tellUnread logs why a part of the repository was not read, and has status show it until a pass reads
// everything.
func (h *reading) tellUnread(err error) {
	if said := err.Error(); !slices.Contains(h.trouble, said) {
		h.trouble = append(h.trouble, said)
	}
	h.log.Warn("a part of a repository was not read", "repo_full_name", h.repo.Name.FullName(), "error", err)
}

// mostTold is how many parts of a repository that were not read status shows.
const mostTold = 10

// now is the time by the host's clock.
func (h *reading) now() time.Time { return h.repo.GitHub.Now() }

// slice is what was read of the numbers of one item and is not stored yet.
type slice struct {
	rows   storedRows
	broken error                    // why the database cannot be read, see stored
	items  map[int]work.Item        // changed and new ones, by number
	pulls  map[int]*pullNews        // by number
	judged *judgement               // of what was said
	events []candidate              // what was said, and what the issues and pull requests show
	whole  map[int][]github.Comment // conversations that were read whole
	unread map[int]string           // numbers of the item that cannot be read, and why

	rest         map[int]store.Backlogged // numbers that the next pass reads: again, or because something said on them waits
	declined     []work.Action            // answers to people whose commands or labels do not count
	labels       map[int][]string         // of the pull requests and of the adopted issues that were read, by number
	unreadPulls  []pullRead               // to be read next: their rows, and what is known of them
	adopted      map[int]int              // adopted pull requests: number to issue
	handled      map[string]bool          // event keys that our texts name as answered
	takeovers    map[int]env.Takeover     // pauses that timelines show, by number
	submitted    map[int64]time.Time      // when reviews were submitted, by id
	reviewStates map[int64]string         // states of reviews, by id
	edges        []store.Dependency       // of designs, that GitHub lists as blocking
	roadmaps     []mergedRoadmap          // documents to apply
	sought       map[int]bool             // issues whose merged roadmaps were looked for
	guarded      bool                     // a pull request that may be merged has rules about who reviews it
	puts         []put                    // what else is stored

	// What the transaction that stores the slice found. It begins without: it may run again.
	newItems  map[int]int64 // ids of the added work items, by issue
	newEvents []work.Event
}

func newSlice() slice {
	return slice{
		rows:   storedRows{items: map[int64]work.Item{}, newest: map[int]work.Item{}, pulls: map[int]work.PullRequest{}, numbers: map[int64][]int{}},
		judged: &judgement{},
		items:  map[int]work.Item{}, pulls: map[int]*pullNews{}, whole: map[int][]github.Comment{}, rest: map[int]store.Backlogged{},
		labels: map[int][]string{}, adopted: map[int]int{}, handled: map[string]bool{}, takeovers: map[int]env.Takeover{}, sought: map[int]bool{},
		submitted: map[int64]time.Time{}, reviewStates: map[int64]string{},
	}
}

// answered reports whether one of our texts on GitHub names an event as answered.
func (h *reading) answered(key string) bool { return h.handled[key] || h.answeredBefore[key] }
