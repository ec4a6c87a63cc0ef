package ingest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/github/transport"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
	"github.com/mergexo/gh-mergexo/tick/tell"
)

// reading is one ingest of one repository: its state, and the slice that was read and is not stored
// yet.
type reading struct {
	database
	env         *env.Env
	notices     *tell.Notices
	ingest      *Ingest
	repo        *env.Repo
	row         work.Repo // with moved cursors
	shown       *stamps   // what GitHub showed of it as one of many; nil: it is one of a few
	lists       lists
	queue       queue
	openPulls   openPulls
	permissions *permissions
	search      search
	boxes       []mergeBox
	unreadBoxes []int64        // pull requests whose merge boxes could not be read
	boxesCut    bool           // not all of them are read in this pass
	besides     map[int]beside // of pull requests about whose agents this pass learned something

	known      known        // left by earlier passes and slices
	lookups    lookups      // cache of database reads about comments
	prefetched map[int]bool // issues that were prefetched
	starts     int          // how many of them had the first reads of a turn prefetched

	lights    map[int]string  // fingerprints of pull requests from light queries
	changed   map[int]bool    // issues and pull requests that were listed
	parents   map[string]bool // the issues above them, as work.Dependency.String in lower case
	sought    map[int]bool    // roadmaps above them that the database lacks and that were looked for; true: it was not found
	pullEnded bool            // a pull request that is not open was listed
	rotated   bool            // the oldest details were read again in this pass

	mu             sync.Mutex      // guards what concurrent walks write
	brought        bool            // some list had something new
	doubtful       bool            // the name may belong to another repository now
	adopting       bool            // the database may lack what GitHub and the mirror have
	partial        bool            // more pages of the comment lists follow after this slice
	obeyed         []work.Event    // commands that were carried out before the database was lost
	answeredBefore map[string]bool // event keys that our texts in earlier slices name as answered
	incomplete     error           // why not everything was read
	trouble        []string
	forgotten      map[int]bool     // issues and pull requests that this pass left as they were; ingesting one removes it
	leftTracked    map[int]bool     // tracked ones among forgotten
	tried          map[int]bool     // pull requests whose details were asked for
	unanswered     map[string]error // by the node id of a pull request: why its details could not be read
	hung           string           // the node id of the pull request whose details took the rest of the time
	unread         map[int]bool     // pull requests about which GitHub has more than could be read

	added   int
	ignored int
	note    string
	long    string // the note about an issue or pull request that takes longer than a pass

	slice
}

// known is what the database has of earlier passes' requests. It is read at once, so that
// concurrent reads need no database.
type known struct {
	pages  map[string]work.Validator // by URL
	cuts   map[string]string         // by name of the walk: where the next pass continues it
	labels []string                  // labels whose first listing is done

	backlog []int                    // numbers that were listed and not ingested
	late    map[int]store.Backlogged // those of them for which a pass had too little time
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
		besides: map[int]beside{}, lights: map[int]string{}, changed: map[int]bool{}, parents: map[string]bool{},
		answeredBefore: map[string]bool{}, forgotten: map[int]bool{}, leftTracked: map[int]bool{}, tried: map[int]bool{}, unread: map[int]bool{}, unanswered: map[string]error{},
		slice: newSlice(),
	}
	h.openPulls = newOpenPulls(func(ctx context.Context, number int) (pull work.PullRequest, ok bool, err error) {
		err = h.view(ctx, func(ctx context.Context, tx *store.Tx) error {
			pull, ok, err = tx.GetPull(ctx, h.row.ID, number)
			return err
		})
		return pull, ok, err
	})
	h.lists = h.walks()
	return h
}

// database runs transactions also after the time for GitHub is up: what was read is still judged
// and stored.
type database struct{ db *store.DB }

func (d database) view(ctx context.Context, read func(context.Context, *store.Tx) error) error {
	ctx = context.WithoutCancel(ctx)
	return d.db.View(ctx, func(tx *store.Tx) error { return read(ctx, tx) })
}

// readRows is view for one value.
func readRows[T any](ctx context.Context, d database, read func(context.Context, *store.Tx) (T, error)) (T, error) {
	ctx = context.WithoutCancel(ctx)
	return store.Read(ctx, d.db, func(tx *store.Tx) (T, error) { return read(ctx, tx) })
}

func (d database) update(ctx context.Context, write func(context.Context, *store.Tx) error) error {
	ctx = context.WithoutCancel(ctx)
	return d.db.Update(ctx, func(tx *store.Tx) error { return write(ctx, tx) })
}

// item returns the newest work item of an issue, with this slice's changes.
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

// pull returns a tracked pull request, with this slice's changes.
func (h *reading) pull(ctx context.Context, number int) (work.PullRequest, bool, error) {
	if news, ok := h.readPull(number); ok {
		return news.row, true, nil
	}
	if pull, open, err := h.openPulls.whole(ctx, number); open || err != nil {
		return pull, open, err
	}
	return h.openPulls.read(ctx, number)
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

// cutList ends reading a list that has more pages than a pass reads, whether it is that long or always
// names a next page. The rest of the repository is read.
func (h *reading) cutList(name string) {
	said := fmt.Sprintf("the list %q was cut after %d pages; more of it is read in the next pass", name, transport.MostPages)
	h.stopReading(errors.New(said))
	h.mu.Lock()
	defer h.mu.Unlock()
	h.note = said
	h.trouble = append(h.trouble, said)
	h.env.Log.Warn("a list was cut", "repo_full_name", h.repo.Name.FullName(), "list", name, "pages", transport.MostPages)
}

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
	h.env.Log.Warn("a part of a repository was not read", "repo_full_name", h.repo.Name.FullName(), "error", err)
}

// mostTold is how many parts of a repository that were not read status shows.
const mostTold = 10

// told is what status shows of the parts that were not read.
func (h *reading) told() string {
	some := h.trouble[:min(len(h.trouble), mostTold)]
	if more := len(h.trouble) - len(some); more > 0 {
		some = append(slices.Clone(some), fmt.Sprintf("and %d more", more))
	}
	return strings.Join(some, "; ")
}

func (h *reading) storeItem(ctx context.Context, tx *store.Tx, item work.Item) error {
	if item.ID != 0 {
		return tx.SetIssue(ctx, item)
	}
	id, err := tx.AddItem(ctx, item)
	h.newItems[item.Number] = id
	return err
}

// storeAgain reopens a known, unanswered event after its author reverted an edit or somebody
// unresolved its thread.
func (h *reading) storeAgain(ctx context.Context, tx *store.Tx, e work.Event, now time.Time) error {
	e.RepoID = h.row.ID
	if err := tx.RecordEditBack(ctx, e, now); err != nil {
		return err
	}
	open := func(t work.Thread) bool { return t.Top == e.ThreadTop && !t.Resolved }
	if news, read := h.readPull(e.Number); e.Kind != work.EventReview || !read || !slices.ContainsFunc(news.threads, open) {
		return nil
	}
	// The store reopens events that were skipped because their thread was resolved. This call
	// reopens events whose turn was cancelled.
	return tx.ReopenEvent(ctx, e.RepoID, e.Key, work.OutcomeVoid+work.ReasonGone, now)
}

// now is the time by the host's clock.
func (h *reading) now() time.Time { return h.repo.GitHub.Now() }

// compareIdentity compares the repository that a light query found under the name with the stored
// one.
func (h *reading) compareIdentity(who github.RepoNode) {
	switch {
	case who.NodeID == h.row.NodeID:
		h.repo.Confirm(h.now())
	case who.NodeID != "", who.Gone:
		h.doubtful = true
	}
}

// overlap is how far before the newest change seen a list is read again: GitHub's lists may lag,
// and its stamps are whole seconds.
const overlap = 5 * time.Minute

// A repository is read in slices, so that a pass keeps one slice in memory and not all that is new.
// Each slice is judged and stored in one transaction with its own cursors and ETags, and with no
// others. A pass that is killed or runs out of time has stored what a pass that read only so much
// stores; the next one resumes there. This holds because:
//

// slice is what was read and is not stored yet.
type slice struct {
	history  github.History // content from queries about many issues and pull requests
	comments []listedItem

	issues map[int]issueNews // by number
	pulls  map[int]*pullNews // by number
	events []candidate       // events from the lists; gatherEvents adds those of issues and pull requests
	again  []work.Event      // known events that were read again

	validators   []work.Validator  // of everything but lists
	cuts         map[string]string // where the search for lost pull requests continues, and whether events wait for the end of a pause
	backlog      map[int]bool      // issues and pull requests that a list showed; true: not ingested yet
	tooLong      map[int]bool      // those of them for which this pass had too little time, though it read nothing else
	seenLabels   []string          // labels whose first listing is done
	deferred     []deferredPull
	removals     []work.Action
	declined     []work.Action        // answers to people whose commands or labels do not count
	labels       map[int][]string     // of the pull requests and of the adopted issues that were read, by number
	adopted      map[int]int          // adopted pull requests: number to issue
	commands     []work.Event         // new commands to carry out
	revoked      []work.Event         // pending commands whose authors lost the permission
	handled      map[string]bool      // event keys that our texts name as answered
	takeovers    map[int]env.Takeover // pauses that timelines show, by number
	stillHidden  []int64              // ids of comments that are still hidden
	pausedEvents []int64              // ids of events judged to be in a pause after it ended
	owed         bool                 // some stored event waits for the end of a pause
	submitted    map[int64]time.Time  // when reviews were submitted, by id
	reviewStates map[int64]string     // states of reviews, by id
	ownWords     map[int]ownMarks     // what our texts record about reviews, by the pull request's number
	dependencies []store.Dependency   // those looked at
	edges        []store.Dependency   // those that GitHub lists as blocking, instead of the design
	blocking     []blocking           // those read
	designs      []mendedDesign       // of stopped implementations, as read
	roadmaps     []mergedRoadmap      // documents to apply
	below        []below              // of roadmaps, as read
	closed       []string             // issues of ours that the lists show as closed, as work.Dependency.String

	// What the transaction that stores the slice found. It begins without: it may run again.
	newItems  map[int]int64 // ids of the added work items, by issue
	newEvents []work.Event
}

func newSlice() slice {
	return slice{
		issues: map[int]issueNews{}, pulls: map[int]*pullNews{},
		cuts: map[string]string{}, backlog: map[int]bool{}, tooLong: map[int]bool{},
		labels: map[int][]string{}, adopted: map[int]int{}, handled: map[string]bool{}, takeovers: map[int]env.Takeover{},
		submitted: map[int64]time.Time{}, reviewStates: map[int64]string{}, ownWords: map[int]ownMarks{},
	}
}

// next begins the next slice after the last one was stored.
func (h *reading) next() {
	h.added += len(h.newEvents)
	for _, e := range h.newEvents {
		if e.Outcome != "" {
			h.ignored++
		}
	}
	h.openPulls.stored(h.pulls)
	maps.Copy(h.known.cuts, h.walkPlaces())
	for _, w := range h.lists.all() {
		maps.DeleteFunc(h.known.pages, func(url string, _ work.Validator) bool { return w.passed(url) })
		for _, v := range w.pages {
			h.known.pages[v.URL] = v
		}
		w.stored()
	}
	h.known.labels = append(h.known.labels, h.seenLabels...)
	maps.Copy(h.answeredBefore, h.handled)
	h.lookups.renew(h.changesWork())
	h.slice = newSlice()
}

// changesWork reports whether the slice has more than comments.
func (h *reading) changesWork() bool {
	return len(h.issues)+len(h.pulls)+len(h.takeovers)+len(h.adopted) > 0
}

// answered reports whether one of our texts on GitHub names an event as answered.
func (h *reading) answered(key string) bool { return h.handled[key] || h.answeredBefore[key] }

// runAtOnce runs all reads, at most most at a time, and returns the error of each.
func runAtOnce(ctx context.Context, most int, reads []func(context.Context) error) []error {
	errs := make([]error, len(reads))
	next := make(chan int)
	var wg sync.WaitGroup
	for range min(most, len(reads)) { // a goroutine per read would grow its stack anew each time
		wg.Go(func() {
			for i := range next {
				errs[i] = work.Contain("read from GitHub", func() error { return reads[i](ctx) })
			}
		})
	}
	for i := range reads {
		next <- i
	}
	close(next)
	wg.Wait()
	return errs
}
