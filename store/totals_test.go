package store

import (
	"fmt"
	"math"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/mergexo/gh-mergexo/internal/testhome"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/review"
)

// summed is everything that the totals tell, kept apart as far as they can.
type summed struct {
	Costs    []CostLine
	Turns    []CountLine
	Verdicts []VerdictLine
	Failures []CountLine
	Times    []TimeLine
	Answers  []TimeLine
	All      []CostLine // not kept apart at all
}

func sums(t testing.TB, d *DB, since time.Time) summed {
	t.Helper()
	ctx := t.Context()
	return inTx(t, d, func(tx *Tx) (s summed, err error) {
		read := func(fn func() error) {
			if err == nil {
				err = fn()
			}
		}
		read(func() (err error) {
			s.Costs, err = tx.Costs(ctx, since, ByDay, ByItem, ByKind, ByAgent, ByReviewer, ByMachine)
			return err
		})
		read(func() (err error) {
			s.Turns, err = tx.Turns(ctx, since, ByDay, ByItem, ByKind, ByAgent, ByReviewer, ByMachine, ByOutcome)
			return err
		})
		read(func() (err error) {
			s.Verdicts, err = tx.Verdicts(ctx, since, ByDay, ByRepo, ByReviewer, ByOutcome)
			return err
		})
		read(func() (err error) {
			s.Failures, err = tx.Failures(ctx, since, ByDay, ByRepo, ByKind, ByMachine)
			return err
		})
		read(func() (err error) {
			s.Times, err = tx.Times(ctx, TimeTurn, since, ByDay, ByRepo, ByMachine)
			return err
		})
		read(func() (err error) {
			s.Answers, err = tx.Times(ctx, TimeAnswer, since, ByDay, ByRepo, ByMachine)
			return err
		})
		read(func() (err error) { s.All, err = tx.Costs(ctx, since); return err })
		return s, err
	})
}

// worked is a turn of an item with its runs, comments and a verdict; it ended at a time.
func worked(t testing.TB, d *DB, i work.Item, pull int64, n int, at time.Time, usage work.Usage) {
	t.Helper()
	ctx := t.Context()
	update(t, d, func(tx *Tx) error {
		key := fmt.Sprint(i.ID, "-", n)
		u := work.Turn{
			RepoID: i.RepoID, ItemID: i.ID, Number: i.Number, Kind: work.Kinds()[n%8], Key: key, Step: work.StepClaimed,
			Agent: []string{"codex", "claude"}[n%2], Reviewer: []string{"", "quinn", ""}[n%3], ClaimedAt: at.Add(-time.Duration(n*n) * time.Second),
		}
		id, err := tx.AddTurn(ctx, u)
		if err != nil {
			return err
		}
		for r := range n%3 + 1 {
			run := work.Run{Turn: id, Attempt: r == 0, Agent: u.Agent, Began: u.ClaimedAt, Ended: at, Usage: usage, Known: work.Known{Tokens: r != 2, Cost: r == 0}}
			if _, err := tx.AddRun(ctx, run); err != nil {
				return err
			}
		}
		e := work.Event{RepoID: i.RepoID, ItemID: i.ID, TurnID: id, Number: i.Number, Key: key, Kind: work.EventIssue, CreatedAt: at.Add(-time.Duration(n) * time.Minute)}
		_, addErr := tx.AddEvent(ctx, e)
		_, _, verdictErr := tx.AddVerdict(ctx, review.Verdict{
			PullID: pull, ReviewID: int64(n + 1), Reviewer: u.Reviewer, Human: u.Reviewer == "", Head: key,
			Decision: []review.Decision{review.Approve, review.RequestChanges}[n%2], Count: n, At: at,
		})
		end := []work.Step{work.StepDone, work.StepFailed}[n%2]
		return firstOf(
			addErr, verdictErr, tx.CountFailure(ctx, id, work.WhyFailed),
			tx.FinishTurnEvents(ctx, id, work.OutcomeAnswered, at),
			tx.EndTurn(ctx, id, work.StepClaimed, end, "", at),
		)
	})
}

// Whatever is pruned, and however often: what was done stays what it was.
func TestPropertyTotalsStayWhenRowsGo(t *testing.T) {
	testhome.NotShort(t)
	round := 0
	rapid.Check(t, func(rt *rapid.T) {
		round++
		machines := onMachines(t, "a", "b")
		d := machines[0]
		repo := addRepo(t, d)
		for n := range rapid.IntRange(1, 4).Draw(rt, "items") {
			at := t0.Add(-time.Duration(rapid.IntRange(0, 90*24).Draw(rt, "hours")) * time.Hour)
			i := addItem(t, d, work.Item{RepoID: repo.ID, Number: n + 1, State: rapid.SampledFrom(states).Draw(rt, "state"), Since: at})
			pull := inTx(t, d, func(tx *Tx) (int64, error) {
				return tx.PutPull(t.Context(), work.PullRequest{RepoID: repo.ID, ItemID: i.ID, Number: n + 1000, State: work.PullMerged})
			})
			for k := range rapid.IntRange(0, 5).Draw(rt, "turns") {
				usage := work.Usage{InputTokens: rapid.Int64Range(0, 1<<40).Draw(rt, "in"), OutputTokens: int64(k), CostUSD: float64(rapid.IntRange(0, 64).Draw(rt, "cost")) / 64}
				worked(t, machines[k/2%2], i, pull, k, at.Add(-time.Duration(k)*7*time.Hour), usage)
			}
		}
		since := t0.Add(-time.Duration(rapid.IntRange(0, 100).Draw(rt, "since")) * 24 * time.Hour)
		all, want := sums(t, d, time.Time{}), sums(t, d, since)
		for _, days := range rapid.SliceOfN(rapid.IntRange(0, 95), 1, 4).Draw(rt, "prunes") {
			if _, err := d.Prune(t.Context(), t0.Add(-time.Duration(days)*24*time.Hour)); err != nil {
				rt.Fatal(err)
			}
			for from, was := range map[time.Time]summed{{}: all, since: want} {
				if got := sums(t, d, from); !reflect.DeepEqual(got, was) {
					rt.Fatalf("since %s\ngot  %+v\nwant %+v", from, got, was)
				}
			}
		}
	})
}

func TestTotalsOfWhatIsKnown(t *testing.T) {
	d, ctx := newDB(t), t.Context()
	repo := addRepo(t, d)
	i := addItem(t, d, work.Item{RepoID: repo.ID, Number: 7, Title: "seven", State: work.StateMerged, Since: t0.Add(-3 * month)})
	pull := inTx(t, d, func(tx *Tx) (int64, error) {
		return tx.PutPull(ctx, work.PullRequest{RepoID: repo.ID, ItemID: i.ID, Number: 1007, State: work.PullMerged})
	})
	worked(t, d, i, pull, 5, t0.Add(-2*month), work.Usage{InputTokens: 10, OutputTokens: 2, CostUSD: 0.5})
	worked(t, d, i, pull, 6, t0, work.Usage{InputTokens: 1, OutputTokens: 1, CostUSD: 0.25})
	for round := range 2 {
		equal(t, inTx(t, d, func(tx *Tx) ([]CostLine, error) { return tx.Costs(ctx, time.Time{}, ByItem) }), []CostLine{{
			TotalKey: key(repo, TotalKey{ItemID: i.ID, Number: 7, Title: "seven", Pull: 1007}),
			Runs:     4, Turns: 2, UsageSum: work.UsageSum{Usage: work.Usage{InputTokens: 31, OutputTokens: 7, CostUSD: 1.75}, UnknownTokens: 1, UnknownCost: 2},
		}})
		equal(t, inTx(t, d, func(tx *Tx) ([]CostLine, error) { return tx.Costs(ctx, t0, ByDay) }), []CostLine{{
			TotalKey: TotalKey{Day: "2026-03-01"}, Runs: 1, Turns: 1, UsageSum: work.UsageSum{Usage: work.Usage{InputTokens: 1, OutputTokens: 1, CostUSD: 0.25}},
		}})
		equal(t, inTx(t, d, func(tx *Tx) ([]CountLine, error) { return tx.Turns(ctx, time.Time{}, ByOutcome) }), []CountLine{
			{TotalKey: TotalKey{Outcome: "done"}, Count: 1}, {TotalKey: TotalKey{Outcome: "failed"}, Count: 1},
		})
		equal(t, inTx(t, d, func(tx *Tx) ([]VerdictLine, error) { return tx.Verdicts(ctx, time.Time{}, ByReviewer, ByOutcome) }), []VerdictLine{
			{TotalKey: TotalKey{Outcome: "approve"}, Count: 1, Findings: 6}, {TotalKey: TotalKey{Outcome: "request_changes"}, Count: 1, Findings: 5},
		})
		equal(t, inTx(t, d, func(tx *Tx) ([]TimeLine, error) { return tx.Times(ctx, TimeTurn, time.Time{}) }), []TimeLine{
			{Most: 30 * time.Second, Count: 1, Sum: 25 * time.Second}, {Most: time.Minute, Count: 1, Sum: 36 * time.Second},
		})
		equal(t, inTx(t, d, func(tx *Tx) ([]TimeLine, error) { return tx.Times(ctx, TimeAnswer, time.Time{}, ByRepo) }), []TimeLine{
			{TotalKey: key(repo, TotalKey{}), Most: 5 * time.Minute, Count: 1, Sum: 5 * time.Minute},
			{TotalKey: key(repo, TotalKey{}), Most: 10 * time.Minute, Count: 1, Sum: 6 * time.Minute},
		})
		equal(t, inTx(t, d, func(tx *Tx) ([]CountLine, error) { return tx.Failures(ctx, t0, ByKind) }), []CountLine{{TotalKey: TotalKey{Kind: "failed"}, Count: 2}})
		if n, err := d.Prune(ctx, t0.Add(-month)); (n == 0) != (round == 1) || err != nil {
			t.Fatalf("round %d: %d rows pruned, %v", round, n, err)
		}
	}
}

func key(r work.Repo, k TotalKey) TotalKey {
	k.RepoID, k.Repo = r.ID, r.Name
	return k
}

// Nothing is there: no line, rather than one of zeros.
func TestTotalsOfNothing(t *testing.T) {
	equal(t, sums(t, newDB(t), time.Time{}), summed{})
}

// What took longer than the last bound is in a bucket without one, after all others.
func TestTimesWithoutBound(t *testing.T) {
	d, ctx := newDB(t), t.Context()
	i := addItem(t, d, work.Item{RepoID: addRepo(t, d).ID, Number: 1})
	for n, took := range []time.Duration{48 * time.Hour, 24 * time.Hour, 0} {
		addTurn(t, d, work.Turn{
			RepoID: i.RepoID, ItemID: i.ID, Number: 1, Key: fmt.Sprint(n), Step: work.StepDone, ClaimedAt: t0.Add(-took), EndedAt: t0,
		})
	}
	equal(t, inTx(t, d, func(tx *Tx) ([]TimeLine, error) { return tx.Times(ctx, TimeTurn, t0) }), []TimeLine{
		{Most: 5 * time.Second, Count: 1}, {Most: 24 * time.Hour, Count: 1, Sum: 24 * time.Hour}, {Count: 1, Sum: 48 * time.Hour},
	})
}

// An agent that says it used more than an integer holds spoils no sum, and no pruning.
func TestTotalsThatAreTooLarge(t *testing.T) {
	d, ctx := newDB(t), t.Context()
	i := addItem(t, d, work.Item{RepoID: addRepo(t, d).ID, Number: 1, State: work.StateMerged, Since: t0.Add(-3 * month)})
	pull := inTx(t, d, func(tx *Tx) (int64, error) {
		return tx.PutPull(ctx, work.PullRequest{RepoID: i.RepoID, ItemID: i.ID, Number: 1001, State: work.PullMerged})
	})
	for n := range 3 {
		worked(t, d, i, pull, 3*n, t0.Add(-2*month), work.Usage{InputTokens: math.MaxInt64, OutputTokens: 1})
		if _, err := d.Prune(ctx, t0.Add(-month)); err != nil {
			t.Fatal(err)
		}
		all := inTx(t, d, func(tx *Tx) ([]CostLine, error) { return tx.Costs(ctx, time.Time{}) })
		if len(all) != 1 || all[0].InputTokens != math.MaxInt64 || all[0].OutputTokens != int64(n+1) {
			t.Errorf("after %d: %+v", n+1, all)
		}
	}
}

// A question is no failure.
func TestCountFailure(t *testing.T) {
	d, ctx := newDB(t), t.Context()
	i := addItem(t, d, work.Item{RepoID: addRepo(t, d).ID, Number: 1})
	u := addTurn(t, d, work.Turn{RepoID: i.RepoID, ItemID: i.ID, Number: 1, Key: "k", Step: work.StepClaimed})
	update(t, d, func(tx *Tx) error {
		return firstOf(
			tx.CountFailure(ctx, u.ID, ""), tx.CountFailure(ctx, u.ID, work.WhyQuestion), tx.CountFailure(ctx, u.ID, work.WhyNewComments),
			tx.CountFailure(ctx, u.ID, work.WhyTestsFail), tx.CountFailure(ctx, u.ID, work.WhyTestsFail), tx.CountFailure(ctx, u.ID, work.WhyTriedAgain),
		)
	})
	equal(t, inTx(t, d, func(tx *Tx) ([]CountLine, error) { return tx.Failures(ctx, t0, ByDay, ByKind) }), []CountLine{
		{TotalKey: TotalKey{Day: "2026-03-01", Kind: "tests_fail"}, Count: 2}, {TotalKey: TotalKey{Day: "2026-03-01", Kind: "tried_again"}, Count: 1},
	})
}
