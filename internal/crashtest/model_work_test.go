//go:build unix

package crashtest

import (
	"fmt"
	"slices"
)

func (l *life) push(s step) error {
	p, is, ok := l.pull(s.a)
	if !ok || is == nil || p.Merged {
		return nil
	}
	path := []string{"src/theirs.txt", fmt.Sprintf("work/%d.txt", is.number)}[s.b%4/3]
	oid, err := l.repo.PushCommit(p.Head, "ann", map[string]string{path: l.text("Pushed") + "\n"}, l.text("Theirs"))
	if l.did(err) {
		is.theirs[p.Head] = append(is.theirs[p.Head], oid)
	}
	return nil
}

func (l *life) force(s step) error {
	p, is, ok := l.pull(s.a)
	if !ok || is == nil || p.Merged {
		return nil
	}
	onto := []string{"", p.Head + "~1", p.Head}[s.b%3]
	oid, err := l.repo.ForcePush(p.Head, "bob", onto, map[string]string{"src/forced.txt": l.text("Forced") + "\n"}, l.text("Theirs, forced"))
	if l.did(err) {
		kept := slices.DeleteFunc(is.theirs[p.Head], func(c string) bool { return !l.reachable(c, oid) })
		is.theirs[p.Head] = append(kept, oid)
	}
	return nil
}

func (l *life) close(s step) error {
	if p, is, ok := l.pull(s.a); ok && is != nil && p.State == "open" && l.did(l.repo.Close(p.Number, "ann", "")) {
		l.bury(is, p.Number)
	}
	return nil
}

func (l *life) merge(s step) error {
	if p, is, ok := l.pull(s.a); ok && is != nil && p.State == "open" {
		if _, err := l.repo.Merge(p.Number, "ann", "merge"); l.did(err) {
			l.bury(is, p.Number)
		}
	}
	return nil
}

func (l *life) bury(is *tracked, number int) {
	if l.storm != nil {
		return // a pass may be between its last look and its push
	}
	p, _ := l.repo.Pull(number)
	is.dead[number] = remains{head: p.HeadOID, words: l.ourWords(number)}
}

func (l *life) reopen(s step) error {
	p, is, ok := l.pull(s.a)
	if !ok || is == nil || p.State == "open" || p.Merged {
		return nil
	}
	if err := l.untouched(is); err != nil {
		return err
	}
	if l.did(l.repo.Reopen(p.Number, "ann")) {
		delete(is.dead, p.Number)
	}
	return nil
}

func (l *life) shut(s step) error {
	if is, ok := l.issue(s.a); ok && l.did(l.repo.Close(is.number, "ann", "")) {
		l.callOff(is)
	}
	return nil
}

func (l *life) unshut(s step) error {
	if is, ok := l.issue(s.a); ok && l.did(l.repo.Reopen(is.number, "ann")) {
		is.noPull = false
	}
	return nil
}

func (l *life) unlabel(s step) error {
	if is, ok := l.issue(s.a); ok && l.did(l.repo.Unlabel(is.number, "ann", is.label)) {
		l.callOff(is)
	}
	return nil
}

func (l *life) label(s step) error {
	if is, ok := l.issue(s.a); ok && l.did(l.repo.Label(is.number, "ann", is.label)) {
		is.noPull = false
	}
	return nil
}

// callOff notes that nobody wants the work any more, unless it is there.
func (l *life) callOff(is *tracked) {
	if !slices.ContainsFunc(l.repo.Pulls(), is.owns) {
		is.doubt, is.noPull = true, l.storm == nil
	}
}
