//go:build unix

package crashtest

import (
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	_ "modernc.org/sqlite" // to look into state.db
)

// ended is how a run ended, without ids, times and what else differs from run
// to run though nothing is different.
type ended struct {
	hub     string         // all that is to be seen on GitHub
	commits string         // every branch's commits, with their changes
	ledger  string         // what the database says of items and events
	runs    map[string]int // of the agent, by what they were for
}

var (
	hexes       = regexp.MustCompile(`\b[0-9a-f]{40,64}\b`)
	trees       = regexp.MustCompile(`\btree [0-9a-f?]+`)
	wordings    = regexp.MustCompile(` \(said in run \d+\)`)
	stamps      = regexp.MustCompile(`\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d\S*`)
	indexes     = regexp.MustCompile(`(?m)^index .*\n`)
	branchLines = regexp.MustCompile(`(?m)^branch .*\n`)
	branchNames = regexp.MustCompile(`(agent/[a-z]+/\d+-[a-z-]*[a-z])-\d+\b`)
	// eyes and the announcement on the issue are courtesies: refused once, or
	// forgotten with the database, they are given up.
	courtesies = regexp.MustCompile(`(?m)^ +reactions operator:eyes\n|^  comment by operator\n    \| Opened #.*\n(    \|.*\n)*`)
)

// look reads the end state.
func (w *world) look() (e ended, err error) {
	e.hub = w.named(wordings.ReplaceAllString(trees.ReplaceAllString(w.hub.Dump(hexes), "tree …"), ""))
	if e.commits, err = w.history(); err != nil {
		return e, err
	}
	l, err := w.ledger()
	if err != nil {
		return e, err
	}
	e.ledger = l.text
	e.runs = map[string]int{}
	w.rig.mu.Lock()
	defer w.rig.mu.Unlock()
	for _, r := range w.rig.runs {
		e.runs[r.String()]++
	}
	return e, nil
}

// named calls pull requests by their branches: of two that are opened side by
// side either may come first. Blocks are sorted for the same reason.
func (w *world) named(text string) string {
	for _, p := range w.repo.Pulls() {
		for _, word := range []string{"pull ", "#"} {
			re := regexp.MustCompile(fmt.Sprintf(`%s%d\b`, word, p.Number))
			text = re.ReplaceAllString(text, word+"<"+p.Head+">")
		}
	}
	var blocks []string
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, " ") && len(blocks) > 0 {
			blocks[len(blocks)-1] += line
			continue
		}
		blocks = append(blocks, line)
	}
	slices.Sort(blocks)
	return strings.Join(blocks, "")
}

// history is every branch's commits with what they change.
func (w *world) history() (string, error) {
	var b strings.Builder
	for _, branch := range slices.Sorted(maps.Keys(w.repo.Branches())) {
		c := exec.Command(w.programs.git, "-C", w.repo.GitDir(), "log", "-p", "--no-color", "--format=commit by %an: %B", branch)
		out, err := c.Output()
		if err != nil {
			return "", fmt.Errorf("read the commits of %s: %w", branch, err)
		}
		text := indexes.ReplaceAllString(string(out), "")
		text = stamps.ReplaceAllString(hexes.ReplaceAllString(text, "…"), "…")
		fmt.Fprintf(&b, "branch %s\n%s", branch, text)
	}
	return b.String(), nil
}

// compare says in which way an end state differs from the one of a run that
// nothing happened to, after something happened to this one. lost are the runs
// whose answer could not be stored.
func (e ended) compare(want ended, p point, lost map[string]int) error {
	var errs []error
	sameLedger := p.gone == "" && !p.lag && (p.act == actKill || p.act == actMeet)
	switch {
	case p.act == actRefuse && p.when == before, p.gone == "state.db":
		e.hub, want.hub = courtesies.ReplaceAllString(e.hub, ""), courtesies.ReplaceAllString(want.hub, "")
	case p.gone == ".":
		// Without the mirror the agent is paid again and works again: no reply
		// and no pull request comes twice, and that is all that is promised.
		e.hub, want.hub, e.commits = promised(e.hub), promised(want.hub), want.commits
	}
	if e.hub != want.hub {
		errs = append(errs, fmt.Errorf("what is on GitHub differs:\n%s", diff(want.hub, e.hub)))
	}
	if e.commits != want.commits {
		errs = append(errs, fmt.Errorf("the commits differ:\n%s", diff(want.commits, e.commits)))
	}
	if sameLedger && e.ledger != want.ledger {
		errs = append(errs, fmt.Errorf("the database differs:\n%s", diff(want.ledger, e.ledger)))
	}
	for what, n := range e.runs {
		if n > want.runs[what]+lost[what] {
			errs = append(errs, fmt.Errorf("the agent ran %d times for %s, not %d, and %d answers were lost", n, what, want.runs[what], lost[what]))
		}
	}
	for what, n := range want.runs {
		if e.runs[what] < n {
			errs = append(errs, fmt.Errorf("the agent ran %d times for %s, not %d", e.runs[what], what, n))
		}
	}
	return errors.Join(errs...)
}

// promised is what is left of GitHub's state when branches and courtesies do
// not count.
func promised(hub string) string {
	hub = branchLines.ReplaceAllString(courtesies.ReplaceAllString(hub, ""), "")
	return branchNames.ReplaceAllString(hub, "$1")
}

// diff shows the lines that only one of two texts has.
func diff(want, got string) string {
	count := map[string]int{}
	for line := range strings.Lines(want) {
		count[line]++
	}
	var b strings.Builder
	for line := range strings.Lines(got) {
		if count[line]--; count[line] < 0 {
			b.WriteString("+" + line)
		}
	}
	for line := range strings.Lines(want) {
		if count[line] > 0 {
			count[line]--
			b.WriteString("-" + line)
		}
	}
	if b.Len() == 0 {
		return "the order of lines:\n" + got
	}
	return b.String()
}

// ledger is what the database says.
type ledger struct {
	open   int    // turns, events and actions that something is still to be done for
	text   string // items and events as they ended
	stored map[string]bool
}

func (w *world) ledger() (l ledger, err error) {
	l.stored = map[string]bool{}
	path := w.path("state", "state.db")
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		l.open = 1
		return l, nil
	}
	q := url.Values{"mode": {"ro"}, "_pragma": {"busy_timeout(20000)"}}
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: path, RawQuery: q.Encode()}).String())
	if err != nil {
		return l, err
	}
	defer db.Close()
	if found, err := rows(db, `SELECT 1 FROM sqlite_schema WHERE name = 'history'`); err != nil || len(found) == 0 {
		l.open = 1
		return l, err // killed while it was made
	}
	var b strings.Builder
	for _, ask := range []struct {
		about, query string
		open         bool
	}{
		{"unfinished turn", `SELECT number, kind, step, blocked, wait_reason, last_error FROM turns WHERE step NOT IN ('done', 'superseded', 'failed', 'cancelled')`, true},
		{"pending event", `SELECT number, kind, source FROM events WHERE processed_at = 0`, true},
		{"unsettled action", `SELECT number, kind, state, last_error FROM actions WHERE state IN ('planned', 'sent')`, true},
		{"item", `SELECT number, flow, state, branch, reason FROM work_items ORDER BY number, id`, false},
		{"event", `SELECT number, kind, CASE outcome WHEN 'ignored: our own' THEN '' ELSE source END, outcome FROM events WHERE kind NOT IN ('head', 'check', 'conflict')`, false},
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
	l.text = w.numbered(b.String())
	steps, err := rows(db, `SELECT turn_key FROM turns WHERE step <> 'claimed'`)
	for _, key := range steps {
		l.stored[key] = true
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
			row[i] = c.String
		}
		all = append(all, strings.Join(row, " "))
	}
	return all, found.Err()
}

// lost says which runs' answers are nowhere now: no journal in the mirror has
// them, and no row.
func (w *world) lost() (map[string]int, error) {
	l, err := w.ledger()
	if err != nil {
		return nil, err
	}
	err = filepath.WalkDir(w.path("state"), func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil && !d.IsDir() && strings.Contains(filepath.ToSlash(path), "/refs/mergexo/journal/") {
			l.stored[d.Name()] = true
		}
		return err
	})
	lost := map[string]int{}
	w.rig.mu.Lock()
	defer w.rig.mu.Unlock()
	counted := map[string]bool{}
	for _, r := range w.rig.runs {
		if !l.stored[r.turn] && !counted[r.turn] {
			counted[r.turn] = true
			lost[r.String()]++
		}
	}
	return lost, err
}

// sound checks the database file.
func (w *world) sound() error {
	path := w.path("state", "state.db")
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: path, RawQuery: url.Values{"mode": {"ro"}, "_pragma": {"busy_timeout(20000)"}}.Encode()}).String())
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
