package tell

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/mergexo/gh-mergexo/actions"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// scope returns where a repository's notices are sent. It has no branches, as notices need none.
func (p *Notices) scope(r *env.Repo) actions.Scope {
	return actions.Scope{Repo: r.Row, GitHub: r.GitHub, Accounts: p.accounts.Writers(r.Name.Host)}
}

// sending is one round of sending a repository's notices.
type sending struct {
	*Notices
	repo  *env.Repo
	looks *actions.Looks // for the first notices
	rep   *env.Report
	end   time.Time

	mu    sync.Mutex
	sent  int
	wrote int  // how much GitHub has taken
	over  bool // GitHub accepts no more for now
}

// sendDue sends due notices. Signs and comments are sent in parallel, because neither depends on
// the other. Answers to commands follow, because they report on both. Each group keeps its order.
func (p *Notices) sendDue(ctx context.Context, r *env.Repo, due []work.Action, looks *actions.Looks, rep *env.Report) *sending {
	s := &sending{Notices: p, repo: r, looks: looks, rep: rep, end: p.now().Add(noticesLimit)}
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
	var wg work.Group
	wg.Go(func() { s.all(ctx, signs) })
	s.all(ctx, words)
	wg.Wait()
	s.all(ctx, answers)
	return s
}

func (s *sending) all(ctx context.Context, due []work.Action) {
	for _, a := range due {
		if !s.more(ctx) {
			return
		}
		s.one(ctx, a)
	}
}

// more reports whether another notice may be sent, and counts it.
func (s *sending) more(ctx context.Context) bool {
	_, halted := s.halted(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	if halted || s.over || s.sent >= noticesPerPass || s.now().After(s.end) || ctx.Err() != nil {
		return false
	}
	s.sent++
	return true
}

// unsent takes a notice off the count. over: send no more.
func (s *sending) unsent(over bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sent--
	s.over = s.over || over
}

func (s *sending) one(ctx context.Context, a work.Action) {
	a, due, err := s.due(ctx, a)
	if err != nil || !due {
		s.unsent(false)
		return
	}
	applied := a
	err = s.ContainItem(ctx, "send a notice on "+work.Ref(s.repo.Name, a.Number), s.repo, a.ItemID, s.rep, func() (err error) {
		applied, err = s.send(ctx, s.repo, s.looks, a)
		return err
	})
	var wait *work.WaitError
	switch {
	case err == nil:
		s.mu.Lock()
		s.wrote++
		s.mu.Unlock()
		s.logRedirect(ctx, s.repo, a)
	case ctx.Err() != nil, errors.Is(err, store.ErrTaken):
		s.unsent(true)
	case errors.As(err, &wait) && applied.NotBefore.After(s.now()): // its result is unclear; the others need not wait
		s.unsent(false)
	case errors.As(err, &wait) && wait.Until.After(s.now()):
		s.unsent(true)
	default:
		s.noticeFailed(ctx, s.repo, applied, err)
		s.warnMissingLabels(s.rep, s.repo, applied, err)
		s.unsent(false)
	}
}
