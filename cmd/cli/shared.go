package cli

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// SharedLines are texts with the repositories that each is about.
type SharedLines struct {
	texts []string
	names map[string][]string
	waits map[string]time.Time // until when they are not asked again; of several, the longest
}

// Add notes a text about a repository.
func (s *SharedLines) Add(repo, text string) {
	text = terminal.OneLine(text)
	if s.names == nil {
		s.names, s.waits = map[string][]string{}, map[string]time.Time{}
	}
	if s.names[text] == nil {
		s.texts = append(s.texts, text)
	}
	s.names[text] = append(s.names[text], repo)
}

// Until notes until when the repositories of a text are not asked again.
func (s *SharedLines) Until(text string, at time.Time) {
	if text = terminal.OneLine(text); at.After(s.waits[text]) {
		s.waits[text] = at
	}
}

// Lines are one line for each text, with the repositories that share it.
func (s *SharedLines) Lines() []string {
	return terminal.Each(s.texts, func(text string) string {
		line := enumerate(s.names[text]) + ": " + text
		if at, ok := s.waits[text]; ok {
			line += " (asked again after " + work.Stamp(at) + ")"
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
