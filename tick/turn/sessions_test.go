package turn

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"path/filepath"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/agent"
	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/testdb"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
	"github.com/mergexo/gh-mergexo/tick/folder"
)

const talkedIn = "0199a213-81c0-7800-8aa1-bbab2a035a53"

// accountant is a pass with a turn whose agent resumes a session with 100 tokens counted so far.
func accountant(t *testing.T, b work.Budgets) (*runner, *env.Lease) {
	t.Helper()
	db := testdb.Open(t, filepath.Join(t.TempDir(), "state.db"), func() time.Time { return noon })
	t.Cleanup(func() { _ = db.Close() })
	now := func() time.Time { return noon }
	p := &runner{Env: &env.Env{Config: &config.Config{Runtime: config.Runtime{Budgets: b}}, Store: db, Dirs: folder.Dirs{State: t.TempDir()}, Now: now, Local: now, Log: slog.New(slog.DiscardHandler)}}
	l := &env.Lease{Repo: &env.Repo{}}
	err := db.Update(t.Context(), func(tx *store.Tx) (err error) {
		if l.Repo.Row, err = testdb.Repo(t.Context(), tx, work.RepoName{Host: "github.com", Owner: "octo", Name: "app"}); err != nil {
			return err
		}
		l.Item = work.Item{RepoID: l.Repo.Row.ID, Number: 7, State: work.StateRunning, Since: noon}
		if l.Item.ID, err = tx.AddItem(t.Context(), l.Item); err != nil {
			return err
		}
		l.Turn = work.Turn{RepoID: l.Repo.Row.ID, ItemID: l.Item.ID, Number: 7, Key: "k", Kind: work.KindBugfixStart, Step: work.StepClaimed, Agent: "codex"}
		if l.Turn.ID, err = tx.AddTurn(t.Context(), l.Turn); err != nil {
			return err
		}
		if err := tx.PutSession(t.Context(), store.SessionOf(l.Turn), talkedIn, 0, noon); err != nil {
			return err
		}
		run, err := tx.AddRun(t.Context(), work.Run{Turn: l.Turn.ID, Agent: "codex", Session: talkedIn, Began: noon, Ended: noon})
		if err != nil {
			return err
		}
		return tx.PutSessionUsage(t.Context(), run, work.Usage{InputTokens: 100})
	})
	if err != nil {
		t.Fatal(err)
	}
	p.looks = &lastLook{Env: p.Env}
	return p, l
}

// counted returns the stored token count of the session, and the item's session.
func counted(t *testing.T, p *runner, l *env.Lease) (tokens int64, session string) {
	t.Helper()
	err := p.Store.View(t.Context(), func(tx *store.Tx) error {
		u, err := tx.GetSessionUsage(t.Context(), l.Item.ID, "codex", talkedIn)
		if err != nil {
			return err
		}
		tokens = u.InputTokens
		session, _, _, err = tx.GetSession(t.Context(), store.SessionOf(l.Turn))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return tokens, session
}

var tolds = map[string]struct {
	told     work.Usage
	believed bool
}{
	"honest":         {work.Usage{InputTokens: 50, CostUSD: 1}, true},
	"a forged cost":  {work.Usage{InputTokens: 50, CostUSD: 1e6}, false},
	"not a number":   {work.Usage{InputTokens: 50, CostUSD: math.NaN()}, false},
	"forged tokens":  {work.Usage{InputTokens: 1e11}, false},
	"past its limit": {work.Usage{InputTokens: 1_500_000}, true}, // honest: it was ended a little later
}

var tightly = work.Budgets{CostPerItem: 25, CostPerTurn: 20, TokensPerTurn: 1_000_000}

// TestASessionCountsOnFromWhatIsBelieved: an agent can forge a session's total, and one forged
// total must not make later runs count as zero.
func TestASessionCountsOnFromWhatIsBelieved(t *testing.T) {
	for name, c := range tolds {
		t.Run(name, func(t *testing.T) {
			p, l := accountant(t, tightly)
			run, _, err := p.beginRun(t.Context(), l, talkedIn)
			if err != nil {
				t.Fatal(err)
			}
			total := work.Usage{InputTokens: 100 + c.told.InputTokens}
			believed, err := p.endRun(t.Context(), l, run, agent.Result{Session: talkedIn, Usage: c.told, Counted: total}, nil)
			if err != nil || believed != c.believed {
				t.Fatal(believed, err)
			}
			checkCounted(t, p, l, total, c.believed)
		})
	}
}

func checkCounted(t *testing.T, p *runner, l *env.Lease, total work.Usage, believed bool) {
	t.Helper()
	want, session := total.InputTokens, talkedIn
	if !believed {
		want, session = 100, "" // another turn starts a session that counts from zero
	}
	if tokens, in := counted(t, p, l); tokens != want || in != session {
		t.Errorf("counted %d in session %q, want %d in %q", tokens, in, want, session)
	}
}

// teller is an agent's record of a run.
type teller struct{ used agent.Used }

func (teller) Agent(context.Context, work.Repo, string) (env.Hired, error) {
	return env.Hired{}, nil
}

func (s teller) Used(work.Run, work.Usage, time.Time) (agent.Used, bool) { return s.used, true }

func (teller) EndMarked(context.Context, string) (int, error) { return 0, nil }

func (teller) Inside(context.Context, string) (bool, error) { return false, nil }

// TestADeadRunCountsAtLeastWhatWasNoted: an agent's record can end before what was seen of its run.
func TestADeadRunCountsAtLeastWhatWasNoted(t *testing.T) {
	for name, c := range map[string]struct{ read, want work.UsageSum }{
		"a longer record":                   {work.UsageSum{Usage: work.Usage{InputTokens: 70, OutputTokens: 9, CostUSD: 2}}, work.UsageSum{Usage: work.Usage{InputTokens: 70, OutputTokens: 9, CostUSD: 2}}},
		"the same, summed in another order": {work.UsageSum{Usage: work.Usage{InputTokens: 50, OutputTokens: 5, CostUSD: math.Nextafter(1, 0)}}, work.UsageSum{Usage: work.Usage{InputTokens: 50, OutputTokens: 5, CostUSD: 1}}},
		"a shorter record":                  {work.UsageSum{Usage: work.Usage{InputTokens: 70}}, work.UsageSum{Usage: work.Usage{InputTokens: 70, OutputTokens: 5, CostUSD: 1}, UnknownTokens: 1, UnknownCost: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			p, l := accountant(t, tightly)
			run, _, err := p.beginRun(t.Context(), l, talkedIn)
			if err != nil {
				t.Fatal(err)
			}
			told := teller{agent.Used{Session: talkedIn, Usage: c.read.Usage, Known: work.Known{Tokens: true, Cost: true}}}
			p.Agents, p.Orphans = told, told
			var open []work.Run
			err = p.Store.Update(t.Context(), func(tx *store.Tx) (err error) {
				if err := tx.NoteRun(t.Context(), run.ID, talkedIn, work.Usage{InputTokens: 50, OutputTokens: 5, CostUSD: 1}, work.Known{}); err != nil {
					return err
				}
				open, err = tx.ListOpenRuns(t.Context())
				return err
			})
			if err := errors.Join(err, p.EndDeadRuns(t.Context(), open)); err != nil {
				t.Fatal(err)
			}
			var turn work.Turn
			err = p.Store.View(t.Context(), func(tx *store.Tx) (err error) { turn, err = tx.GetTurn(t.Context(), l.Turn.ID); return err })
			if err != nil || turn.Used != c.want {
				t.Errorf("%+v, %v; want %+v", turn.Used, err, c.want)
			}
		})
	}
}

func TestASessionOfADeadRunCountsOnFromWhatIsBelieved(t *testing.T) {
	for name, c := range tolds {
		t.Run(name, func(t *testing.T) {
			p, l := accountant(t, tightly)
			if _, _, err := p.beginRun(t.Context(), l, talkedIn); err != nil {
				t.Fatal(err)
			}
			total := work.Usage{InputTokens: 100 + c.told.InputTokens}
			told := teller{agent.Used{Session: talkedIn, Usage: c.told, Counted: total}}
			p.Agents, p.Orphans = told, told
			var open []work.Run
			err := p.Store.View(t.Context(), func(tx *store.Tx) (err error) { open, err = tx.ListOpenRuns(t.Context()); return err })
			if err := errors.Join(err, p.EndDeadRuns(t.Context(), open)); err != nil {
				t.Fatal(err)
			}
			checkCounted(t, p, l, total, c.believed)
		})
	}
}

// TestWhenAProviderIsOut: a run that waits for its provider begins or extends an outage, and only an
// answer, be it a refusal, ends it. Another day's outage is another one.
func TestWhenAProviderIsOut(t *testing.T) {
	blocked := func(kind work.ReasonKind) error { return &work.BlockedError{Reason: work.Reason{Kind: kind}} }
	wait := func(kind work.ReasonKind) error {
		return &work.WaitError{Until: noon.Add(5 * time.Minute), Reason: work.Reason{Kind: kind}}
	}
	for name, c := range map[string]struct {
		ended        error
		begins, ends bool
	}{
		"provider":    {wait(work.WhyProvider), true, false},
		"a budget":    {wait(work.WhyDayBudget), false, false},
		"answered":    {nil, false, true},
		"unusable":    {&agent.AnswerError{}, false, true},
		"refused":     {blocked(work.WhyAgentRejected), false, true},
		"declined":    {blocked(work.WhyAgentDeclined), false, true},
		"logged out":  {blocked(work.WhyAgentLoggedOut), false, true},
		"no credit":   {blocked(work.WhyAgentNoCredit), false, true},
		"no model":    {blocked(work.WhyAgentNoModel), false, true},
		"no program":  {blocked(work.WhyAgentMissing), false, false},
		"failed":      {&agent.FailedError{}, false, false},
		"too late":    {&agent.TimeoutError{}, false, false},
		"no session":  {&agent.SessionError{}, false, false},
		"interrupted": {context.Canceled, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			p, l := accountant(t, work.Budgets{})
			since := noon.Add(-time.Hour)
			outage := func(before func(tx *store.Tx) error) (o work.Outage, ok bool) {
				run, _, err := p.beginRun(t.Context(), l, "")
				if err == nil {
					err = p.Store.Update(t.Context(), before)
				}
				if err == nil {
					_, err = p.endRun(t.Context(), l, run, agent.Result{}, c.ended)
				}
				if err == nil {
					err = p.Store.View(t.Context(), func(tx *store.Tx) (err error) {
						o, ok, err = tx.FindOutage(t.Context(), "codex")
						return err
					})
				}
				if err != nil {
					t.Fatal(err)
				}
				return o, ok
			}
			if o, ok := outage(func(*store.Tx) error { return nil }); ok != c.begins || ok && !o.Since.Equal(noon) {
				t.Errorf("without one before: %+v", o)
			}
			for age, kept := range map[time.Duration]bool{time.Hour: true, work.OutageForgotten + time.Hour: false} {
				o, ok := outage(func(tx *store.Tx) error {
					since = noon.Add(-age)
					if err := tx.EndOutage(t.Context(), "codex"); err != nil {
						return err
					}
					return tx.NoteOutage(t.Context(), "codex", since, since)
				})
				if ok == c.ends || ok && o.Since.Equal(since) != (kept || !c.begins) || c.begins && !o.Tried.Equal(noon) {
					t.Errorf("after one of %s ago: %+v, %v", age, o, ok)
				}
			}
		})
	}
}

// A turn that waits for a provider is due when the other agent of the two is tried: the fallback once
// the outage has lasted, the agent itself if the fallback is out, too.
func TestATurnWaitsForWhoeverIsTriedFirst(t *testing.T) {
	at := func(minutes int) time.Time { return noon.Add(time.Duration(minutes) * time.Minute) }
	for name, c := range map[string]struct {
		instead    string
		codex      [2]int // began, and waits until
		waits, due int
		says       string
	}{
		"the agent":                       {"", [2]int{-10, 300}, 300, 20, "claude"},
		"the agent, out for long":         {"", [2]int{-60, 5}, 5, 0, "claude"},
		"the agent, for a moment":         {"", [2]int{0, 5}, 5, 5, "claude"},
		"the fallback":                    {"codex", [2]int{-60, 5}, 300, 30, ""},
		"the fallback, for a moment":      {"codex", [2]int{-60, 5}, 5, 5, ""},
		"the fallback, and the agent too": {"codex", [2]int{-60, 200}, 300, 200, ""},
	} {
		p, l := accountant(t, work.Budgets{})
		p.Config.Agents = map[string]config.Agent{"codex": {Name: "codex", Fallback: "claude"}, "claude": {Name: "claude"}}
		p.Config.Runtime.FallbackAfter = 30 * time.Minute
		if l.Turn.InsteadOf = c.instead; c.instead != "" {
			l.Turn.Agent = "claude"
		}
		err := p.Store.Update(t.Context(), func(tx *store.Tx) error {
			if err := tx.NoteOutage(t.Context(), "codex", at(c.codex[1]), at(c.codex[0])); err != nil {
				return err
			}
			return tx.NoteOutage(t.Context(), "codex", at(c.codex[1]), noon)
		})
		if err != nil {
			t.Fatal(err)
		}
		v := (&Turns{Env: p.Env}).awaitFallback(t.Context(), l, waitsFor(work.Reason{Kind: work.WhyProvider, Who: l.Turn.Agent}, at(c.waits)))
		if !v.until.Equal(at(c.due)) || v.why.Name != c.says {
			t.Errorf("%s: due %s, says %q", name, v.until.Sub(noon), v.why.Name)
		}
	}
}
