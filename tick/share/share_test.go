package share

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/git"
	"github.com/mergexo/gh-mergexo/internal/shard"
	"github.com/mergexo/gh-mergexo/internal/testdb"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
	"github.com/mergexo/gh-mergexo/tick/folder"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// remote is a repository with one ref, which moves only from where it is expected. A push may
// lose its answer, or never arrive.
type remote struct {
	now  time.Time
	at   string
	all  map[string]git.Hold
	lose string // what becomes of the next push: "", "answer" or "push"
}

func (r *remote) push(old, next string) error {
	lost := r.lose
	r.lose = ""
	switch {
	case lost == "push":
		return errors.New("no connection")
	case r.at != old:
		return &git.TakenError{Expected: old, Found: r.at}
	}
	if r.at = next; lost == "answer" {
		return errors.New("the connection broke")
	}
	return nil
}

// mirror is what a machine sees of it.
type mirror struct {
	env.Mirror
	*remote
}

func (m mirror) Ensure(context.Context) error { return nil }

func (m mirror) Journals(context.Context) ([]string, error) { return nil, nil }

func (m mirror) DropTurns(context.Context, ...string) error { return nil }

func (m mirror) ReadHold(context.Context) (git.Hold, string, error) { return m.all[m.at], m.at, nil }

func (m mirror) PutHold(_ context.Context, h git.Hold, old string) (string, error) {
	oid := fmt.Sprint(h)
	m.all[oid] = h
	return oid, m.push(old, oid)
}

func (m mirror) DropHold(_ context.Context, old string) error { return m.push(old, "") }

// clock is the GitHub of a repository that nothing else is asked of.
type clock struct {
	env.GitHub
	*remote
}

func (c clock) Now() time.Time { return c.now }

// pass is a pass of a machine; several of one machine share its database.
type pass struct {
	*Shares
	machine int
	repo    *env.Repo
}

// reads is an ingest that reads nothing.
type reads struct{}

func (reads) AdoptLater(context.Context, *store.Tx, int64) error { return nil }

func (reads) SetRepo(r *env.Repo, row work.Repo) { r.Row = row }

func newPass(t testing.TB, machine int, db *store.DB, at *remote, row work.Repo, s shard.Shard, dir string) *pass {
	e := &env.Env{Store: db, Now: func() time.Time { return at.now }, Shard: s, Dirs: folder.Dirs{State: dir}, Config: &config.Config{}}
	e.Config.Runtime.SettleAfter = time.Minute
	r := &env.Repo{Remote: env.Remote{Name: row.Name, GitHub: clock{remote: at}}, Row: row, Opened: mirror{remote: at}}
	p := &pass{New(e, "machine "+strconv.Itoa(machine), reads{}), machine, r}
	p.begin(t, s)
	return p
}

// begin makes it the next pass of its machine.
func (p *pass) begin(t testing.TB, s shard.Shard) {
	t.Helper()
	p.Shard = s
	if err := p.Store.View(t.Context(), func(tx *store.Tx) error { return p.Load(t.Context(), tx) }); err != nil {
		t.Fatal(err)
	}
}

// machine is a database, and the row of the repository in it.
func machine(t testing.TB) (db *store.DB, row work.Repo, dir string) {
	t.Helper()
	dir = t.TempDir()
	db = testdb.Open(t, filepath.Join(dir, "state.db"), func() time.Time { return noon })
	t.Cleanup(func() { _ = db.Close() })
	err := db.Update(t.Context(), func(tx *store.Tx) error {
		rows, err := tx.OpenRepos(t.Context(), []work.RepoName{{Host: "github.com", Owner: "octo", Name: "app"}})
		row = rows[0]
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	row.NodeID = "R_1"
	return db, row, dir
}

// Whatever two machines do and in which order, with shares that move, pushes that are lost, a
// second pass of one of them and passes that sleep: once one was told that it may write for
// some time, the other one is not told so before that time is over, unless it was given back.
func TestPropertyOneMachineAtATime(t *testing.T) {
	dbs, rows, dirs := [2]*store.DB{}, [2]work.Repo{}, [2]string{}
	for i := range dbs {
		dbs[i], rows[i], dirs[i] = machine(t)
	}
	mine, others := shard.Shard{Index: 1, Of: 2}, shard.Shard{Index: 2, Of: 2}
	if others.Takes("R_1") {
		mine, others = others, mine
	}
	kept := 0
	rapid.Check(t, func(rt *rapid.T) {
		at := &remote{now: noon, all: map[string]git.Hold{}}
		var passes []*pass
		for _, i := range []int{0, 0, 1} {
			err := dbs[i].Update(t.Context(), func(tx *store.Tx) error { return tx.DropShares(t.Context()) })
			if err != nil {
				rt.Fatal(err)
			}
			passes = append(passes, newPass(t, i, dbs[i], at, rows[i], mine, dirs[i]))
		}
		until := [2]time.Time{} // until when each was told that it may write
		for range rapid.IntRange(1, 40).Draw(rt, "steps") {
			p := rapid.SampledFrom(passes).Draw(rt, "pass")
			at.lose = rapid.SampledFrom([]string{"", "", "", "answer", "push"}).Draw(rt, "lost")
			do := rapid.SampledFrom([]string{"take", "keep", "keep", "give back", "give back", "sleep"}).Draw(rt, "do")
			switch do {
			case "take":
				p.begin(t, mine)
				_ = p.Take(t.Context(), p.repo)
			case "keep":
				lasting := rapid.SampledFrom([]time.Duration{env.Shortly, time.Hour}).Draw(rt, "lasting")
				if p.Keep(t.Context(), p.repo, lasting) != nil {
					break
				}
				kept++
				if other := until[1-p.machine]; other.After(at.now) {
					rt.Fatalf("machine %d may write at %s, and the other one until %s", p.machine, at.now, other)
				}
				until[p.machine] = at.now.Add(lasting)
			case "give back":
				p.begin(t, others)
				before := at.at
				_ = p.GiveBack(t.Context(), p.repo) // also where the answer is lost: it was marked before
				if before != "" && at.at == "" {
					until[p.machine] = time.Time{}
				}
			case "sleep":
				at.now = at.now.Add(rapid.SampledFrom([]time.Duration{time.Second, time.Minute, 20 * time.Minute, 2 * time.Hour}).Draw(rt, "time"))
			}
			at.lose = ""
		}
	})
	if kept == 0 {
		t.Error("nobody was ever told that it may write")
	}
}

// A pass that gives a repository back waits for one that sends, and for what that one sent to
// be seen; a pass that began before asks the remote again.
func TestGivenBackWhileAnotherPassSends(t *testing.T) {
	db, row, dir := machine(t)
	at := &remote{now: noon, all: map[string]git.Hold{}}
	mine, others := shard.Shard{Index: 1, Of: 2}, shard.Shard{Index: 2, Of: 2}
	if others.Takes("R_1") {
		mine, others = others, mine
	}
	before := newPass(t, 1, db, at, row, mine, dir)
	if err := before.Take(t.Context(), before.repo); err != nil {
		t.Fatal(err)
	}
	moved := newPass(t, 1, db, at, row, others, dir)
	lock, ok, err := folder.TryLock(before.Dirs.NoticesLock(row))
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	giveBack := func() {
		t.Helper()
		if err := moved.GiveBack(t.Context(), moved.repo); err != nil {
			t.Fatal(err)
		}
	}
	at.now = noon.Add(2 * time.Minute)
	if giveBack(); at.at == "" {
		t.Fatal("it was given back while somebody sent")
	}
	lock.Unlock()
	if giveBack(); at.at == "" {
		t.Fatal("it was given back before what was sent could be seen")
	}
	at.now = at.now.Add(time.Minute)
	if giveBack(); at.at != "" {
		t.Fatal("it was not given back")
	}
	if err := before.Keep(t.Context(), before.repo, time.Second); err == nil {
		t.Error("the pass that began before may write still")
	}
}

// A repository that comes back before it was given back is held for as long as a pass of this
// machine was told that it may write, whoever asks for it, and for however little.
func TestHeldForAsLongAsItWasTold(t *testing.T) {
	mine, others := shard.Shard{Index: 1, Of: 2}, shard.Shard{Index: 2, Of: 2}
	if others.Takes("R_1") {
		mine, others = others, mine
	}
	for name, ask := range map[string]func(*pass) error{
		"taken":        func(p *pass) error { return p.Take(t.Context(), p.repo) },
		"kept at once": func(p *pass) error { return p.Keep(t.Context(), p.repo, time.Second) },
		"kept shortly": func(p *pass) error { return p.Keep(t.Context(), p.repo, env.Shortly) },
	} {
		t.Run(name, func(t *testing.T) {
			db, row, dir := machine(t)
			at := &remote{now: noon, all: map[string]git.Hold{}}
			p := newPass(t, 1, db, at, row, mine, dir)
			if err := errors.Join(p.Take(t.Context(), p.repo), p.Keep(t.Context(), p.repo, time.Hour)); err != nil {
				t.Fatal(err)
			}
			p.begin(t, others)
			if err := p.GiveBack(t.Context(), p.repo); err != nil {
				t.Fatal(err)
			}
			p.begin(t, mine)
			if err := ask(p); err != nil {
				t.Fatal(err)
			}
			if until := at.all[at.at].Until; until.Before(noon.Add(time.Hour)) {
				t.Errorf("it is held until %s only", until)
			}
		})
	}
}
