//go:build unix

package crashtest

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/githubsim"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// excuseCommand says what was said while a command stood that pauses the
// work: when a pass carries it out is a matter of order.
const excuseCommand = "a command had taken the work over"

// command has somebody give one, on an issue or its pull request.
func (l *life) command(s step) error {
	is, ok := l.issue(s.a)
	if !ok {
		return nil
	}
	on, open := is.number, false
	for _, p := range l.repo.Pulls() {
		if is.owns(p) {
			open = open || p.State == "open"
			if s.b%2 == 0 {
				on = p.Number
			}
		}
	}
	verbs := []work.Verb{work.VerbRetry, work.VerbPause, work.VerbResume, work.VerbUnblock, work.VerbCancel, work.VerbStatus}
	verb := verbs[s.b/2%len(verbs)]
	if !l.did(l.says(on, writer(s), verb)) {
		return nil
	}
	switch verb {
	case work.VerbPause:
		is.pausing, is.commanded = true, true
	case work.VerbResume:
		is.pausing, is.commanded = false, true
	case work.VerbCancel:
		is.doubt = is.doubt || !open // what is owed then is a matter of order
	case work.VerbRetry, work.VerbUnblock, work.VerbStatus, work.VerbHelp, work.VerbDesign, work.VerbBugfix, work.VerbSmallJob,
		work.VerbApprove, work.VerbHold, work.VerbMerge, work.VerbRoadmap, work.VerbReplan, work.VerbFollowup:
	}
	return nil
}

func (l *life) says(on int, by string, verb work.Verb) error {
	body := "/mergexo " + string(verb)
	id, err := l.repo.Comment(on, by, body)
	if err != nil {
		return err
	}
	l.note("  #%d: %s", on, body)
	cmd, _ := work.ParseCommand(body)
	key := work.EventKey(on, work.EventCommand, strconv.FormatInt(id, 10), work.ContentHash(cmd.String(), cmd.Wrong))
	l.given = append(l.given, given{number: on, said: body, token: work.NoticeToken(l.key(), on, key)})
	return nil
}

// given is a command that somebody gave.
type given struct {
	number int
	said   string
	token  string // of the answer
}

// byCommand reports whether commands have said who has the work that a number is
// about, and whether it may be people by now.
func (l *life) byCommand(number int) (ever, now bool) {
	for _, is := range l.issues {
		if slices.Contains(l.standsOn(is), number) {
			return is.commanded, is.pausing || is.commanded && l.takenOver(number)
		}
	}
	return false, false
}

// obeyed: every command has one answer.
func (l *life) obeyed() (err error) {
	a := l.answers()
	for _, g := range l.given {
		if n := a.tokens[g.token]; n != 1 {
			err = errors.Join(err, fmt.Errorf("%q on #%d has %d answers", g.said, g.number, n))
		}
	}
	return err
}

// shown: nothing says of a pull request that is worked on that it is blocked.
func (l *life) shown() (err error) {
	ours := func(p githubsim.Pull) bool {
		return p.State == "open" && slices.ContainsFunc(l.issues, func(is *tracked) bool { return is.owns(p) })
	}
	for _, p := range l.repo.Pulls() {
		if !ours(p) {
			continue
		}
		for _, label := range l.repo.Labels(p.Number) {
			if label == "agent:blocked" || label == "agent:working" {
				err = errors.Join(err, fmt.Errorf("#%d has the label %s", p.Number, label))
			}
		}
		for _, c := range l.repo.Comments(p.Number) {
			if c.Author == operator && strings.Contains(c.Body, "<!-- mergexo-stop:") {
				err = errors.Join(err, fmt.Errorf("#%d goes on, and a comment says that it does not: %s", p.Number, c.Body))
			}
		}
	}
	return err
}
