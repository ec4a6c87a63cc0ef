package ingest

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// patience is how long a repository's question waits for the questions of repositories that are
// read at the same time. A repository whose listings GitHub sends slowly does not delay the rest.
const patience = 500 * time.Millisecond

// queriesAtOnce is how many light queries of a host run at once.
const queriesAtOnce = 4

// Ask sends one light query. repo is any one of the repositories asked about.
type Ask func(ctx context.Context, repo work.RepoName, nodeIDs []string) (github.Sweep, error)

// Sweeper asks about the pull requests of all repositories of a host that are read side by side, in
// as few queries as possible: it sends them once each repository has asked or has left.
type Sweeper struct {
	ask Ask

	mu      sync.Mutex
	reading int // repositories that may still ask
	waiting []*question
	slots   chan struct{}
}

// newSweeper makes a Sweeper.
func newSweeper(ask Ask) *Sweeper {
	return &Sweeper{ask: ask, slots: make(chan struct{}, queriesAtOnce)}
}

// question is the question of one repository.
type question struct {
	ctx    context.Context //nolint:containedctx // of the caller that waits for the answer
	repo   work.RepoName
	ids    []string
	answer PulseAnswer
	done   chan struct{}
}

// PulseAnswer is the answer to one repository's question.
type PulseAnswer struct {
	Lights  []github.PullLight
	Missing []string         // node ids of pull requests that do not exist or that we may not see
	Failed  map[string]error // node ids that GitHub cannot answer for
	Viewer  work.Account     // our account; without an id if nothing was asked
	Err     error            // why some were not asked about
}

// PulseReader is a repository that is being read.
type PulseReader struct {
	s    *Sweeper
	once sync.Once
}

// reader returns a reader for one repository.
func (s *Sweeper) reader() *PulseReader { return &PulseReader{s: s} }

// enter announces that the repository is being read and may ask later. Leave or Ask ends that.
func (r *PulseReader) enter() {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	r.s.reading++
}

// leave announces that the repository does not ask any more.
func (r *PulseReader) leave() { r.once.Do(func() { r.s.settle(nil) }) }

// ask asks about pull requests of a repository and waits for the answer.
func (r *PulseReader) ask(ctx context.Context, repo work.RepoName, ids []string) PulseAnswer {
	if len(ids) == 0 {
		r.leave()
		return PulseAnswer{}
	}
	q := &question{ctx: ctx, repo: repo, ids: ids, answer: PulseAnswer{Failed: map[string]error{}}, done: make(chan struct{})}
	first := false
	r.once.Do(func() { first = true; r.s.settle(q) })
	if !first { // it is read again, under another name
		go r.s.send([]*question{q})
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	for {
		select {
		case <-q.done:
			return q.answer
		case <-ctx.Done(): // the others may have more time
			return PulseAnswer{Err: ctx.Err()}
		case <-timer.C:
			r.s.flush()
		}
	}
}

// settle ends the announcement of a repository, with its question or nil.
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

// flush sends the waiting questions.
func (s *Sweeper) flush() {
	s.mu.Lock()
	all := s.waiting
	s.waiting = nil
	s.mu.Unlock()
	if len(all) > 0 {
		go s.send(all)
	}
}

// part is the part of a question that goes into one query.
type part struct {
	q   *question
	ids []string
}

// send sends some questions and answers them.
func (s *Sweeper) send(all []*question) {
	var wg sync.WaitGroup
	for _, parts := range pack(all, github.MaxSweep) {
		s.slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-s.slots }()
			if err := work.Contain("ask about pull requests", func() error { s.query(parts); return nil }); err != nil {
				s.fail(parts, err)
			}
		})
	}
	wg.Wait()
	for _, q := range all {
		close(q.done)
	}
}

// pack splits questions into queries of at most size ids.
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

// query sends one query. If it fails, it is split in halves, so that one pull request or repository
// that GitHub cannot answer for does not hide the others.
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
	case !github.IsItemError(err):
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

// longest returns a context that lasts until those of all questions have ended.
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
