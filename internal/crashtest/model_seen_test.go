//go:build unix

package crashtest

import (
	"database/sql"
	"fmt"
	"os/exec"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/work"
)

func (l *life) read(do func(*sql.DB) error) error {
	db, err := l.openLedger()
	if err != nil {
		return err
	}
	defer db.Close()
	return do(db)
}

// tables is all that the database holds, but the heartbeat, and how far off the host's
// clock was last seen to be: the model sets that clock ahead between two passes, and
// which answer is quick enough to prove it depends on the machine.
func (l *life) tables() (text string, err error) {
	err = l.read(func(db *sql.DB) error {
		names, err := rows(db, `SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name`)
		if err != nil {
			return err
		}
		var b strings.Builder
		for _, name := range names {
			columns, err := rows(db, `SELECT name FROM pragma_table_info('`+name+`') WHERE name NOT IN ('heartbeat_at', 'ahead')`)
			if err != nil {
				return err
			}
			lines, err := rows(db, `SELECT `+strings.Join(columns, ", ")+` FROM `+name)
			if err != nil {
				return err
			}
			fmt.Fprintf(&b, "%s\n%s\n", name, strings.Join(lines, "\n"))
		}
		text = b.String()
		return nil
	})
	return text, err
}

// answers is what is visible of ours on GitHub.
type answers struct {
	tokens  map[string]int             // how many comments carry each
	handled map[string]int             // how many comments name each event as handled
	commits map[string]map[string]bool // turns whose commits name each event
}

func (l *life) answers() answers {
	a := answers{tokens: map[string]int{}, handled: map[string]int{}, commits: map[string]map[string]bool{}}
	add := func(author, body string) {
		marks, ok := work.ParseMarks(body)
		if !ok || author != operator {
			return
		}
		a.tokens[marks.Token]++
		for _, key := range marks.Handled {
			a.handled[key]++
		}
	}
	for _, is := range l.repo.Issues() {
		for _, c := range l.repo.Comments(is.Number) {
			add(c.Author, c.Body)
		}
		for _, c := range l.repo.ReviewComments(is.Number) {
			add(c.Author, c.Body)
		}
	}
	return a
}

// trailers adds what the branches' commits say.
func (l *life) trailers(a answers) error {
	out, err := exec.Command(l.programs.git, "-C", l.repo.GitDir(), "log", "--branches",
		"--format=%(trailers:key="+work.TrailerTurn+",valueonly,separator= )|%(trailers:key="+work.TrailerHandled+",valueonly,separator= )").Output()
	if err != nil {
		return fmt.Errorf("read the commits: %w", err)
	}
	for line := range strings.Lines(string(out)) {
		turn, keys, _ := strings.Cut(strings.TrimSpace(line), "|")
		for key := range strings.FieldsSeq(keys) {
			if a.commits[key] == nil {
				a.commits[key] = map[string]bool{}
			}
			a.commits[key][turn] = true
		}
	}
	return nil
}

// ourWords counts our comments on a pull request, but for answers to commands:
// they are given wherever it stands.
func (l *life) ourWords(number int) (n int) {
	for _, c := range l.repo.Comments(number) {
		if c.Author == operator && !strings.HasPrefix(c.Body, "**`/mergexo ") {
			n++
		}
	}
	for _, c := range l.repo.ReviewComments(number) {
		if c.Author == operator {
			n++
		}
	}
	return n
}

func (l *life) rows(query string) (found []string, err error) {
	err = l.read(func(db *sql.DB) error {
		found, err = rows(db, query)
		return err
	})
	return found, err
}

// event is what the database says of an event.
func (l *life) event(key string) string {
	found, err := l.rows(`SELECT processed_at, outcome, coalesce(turn_id, 0) FROM events WHERE event_key = '` + key + `'`)
	if err != nil {
		return err.Error()
	}
	return "the event is " + strings.Join(found, "; ")
}
