//go:build unix

package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/mergexo/gh-mergexo/internal/testpg"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// mostTrips is how many round trips to a server an idle pass makes at most, however many repositories are idle. Beside them,
// each of its two connections is opened once.
const mostTrips = 16

// inServer is a world whose database is also on a PostgreSQL server. Passes of either one leave the
// other's as it is.
type inServer struct {
	*world
	at    string // the database's URL
	proxy *testpg.Proxy
}

// newServerWorld is a world in which an idle pass asks which of 10 repositories or more changed. Its
// database is copied to a server.
func newServerWorld(t *testing.T, p program, s shape) *inServer {
	t.Helper()
	ctx := t.Context()
	at, drop, err := testpg.New(ctx)
	must(t, err)
	t.Cleanup(func() { must(t, drop(context.WithoutCancel(ctx))) })
	w := &inServer{world: newManyWorldOf(t, p, s), at: at}
	w.proxy, err = testpg.OpenProxy(at)
	must(t, err)
	t.Cleanup(func() { must(t, w.proxy.Close()) })
	from, err := store.Open(ctx, w.database(), store.Options{Now: w.now})
	must(t, err)
	to, err := store.Open(ctx, at, store.Options{Now: w.now})
	must(t, err)
	must(t, store.Move(ctx, from, to, store.Fleet{}, func(string, bool) {}))
	must(t, from.Close())
	must(t, to.Close())
	return w
}

// use lets passes use the database of a URL; empty: SQLite's file.
func (w *inServer) use(t *testing.T, url string) {
	t.Helper()
	file := filepath.Join(w.dir, "config.toml")
	w.other = file
	if url == "" {
		return
	}
	text, err := os.ReadFile(file)
	must(t, err)
	w.other = filepath.Join(w.dir, "server.toml")
	must(t, os.WriteFile(w.other, []byte(strings.Replace(string(text), "[runtime]\n", fmt.Sprintf("[runtime]\ndatabase = %q\n", url), 1)), 0o600))
}

// trips makes a pass and returns what its round trips to the server were about, without the opening and
// the end of connections, and without what is asked every other second.
func (w *inServer) trips(t *testing.T) (asked []string) {
	t.Helper()
	w.use(t, w.proxy.Through(w.at))
	w.proxy.OnFlight(func(f testpg.Flight) string {
		about := strings.HasPrefix(f.SQL, "[open]") || strings.HasPrefix(f.SQL, "[end]") || strings.HasPrefix(f.SQL, "[password]")
		if !f.Done && !about {
			asked = append(asked, strings.Join(strings.Fields(f.SQL), " "))
		}
		return ""
	})
	began := time.Now()
	w.tickNow(t)
	w.proxy.OnFlight(nil)
	for range int(time.Since(began) / (2 * time.Second)) { // a pass asks whether it has its locks, however slow the machine is
		if i := slices.IndexFunc(asked, func(sql string) bool { return strings.HasPrefix(sql, "SELECT count(*) FROM pg_locks") }); i >= 0 {
			asked = slices.Delete(asked, i, i+1)
		}
	}
	return asked
}

// ageMachine makes the last note of the machine some minutes old.
func (w *inServer) ageMachine(t *testing.T) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), w.at)
	must(t, err)
	_, err = conn.Exec(t.Context(), `UPDATE machines SET began_at = began_at - $1`, work.MachineNoteEvery.Milliseconds())
	must(t, errors.Join(err, conn.Close(t.Context())))
}

// transaction is how many round trips it takes that a machine notes itself, every five minutes.
const transaction = 3

// TestIdlePassOnServer: an idle pass on PostgreSQL makes few round trips, and not more of them where more
// is idle.
func TestIdlePassOnServer(t *testing.T) {
	if !testpg.Set() {
		t.Skipf("no PostgreSQL: run the tests by script/postgres, which sets %s", testpg.Variable)
	}
	var first int
	for i, s := range []shape{{repos: 10, pulls: 2}, {repos: 20, pulls: 4}} {
		w := newServerWorld(t, self(t), s)
		w.trips(t)
		asked := w.trips(t)
		w.ageMachine(t) // the next pass notes it
		noted := w.trips(t)
		t.Logf("%d repositories: %d round trips, %d where the machine is noted", s.repos, len(asked), len(noted))
		if len(asked) > mostTrips || len(noted) > mostTrips+transaction || len(asked) >= len(noted) || i > 0 && len(asked) != first {
			t.Errorf("at most %d and as many as with fewer repositories are wanted:\n%s", mostTrips, strings.Join(noted, "\n"))
		}
		first = len(asked)
	}
}

// statements counts the statements in round trips, and those that begin and end transactions.
func statements(trips []string) (n int) {
	for _, s := range trips {
		n += 1 + strings.Count(s, "; ")
	}
	return n
}

func measureServer(t *testing.T, l *lab) []figure {
	if !testpg.Set() {
		t.Skipf("no PostgreSQL is installed, or %s is not set", testpg.Variable)
	}
	w := newServerWorld(t, l.program(), shape{repos: 10, pulls: 10})
	w.trips(t)
	asked := w.trips(t)
	progress("10 × 10 pull requests are there; %d runs beside each other", l.runs)
	const far = 10 * time.Millisecond // each way
	var file, local, remote []reading
	pass := func(url string, delay time.Duration) reading {
		w.use(t, url)
		w.proxy.Delay(delay)
		return w.measure(t, "/nonexistent", l.binary(), "tick", "--now")
	}
	for range l.runs {
		w.hub.ResetLog()
		file = append(file, pass("", 0))
		local = append(local, pass(w.at, 0))
		remote = append(remote, pass(w.proxy.Through(w.at), far))
	}
	// The limits are the database's: the start of a process and GitHub's answers take as long on SQLite.
	more := func(of []reading) time.Duration { return median(of, wall) - median(file, wall) }
	return []figure{
		count("round trips", len(asked)).atMost(mostTrips), count("statements", statements(asked)),
		milliseconds("wall on SQLite", median(file, wall)), milliseconds("wall on a local socket", median(local, wall)),
		milliseconds("more than on SQLite", more(local)).atMost(50),
		ratio("wall / SQLite", median(local, wall), median(file, wall)),
		ratio("CPU / SQLite", median(local, used), median(file, used)),
		milliseconds("wall, 20 ms away", median(remote, wall)), milliseconds("more than on SQLite, 20 ms away", more(remote)).atMost(600),
	}
}
