package tell

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/notify"
	"github.com/mergexo/gh-mergexo/internal/testdb"
	"github.com/mergexo/gh-mergexo/internal/testhome"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/news"

	"github.com/mergexo/gh-mergexo/prompts/secrets"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
	"github.com/mergexo/gh-mergexo/tick/folder"
)

var noon = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

// world is a state folder whose passes send messages.
type world struct {
	*testing.T
	dir  string
	now  time.Time
	repo work.Repo

	mu   sync.Mutex
	told []string // target and event of each sent message
	send func(target string) notify.Answer
}

func newWorld(t *testing.T) *world {
	w := &world{T: t, dir: t.TempDir(), now: noon, send: func(string) notify.Answer { return notify.Answer{Fate: notify.Taken} }}
	db := w.open()
	w.update(db, func(tx *store.Tx) (err error) {
		w.repo, err = testdb.Repo(t.Context(), tx, work.RepoName{Host: "github.com", Owner: "octo", Name: "app"})
		return err
	})
	return w
}

func (w *world) open() *store.DB {
	w.Helper()
	db := testdb.Open(w, filepath.Join(w.dir, "state.db"), func() time.Time { return w.now })
	w.Cleanup(func() { _ = db.Close() })
	return db
}

func (w *world) update(db *store.DB, fn func(*store.Tx) error) {
	w.Helper()
	if err := db.Update(w.Context(), fn); err != nil {
		w.Fatal(err)
	}
}

// opens adds a pull request that was opened now.
func (w *world) opens(number int) {
	w.Helper()
	w.now = w.now.Add(time.Minute)
	w.update(w.open(), func(tx *store.Tx) error {
		item, err := tx.AddItem(w.Context(), work.Item{RepoID: w.repo.ID, Number: 100 + number, Flow: work.FlowBugfix, State: work.StateAwaitingFeedback})
		if err != nil {
			return err
		}
		_, err = tx.PutPull(w.Context(), work.PullRequest{RepoID: w.repo.ID, ItemID: item, Number: number, State: work.PullOpen, CreatedAt: w.now})
		return err
	})
}

// teller returns the Notifier of a pass that begins now.
func (w *world) teller(db *store.DB, names ...string) *Notifier {
	return NewNotifier(w.env(db, names...), w.tell)
}

func (w *world) tell(_ context.Context, target string, m notify.Message) notify.Answer {
	w.mu.Lock()
	w.told = append(w.told, target+" "+m.Event)
	w.mu.Unlock()
	return w.send(target)
}

func (w *world) env(db *store.DB, names ...string) *env.Env {
	cfg := &config.Config{Path: "config.toml"}
	for _, name := range names {
		cfg.Notify = append(cfg.Notify, config.Notify{Name: name})
	}
	now := func() time.Time { return w.now }
	return &env.Env{Config: cfg, Store: db, Dirs: folder.Dirs{State: w.dir}, Now: now, Local: now, Log: slog.New(slog.DiscardHandler), Secrets: &secrets.Redactor{}}
}

// pass runs a pass of which only the end matters.
func (w *world) pass(names ...string) {
	w.Helper()
	db := w.open()
	w.ends(w.teller(db, names...), work.PassOK)
	_ = db.Close()
}

func (w *world) ends(t *Notifier, outcome work.PassOutcome) {
	w.Helper()
	if err := t.After(w.Context(), &PassEnd{Report: env.NewReport(w.now), Outcome: outcome}); err != nil {
		w.Error(err)
	}
}

// want checks the messages sent since the last call.
func (w *world) want(want ...string) {
	w.Helper()
	if got, want := strings.Join(w.told, ", "), strings.Join(want, ", "); got != want {
		w.Errorf("told: %s; want: %s", got, want)
	}
	w.told = nil
}

func (w *world) states() (all []string) {
	w.Helper()
	w.update(w.open(), func(tx *store.Tx) error {
		entries, err := tx.ListNews(w.Context(), 100)
		all = nil
		for _, e := range entries {
			all = append(all, fmt.Sprintf("%s %s", e.Target, e.State))
		}
		return err
	})
	return all
}

// Wherever a pass dies around a message, the message is sent at most once. If its send had not
// begun, the next pass sends it.
func TestDeathAroundAMessage(t *testing.T) {
	errDeath := errors.New("death")
	for name, c := range map[string]struct {
		dies  func(w *world, db *store.DB)
		first []string // messages before the death
		then  []string // messages after it
		state string
	}{
		"before it is planned": {dies: func(*world, *store.DB) {}, then: []string{"chat pull_request_opened"}, state: "chat done"},
		"once it is planned": {dies: func(w *world, db *store.DB) {
			w.ends(w.teller(db, "chat"), work.PassCancelled)
		}, then: []string{"chat pull_request_opened"}, state: "chat done"},
		"before it goes out, once that is stored": {dies: func(w *world, db *store.DB) {
			w.ends(w.teller(db, "chat"), work.PassCancelled)
			w.update(db, func(tx *store.Tx) error {
				all, err := tx.ListPlannedNews(w.Context())
				return errors.Join(err, tx.MarkNewsSent(w.Context(), all[0].ID, w.now))
			})
		}, state: "chat unclear"},
		"while it goes out": {dies: func(w *world, db *store.DB) {
			w.send = func(string) notify.Answer { panic(errDeath) }
			tell := w.teller(db, "chat")
			if _, err := tell.plan(w.Context(), nil); err != nil {
				w.Fatal(err)
			}
			all := []news.Entry{}
			w.update(db, func(tx *store.Tx) (err error) { all, err = tx.ListPlannedNews(w.Context()); return err })
			defer func() {
				if recover() != errDeath { //nolint:errorlint // this very one
					w.Error("it did not die")
				}
			}()
			_, _ = tell.sendOne(w.Context(), all[0])
		}, first: []string{"chat pull_request_opened"}, state: "chat unclear"},
		"before what became of it is stored": {dies: func(w *world, db *store.DB) {
			w.send = func(string) notify.Answer { _ = db.Close(); return notify.Answer{Fate: notify.Taken} }
			w.ends(w.teller(db, "chat"), work.PassOK)
		}, first: []string{"chat pull_request_opened"}, state: "chat unclear"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.pass("chat")
			w.opens(1)
			db := w.open()
			c.dies(w, db)
			_ = db.Close()
			w.want(c.first...)
			w.send = func(string) notify.Answer { return notify.Answer{Fate: notify.Taken} }
			w.opens(2)
			for range 3 {
				w.pass("chat")
			}
			w.want(append(c.then, "chat pull_request_opened")...)
			if got := w.states(); len(got) != 2 || got[1] != c.state {
				t.Errorf("%q, want %q", got, c.state)
			}
		})
	}
}

// Passes that end at the same time send each message once.
func TestPassesAtOnce(t *testing.T) {
	w := newWorld(t)
	w.pass("chat")
	for n := range 5 {
		w.opens(n + 1)
	}
	var wg sync.WaitGroup
	for range 8 {
		db := w.open()
		wg.Go(func() { w.ends(w.teller(db, "chat"), work.PassOK) })
	}
	wg.Wait()
	w.pass("chat")
	want := make([]string, 5)
	for i := range want {
		want[i] = "chat pull_request_opened"
	}
	w.want(want...)
}

// A pass sends its limit of messages; the next ones send the rest.
func TestMostOfAPass(t *testing.T) {
	w := newWorld(t)
	w.pass("chat", "mail")
	for n := range 15 {
		w.opens(n + 1)
	}
	w.pass("chat", "mail")
	if len(w.told) != mostAPass {
		t.Errorf("%d messages", len(w.told))
	}
	w.pass("chat", "mail")
	w.pass("chat", "mail")
	if len(w.told) != 30 {
		t.Errorf("%d messages", len(w.told))
	}
}

// A target that cannot be reached delays no other, is not tried for a while, and then gets the
// messages that it missed.
func TestOneThatCannotBeReached(t *testing.T) {
	w := newWorld(t)
	w.pass("chat", "gone")
	w.opens(1)
	w.opens(2)
	w.send = func(target string) notify.Answer {
		return notify.Answer{Fate: map[string]notify.Fate{"chat": notify.Taken, "gone": notify.Unreached}[target], Says: "nobody listens"}
	}
	w.pass("chat", "gone")
	if got := strings.Join(w.told, ", "); strings.Count(got, "chat") != 2 || strings.Count(got, "gone") != 1 {
		t.Errorf("told: %s", got)
	}
	w.told = nil
	w.now = w.now.Add(4 * time.Minute)
	w.pass("chat", "gone")
	w.want()
	w.send = func(string) notify.Answer { return notify.Answer{Fate: notify.Taken} }
	w.now = w.now.Add(2 * time.Minute)
	w.pass("chat", "gone")
	w.want("gone pull_request_opened", "gone pull_request_opened")
}

// A target that the config no longer names gets nothing, not even waiting messages. Named again, it
// gets news from then on.
func TestWhoIsNamedNoMore(t *testing.T) {
	w := newWorld(t)
	w.pass("chat")
	w.opens(1)
	db := w.open()
	w.ends(w.teller(db, "chat"), work.PassCancelled) // planned
	w.pass()
	w.opens(2)
	w.pass()
	w.now = w.now.Add(time.Minute)
	w.pass("chat")
	w.pass("chat")
	w.want()
	if got := w.states(); len(got) != 1 || got[0] != "chat dropped" {
		t.Errorf("%q", got)
	}
	w.opens(3)
	w.pass("chat")
	w.want("chat pull_request_opened")
}

// Sends that are running when a pass ends are ended at the limit, whether they began during the
// turns or after. Messages not begun wait for the next pass.
func TestAPassEndsInTime(t *testing.T) {
	testhome.NotShort(t)
	for _, beside := range []bool{false, true} {
		w := newWorld(t)
		w.pass("chat")
		w.opens(1)
		w.opens(2)
		tell := w.teller(w.open(), "chat")
		tell.past = time.Second
		began := make(chan struct{}, 2)
		tell.send = func(ctx context.Context, _ string, _ notify.Message) notify.Answer {
			began <- struct{}{}
			<-ctx.Done()
			return notify.Answer{Fate: notify.Refused, Says: "it was ended with the pass"}
		}
		if beside {
			tell.Begin(t.Context(), w.now)
			<-began
		}
		ending := time.Now()
		w.ends(tell, work.PassOK)
		if took := time.Since(ending); took > 30*time.Second {
			t.Errorf("it took %s", took)
		}
		if got := strings.Join(w.states(), ", "); got != "chat planned, chat failed" {
			t.Errorf("beside %v: %s", beside, got)
		}
	}
}

// Events during turns are reported during them, once.
func TestBesideTheTurns(t *testing.T) {
	testhome.NotShort(t)
	w := newWorld(t)
	w.pass("chat")
	w.opens(1)
	tell := w.teller(w.open(), "chat")
	tell.Begin(t.Context(), w.now)
	for begin := time.Now(); time.Since(begin) < testhome.Patience(); time.Sleep(10 * time.Millisecond) {
		w.mu.Lock()
		n := len(w.told)
		w.mu.Unlock()
		if n > 0 {
			break
		}
	}
	w.want("chat pull_request_opened")
	w.ends(tell, work.PassOK)
	w.want()
}

// A series of failed passes that lasts longer than messages are kept is reported once, and so is
// its end.
func TestMonthsOfFailuresAreToldOnce(t *testing.T) {
	w := newWorld(t)
	w.pass("chat")
	ends := func(failures int) {
		t.Helper()
		db := w.open()
		if _, err := db.Prune(t.Context(), w.now.AddDate(0, 0, -30)); err != nil {
			t.Fatal(err)
		}
		end := &PassEnd{Report: env.NewReport(w.now), Outcome: work.PassFailed, Passes: work.PassFacts{Last: work.LastPass{At: noon, Failures: failures, GoodAt: noon}}}
		if err := w.teller(db, "chat").After(t.Context(), end); err != nil {
			t.Error(err)
		}
	}
	ends(3)
	w.want("chat pass_failing")
	for failures := 4; failures < 7; failures++ {
		w.now = w.now.AddDate(0, 0, 31)
		ends(failures)
		w.want()
	}
	ends(0)
	w.want("chat pass_recovered")
	w.now = w.now.AddDate(0, 0, 31)
	ends(0)
	w.want()
	if all := w.states(); len(all) != 0 {
		t.Errorf("%q are kept for good", all)
	}
}

// A pull request whose merge was not read at the time is no news later, however recent its last
// comment is.
func TestAnOldMergeIsNoNews(t *testing.T) {
	w := newWorld(t)
	w.pass("chat")
	w.opens(1)
	w.pass("chat")
	w.want("chat pull_request_opened")
	merged := func(end *work.PullEnd) {
		t.Helper()
		w.now = w.now.Add(time.Minute)
		w.update(w.open(), func(tx *store.Tx) error {
			pull, _, err := tx.GetPull(t.Context(), w.repo.ID, 1)
			if err != nil {
				return err
			}
			pull.State, pull.UpdatedAt = work.PullMerged, w.now
			id, err := tx.PutPull(t.Context(), pull)
			if err != nil || end == nil {
				return err
			}
			end.PullID, end.ReadAt = id, w.now
			return tx.PutPullEnd(t.Context(), *end)
		})
		w.pass("chat")
	}
	merged(nil)
	w.want()
	merged(&work.PullEnd{})
	w.want("chat merged")
	merged(&work.PullEnd{})
	w.want()
}
