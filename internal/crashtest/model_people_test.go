//go:build unix

package crashtest

import (
	"fmt"
	"os"
	"slices"
	"strconv"

	"github.com/mergexo/gh-mergexo/internal/githubsim"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// deeds are the words of a history. What GitHub does not allow, or there is
// nothing for, does not happen.
var deeds map[string]func(*life, step) error

func init() { // the table's functions read the table's keys when a history is parsed
	deeds = map[string]func(*life, step) error{
		"pass":    func(l *life, _ step) error { return l.run(1) },
		"pair":    func(l *life, s step) error { return l.run(2 + s.a%2) },
		"hold":    func(l *life, _ step) error { l.gate.set(true); return l.run(1) },
		"release": func(l *life, _ step) error { l.letGo(); return nil },
		"kill":    func(l *life, _ step) error { l.die(); return nil },
		"strike":  (*life).strike,
		"forget":  (*life).forget,

		"open":     (*life).open,
		"ask":      (*life).ask,
		"say":      (*life).say,
		"review":   (*life).review,
		"reply":    (*life).reply,
		"sum":      (*life).sum,
		"stranger": (*life).stranger,
		"edit":     (*life).edit,
		"revert":   (*life).revert,
		"delete":   (*life).delete,
		"resolve":  (*life).resolve,

		"unresolve": (*life).unresolve,
		"push":      (*life).push,
		"force":     (*life).force,
		"close":     (*life).close,
		"reopen":    (*life).reopen,
		"merge":     (*life).merge,
		"shut":      (*life).shut,
		"unshut":    (*life).unshut,
		"unlabel":   (*life).unlabel,
		"label":     (*life).label,
		"ignore":    (*life).ignore,
		"heed":      (*life).heed,
		"command":   (*life).command,
	}
}

// apart are the words before which a second passes, for GitHub's stamps are whole seconds: passes,
// and what has to come after something else. The other deeds may share one.
var apart = map[string]bool{"pass": true, "pair": true, "hold": true, "ignore": true, "heed": true, "command": true}

// writing is something that a person wrote, with all that they made of it.
type writing struct {
	repo     work.RepoKey
	kind     work.EventKind
	number   int
	id       int64
	thread   int64 // id of the top comment
	by       string
	state    string // of a review
	versions []*version
	now      int // which version it reads now
	deleted  bool
	resolved bool // its thread
	reopened bool // its thread was resolved at some time
}

// version is what a writing said for some time.
type version struct {
	body      string
	key       string
	token     string // of the reply to it
	excused   string // why it may go unanswered
	paused    bool   // said while people had the work: it is never answered
	withdrawn bool   // deleted or resolved before it was answered
}

func (w *writing) current() *version { return w.versions[w.now] }

// become gives a writing new words.
func (w *writing) become(body string) {
	parts := []string{body}
	if w.kind == work.EventSummary {
		parts = append(parts, w.state)
	}
	id, hash := strconv.FormatInt(w.id, 10), work.ContentHash(parts...)
	w.versions = append(w.versions, &version{
		body: body, key: work.EventKey(w.number, w.kind, id, hash), token: work.ReplyToken(w.repo, w.number, w.id, hash),
	})
	w.now = len(w.versions) - 1
}

// key names the model's repository in tokens.
func (l *life) key() work.RepoKey {
	return work.Repo{Name: work.RepoName{Host: simHost}, NodeID: l.repo.NodeID()}.Key()
}

// text is new words, every time.
func (l *life) text(what string) string {
	l.words++
	return fmt.Sprintf("%s %d.", what, l.words)
}

// did takes a refusal for what it is, and tells whether the deed was done.
func (l *life) did(err error) bool {
	if err != nil {
		l.note("  not done: %v", err)
	}
	return err == nil
}

// wrote keeps what somebody wrote.
func (l *life) wrote(kind work.EventKind, number int, id, thread int64, by, state, body string) {
	w := &writing{repo: l.key(), kind: kind, number: number, id: id, thread: thread, by: by, state: state}
	w.become(body)
	l.said = append(l.said, w)
	l.note("  %s", w.current().key)
	l.inPause(w)
}

// writer is ann or bob.
func writer(s step) string { return []string{"ann", "bob"}[s.b%2] }

// mostIssues keeps histories about few things, so that they meet.
const mostIssues = 2

func (l *life) open(s step) error {
	if l.storm == nil && len(l.issues) >= mostIssues || len(l.issues) >= mostInStorm {
		return nil
	}
	label := []string{"agent:bugfix", "agent:small-job", "agent:design"}[s.a%3]
	n, err := l.repo.OpenIssue("ann", l.text("Issue"), "Please.", label)
	if l.did(err) {
		l.issues = append(l.issues, &tracked{number: n, label: label, theirs: map[string][]string{}, dead: map[int]remains{}})
	}
	return nil
}

func (l *life) issue(a int) (*tracked, bool) {
	if len(l.issues) == 0 {
		return nil, false
	}
	return l.issues[a%len(l.issues)], true
}

func (l *life) ask(s step) error {
	if is, ok := l.issue(s.a); ok {
		body := l.text("Ask")
		if id, err := l.repo.Comment(is.number, writer(s), body); l.did(err) {
			l.wrote(work.EventSource, is.number, id, 0, writer(s), "", body)
		}
	}
	return nil
}

func (l *life) say(s step) error {
	if p, _, ok := l.pull(s.a); ok {
		body := l.text("Say")
		if id, err := l.repo.Comment(p.Number, writer(s), body); l.did(err) {
			l.wrote(work.EventIssue, p.Number, id, 0, writer(s), "", body)
		}
	}
	return nil
}

func (l *life) stranger(s step) error {
	if p, _, ok := l.pull(s.a); ok {
		body := l.text("Stranger")
		if id, err := l.repo.Comment(p.Number, "sam", body); l.did(err) {
			l.wrote(work.EventIssue, p.Number, id, 0, "sam", "", body)
		}
	}
	return nil
}

// line is something in the pull request's diff to comment on.
func (l *life) line(p githubsim.Pull, is *tracked) string {
	if is == nil {
		return ""
	}
	for _, path := range []string{fmt.Sprintf("work/%d.txt", is.number), "src/forced.txt", work.DocumentPath(work.FlowDesign, is.number, p.Title)} {
		if _, ok := l.repo.File(p.Head, path); ok {
			return path
		}
	}
	return "src/app.txt"
}

func (l *life) review(s step) error {
	p, is, ok := l.pull(s.a)
	if !ok {
		return nil
	}
	body := l.text("Review")
	if id, err := l.repo.ReviewComment(p.Number, writer(s), l.line(p, is), 1, body); l.did(err) {
		l.wrote(work.EventReview, p.Number, id, id, writer(s), "", body)
	}
	return nil
}

func (l *life) reply(s step) error {
	if to, ok := l.writing(s.a, work.EventReview); ok {
		body := l.text("Reply")
		if id, err := l.repo.ReplyTo(to.thread, writer(s), body); l.did(err) {
			l.wrote(work.EventReview, to.number, id, to.thread, writer(s), "", body)
			l.said[len(l.said)-1].resolved = to.resolved
		}
	}
	return nil
}

func (l *life) sum(s step) error {
	if p, _, ok := l.pull(s.a); ok {
		body := l.text("Summary")
		verdict := []struct{ event, state string }{{"COMMENT", "COMMENTED"}, {"REQUEST_CHANGES", "CHANGES_REQUESTED"}}[s.b/2%2]
		if id, err := l.repo.Review(p.Number, writer(s), verdict.event, body); l.did(err) {
			l.wrote(work.EventSummary, p.Number, id, 0, writer(s), verdict.state, body)
		}
	}
	return nil
}

// writing chooses among what people wrote and did not delete; the newest first.
func (l *life) writing(a int, kinds ...work.EventKind) (*writing, bool) {
	var all []*writing
	for _, w := range slices.Backward(l.said) {
		if !w.deleted && (len(kinds) == 0 || slices.Contains(kinds, w.kind)) {
			all = append(all, w)
		}
	}
	if len(all) == 0 {
		return nil, false
	}
	return all[a%len(all)], true
}

func (l *life) edit(s step) error {
	w, ok := l.writing(s.a)
	if !ok {
		return nil
	}
	body := l.text("Edited")
	if l.did(l.reword(w, body)) {
		w.become(body)
		l.note("  %s", w.current().key)
		l.inPause(w)
	}
	return nil
}

// revert gives a writing an earlier version's words.
func (l *life) revert(s step) error {
	w, ok := l.writing(s.a)
	if !ok || len(w.versions) < 2 {
		return nil
	}
	to := s.b % len(w.versions)
	if l.did(l.reword(w, w.versions[to].body)) {
		w.now = to
		if w.current().paused = false; l.takenOver(w.number) {
			w.current().excused = excusePaused
		}
		if _, now := l.byCommand(w.number); now {
			w.current().excused = excuseCommand
		}
		l.note("  %s", w.current().key)
	}
	return nil
}

func (l *life) reword(w *writing, body string) error {
	switch w.kind {
	case work.EventReview:
		return l.repo.EditReviewComment(w.id, w.by, body)
	case work.EventSummary:
		return l.repo.EditReview(w.number, w.id, "", body)
	default:
		return l.repo.EditComment(w.id, w.by, body)
	}
}

func (l *life) delete(s step) error {
	w, ok := l.writing(s.a, work.EventReview, work.EventIssue, work.EventSource)
	if !ok {
		return nil
	}
	gone := l.repo.DeleteComment
	if w.kind == work.EventReview {
		gone = l.repo.DeleteReviewComment
	}
	if l.did(gone(w.id, w.by)) {
		l.note("  %s", w.current().key)
		w.deleted = true
		l.withdraw(w)
	}
	return nil
}

func (l *life) resolve(s step) error {
	if w, ok := l.writing(s.a, work.EventReview); ok && l.did(l.repo.Resolve(w.id, "ann")) {
		for _, other := range l.said {
			if other.kind == work.EventReview && other.thread == w.thread {
				other.resolved = true
				l.withdraw(other)
			}
		}
	}
	return nil
}

func (l *life) unresolve(s step) error {
	if w, ok := l.writing(s.a, work.EventReview); ok && l.did(l.repo.Unresolve(w.id, "ann")) {
		for _, other := range l.said {
			if other.kind == work.EventReview && other.thread == w.thread {
				other.restore(l.answers())
			}
		}
	}
	return nil
}

// restore notes that a thread is open again: what was passed over is owed
// again, unless a turn that answered something else named it as handled.
func (w *writing) restore(a answers) {
	w.resolved, w.reopened = false, true
	for _, v := range w.versions {
		v.withdrawn = w.deleted && v.withdrawn
		if v.excused == excuseResolved && a.handled[v.key] == 0 {
			v.excused = ""
		}
	}
}

// excuseResolved is an excuse that may cease to hold.
const excuseResolved = "its thread is resolved"

// withdraw notes what must not be answered any more. People act only while no
// pass is between its last look and its answer; in a storm they do not care.
func (l *life) withdraw(w *writing) {
	if l.storm != nil {
		return
	}
	answered := l.answers()
	for _, v := range w.versions {
		if answered.tokens[v.token] == 0 {
			v.withdrawn = true
		}
	}
}

// forget loses the database. A pass that runs works on with a file that is gone.
// What a list did not show within settle_after, which is 0 s here, is sent
// again, and how often is lost with the database: nothing is removed then.
func (l *life) forget(s step) error {
	if l.lagging {
		return nil
	}
	if l.alive() > 0 && s.b%2 == 0 {
		l.die()
	}
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := os.RemoveAll(l.path("state", "state.db"+suffix)); err != nil {
			return err
		}
	}
	l.upsets++
	return nil
}
