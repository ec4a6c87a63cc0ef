package pulse

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/github/transport"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// patience is how long the pull requests of a repository wait for those of others that are
// read at the same time: one that GitHub is slow to answer for holds up nobody else.
const patience = 500 * time.Millisecond

// queriesAtOnce bounds the light queries of a host that are under way.
const queriesAtOnce = 4

// Ask sends one light query. The name is of one of the repositories.
type Ask func(ctx context.Context, repo work.RepoName, nodeIDs []string) (github.Sweep, error)

// Sweeper asks about the pull requests of all repositories of a host that are read side by
// side, in as few queries as that takes: they go out once each of those repositories has
// said which it asks about, or has nothing to ask.
type Sweeper struct {
	ask Ask

	mu      sync.Mutex
	reading int // repositories that may still ask
	waiting []*question
	slots   chan struct{}
}

// NewSweeper makes a Sweeper.
func NewSweeper(ask Ask) *Sweeper {
	return &Sweeper{ask: ask, slots: make(chan struct{}, queriesAtOnce)}
}

// question is what one repository asks.
type question struct {
	ctx    context.Context //nolint:containedctx // of whoever waits for the answer
	repo   work.RepoName
	ids    []string
	answer Answer
	done   chan struct{}
}

// Answer is what one repository asked about.
type Answer struct {
	Lights  []github.PullLight
	Missing []string         // node ids that name no pull request that we may see
	Failed  map[string]error // node ids that GitHub cannot answer for
	Viewer  work.Account     // who we are; without an id where nothing was asked
	Err     error            // why some were not asked about
}

// Reader is one repository that is being read.
type Reader struct {
	s    *Sweeper
	once sync.Once
}

// Reader is for one repository.
func (s *Sweeper) Reader() *Reader { return &Reader{s: s} }

// Enter announces that the repository is being read, and may ask later. Leave, or Ask, ends
// that.
func (r *Reader) Enter() {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	r.s.reading++
}

// Leave tells that the repository asks no more.
func (r *Reader) Leave() { r.once.Do(func() { r.s.settle(nil) }) }

// Ask asks about pull requests of a repository, and waits for the answer.
func (r *Reader) Ask(ctx context.Context, repo work.RepoName, ids []string) Answer {
	if len(ids) == 0 {
		r.Leave()
		return Answer{}
	}
	q := &question{ctx: ctx, repo: repo, ids: ids, answer: Answer{Failed: map[string]error{}}, done: make(chan struct{})}
	first := false
	r.once.Do(func() { first = true; r.s.settle(q) })
	if !first { // it is read once more, by another name
		go r.s.send([]*question{q})
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	for {
		select {
		case <-q.done:
			return q.answer
		case <-ctx.Done(): // the others may have more time
			return Answer{Err: ctx.Err()}
		case <-timer.C:
			r.s.flush()
		}
	}
}

// settle takes a question, or none, of a repository that was being read.
func (s *Sweeper) settle(q *question) {
	s.mu.Lock()
	s.reading--
	if q != nil {
		s.waiting = append(s.waiting, q)
	}
	full := 0
	for _, w := range s.waiting {
		full += len(w.ids)
	}
	ready := s.reading <= 0 || full >= github.MaxSweep
	s.mu.Unlock()
	if ready {
		s.flush()
	}
}

// flush sends what waits.
func (s *Sweeper) flush() {
	s.mu.Lock()
	all := s.waiting
	s.waiting = nil
	s.mu.Unlock()
	if len(all) > 0 {
		go s.send(all)
	}
}

// part is what one query asks for one question.
type part struct {
	q   *question
	ids []string
}

// send asks what some questions ask, and answers them.
func (s *Sweeper) send(all []*question) {
	var wg sync.WaitGroup
	for _, parts := range pack(all, github.MaxSweep) {
		s.slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-s.slots }()
			s.query(parts)
		})
	}
	wg.Wait()
	for _, q := range all {
		close(q.done)
	}
}

// pack fills queries of some size.
func pack(all []*question, size int) [][]part {
	var out [][]part
	room := 0
	for _, q := range all {
		for ids := q.ids; len(ids) > 0; {
			if room == 0 {
				out, room = append(out, nil), size
			}
			n := min(room, len(ids))
			out[len(out)-1] = append(out[len(out)-1], part{q, ids[:n]})
			ids, room = ids[n:], room-n
		}
	}
	return out
}

// query asks one query. What fails is asked in halves, so that neither a pull request nor a
// repository that GitHub does not answer for hides the others.
func (s *Sweeper) query(parts []part) {
	var ids []string
	for _, p := range parts {
		ids = append(ids, p.ids...)
	}
	ctx, cancel := longest(parts)
	defer cancel()
	sweep, err := s.ask(ctx, parts[0].q.repo, ids)
	switch {
	case err == nil:
		s.answer(parts, sweep)
	case whole(err), len(parts) == 1 && !github.IsItemError(err):
		s.fail(parts, err)
	case len(parts) > 1:
		s.query(parts[:len(parts)/2])
		s.query(parts[len(parts)/2:])
	case len(ids) == 1:
		s.mu.Lock()
		parts[0].q.answer.Failed[ids[0]] = err
		s.mu.Unlock()
	default:
		half := len(ids) / 2
		s.query([]part{{parts[0].q, ids[:half]}})
		s.query([]part{{parts[0].q, ids[half:]}})
	}
}

// whole reports whether an error is of the host or of the account, and not of something that
// was asked about.
func whole(err error) bool {
	var wait *work.WaitError
	var gone *transport.UnreachableError
	return errors.As(err, &wait) || errors.As(err, &gone) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || github.IsStatus(err, 401)
}

// longest is a context that lasts as long as one of those that wait.
func longest(parts []part) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(parts[0].q.ctx))
	left := len(parts)
	var mu sync.Mutex
	var stops []func() bool
	for _, p := range parts {
		stops = append(stops, context.AfterFunc(p.q.ctx, func() {
			mu.Lock()
			defer mu.Unlock()
			if left--; left == 0 {
				cancel()
			}
		}))
	}
	return ctx, func() {
		for _, stop := range stops {
			stop()
		}
		cancel()
	}
}

func (s *Sweeper) answer(parts []part, sweep github.Sweep) {
	lights := map[string]github.PullLight{}
	for _, l := range sweep.Pulls {
		lights[l.NodeID] = l
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range parts {
		a := &p.q.answer
		a.Viewer = sweep.Viewer
		for _, id := range p.ids {
			if l, ok := lights[id]; ok {
				a.Lights = append(a.Lights, l)
			} else if slices.Contains(sweep.Missing, id) {
				a.Missing = append(a.Missing, id)
			}
		}
	}
}

func (s *Sweeper) fail(parts []part, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range parts {
		why := err
		if over := p.q.ctx.Err(); over != nil {
			why = over
		}
		p.q.answer.Err = github.FirstError([]error{p.q.answer.Err, why})
	}
}
