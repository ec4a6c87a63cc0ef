//go:build unix

package crashtest

import (
	"slices"
)

// ignoreLabel pauses the work, excusePaused says what was said during a pause.
const (
	ignoreLabel  = "agent:ignore"
	excusePaused = "it was said while people had the work"
)

// ignore pauses the work, by the label on the issue or its pull request.
func (l *life) ignore(s step) error {
	is, ok := l.issue(s.a)
	if !ok {
		return nil
	}
	on := is.number
	if p, owner, ok := l.pull(s.a); ok && owner == is && s.b%2 == 0 {
		on = p.Number
	}
	if !l.takenOver(is.number) {
		l.did(l.repo.Label(on, "ann", ignoreLabel))
	}
	return nil
}

// heed resumes the work.
func (l *life) heed(s step) error {
	if is, ok := l.issue(s.a); ok {
		l.free(is)
	}
	return nil
}

func (l *life) free(is *tracked) (done bool) {
	is.pausing = false
	for _, on := range l.standsOn(is) {
		if slices.Contains(l.repo.Labels(on), ignoreLabel) && l.did(l.repo.Unlabel(on, "ann", ignoreLabel)) {
			done = true
		}
	}
	return done
}

// giveBack hands back whatever people have paused: what was said before is
// owed then.
func (l *life) giveBack() error {
	given := false
	l.later.Add(2)
	for _, is := range l.issues {
		given = l.free(is) || given
	}
	if !given {
		return nil
	}
	return l.quiet()
}

// standsOn are an issue's number and those of its pull requests.
func (l *life) standsOn(is *tracked) []int {
	numbers := []int{is.number}
	for _, p := range l.repo.Pulls() {
		if is.owns(p) {
			numbers = append(numbers, p.Number)
		}
	}
	return numbers
}

// takenOver reports whether people have the work that a number is about.
func (l *life) takenOver(number int) bool {
	return slices.ContainsFunc(l.issues, func(is *tracked) bool {
		on := l.standsOn(is)
		closed := func(n int) bool {
			p, isPull := l.repo.Pull(n)
			return isPull && p.State != "open"
		}
		return slices.Contains(on, number) && slices.ContainsFunc(on, func(n int) bool {
			return !closed(n) && slices.Contains(l.repo.Labels(n), ignoreLabel)
		})
	})
}

// inPause notes that something was said while people had the work.
func (l *life) inPause(w *writing) {
	ever, now := l.byCommand(w.number)
	switch {
	case now:
		w.current().excused = excuseCommand
	case !ever && l.takenOver(w.number):
		w.current().paused, w.current().excused = l.storm == nil, excusePaused
	}
}
