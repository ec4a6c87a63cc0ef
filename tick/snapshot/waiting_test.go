package snapshot

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/testdb"
	"github.com/mergexo/gh-mergexo/internal/testhome"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/spending"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/change"
	"github.com/mergexo/gh-mergexo/tick/env"
	"github.com/mergexo/gh-mergexo/tick/plan"
)

// With one comment read per item, the plan is the same as with one turn's worth, for any pending
// events: turns with their comments, and texts. 👀 is for the first comments.
func TestThePlanIsTheSameWhereLessIsReadAtFirst(t *testing.T) {
	turns, widened, bare := 0, 0, filepath.Join(t.TempDir(), "state.db")
	if db, err := store.Open(t.Context(), bare, store.Options{Now: func() time.Time { return noon }}); err != nil || db.Close() != nil {
		t.Fatal(err)
	}
	made, err := os.ReadFile(bare)
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		c := *cfg
		c.Runtime.MaxEventsPerTurn = rapid.IntRange(2, 5).Draw(t, "a turn takes")
		c.Runtime.QuietPeriod = time.Duration(rapid.IntRange(0, 8).Draw(t, "quiet minutes")) * time.Minute
		c.Repos = []config.Repo{{Name: app, Labels: cfg.Repos[0].Labels}}
		db, repo := scattered(t, made)
		defer func() { _ = db.Close() }()
		wide := New(&env.Env{Config: &c, Store: db, Now: func() time.Time { return noon }, Day: spending.DayOf(nil, work.Budgets{}, noon)})
		narrow := New(wide.Env)
		narrow.mostWaiting, narrow.page = 1, rapid.IntRange(1, 5).Draw(t, "a page has")
		r := &env.Repo{Remote: env.Remote{Name: app, Settings: c.Repos[0]}, Row: repo}
		want, _ := planned(t, wide, r)
		got, again := planned(t, narrow, r)
		if got, want := told(got), told(want); got != want {
			t.Fatalf("with one comment of each item at first\n%s\nwith all\n%s", got, want)
		}
		turns, widened = turns+len(want.Turns()), widened+again
	})
	if testhome.Long() && (turns == 0 || widened == 0) { // -short has a fifth of the draws, in which it may not happen
		t.Errorf("%d turns were planned, and %d times more was read for them", turns, widened)
	}
}

// again counts how often a page is planned again.
type again struct {
	*plan.Planning
	n int
}

func (a *again) Forget() {
	a.n++
	a.Planning.Forget()
}

// planned plans as a pass does, and returns how often more was read.
func planned(t *rapid.T, p *Loader, r *env.Repo) (plan.Plan, int) {
	made := again{Planning: plan.New()}
	v, err := p.View(t.Context(), r, &made)
	if err != nil {
		t.Fatal(err)
	}
	return made.End(v), made.n
}

// told is the result of a plan, without 👀.
func told(p plan.Plan) string {
	var b strings.Builder
	for _, x := range p.Turns() {
		fmt.Fprintln(&b, "turn", x.Item.Number, x.Kind, x.Since, x.Reason, work.EventIDs(x.Events), work.EventIDs(x.Unheard))
	}
	for _, a := range plan.Of[change.Notice](p) {
		if a.Kind != work.ActionReaction {
			fmt.Fprintln(&b, "notice", a.Kind, a.Number, a.Token)
		}
	}
	for _, l := range p.Lines() {
		switch {
		case l.What == "notice":
		case slices.ContainsFunc(l.Why, func(w work.Reason) bool { return w.Kind == work.WhyQuiet }):
			fmt.Fprintln(&b, l.Number, l.What, work.WhyQuiet) // until when is for people: with less read, the end comes no later
		default:
			fmt.Fprintln(&b, l.Number, l.What, l.Kind, l.Reason, l.Why)
		}
	}
	for _, f := range plan.Of[change.FinishEvents](p) {
		fmt.Fprintln(&b, "finish", slices.Sorted(slices.Values(f.Events)), f.Outcome)
	}
	fmt.Fprintln(&b, plan.Of[change.Move](p), plan.Of[change.ResumeTurn](p), plan.Of[change.RenewBudget](p), plan.Of[change.Command](p), plan.Of[change.CancelTurn](p), plan.Of[change.RetryShelved](p))
	return b.String()
}

// scattered fills a database, in the given file, with some items that have comments from many
// times.
func scattered(t *rapid.T, bare []byte) (*store.DB, work.Repo) {
	dir, err := os.MkdirTemp("", "waiting")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	file := filepath.Join(dir, "state.db")
	if err := os.WriteFile(file, bare, 0o600); err != nil {
		t.Fatal(err)
	}
	db, err := store.Open(t.Context(), file, store.Options{Now: func() time.Time { return noon }})
	if err != nil {
		t.Fatal(err)
	}
	s := sower{}
	err = db.Update(t.Context(), func(tx *store.Tx) (err error) {
		if s.repo, err = testdb.Repo(t.Context(), tx, app); err != nil {
			return err
		}
		s.ctx, s.tx = t.Context(), tx
		for n := range rapid.IntRange(1, 4).Draw(t, "items") {
			s.scatter(t, 10*(n+1))
		}
		return s.err
	})
	if err != nil {
		t.Fatal(err)
	}
	return db, s.repo
}

func (s *sower) scatter(t *rapid.T, number int) {
	state := rapid.SampledFrom([]work.State{work.StateAwaitingFeedback, work.StateAwaitingFeedback, work.StateAwaitingFeedback, work.StateBlocked, work.StatePending}).Draw(t, "state")
	item := s.item(number, work.FlowBugfix, state)
	if state != work.StatePending {
		s.pull(item, number+1, rapid.SampledFrom([]work.PullState{work.PullOpen, work.PullOpen, work.PullOpen, work.PullClosed}).Draw(t, "pull request"))
		pull, _, err := s.tx.GetPull(s.ctx, s.repo.ID, number+1)
		s.do(err)
		s.do(s.tx.PutThreads(s.ctx, pull.ID, []work.Thread{{NodeID: fmt.Sprint("T", number), Top: 1, Resolved: rapid.IntRange(0, 2).Draw(t, "resolved") == 0}}))
	}
	if rapid.IntRange(0, 5).Draw(t, "paused") == 0 {
		s.do(s.tx.BeginPause(s.ctx, work.Pause{RepoID: s.repo.ID, Number: number, Began: noon, By: "bob"}))
	}
	kinds := []work.EventKind{work.EventReview, work.EventIssue, work.EventIssue, work.EventSummary, work.EventSource}
	if rapid.IntRange(0, 3).Draw(t, "facts too") == 0 {
		kinds = append(kinds, work.EventCheck, work.EventCommand, work.EventLabelled)
	}
	for n := range rapid.IntRange(0, 9).Draw(t, "comments") {
		made := noon.Add(-time.Duration(rapid.IntRange(0, 40).Draw(t, "minutes ago")) * time.Minute)
		seen := made.Add(time.Duration(rapid.IntRange(0, 2).Draw(t, "seen late")) * time.Minute)
		e := work.Event{
			RepoID: s.repo.ID, ItemID: item, Number: number + 1, Kind: rapid.SampledFrom(kinds).Draw(t, "kind"), Source: fmt.Sprint(number, n), Hash: "h", Body: "/mergexo bugfix",
			Author: work.Account{ID: 7, Login: "ann"}, CreatedAt: made, UpdatedAt: made, SeenAt: seen,
		}
		if e.Kind == work.EventReview {
			e.ThreadTop = int64(rapid.IntRange(1, 2).Draw(t, "thread"))
		}
		if rapid.IntRange(0, 4).Draw(t, "edited") == 0 {
			e.UpdatedAt = made.Add(time.Duration(rapid.IntRange(0, int(noon.Sub(made)/time.Minute)).Draw(t, "minutes later")) * time.Minute)
			e.SeenAt = e.UpdatedAt
		}
		e.Key = work.EventKey(number, e.Kind, e.Source, e.Hash)
		_, err := s.tx.AddEvent(s.ctx, e)
		s.do(err)
	}
}
