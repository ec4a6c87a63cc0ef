package store

import (
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/news"
)

// onMachines opens one database as several machines do.
func onMachines(t *testing.T, names ...string) (all []*DB) {
	t.Helper()
	at := newAt(t)
	for _, name := range names {
		d, err := Open(t.Context(), at, Options{Now: clock, RunTwice: true, Machine: name, Shared: true})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = d.Close() })
		all = append(all, d)
	}
	return all
}

// What belongs to a machine is seen as its own by that machine only: a story of two on one database,
// with two accounts on GitHub.
func TestWhatBelongsToAMachine(t *testing.T) {
	both, ctx := onMachines(t, "a", "b"), t.Context()
	a, b := both[0], both[1]
	item := addItem(t, a, work.Item{RepoID: addRepo(t, a).ID, Number: 1})
	turn := addTurn(t, a, work.Turn{RepoID: item.RepoID, ItemID: item.ID, Number: 1, Key: "k", Step: work.StepClaimed, Agent: "codex"})
	holds := func(want string) {
		t.Helper()
		got := inTx(t, b, func(tx *Tx) (work.Turn, error) { return tx.GetTurn(ctx, turn.ID) })
		equal(t, got.Machine, want)
	}
	holds("a")
	of := SessionOf(turn)
	session := func(d *DB) string {
		t.Helper()
		return inTx(t, d, func(tx *Tx) (string, error) { s, _, _, err := tx.GetSession(ctx, of); return s, err })
	}
	run := work.Run{Turn: turn.ID, Attempt: true, Agent: "codex", Began: t0}
	run.ID = inTx(t, a, func(tx *Tx) (int64, error) { return tx.BeginRun(ctx, run) })
	run.Session = "s-1"
	update(t, a, func(tx *Tx) error { return tx.EndRun(ctx, run) })
	equal(t, inTx(t, b, func(tx *Tx) (work.Turn, error) { return tx.GetTurn(ctx, turn.ID) }).Machine, "a")

	update(t, b, func(tx *Tx) error { return tx.SaveTurn(ctx, turn) })
	holds("b")
	// b finishes the turn; the session is where it ran.
	update(t, b, func(tx *Tx) error {
		return firstOf(tx.DropOtherSessions(ctx, of), tx.PutSession(ctx, of, "s-1", 0, t0))
	})
	equal(t, []string{session(a), session(b)}, []string{"s-1", ""})
	// A turn on b without the session ends it: it does not know that turn.
	update(t, b, func(tx *Tx) error { return tx.DropOtherSessions(ctx, of) })
	equal(t, []string{session(a), session(b)}, []string{"", ""})

	const host = "github.com"
	update(t, a, func(tx *Tx) error { return tx.SetClock(ctx, host, time.Minute, 7) })
	update(t, b, func(tx *Tx) error { return tx.SetClock(ctx, host, -time.Minute, 8) })
	update(t, b, func(tx *Tx) error { return tx.SetClock(ctx, host, -time.Minute, 0) }) // the account is not known again
	for name, want := range map[string]time.Duration{"a": time.Minute, "b": -time.Minute} {
		equal(t, inTx(t, a, func(tx *Tx) (map[string]time.Duration, error) { return tx.ListClocks(ctx, name) }), map[string]time.Duration{host: want})
	}
	limit := work.Limit{Host: host, Resource: "search", NotBefore: t0, Reason: "reached"}
	rate := work.RateLimit{Host: host, Resource: "core", Remaining: 1, Most: 5, ResetAt: t0, At: t0}
	update(t, a, func(tx *Tx) error {
		return firstOf(tx.SetLimit(ctx, limit), tx.PutRateLimits(ctx, []work.RateLimit{rate}), tx.CountPass(ctx, work.PassOK, time.Second),
			tx.CountRequests(ctx, []work.RequestCount{{Host: host, API: "rest", Status: "200", Count: 3}}))
	})
	seen := func(d *DB) (n [4]int) {
		update(t, d, func(tx *Tx) error {
			limits, e1 := tx.ListLimits(ctx)
			rates, e2 := tx.ListRateLimits(ctx)
			passes, e3 := tx.ListPasses(ctx)
			asked, e4 := tx.ListRequests(ctx)
			n = [4]int{len(limits), len(rates), len(passes), len(asked)}
			return firstOf(e1, e2, e3, e4)
		})
		return n
	}
	equal(t, [][4]int{seen(a), seen(b)}, [][4]int{{1, 1, 1, 1}, {}})
	update(t, b, func(tx *Tx) error { return tx.SetClock(ctx, host, -time.Minute, 7) }) // gh is logged in as the other account
	equal(t, seen(b), [4]int{1, 1, 0, 0})

	failing := news.Entry{Target: "chat", Key: "pass_failing a 0", What: news.PassFailing, State: news.Done, Machine: "a", At: t0}
	update(t, a, func(tx *Tx) error { return tx.AddNews(ctx, failing) })
	for name, want := range map[string]bool{"a": true, "b": false} {
		equal(t, inTx(t, b, func(tx *Tx) (bool, error) { _, told, err := tx.FindFailing(ctx, "chat", name); return told, err }), want)
	}
}

// Machines and what holds for all of them are kept whole.
func TestMachines(t *testing.T) {
	d, ctx := onMachines(t, "a")[0], t.Context()
	var m work.Machine
	fill(t, &m)
	m.SilentAfter = 17 * time.Minute
	list := func() []work.Machine {
		return inTx(t, d, func(tx *Tx) ([]work.Machine, error) { return tx.ListMachines(ctx) })
	}
	for _, change := range []func(){func() {}, func() { m.BeganAt, m.Failures, m.Version = t0, 0, "v9" }} {
		change()
		update(t, d, func(tx *Tx) error { return tx.PutMachine(ctx, m) })
		equal(t, list(), []work.Machine{m})
	}
	equal(t, inTx(t, d, func(tx *Tx) (bool, error) { return tx.ForgetMachine(ctx, "another") }), false)
	equal(t, inTx(t, d, func(tx *Tx) (bool, error) { return tx.ForgetMachine(ctx, m.Name) }), true)
	equal(t, len(list()), 0)

	fleet := func() Fleet { return inTx(t, d, func(tx *Tx) (Fleet, error) { return tx.GetFleet(ctx) }) }
	end := func() bool { return inTx(t, d, func(tx *Tx) (bool, error) { return tx.ResumeFleet(ctx) }) }
	equal(t, fleet(), Fleet{})
	equal(t, end(), false)
	update(t, d, func(tx *Tx) error { return tx.PauseFleet(ctx, t0, "ann", "the bill") })
	update(t, d, func(tx *Tx) error { return tx.PauseFleet(ctx, t0.Add(time.Hour), "bob", "another reason") })
	equal(t, fleet(), Fleet{PausedAt: t0, PausedBy: "ann", PausedOn: "a", Why: "another reason", Known: true})
	equal(t, end(), true)
	equal(t, fleet(), Fleet{Known: true})
}
