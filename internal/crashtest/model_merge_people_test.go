//go:build unix

package crashtest

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/githubsim"
)

// mergeDeeds are what people do in a history of merges, and what happens to the machine.
// What GitHub does not allow, or there is nothing for, does not happen.
var mergeDeeds = map[string]func(*vigil, step) error{
	"push":    (*vigil).push,
	"base":    (*vigil).base,
	"mood":    func(v *vigil, _ step) error { v.grumpy = 1; return nil },
	"approve": (*vigil).approve,
	"request": (*vigil).request,
	"dismiss": (*vigil).dismiss,
	"check":   (*vigil).check,
	"rule":    (*vigil).rule,
	"freeze":  (*vigil).freeze,
	"thaw":    (*vigil).thaw,
	"hold":    func(v *vigil, s step) error { return v.tells(s, "hold") },
	"resume":  func(v *vigil, s step) error { return v.tells(s, "resume") },
	"retry":   func(v *vigil, s step) error { return v.tells(s, "retry") },
	"word":    func(v *vigil, s step) error { return v.tells(s, "merge") },
	"say":     (*vigil).say,
	"edit":    (*vigil).edit,
	"draft":   (*vigil).draft,
	"ready":   (*vigil).ready,
	"forget":  (*vigil).forget,
	"wait":    func(v *vigil, s step) error { v.later.Add(int64(1 + s.b)); return nil },
	"unknown": func(v *vigil, s step) error { v.hub.LagMergeable(1 + s.a%3); return nil },
	"eager":   (*vigil).eager,
}

// meddlers are what people do while a pass works.
var meddlers = []string{"push", "freeze", "hold", "push", "say", "check", "request", "push", "draft", "dismiss", "rule", "base", "push", "edit", "word"}

// pull chooses an open pull request.
func (v *vigil) pull(a int) (githubsim.Pull, bool) {
	all := v.open()
	if len(all) == 0 {
		return githubsim.Pull{}, false
	}
	return all[len(all)-1-a/3%len(all)], true
}

// madeBy is the file that an agent makes for a pull request.
func madeBy(p githubsim.Pull) string {
	issue, _, _ := strings.Cut(strings.TrimPrefix(p.Head, "agent/bugfix/"), "-")
	return "work/" + issue + ".txt"
}

func (v *vigil) text(what string) string {
	v.serial++
	return fmt.Sprintf("%s W%dW", what, v.serial)
}

// word is the part of a text that is found again.
func (v *vigil) word() string { return fmt.Sprintf("W%dW", v.serial) }

func (v *vigil) push(s step) error {
	p, ok := v.pull(s.a)
	if !ok {
		return nil
	}
	path := []string{"src/theirs.txt", "src/more.txt"}[s.b%2]
	_, err := v.repo.PushCommit(p.Head, "ann", map[string]string{path: v.text("Pushed") + "\n"}, "Theirs")
	return err
}

func (v *vigil) base(s step) error {
	path := "src/base.txt"
	if p, ok := v.pull(s.a); ok && s.b%4 == 3 {
		path = madeBy(p)
	}
	oid, err := v.repo.PushCommit("main", "bob", map[string]string{path: v.text("Base") + "\n"}, "Theirs")
	v.known(oid)
	return err
}

func writerOf(s step) string { return []string{"ann", "bob"}[s.b%2] }

func (v *vigil) approve(s step) error {
	p, ok := v.pull(s.a)
	if !ok {
		return nil
	}
	_, err := v.repo.Review(p.Number, writerOf(s), "APPROVE", "")
	return err
}

func (v *vigil) request(s step) error {
	p, ok := v.pull(s.a)
	if !ok {
		return nil
	}
	_, err := v.repo.Review(p.Number, writerOf(s), "REQUEST_CHANGES", v.text("Not so"))
	v.remember(p.Number)
	return err
}

// remember notes that the last text is to be answered. Ids of reviews and of comments have
// no common order: an answer to a review is any later comment.
func (v *vigil) remember(number int) {
	newest := int64(0)
	for _, c := range v.repo.Comments(number) {
		newest = max(newest, c.ID)
	}
	for _, c := range v.repo.ReviewComments(number) {
		newest = max(newest, c.ID)
	}
	v.said = append(v.said, &remark{number: number, id: newest, word: v.word()})
}

func (v *vigil) dismiss(s step) error {
	p, ok := v.pull(s.a)
	if !ok {
		return nil
	}
	for _, r := range slices.Backward(v.repo.Reviews(p.Number)) {
		if r.Author == writerOf(s) && (r.State == "APPROVED" || r.State == "CHANGES_REQUESTED") {
			v.said = slices.DeleteFunc(v.said, func(said *remark) bool { return strings.Contains(r.Body, said.word) }) // it is taken back
			return v.repo.Dismiss(p.Number, r.ID, "ann", "Not any more")
		}
	}
	return nil
}

func (v *vigil) check(s step) error {
	p, ok := v.pull(s.a)
	if !ok {
		return nil
	}
	name := []string{"ci", "ci", "lint"}[s.b%3]
	return v.report(p.HeadOID, name, []string{"success", "success", "failure", ""}[s.b/3%4])
}

// report sets a check; no conclusion is one that runs.
func (v *vigil) report(head, name, conclusion string) error {
	status := "completed"
	if conclusion == "" {
		status = "in_progress"
	}
	if v.checks[head] == nil {
		v.checks[head] = map[string]string{}
	}
	v.checks[head][name] = conclusion
	_, err := v.repo.SetCheck(head, name, status, conclusion)
	return err
}

// rule sets what a ruleset demands; the first is nothing.
func (v *vigil) rule(s step) error {
	all := []githubsim.Rules{{}, {Checks: []string{"ci"}}, {Checks: []string{"ci"}, Strict: true}, {Approvals: 1, DismissStale: true}, {Approvals: 1, LastPush: true}, {Conversations: true}}
	v.rules = all[s.b%len(all)]
	v.repo.SetRuleset("some", "main", v.rules)
	return nil
}

func (v *vigil) freeze(step) error {
	_, err := v.repo.OpenIssue("bob", "Freeze", "", "agent:freeze")
	return err
}

func (v *vigil) thaw(step) (err error) {
	for _, is := range v.repo.Issues() {
		if is.State == "open" && slices.Contains(is.Labels, "agent:freeze") {
			err = errors.Join(err, v.repo.Close(is.Number, "bob", ""))
		}
	}
	return err
}

func (v *vigil) tells(s step, verb string) error {
	p, ok := v.pull(s.a)
	if !ok {
		return nil
	}
	return v.command(p.Number, verb)
}

func (v *vigil) command(number int, verb string) error {
	p, _ := v.repo.Pull(number)
	switch verb {
	case "hold":
		v.held[number] = true
	case "resume", "retry":
		v.held[number] = false
	case "merge":
		v.words[p.HeadOID] = true
	}
	_, err := v.repo.Comment(number, "ann", "/mergexo "+verb)
	return err
}

func (v *vigil) say(s step) error {
	p, ok := v.pull(s.a)
	if !ok {
		return nil
	}
	var err error
	if s.b%2 == 0 {
		_, err = v.repo.Comment(p.Number, "bob", v.text("Why?"))
	} else {
		_, err = v.repo.ReviewComment(p.Number, "bob", madeBy(p), 1, v.text("Why here?"))
		if err != nil {
			return nil //nolint:nilerr // that line is not in the diff
		}
	}
	v.remember(p.Number)
	return err
}

// edit changes the last thing that was said.
func (v *vigil) edit(s step) error {
	p, ok := v.pull(s.a)
	if !ok {
		return nil
	}
	for _, c := range slices.Backward(v.repo.Comments(p.Number)) {
		if c.Author == "bob" {
			body := v.text("Or rather:")
			v.said = slices.DeleteFunc(v.said, func(r *remark) bool { return c.Body == "Why? "+r.word || c.Body == "Or rather: "+r.word })
			v.remember(p.Number)
			return v.repo.EditComment(c.ID, "bob", body)
		}
	}
	return nil
}

func (v *vigil) draft(s step) error {
	if p, ok := v.pull(s.a); ok && !p.Draft {
		return v.repo.ConvertToDraft(p.Number, "ann")
	}
	return nil
}

func (v *vigil) ready(s step) error {
	if p, ok := v.pull(s.a); ok && p.Draft {
		return v.repo.MarkReady(p.Number, "ann")
	}
	return nil
}

func (v *vigil) forget(step) error {
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := os.RemoveAll(v.path("state", database+suffix)); err != nil {
			return err
		}
	}
	return nil
}

// eager opens what is closed for one pull request, so that the next pass is near a merge.
func (v *vigil) eager(s step) error {
	p, ok := v.pull(s.a)
	if !ok {
		return nil
	}
	return errors.Join(v.thaw(s), v.clear(p))
}

// clear takes away what people have put in the way of one pull request.
func (v *vigil) clear(p githubsim.Pull) error {
	if p.State != "open" {
		return nil
	}
	err := v.wave(p)
	if p.Draft {
		err = errors.Join(err, v.repo.MarkReady(p.Number, "ann"))
	}
	if v.held[p.Number] {
		v.later.Add(1)
		err = errors.Join(err, v.command(p.Number, "resume"))
	}
	return err
}
