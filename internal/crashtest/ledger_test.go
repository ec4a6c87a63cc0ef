//go:build unix

package crashtest

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib" // to look into a server's database
	_ "modernc.org/sqlite"             // to look into state.db
)

// ledger is what the database says.
type ledger struct {
	open   int             // turns, events and actions that something is still to be done for
	text   string          // items and events as they ended
	stored map[string]bool // turns whose answers it has, and parts of them
}

// partKey names a part of a turn's review.
func partKey(turn string, part int) string { return fmt.Sprintf("%s, part %d", turn, part) }

func (w *world) ledger() (l ledger, err error) {
	l.stored = map[string]bool{}
	path := w.state(database)
	if _, err := os.Stat(path); w.fleet == nil && errors.Is(err, fs.ErrNotExist) {
		l.open = 1
		return l, nil
	}
	db, err := w.openLedger()
	if err != nil {
		return l, err
	}
	defer db.Close()
	if whole, err := migrated(db, w.fleet); err != nil || !whole {
		l.open = 1
		return l, err // killed while it was made
	}
	var b strings.Builder
	for _, ask := range []struct {
		about, query string
		open         bool
	}{
		{"unfinished turn", `SELECT number, kind, step, blocked, wait_reason, last_error FROM turns WHERE step NOT IN ('done', 'superseded', 'failed', 'cancelled') AND blocked = 0`, true},
		{"pending event", `SELECT number, kind, source FROM events WHERE processed_at = 0 AND COALESCE(item_id, 0) NOT IN (SELECT id FROM work_items WHERE state = 'blocked')
			AND COALESCE(item_id, 0) NOT IN (SELECT item_id FROM dependencies WHERE state = 'open') AND NOT EXISTS (SELECT 1 FROM work_items i WHERE i.id = events.item_id AND i.resume_since > 0 AND events.id <= i.event_cursor)`, true},
		{"unsettled action", `SELECT number, kind, state, last_error FROM actions WHERE state IN ('planned', 'sent')
			AND COALESCE(turn_id, 0) NOT IN (SELECT id FROM turns WHERE blocked <> 0)
			AND NOT (kind IN ('merge', 'enqueue') AND item_id IN (SELECT id FROM work_items WHERE state = 'blocked'))`, true},
		{"approved and not merged", `SELECT p.number FROM pull_reviews r JOIN pull_requests p ON p.id = r.pull_id JOIN work_items i ON i.id = p.item_id
			WHERE r.state IN ('approved', 'checking_approval') AND p.state = 'open' AND i.state <> 'blocked'`, w.scenario.merges},
		{"page to be found again", `SELECT url FROM reading WHERE what = 'first look' AND key = 'adopted' AND url <> 'done'`, true},
		{"merge under way", `SELECT number, stage FROM merges WHERE stage IN ('intended', 'queued')`, true},
		{"merge", `SELECT number, method, stage, differs FROM merges ORDER BY id`, false},
		{"review to be decided", `SELECT p.number, r.state, r.look FROM pull_reviews r JOIN pull_requests p ON p.id = r.pull_id
			WHERE r.look > 0 AND (p.state = 'open' OR r.state NOT IN ('', 'merged', 'closed'))`, true},
		{"roadmap under way", `SELECT state FROM roadmaps WHERE state = 'unfolding'`, true},
		{"table to be made", fmt.Sprintf(`SELECT item_id FROM roadmaps WHERE table_at BETWEEN 1 AND %d`, w.now().UnixMilli()), true},
		{"roadmap", `SELECT state, revision FROM roadmaps ORDER BY item_id`, false},
		{"node", `SELECT node, step, number FROM roadmap_nodes ORDER BY item_id, node`, false},
		{"item", `SELECT number, flow, state, branch, reason FROM work_items ORDER BY number, id`, false},
		{"verdict", `SELECT p.number, v.reviewer, v.epoch, v.cycle, v.decision, v.validity, v.findings FROM reviews v JOIN pull_requests p ON p.id = v.pull_id ORDER BY v.id`, false},
		{"fix", `SELECT p.number, f.reviewer, f.epoch, f.cycle, f.outcome FROM fixes f JOIN pull_requests p ON p.id = f.pull_id ORDER BY f.epoch, f.cycle`, false},
		{"reviews", `SELECT p.number, r.state, r.reviewer, r.epoch, r.cycle FROM pull_reviews r JOIN pull_requests p ON p.id = r.pull_id WHERE r.state <> ''`, false},
		{"event", `SELECT number, kind, CASE WHEN outcome = 'ignored: our own' OR kind IN ('closed', 'merged') THEN '' WHEN kind = 'review_due' THEN substr(source, 1, length(source) - 41)
			WHEN kind = 'fix_due' THEN ltrim(source, '0123456789') ELSE source END, CASE WHEN outcome LIKE 'void: %' THEN 'void' ELSE outcome END FROM events WHERE kind NOT IN ('head', 'check', 'conflict')`, false},
	} {
		found, err := rows(db, ask.query)
		if err != nil {
			return l, err
		}
		for _, line := range found {
			fmt.Fprintf(&b, "%s %s\n", ask.about, line)
		}
		if ask.open {
			l.open += len(found)
		}
	}
	l.text = w.numbered(w.byTitle(b.String()))
	steps, err := rows(db, `SELECT turn_key FROM turns WHERE step <> 'claimed'`)
	for _, key := range steps {
		l.stored[key] = true
	}
	if err != nil || !w.scenario.large {
		return l, err
	}
	parts, err := rows(db, `SELECT turn_key, request FROM turns WHERE request IS NOT NULL`)
	for _, row := range parts {
		key, request, _ := strings.Cut(row, " ")
		for _, part := range storedParts([]byte(request)) {
			l.stored[partKey(key, part)] = true
		}
	}
	return l, err
}

// numbered does for the database's lines what named does for the hub's.
func (w *world) numbered(text string) string {
	for _, p := range w.repo.Pulls() {
		re := regexp.MustCompile(fmt.Sprintf(`(?m)^([a-z ]+) %d `, p.Number))
		text = re.ReplaceAllString(text, "$1 <"+p.Head+"> ")
	}
	lines := slices.Collect(strings.Lines(text))
	slices.Sort(lines)
	return strings.Join(lines, "")
}

// rows gives what a query finds, each row on one line.
func rows(db *sql.DB, query string) (all []string, err error) {
	found, err := db.Query(query)
	if err != nil {
		return nil, err
	}
	defer found.Close()
	columns, err := found.Columns()
	if err != nil {
		return nil, err
	}
	for found.Next() {
		cells, into := make([]sql.NullString, len(columns)), make([]any, len(columns))
		for i := range cells {
			into[i] = &cells[i]
		}
		if err := found.Scan(into...); err != nil {
			return nil, err
		}
		row := make([]string, len(cells))
		for i, c := range cells {
			row[i] = reasonIn(c.String)
		}
		all = append(all, strings.Join(row, " "))
	}
	return all, found.Err()
}

// reasonIn is what a reason says, stored as an object; any other text as it is.
func reasonIn(cell string) string {
	var reason struct{ Kind, Text string }
	if json.Unmarshal([]byte(cell), &reason) != nil || reason.Kind == "" {
		return cell
	}
	return reason.Kind + " " + reason.Text
}

// lost says which runs' answers are nowhere now: no row has them.
func (w *world) lost() (map[string]int, error) {
	l, err := w.ledger()
	if err != nil {
		return nil, err
	}
	lost, heard := map[string]int{}, w.heard()
	w.rig.mu.Lock()
	defer w.rig.mu.Unlock()
	from := w.before // of earlier ones the effects are there
	if w.scenario.parked {
		from = 0
	}
	for i := range w.rig.runs[from:] {
		r := &w.rig.runs[from+i]
		stored := l.stored[r.turn] || l.stored[partKey(r.turn, r.part)] || r.kind == setupRun && w.keptSetup() != ""
		if !stored && !r.lost {
			r.lost, r.heard = true, heard[from+i]
			lost[w.byTitle(r.String())]++
		}
	}
	return lost, err
}

// sound checks the database file, when there is one.
func (w *world) sound() error {
	path := w.state(database)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	db, err := w.openLedger()
	if err != nil {
		return err
	}
	defer db.Close()
	found, err := rows(db, "PRAGMA integrity_check")
	if err == nil && !slices.Equal(found, []string{"ok"}) {
		err = fmt.Errorf("the database is damaged: %s", strings.Join(found, "; "))
	}
	return err
}

// newest is the number of the last migration that the program has.
var newest = sync.OnceValues(func() (string, error) {
	files, err := filepath.Glob(filepath.Join("..", "..", "store", "migrations", "*.sql"))
	if err != nil || len(files) == 0 {
		return "", fmt.Errorf("no migrations are found: %w", err)
	}
	number, _, _ := strings.Cut(filepath.Base(files[len(files)-1]), "_") // they are in order
	return strings.TrimLeft(number, "0"), nil
})

// migrated reports whether a database was made to its end: each migration is a transaction
// of its own, and a kill may come between any two.
func migrated(db *sql.DB, on *fleet) (bool, error) {
	tables := `SELECT 1 FROM sqlite_schema WHERE name = 'goose_db_version'`
	if on != nil {
		tables = `SELECT 1 FROM pg_tables WHERE tablename = 'goose_db_version'`
	}
	if found, err := rows(db, tables); err != nil || len(found) == 0 {
		return false, err
	}
	last, err := newest()
	if err != nil {
		return false, err
	}
	at, err := rows(db, `SELECT MAX(version_id) FROM goose_db_version WHERE is_applied`)
	return err == nil && slices.Equal(at, []string{last}), err
}

// A database whose making was cut between any two migrations is looked at no further.
func TestADatabaseIsLookedAtOnceItIsMade(t *testing.T) {
	db, err := sql.Open("sqlite", filepath.Join(t.TempDir(), "state.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	last, err := newest()
	if err != nil {
		t.Fatal(err)
	}
	number, err := strconv.Atoi(last)
	if err != nil {
		t.Fatal(err)
	}
	whole := func(want bool) {
		t.Helper()
		if got, err := migrated(db, nil); err != nil || got != want {
			t.Errorf("it is made: %v, %v; want %v", got, err, want)
		}
	}
	whole(false)
	if _, err := db.ExecContext(t.Context(), `CREATE TABLE goose_db_version (version_id INTEGER, is_applied INTEGER)`); err != nil {
		t.Fatal(err)
	}
	for n := range number + 1 {
		whole(false)
		if _, err := db.ExecContext(t.Context(), `INSERT INTO goose_db_version VALUES (?, 1)`, n); err != nil {
			t.Fatal(err)
		}
	}
	whole(true)
}

// openLedger opens the database for looking.
func (w *world) openLedger() (*sql.DB, error) {
	if w.fleet != nil {
		return sql.Open("pgx", w.fleet.url())
	}
	q := url.Values{"mode": {"ro"}, "_pragma": {"busy_timeout(20000)"}}
	return sql.Open("sqlite", (&url.URL{Scheme: "file", Path: w.state(database), RawQuery: q.Encode()}).String())
}
