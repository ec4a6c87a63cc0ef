package turn

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/agent"
	"github.com/mergexo/gh-mergexo/internal/git"
	"github.com/mergexo/gh-mergexo/internal/github/transport"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
	"github.com/mergexo/gh-mergexo/tick/folder"
)

// TestARunThatReportsNothingIsUnknown: only a run that its provider refused, or that did not start, used
// nothing. Of every other run, what it does not report is unknown, and it is not given back.
func TestARunThatReportsNothingIsUnknown(t *testing.T) {
	blocked := func(kind work.ReasonKind) error { return &work.BlockedError{Reason: work.Reason{Kind: kind}} }
	for name, c := range map[string]struct {
		ended   error
		nothing bool
	}{
		"answered":        {nil, false},
		"failed":          {&agent.FailedError{}, false},
		"unusable":        {&agent.AnswerError{}, false},
		"too late":        {&agent.TimeoutError{}, false},
		"too large":       {&agent.LimitError{}, false},
		"interrupted":     {context.Canceled, false},
		"cancelled":       {&work.CancelledError{}, false},
		"superseded":      {&work.SupersededError{}, false},
		"something else":  {errors.New("x"), false},
		"the model no":    {blocked(work.WhyAgentDeclined), false},
		"its own limit":   {blocked(work.WhyAgentLimit), false},
		"provider's wait": {&work.WaitError{}, true},
		"no session":      {&agent.SessionError{}, true},
		"logged out":      {blocked(work.WhyAgentLoggedOut), true},
		"no credit":       {blocked(work.WhyAgentNoCredit), true},
		"no model":        {blocked(work.WhyAgentNoModel), true},
		"no program":      {blocked(work.WhyAgentMissing), true},
	} {
		t.Run(name, func(t *testing.T) {
			p, l := accountant(t, work.Budgets{CostPerItem: 25})
			run, _, err := p.beginRun(t.Context(), l, "")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := p.endRun(t.Context(), l, run, agent.Result{}, c.ended); err != nil {
				t.Fatal(err)
			}
			want := work.UsageSum{UnknownTokens: 1, UnknownCost: 1}
			if c.nothing {
				want = work.UsageSum{}
			}
			if l.Turn.Used != want || l.Used == c.nothing {
				t.Errorf("used %+v, paid %v", l.Turn.Used, l.Used)
			}
		})
	}
}

// TestUnknownCostIsToldOnce: a budget of cost does not hold for an agent that tells none, and people hear it once,
// as long as that lasts. A run that was cut short, or that nobody paid for, says nothing about its agent; one that
// met a limit does if no other run told.
func TestUnknownCostIsToldOnce(t *testing.T) {
	told, untold := work.Known{Tokens: true, Cost: true}, work.Known{Tokens: true}
	wrong, late := &agent.AnswerError{}, &agent.TimeoutError{}
	type run struct {
		ended error
		known work.Known
		warns bool
	}
	for name, runs := range map[string][]run{
		"wrong answers":      {{wrong, untold, true}, {wrong, untold, false}, {nil, untold, false}},
		"always too late":    {{late, untold, true}, {&agent.LimitError{}, untold, false}, {wrong, untold, false}},
		"once too late":      {{nil, told, false}, {late, untold, false}, {nil, untold, true}},
		"interrupted":        {{context.Canceled, untold, false}, {nil, untold, true}},
		"not paid":           {{&work.WaitError{}, untold, false}, {nil, untold, true}},
		"now and then":       {{nil, untold, true}, {nil, told, false}, {nil, untold, false}},
		"told, then no more": {{nil, told, false}, {nil, untold, true}, {nil, untold, false}},
	} {
		t.Run(name, func(t *testing.T) {
			p, l := accountant(t, work.Budgets{CostPerItem: 25})
			for i, r := range runs {
				l.Warning = ""
				run, _, err := p.beginRun(t.Context(), l, "")
				if err != nil {
					t.Fatal(err)
				}
				if _, err := p.endRun(t.Context(), l, run, agent.Result{Usage: work.Usage{OutputTokens: 7}, Known: r.known}, r.ended); err != nil {
					t.Fatal(err)
				}
				if warns := l.Warning != ""; warns != r.warns {
					t.Errorf("run %d: warns %v: %q", i, warns, l.Warning)
				}
			}
		})
	}
}

// TestWhatWasPaidForIsAnAttempt: the attempt of a run that ends with any error counts if it cost tokens, and
// the turn stops after the last one. An error that only waits and cost nothing counts as none, for ever.
func TestWhatWasPaidForIsAnAttempt(t *testing.T) {
	blocked := func(kind work.ReasonKind) error { return &work.BlockedError{Reason: work.Reason{Kind: kind}} }
	const (
		waits = iota // free: no attempt; paid: one
		fails        // an attempt, free or paid
		stops        // it ends or blocks the turn at once
		ends         // no failure: a person ended the run
	)
	for name, c := range map[string]struct {
		ended error
		how   int
	}{
		"provider":        {&work.WaitError{Until: noon.Add(time.Hour), Reason: work.Reason{Kind: work.WhyProvider}}, waits},
		"a budget":        {&work.WaitError{Reason: work.Reason{Kind: work.WhyDayBudget}}, waits},
		"GitHub's limit":  {&work.WaitError{Reason: work.Reason{Kind: work.WhyGitHubLimit}}, waits},
		"the machine":     {syscall.ENOSPC, waits},
		"git's network":   {&git.NetworkError{}, waits},
		"GitHub offline":  {&transport.UnreachableError{Err: errors.New("x")}, waits},
		"failed":          {&agent.FailedError{}, fails},
		"unusable":        {&agent.AnswerError{}, fails},
		"too late":        {&agent.TimeoutError{}, fails},
		"too large":       {&agent.LimitError{}, fails},
		"session":         {&agent.SessionError{}, fails},
		"something else":  {errors.New("x"), fails},
		"pushed in vain":  {&git.RejectedError{}, stops},
		"no access":       {&git.AccessError{}, stops},
		"not signed":      {&git.SigningError{}, stops},
		"cancelled":       {&work.CancelledError{}, stops},
		"superseded":      {&work.SupersededError{}, stops},
		"logged out":      {blocked(work.WhyAgentLoggedOut), waits},
		"request refused": {blocked(work.WhyAgentRejected), stops},
		"interrupted":     {context.Canceled, fails}, // as of a killed pass
		"all paused":      {&folder.HaltedError{}, ends},
	} {
		for _, paid := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, paid %v", name, paid), func(t *testing.T) {
				r, l := accountant(t, work.Budgets{})
				p := &Turns{Env: r.Env}
				used := work.Usage{}
				if paid {
					used = work.Usage{OutputTokens: 7}
				}
				for n := 1; n <= 2*work.MaxAttempts; n++ {
					l.Attempted, l.Used, l.BegunRuns = false, false, nil
					run, _, err := r.beginRun(t.Context(), l, "")
					if err != nil {
						t.Fatal(err)
					}
					if _, err := r.endRun(t.Context(), l, run, agent.Result{Usage: used, Known: work.Known{Tokens: true, Cost: true}}, c.ended); err != nil {
						t.Fatal(err)
					}
					v := p.verdict(l, c.ended)
					if c.how == stops {
						if v.kind == env.VerdictWait || v.kind == env.VerdictRetry {
							t.Errorf("%+v", v)
						}
						return
					}
					if last := n == work.MaxAttempts && (c.how == fails && v.kind != env.VerdictInterrupted || c.how == waits && paid); last {
						if v.kind != env.VerdictBlocked || v.why.Count != n {
							t.Errorf("after %d attempts: %+v", n, v)
						}
						return
					}
					if v.kind == env.VerdictBlocked {
						t.Fatalf("after %d: %+v", n, v)
					}
					if v.kind == env.VerdictInterrupted { // nothing is stored: the attempt was counted before the run
						return
					}
					for _, made := range p.deferred(l, v, c.ended) {
						if err := p.apply(t.Context(), l, made); err != nil {
							t.Fatal(err)
						}
					}
					want := n
					if c.how == ends || c.how == waits && !paid {
						want = 0
					}
					if l.Turn = turnNow(t, p, l); l.Turn.Attempts != want {
						t.Fatalf("%d attempts after %d runs, want %d", l.Turn.Attempts, n, want)
					}
				}
				if c.how == fails || c.how == waits && paid {
					t.Error("it never stops")
				}
			})
		}
	}
}

// turnNow returns the stored turn.
func turnNow(t *testing.T, p *Turns, l *env.Lease) (u work.Turn) {
	t.Helper()
	err := p.Store.View(t.Context(), func(tx *store.Tx) (err error) {
		u, err = tx.GetTurn(t.Context(), l.Turn.ID)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return u
}
