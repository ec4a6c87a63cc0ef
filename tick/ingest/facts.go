package ingest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/mergexo/gh-mergexo/actions"
	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/review"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// facts are what judge reads beside what was said.
type facts struct {
	rights        *rights
	ours          []int64               // ids of our accounts
	unread        map[int]string        // numbers of the item that cannot be read, and why
	answered      func(key string) bool // by the texts of ours that were read before
	obeyedEarlier []work.Event          // commands that were carried out before the database was lost
	submitted     map[int64]time.Time   // when reviews were submitted, by id
	reviewStates  map[int64]string      // states of reviews, by id

	// From the database.
	known           map[string]store.KnownEvent // by key
	spots           map[whose]spot
	foreign         map[int]bool            // numbers of pull requests of others
	fixed           map[int][]int64         // reviews of people for which fixes are made, by the pull request's number
	sent            map[int64][]work.Action // what we sent, by item
	actions         map[string]work.Action  // that our texts name, by token
	pendingCommands []work.Event            // of earlier passes

	// From GitHub, as far as it was lacking.
	mu        sync.Mutex               // guards what is read side by side
	words     map[string]work.Word     // by node id
	former    map[string]formerVersion // by node id
	extra     map[string][]int64       // further copies of comments of ours, by token
	said      map[int][]github.Comment // by number, since its oldest new command
	reviewsOf map[int]bool             // numbers whose reviews are in reviewStates
}

// whose tells to which item something said belongs.
type whose struct {
	number int
	pull   bool
	item   int64
}

func whoseOf(c candidate) whose { return whose{c.event.Number, c.pull, c.event.ItemID} }

// spot has the stored pauses and the hold of an item on which somebody said something.
type spot struct {
	numbers []int // of its issue and its pull request, as far as both exist
	pauses  []work.Pause
	hold    *commandedHold // of its open pull request; nil: none is open
}

// lackKind is a kind of fact.
type lackKind string

const (
	lackStored  lackKind = "stored"  // the last answer about an account
	lackPin     lackKind = "pin"     // which account a login of the config means
	lackLevel   lackKind = "level"   // what GitHub lets an account do
	lackWord    lackKind = "word"    // who edited a text last and when, and whether it is hidden
	lackFormer  lackKind = "former"  // what its author wrote before
	lackCopies  lackKind = "copies"  // further copies of a comment of ours
	lackAnswers lackKind = "answers" // what was said on a number since
	lackReviews lackKind = "reviews" // states of the reviews of a pull request
)

// lack is a fact that a judgement lacks.
type lack struct {
	kind   lackKind
	who    work.Account
	node   string // a node id, or a token
	number int
	since  time.Time
}

// judgeEvents judges what was said, and keeps what is new.
func (h *reading) judgeEvents(ctx context.Context) error {
	if len(h.events) == 0 {
		return nil
	}
	f, err := h.factsAbout(ctx, h.events)
	if err != nil {
		return err
	}
	j, err := h.settle(ctx, f, h.events)
	if err != nil {
		return err
	}
	h.events, h.judged = j.events, j
	h.obeyed = append(h.obeyed, j.obeyed...)
	for _, e := range j.own {
		h.noteOwn(e.Body, e.CreatedAt, e.URL)
	}
	for _, e := range j.refused {
		h.declineCommand(e)
	}
	for _, e := range j.unmerged {
		body := "`/mergexo merge` is the word of somebody with write permission on this repository, so nothing was done."
		h.declineOn(e.ItemID, e.Number, work.NeedCosmetic, work.NoticeToken(h.row.Key(), e.Number, e.Key), body, "a merge by "+e.Author.Login+", who may not push")
	}
	for _, c := range j.copies {
		for _, id := range c.ids {
			h.put(func(ctx context.Context, tx *store.Tx, now time.Time) error {
				return tx.PlanAction(ctx, actions.Removal(h.row, c.of, id, now))
			})
		}
	}
	for _, c := range j.waiting {
		said := fmt.Sprintf("comments on #%d wait until it can be read", slices.Sorted(maps.Keys(h.unread))[0])
		left := h.numberOf(c.event.Number)
		if !left.stays { // else it was not read itself
			left.Why = said
		}
		if h.rest[left.Number] = left.Backlogged; !slices.Contains(h.trouble, said) {
			h.trouble = append(h.trouble, said)
		}
	}
	return nil
}

// settle judges until nothing is lacking. What the database may have is read first: it may spare requests.
func (h *reading) settle(ctx context.Context, f *facts, said []candidate) (*judgement, error) {
	asked := map[lack]bool{}
	for {
		j := judge(said, f)
		if len(j.lacks) == 0 {
			return j, nil
		}
		lacks := slices.DeleteFunc(slices.Clone(j.lacks), func(m missing) bool { return m.kind != lackStored && m.kind != lackPin })
		if len(lacks) == 0 {
			lacks = j.lacks
		}
		for _, m := range lacks {
			if asked[m.lack] {
				return nil, fmt.Errorf("judge %s: %s is still lacking", m.event.URL, m.kind)
			}
			asked[m.lack] = true
		}
		if err := h.learn(ctx, f, lacks); err != nil {
			return nil, err
		}
	}
}

// factsAbout reads what the database has about candidates.
func (h *reading) factsAbout(ctx context.Context, said []candidate) (*facts, error) {
	f := &facts{
		rights: &h.rights, ours: h.accounts.Writers(h.repo.Name.Host), unread: h.unread, answered: h.answered,
		obeyedEarlier: h.obeyed, submitted: h.submitted, reviewStates: h.reviewStates,
		spots: map[whose]spot{}, foreign: map[int]bool{}, fixed: map[int][]int64{}, sent: map[int64][]work.Action{}, actions: map[string]work.Action{},
		words: map[string]work.Word{}, former: map[string]formerVersion{}, extra: map[string][]int64{}, said: map[int][]github.Comment{}, reviewsOf: map[int]bool{},
	}
	pulls := map[int]work.PullRequest{}
	for _, c := range said {
		n := c.event.Number
		if _, known := f.spots[whoseOf(c)]; known {
			continue
		}
		f.spots[whoseOf(c)] = spot{numbers: h.partners(ctx, c)}
		if pull, tracked := h.pull(ctx, n); tracked {
			pulls[n], f.foreign[n] = pull, h.itemOfPull(ctx, pull).Flow == work.FlowReview
		}
	}
	if h.broken != nil {
		return nil, h.broken
	}
	return f, h.view(ctx, func(ctx context.Context, tx *store.Tx) error { return f.load(ctx, tx, h.row.ID, said, pulls) })
}

// load reads what the database has about candidates whose items are known.
func (f *facts) load(ctx context.Context, tx *store.Tx, repo int64, said []candidate, pulls map[int]work.PullRequest) (err error) {
	keys := make([]string, len(said))
	for i, c := range said {
		keys[i] = c.event.Key
	}
	if f.known, err = tx.ListKnown(ctx, repo, keys); err != nil {
		return err
	}
	if f.pendingCommands, err = tx.ListPendingCommands(ctx, repo); err != nil {
		return err
	}
	for of, at := range f.spots {
		at.pauses = nil
		for _, n := range at.numbers {
			pauses, err := tx.ListPauses(ctx, repo, n)
			if err != nil {
				return err
			}
			at.pauses = append(at.pauses, pauses...)
		}
		if slices.ContainsFunc(said, func(c candidate) bool { return whoseOf(c) == of && c.event.UpdatedAt.After(c.event.CreatedAt) }) {
			if at.hold, err = loadHold(ctx, tx, repo, at.numbers); err != nil {
				return err
			}
		}
		f.spots[of] = at
	}
	for n, pull := range pulls {
		if pull.ID == 0 || !slices.ContainsFunc(said, func(c candidate) bool { return c.event.Number == n && c.event.Review != 0 }) {
			continue
		}
		stored, err := tx.GetReviews(ctx, pull.ID)
		if err != nil {
			return err
		}
		f.fixed[n] = nil
		for _, v := range stored.Verdicts {
			if asksFix(v) && v.Validity != review.TakenBack {
				f.fixed[n] = append(f.fixed[n], v.ReviewID)
			}
		}
	}
	return f.loadOwn(ctx, tx, said)
}

// loadOwn reads what we sent of what is said in our name.
func (f *facts) loadOwn(ctx context.Context, tx *store.Tx, said []candidate) error {
	clear(f.sent)
	for _, c := range said {
		if !slices.Contains(f.ours, c.event.Author.ID) {
			continue
		}
		if _, known := f.sent[c.event.ItemID]; !known && c.event.ItemID != 0 {
			all, err := tx.ListItemActions(ctx, c.event.ItemID)
			if err != nil {
				return err
			}
			f.sent[c.event.ItemID] = all
		}
		if marks, marked := work.ParseMarks(c.event.Body); marked {
			a, known, err := tx.GetAction(ctx, marks.Token)
			if err != nil {
				return err
			}
			if known {
				f.actions[marks.Token] = a
			}
		}
	}
	return nil
}

// partners returns the numbers of the issue and the pull request that an event belongs to, as far
// as both exist.
func (h *reading) partners(ctx context.Context, c candidate) []int {
	n := c.event.Number
	numbers := []int{n}
	if issue, ok := h.adopted[n]; ok && c.pull {
		return append(numbers, issue)
	}
	for pull, issue := range h.adopted {
		if issue == n && !c.pull {
			numbers = append(numbers, pull)
		}
	}
	if id := c.event.ItemID; id != 0 {
		numbers = append(numbers, once(ctx, h, h.rows.numbers, id, func(ctx context.Context, tx *store.Tx) ([]int, error) {
			item, err := tx.GetItem(ctx, id)
			if err != nil {
				return nil, err
			}
			return env.PauseNumbers(ctx, tx, item)
		})...)
	}
	slices.Sort(numbers)
	return slices.Compact(numbers)
}

// atOnce is how many facts are asked for at a time.
const atOnce = 10

// learn reads side by side what a judgement lacks. The error is that of the first event that needs a fact.
func (h *reading) learn(ctx context.Context, f *facts, all []missing) error {
	var reads []func(context.Context) error
	var words []missing
	for _, m := range all {
		switch m.kind {
		case lackStored, lackPin: // in order: a login means the account that spoke first
			if err := h.learnRight(ctx, m.lack); err != nil {
				return m.failed(err)
			}
		case lackWord:
			words = append(words, m)
		default:
			reads = append(reads, func(ctx context.Context) error { return m.failed(h.learnOne(ctx, f, m)) })
		}
	}
	for some := range slices.Chunk(words, github.MaxWords) {
		reads = append(reads, func(ctx context.Context) error {
			nodes := make([]string, len(some))
			for i, m := range some {
				nodes[i] = m.node
			}
			words, err := h.repo.GitHub.Words(ctx, nodes)
			for _, m := range some {
				word, known := words[m.node]
				if !known {
					return m.failed(cmp.Or(err, errors.New("GitHub does not say who edited it last")))
				}
				_ = learned(f, f.words, m.node, word, nil)
			}
			return nil
		})
	}
	for _, err := range github.AtOnce(ctx, atOnce, reads) {
		if err != nil {
			return err
		}
	}
	return nil
}

// failed says on which event an error is.
func (m missing) failed(err error) error {
	if err == nil {
		return nil
	}
	return &unjudged{m.event.Number, m.event.URL, err}
}

// learnOne reads one fact.
func (h *reading) learnOne(ctx context.Context, f *facts, m missing) error {
	hub, repo := h.repo.GitHub, h.row.Current
	switch m.kind { //nolint:exhaustive // the others are about rights
	case lackFormer:
		var former formerVersion
		versions, err := hub.Revisions(ctx, m.node)
		if former.event = brakeAmong(versions, m.event); err == nil && former.event != nil {
			former.known, err = readRows(ctx, h.database, func(ctx context.Context, tx *store.Tx) (bool, error) {
				return tx.HasEvent(ctx, h.row.ID, former.event.Key)
			})
		}
		return learned(f, f.former, m.node, former, err)
	case lackCopies:
		extra, err := actions.ExtraCopies(ctx, actions.Scope{Repo: h.row, GitHub: hub, Accounts: f.ours}, f.actions[m.node])
		return learned(f, f.extra, m.node, extra, err)
	case lackAnswers:
		said, err := h.commentsOf(ctx, m.number, m.since)
		return learned(f, f.said, m.number, said, err)
	case lackReviews:
		all, err := hub.Reviews(ctx, repo, m.number)
		if err != nil && !github.IsStatus(err, 404) {
			return err
		}
		for _, r := range all {
			_ = learned(f, f.reviewStates, r.ID, r.State, nil)
		}
		return learned(f, f.reviewsOf, m.number, true, nil)
	}
	return h.learnRight(ctx, m.lack)
}

// learned adds a fact to those of its kind.
func learned[K comparable, V any](f *facts, all map[K]V, key K, value V, err error) error {
	if err == nil {
		f.mu.Lock()
		defer f.mu.Unlock()
		all[key] = value
	}
	return err
}
