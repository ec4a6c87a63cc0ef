package cmd

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/tick"
)

// causeLines says why repositories were not read: one line for each cause, with
// the repositories that share it.
func causeLines(repos []tick.RepoReport) []string {
	var shared sharedLines
	for _, r := range repos {
		if !r.Failed {
			continue
		}
		for _, c := range r.Causes {
			shared.add(r.Repo, c.Text)
		}
	}
	return shared.lines()
}

// repoLines says for the repositories that were not read why, and when they are
// asked again.
func (b board) repoLines() []string {
	var shared sharedLines
	for _, r := range b.repos {
		for _, text := range r.ignored {
			shared.add(r.called, text)
		}
		switch {
		case r.ID == 0:
			shared.add(r.called, "not seen yet")
		case r.LastError != "":
			shared.add(r.called, r.LastError)
			if r.NotBefore.After(b.now) {
				shared.until(r.LastError, r.NotBefore)
			}
		}
	}
	return shared.lines()
}

// waitLines says for the repositories that a pass did not ask why it did not.
func waitLines(repos []tick.RepoReport) []string {
	var shared sharedLines
	for _, r := range repos {
		if r.Ingested || r.Failed || r.Note == "" {
			continue
		}
		shared.add(r.Repo, r.Note)
		if r.Until != nil {
			shared.until(r.Note, *r.Until)
		}
	}
	return shared.lines()
}

// sharedLines are texts with the repositories that each is about.
type sharedLines struct {
	texts []string
	names map[string][]string
	waits map[string]time.Time // until when they are not asked again; of several, the longest
}

func (s *sharedLines) add(repo, text string) {
	text = terminal.OneLine(text)
	if s.names == nil {
		s.names, s.waits = map[string][]string{}, map[string]time.Time{}
	}
	if s.names[text] == nil {
		s.texts = append(s.texts, text)
	}
	s.names[text] = append(s.names[text], repo)
}

func (s *sharedLines) until(text string, at time.Time) {
	if text = terminal.OneLine(text); at.After(s.waits[text]) {
		s.waits[text] = at
	}
}

func (s *sharedLines) lines() []string {
	return terminal.Each(s.texts, func(text string) string {
		line := enumerate(s.names[text]) + ": " + text
		if at, ok := s.waits[text]; ok {
			line += " (asked again after " + clock(at) + ")"
		}
		return line
	})
}

// mostNames is how many repositories a line names.
const mostNames = 3

// enumerate names some things; of many the first ones, and how many more there are.
func enumerate(names []string) string {
	if n := len(names) - mostNames + 1; n > 1 {
		names = append(slices.Clone(names[:mostNames-1]), fmt.Sprintf("%d more", n))
	}
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

// unreadError says that not a single repository could be read; why stands above
// it.
type unreadError struct{ login bool } // login: for want of one

func (*unreadError) Error() string { return "no repository could be read" }

// failedRepos is an error when a pass could not read a single repository: then
// something is wrong with the set-up. One broken among others is told, and no
// failure of the pass.
func failedRepos(repos []tick.RepoReport, configured int) error {
	failed, logins := 0, 0
	for _, r := range repos {
		if !r.Failed {
			continue
		}
		failed++
		if slices.ContainsFunc(r.Causes, func(c tick.Cause) bool { return c.Code == github.TroubleLogin }) {
			logins++
		}
	}
	if failed > 0 && failed == len(repos) && (configured == 1 || failed > 1 || len(repos) == 1) {
		return &unreadError{login: logins == failed}
	}
	return nil
}
