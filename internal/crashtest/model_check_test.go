//go:build unix

package crashtest

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/githubsim"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// conclude makes passes until nothing happens any more, lets people answer
// what is blocked, and looks at everything.
func (l *life) conclude() error {
	l.calm()
	l.note("calm")
	if err := l.quiet(); err != nil {
		return err
	}
	if l.lagging { // what was not listed appears
		for range unlisted + 1 {
			if _, err := l.pass(); err != nil {
				return err
			}
		}
	}
	if err := l.giveBack(); err != nil {
		return err
	}
	if err := l.remind(); err != nil {
		return err
	}
	if err := l.encourage(); err != nil {
		return err
	}
	if err := l.sound(); err != nil {
		return err
	}
	return errors.Join(l.owed(), l.obeyed(), l.shown(), l.once(), l.withdrawn(), l.theirs(), l.wanted(), l.idle())
}

// mostCalm is how many passes may be made until nothing happens any more.
const mostCalm = 30

// quiet makes passes until one changes nothing at all.
func (l *life) quiet() error {
	if l.storm != nil {
		return l.storm.quiet()
	}
	was := ""
	for range mostCalm {
		before := l.rig.counts()
		ended, err := l.pass()
		if err != nil || !ended {
			return fmt.Errorf("a pass that nothing happens to did not end well: %w", err)
		}
		tables, err := l.tables()
		if err != nil {
			return err
		}
		now := l.rig.counts()
		if tables == was && now.writes == before.writes && now.agents == before.agents && now.git == before.git {
			return nil
		}
		was = tables
	}
	return fmt.Errorf("not quiet after %d passes:\n%s", mostCalm, l.tail())
}

// tail is what the last passes did.
func (l *life) tail() string {
	l.rig.mu.Lock()
	defer l.rig.mu.Unlock()
	said := l.rig.said
	return strings.Join(said[max(0, len(said)-40):], "\n")
}

// remind has somebody say something where a thread was opened again: that alone
// bumps no stamp, and rotation takes half an hour.
func (l *life) remind() error {
	reminded := map[int]bool{}
	for _, w := range l.said {
		if p, _ := l.repo.Pull(w.number); !w.reopened || reminded[w.number] || p.State != "open" {
			continue
		}
		reminded[w.number] = true
		if err := l.goOn(standstill{pull: w.number}); err != nil {
			return err
		}
	}
	if len(reminded) == 0 {
		return nil
	}
	return l.quiet()
}

// encourage has people answer what is blocked: their comment resumes it.
func (l *life) encourage() error {
	for range 3 {
		blocked, err := l.blocked()
		if err != nil || len(blocked) == 0 {
			return err
		}
		for _, b := range blocked {
			l.note("blocked: #%d %s", b.number, b.reason)
			if b.reason == "" {
				return fmt.Errorf("#%d is blocked and nobody is told why", b.number)
			}
			if err := l.goOn(b); err != nil {
				return err
			}
		}
		if err := l.quiet(); err != nil {
			return err
		}
	}
	blocked, err := l.blocked()
	for _, b := range blocked {
		err = errors.Join(err, fmt.Errorf("#%d is blocked whatever people say: %s", b.number, b.reason))
	}
	return err
}

func (l *life) goOn(b standstill) error {
	kind, on := work.EventSource, b.number
	if b.pull != 0 {
		kind, on = work.EventIssue, b.pull
	}
	if strings.Contains(b.reason, `"branch_rewritten"`) { // a word is not enough: somebody must have looked at the branch
		return l.says(on, "ann", work.VerbUnblock)
	}
	body := l.text("Go on")
	id, err := l.repo.Comment(on, "ann", body)
	if err != nil {
		return err
	}
	l.wrote(kind, on, id, 0, "ann", "", body)
	return nil
}

// standstill is a work item that waits for a person.
type standstill struct {
	number, pull int
	reason       string
}

func (l *life) blocked() (all []standstill, err error) {
	err = l.read(func(db *sql.DB) error {
		found, err := db.Query(`SELECT i.number, coalesce((SELECT max(p.number) FROM pull_requests p WHERE p.item_id = i.id), 0), i.reason
			FROM work_items i WHERE i.state = 'blocked' AND i.repo_id IN (SELECT id FROM repositories WHERE node_id = '` + l.repo.NodeID() + `')`)
		if err != nil {
			return err
		}
		defer found.Close()
		for found.Next() {
			var b standstill
			if err := found.Scan(&b.number, &b.pull, &b.reason); err != nil {
				return err
			}
			all = append(all, b)
		}
		return found.Err()
	})
	return all, err
}

// excuse notes what need not be answered from now on, as things are.
func (l *life) excuse() {
	for _, w := range l.said {
		why := l.why(w)
		if why == "" {
			continue
		}
		for _, v := range w.versions {
			if v.excused == "" {
				v.excused = why
			}
		}
	}
}

// why says why a writing need not be answered, as things are.
func (l *life) why(w *writing) string {
	is, found := l.repo.Issue(w.number)
	doubt := slices.ContainsFunc(l.issues, func(t *tracked) bool {
		p, isPull := l.repo.Pull(w.number)
		return t.doubt && (t.number == w.number || isPull && t.owns(p))
	})
	ended := slices.ContainsFunc(l.repo.Pulls(), func(p githubsim.Pull) bool {
		return p.State != "open" && slices.ContainsFunc(l.issues, func(t *tracked) bool { return t.number == w.number && t.owns(p) })
	})
	switch {
	case w.by == "sam":
		return "it is a stranger's"
	case w.deleted:
		return "it is deleted"
	case w.resolved:
		return excuseResolved
	case w.thread != w.id && slices.ContainsFunc(l.said, func(top *writing) bool { return top.id == w.thread && top.deleted }):
		return "the comment that it replies to is deleted, and GitHub's REST API takes replies to that one only"
	case found && is.State != "open", ended:
		return "what it was said on is closed"
	case doubt:
		return "the work was cancelled"
	}
	return ""
}

// owed: everything that an allowed author said is answered.
func (l *life) owed() (err error) {
	a := l.answers()
	if err := l.trailers(a); err != nil {
		return err
	}
	for _, w := range l.said {
		v := w.current()
		if l.why(w) != "" || v.excused != "" {
			continue
		}
		redirect := work.RedirectToken(l.key(), w.number, fmt.Sprint(w.id))
		switch {
		case w.kind == work.EventReview && (a.tokens[v.token] > 0 || w.reopened && a.handled[v.key] > 0):
		case w.kind != work.EventReview && a.handled[v.key] > 0:
		case w.kind == work.EventSource && (a.tokens[redirect] > 0 || len(a.commits[v.key]) > 0):
		default:
			err = errors.Join(err, fmt.Errorf("%s by %s is not answered (%q): %s", v.key, w.by, v.body, l.event(v.key)))
		}
	}
	left, readErr := l.rows(`SELECT 'event left: ' || event_key FROM events WHERE processed_at = 0 AND kind NOT IN ('check', 'conflict')
		UNION ALL SELECT 'turn left: ' || number || ' ' || kind || ' ' || step FROM turns WHERE step NOT IN ('done', 'superseded', 'failed', 'cancelled')
		UNION ALL SELECT 'action left: ' || number || ' ' || kind || ' ' || state FROM actions WHERE state IN ('planned', 'sent')`)
	for _, line := range left {
		err = errors.Join(err, errors.New(line))
	}
	return errors.Join(err, readErr)
}

// once: every effect is there once, and every version is one turn's.
func (l *life) once() (err error) {
	a := l.answers()
	if err := l.trailers(a); err != nil {
		return err
	}
	for token, n := range a.tokens {
		if n > 1 {
			err = errors.Join(err, fmt.Errorf("%d comments carry the token %s", n, token))
		}
	}
	for key, n := range a.handled {
		if n > 1 {
			err = errors.Join(err, fmt.Errorf("%d comments say that they handled %s", n, key))
		}
	}
	for key, turns := range a.commits {
		if len(turns) > 1 {
			err = errors.Join(err, fmt.Errorf("the commits of %d turns say that they handled %s", len(turns), key))
		}
	}
	done, readErr := l.rows(`SELECT event_keys FROM turns WHERE step = 'done' AND repo_id IN (SELECT id FROM repositories WHERE node_id = '` + l.repo.NodeID() + `')`)
	handled := map[string]bool{}
	for _, text := range done {
		var keys []string
		err = errors.Join(err, json.Unmarshal([]byte(text), &keys))
		for _, key := range keys {
			if handled[key] {
				err = errors.Join(err, fmt.Errorf("two finished turns handled %s", key))
			}
			handled[key] = true
		}
	}
	l.rig.mu.Lock()
	defer l.rig.mu.Unlock()
	paid := map[string]int{}
	for _, r := range l.rig.runs {
		if paid[r.turn]++; paid[r.turn] > 1+l.upsets {
			err = errors.Join(err, fmt.Errorf("the agent was run %d times for %s, turn %s", paid[r.turn], r, r.turn))
		}
	}
	return errors.Join(err, readErr)
}

// withdrawn: nothing was answered that was resolved or deleted before, or said
// while people had the work.
func (l *life) withdrawn() (err error) {
	a := l.answers()
	if err := l.trailers(a); err != nil {
		return err
	}
	for _, w := range l.said {
		for _, v := range w.versions {
			if v.withdrawn && a.tokens[v.token] > 0 {
				err = errors.Join(err, fmt.Errorf("%s was answered after it was taken back", v.key))
			}
			if v.paused && (a.tokens[v.token] > 0 || a.handled[v.key] > 0 || len(a.commits[v.key]) > 0) {
				err = errors.Join(err, fmt.Errorf("%s was said in a pause and was answered", v.key))
			}
			if w.by == "sam" && a.handled[v.key] > 0 {
				err = errors.Join(err, fmt.Errorf("%s is a stranger's and was handled", v.key))
			}
		}
	}
	return err
}

// theirs: what people pushed is there, and they had the last word on their
// branches.
func (l *life) theirs() (err error) {
	for _, is := range l.issues {
		for branch, commits := range is.theirs {
			head, ok := l.repo.Head(branch)
			for _, c := range commits {
				if !ok || !l.reachable(c, head) {
					err = errors.Join(err, fmt.Errorf("the commit %s that a person pushed is not on %s any more", c, branch))
				}
			}
		}
		err = errors.Join(err, l.untouched(is))
	}
	return err
}

func (l *life) reachable(commit, from string) bool {
	return exec.Command(l.programs.git, "-C", l.repo.GitDir(), "merge-base", "--is-ancestor", commit, from).Run() == nil
}

// untouched: a closed pull request gets no commit and no comment.
func (l *life) untouched(is *tracked) (err error) {
	for number, was := range is.dead {
		p, _ := l.repo.Pull(number)
		if p.HeadOID != was.head && !slices.Contains(is.theirs[p.Head], p.HeadOID) {
			err = errors.Join(err, fmt.Errorf("#%d was pushed to after it was closed", number))
		}
		if l.ourWords(number) > was.words {
			err = errors.Join(err, fmt.Errorf("#%d was commented on after it was closed", number))
		}
	}
	return err
}

// wanted: who asks for work gets one pull request, and who cancelled it none.
func (l *life) wanted() (err error) {
	open, marked := map[string]int{}, map[string]int{}
	for _, p := range l.repo.Pulls() {
		if p.State != "open" || p.Author != operator {
			continue
		}
		open[p.Head]++
		if m, ok := work.ParsePullMark(p.Body); ok {
			marked[fmt.Sprintf("issue %d, %s", m.Issue, m.Flow)]++
		}
	}
	for _, counts := range []map[string]int{open, marked} {
		for what, n := range counts {
			if n > 1 {
				err = errors.Join(err, fmt.Errorf("%d pull requests are open for %s", n, what))
			}
		}
	}
	for _, is := range l.issues {
		has := slices.ContainsFunc(l.repo.Pulls(), is.owns)
		if !has && !is.doubt {
			err = errors.Join(err, fmt.Errorf("issue %d asks for work and has no pull request", is.number))
		}
		if has && is.noPull {
			err = errors.Join(err, fmt.Errorf("issue %d was called off and has a pull request", is.number))
		}
	}
	return err
}

// idle: a pass that finds nothing new writes nothing.
func (l *life) idle() error {
	was, err := l.tables()
	if err != nil {
		return err
	}
	before := l.rig.counts()
	for range 2 {
		if _, err := l.pass(); err != nil {
			return err
		}
	}
	now := l.rig.counts()
	tables, err := l.tables()
	switch {
	case err != nil:
		return err
	case tables != was:
		return fmt.Errorf("idle passes changed the database:\n%s", diff(was, tables))
	case now.writes != before.writes, now.git != before.git, now.agents != before.agents:
		return fmt.Errorf("idle passes did something:\n%s", l.tail())
	}
	return nil
}
