package tell

import (
	"context"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/testdb"
	"github.com/mergexo/gh-mergexo/internal/testpg"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
	"github.com/mergexo/gh-mergexo/tick/folder"
)

// hub is a GitHub that has comments alone. It calls looked after each look, before the answer arrives.
type hub struct {
	env.GitHub
	now     func() time.Time
	created *int
	looked  func()
}

func (h *hub) Now() time.Time { return h.now() }

func (h *hub) CommentsOf(context.Context, work.RepoName, int, time.Time) ([]github.Comment, error) {
	if looked := h.looked; looked != nil {
		h.looked = nil
		looked()
	}
	return nil, nil
}

func (h *hub) CreateComment(context.Context, work.RepoName, int, string) (github.Comment, error) {
	*h.created++
	return github.Comment{ID: int64(*h.created)}, nil
}

// rig has two machines that share a database and a GitHub, with one comment to send. Neither sees the
// other's comments, so that each that is sent twice counts twice.
type rig struct {
	*testing.T
	now     time.Time
	created int
	all     [2]*Notices
	repos   [2]*env.Repo
}

func newRig(t *testing.T) *rig {
	r := &rig{T: t, now: time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)}
	now := func() time.Time { return r.now }
	at := filepath.Join(t.TempDir(), "state.db")
	for i := range r.all {
		db := testdb.Open(t, at, now)
		session, err := db.Session(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { session.Close(context.Background()); _ = db.Close() })
		var row work.Repo
		err = db.Update(t.Context(), func(tx *store.Tx) (err error) {
			if row, err = testdb.Repo(t.Context(), tx, work.RepoName{Host: "github.com", Owner: "octo", Name: "app"}); err == nil {
				_, err = tx.AddAction(t.Context(), work.Action{RepoID: row.ID, Kind: work.ActionComment, Need: work.NeedRequired, Number: 1, Token: "hello", Body: "Hello."})
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		r.all[i] = NewNotices(&env.Env{
			Config: &config.Config{Runtime: config.Runtime{Timings: config.Timings{SettleAfter: time.Minute, RetryBase: time.Minute}}}, Store: db, Session: session,
			Dirs: folder.Dirs{State: t.TempDir()}, Now: now, Local: now, Log: slog.New(slog.DiscardHandler),
		})
		r.repos[i] = &env.Repo{Remote: env.Remote{Name: row.Name, GitHub: &hub{now: now, created: &r.created}}, Row: row, Ready: true}
	}
	return r
}

func (r *rig) send(i int) {
	r.repos[i].Confirm(r.now)
	r.all[i].SendNotices(r.Context(), r.repos[i], env.NewReport(r.now))
}

// beside does something while the first machine waits for the answer to its look.
func (r *rig) beside(do func()) { r.repos[0].GitHub.(*hub).looked = do }

// endSession has the server end the first machine's session, and waits until its locks are gone.
func (r *rig) endSession() {
	r.Helper()
	if !testpg.Set() {
		return // a file has no sessions: the second state folder lacks the first one's locks
	}
	_, err := r.all[0].store.SQL.ExecContext(r.Context(), `SELECT pg_terminate_backend(pid, 60000) FROM pg_locks WHERE locktype = 'advisory'
		AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`)
	if err != nil {
		r.Fatal(err)
	}
}

// Machine A has looked for a comment and is about to send it when it loses its session, or sleeps
// until the session is over. B takes over. The comment is sent once, whichever of them comes first.
func TestAMachineThatLostItsSessionSendsNothing(t *testing.T) {
	t.Run("B sends it before A wakes up", func(t *testing.T) {
		r := newRig(t)
		r.beside(func() { r.endSession(); r.send(1) })
		r.send(0)
		r.now = r.now.Add(time.Hour)
		r.send(1)
		if r.created != 1 {
			t.Errorf("%d comments", r.created)
		}
	})
	t.Run("A continues at once", func(t *testing.T) {
		if !testpg.Set() {
			t.Skip("it asks the session")
		}
		r := newRig(t)
		r.beside(r.endSession)
		r.send(0)
		if r.created != 0 {
			t.Error("A sent it without a session")
		}
		r.send(1)
		if r.created != 0 {
			t.Error("B sent it at once, although A may have sent it")
		}
		r.now = r.now.Add(time.Hour)
		r.send(1)
		if r.created != 1 {
			t.Errorf("%d comments", r.created)
		}
	})
	t.Run("A has it", func(t *testing.T) {
		r := newRig(t)
		if testpg.Set() {
			r.beside(func() { r.send(1) })
		}
		r.send(0)
		if r.created != 1 {
			t.Errorf("%d comments", r.created)
		}
	})
}
