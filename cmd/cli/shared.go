package cli

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// SharedLines are texts, each with the repositories or items it concerns.
type SharedLines struct {
	texts []string
	names map[string][]string
	waits map[string]time.Time // the latest time until which GitHub is not asked again
	last  map[string]time.Time // when it happened last
}

// Add adds a text about a repository or an item.
func (s *SharedLines) Add(repo, text string) {
	text = terminal.OneLine(text)
	if s.names == nil {
		s.names, s.waits, s.last = map[string][]string{}, map[string]time.Time{}, map[string]time.Time{}
	}
	if s.names[text] == nil {
		s.texts = append(s.texts, text)
	}
	s.names[text] = append(s.names[text], repo)
}

// Until records when the repositories of a text are asked about again.
func (s *SharedLines) Until(text string, at time.Time) {
	if text = terminal.OneLine(text); at.After(s.waits[text]) {
		s.waits[text] = at
	}
}

// Last records when the content of a text happened.
func (s *SharedLines) Last(text string, at time.Time) {
	if text = terminal.OneLine(text); at.After(s.last[text]) {
		s.last[text] = at
	}
}

// Lines returns one line per text, with the repositories that share it.
func (s *SharedLines) Lines() []string {
	return terminal.Each(s.texts, func(text string) string {
		line := enumerate(s.names[text]) + ": " + text
		if at, ok := s.waits[text]; ok {
			line += " (asked again after " + work.Stamp(at) + ")"
		}
		if at, ok := s.last[text]; ok {
			line += " (last: " + work.Stamp(at) + ")"
		}
		return line
	})
}

// mostNames is how many names a line has at most.
const mostNames = 3

// enumerate joins names. If there are many, it names the first ones and counts the rest.
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
