package notice

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/mergexo/gh-mergexo/actions"
	"github.com/mergexo/gh-mergexo/internal/ahead"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// scope is where a repository's notices are sent. None of them is about its branches.
func (p *Notices) scope(r *env.Repo) actions.Scope {
	return actions.Scope{Repo: r.Row, GitHub: r.GitHub, Accounts: p.Accounts.Writers(r.Name.Host)}
}

// beside is for how many notices is looked at a time.
const beside = 8

// foresee begins the looks for the first notices, and asks with them whether the repository
// is the one that it was.
func (p *Notices) foresee(ctx context.Context, r *env.Repo, due []work.Action) {
	if !r.Confirmed(r.GitHub.Now(), env.SameFor) {
		ahead.Begin(ctx, func(ctx context.Context) { _, _ = r.GitHub.Repository(ctx, r.Row.Current) })
	}
	for _, a := range due[:min(len(due), beside)] {
		if env.SpeaksFor(a) == "" {
			actions.Foresee(ctx, p.scope(r), a)
		}
	}
}

// sending is what is sent of a repository's notices in one go.
type sending struct {
	*Notices
	repo *env.Repo
	rep  *env.Report
	end  time.Time

	mu   sync.Mutex
	sent int
	over bool // GitHub takes no more for now
}

// sendDue sends what is due: labels and reactions beside what is written, for neither says
// anything of the other; then the answers to commands, which say what came of both. Each of
// them keeps its order.
func (p *Notices) sendDue(ctx context.Context, r *env.Repo, due []work.Action, rep *env.Report) int {
	s := &sending{Notices: p, repo: r, rep: rep, end: p.Now().Add(noticesLimit)}
	var signs, words, answers []work.Action
	for _, a := range due {
		switch {
		case isSign(a):
			signs = append(signs, a)
		case waitsForOthers(a):
			answers = append(answers, a)
		default:
			words = append(words, a)
		}
	}
	var wg sync.WaitGroup
	wg.Go(func() { s.all(ctx, signs) })
	s.all(ctx, words)
	wg.Wait()
	s.all(ctx, answers)
	return s.sent
}

func (s *sending) all(ctx context.Context, due []work.Action) {
	for _, a := range due {
		if !s.more(ctx) {
			return
		}
		s.one(ctx, a)
	}
}

// more reports whether another one may be sent, and counts it.
func (s *sending) more(ctx context.Context) bool {
	_, halted := s.Dirs.Halted()
	s.mu.Lock()
	defer s.mu.Unlock()
	if halted || s.over || s.sent >= noticesPerPass || s.Now().After(s.end) || ctx.Err() != nil {
		return false
	}
	s.sent++
	return true
}

// unsent takes one off that was counted; over: none is sent after it.
func (s *sending) unsent(over bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sent--
	s.over = s.over || over
}

func (s *sending) one(ctx context.Context, a work.Action) {
	if due, err := s.due(ctx, a); err != nil || !due {
		s.unsent(false)
		return
	}
	applied, err := s.send(ctx, s.repo, a)
	var wait *work.WaitError
	switch {
	case err == nil:
		s.logRedirect(ctx, s.repo, a)
	case ctx.Err() != nil:
		s.unsent(true)
	case errors.As(err, &wait) && applied.NotBefore.After(s.Now()): // its own fate is unclear; the others are not to wait for it
		s.unsent(false)
	case errors.As(err, &wait) && wait.Until.After(s.Now()):
		s.unsent(true)
	default:
		s.noticeFailed(ctx, s.repo, applied, err)
		s.tellUnmade(s.rep, s.repo, applied, err)
		s.unsent(false)
	}
}
