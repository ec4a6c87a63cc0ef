package terminal

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cli/go-gh/v2/pkg/text"
)

// Wrap breaks text at blanks into lines of a width. A longer word, such as a URL, stays whole.
func Wrap(s string, width int) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(OneLine(s)) {
		switch {
		case line == "":
			line = word
		case text.DisplayWidth(line)+1+text.DisplayWidth(word) > width:
			lines = append(lines, line)
			line = word
		default:
			line += " " + word
		}
	}
	return append(lines, line)
}

// Indented wraps text after begin; further lines are aligned with the text.
func (o Output) Indented(begin, s string) string {
	pad := strings.Repeat(" ", text.DisplayWidth(begin))
	return begin + strings.Join(Wrap(s, o.Width-len(pad)), "\n"+pad) + "\n"
}

// copied matches what people copy: a command in backquotes, or one of gh.
var copied = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("`[^`]+`|\\bgh [a-z][^`\"();,:…]*") })

// Fit breaks each line that is too long for a terminal at blanks; further lines are indented like the
// line. Blanks within a line stay, colours need no room, and a command that fits on a line stays whole.
func (o Output) Fit(s string) string {
	if !o.TTY {
		return s
	}
	var b strings.Builder
	for line := range strings.Lines(s) {
		rest, end := strings.CutSuffix(line, "\n")
		indent := rest[:len(rest)-len(strings.TrimLeft(rest, " "))]
		for columnsOf(rest) > o.Width {
			at := -1 // of the blank to break at: the last that fits, or else the first
			spans := copied().FindAllStringIndex(rest, -1)
			whole := func(i int) bool {
				return slices.ContainsFunc(spans, func(s []int) bool { return s[0] < i && i < s[1] && columnsOf(indent+rest[s[0]:s[1]]) <= o.Width })
			}
			for i := len(indent); i < len(rest); i++ {
				if rest[i] == ' ' && !whole(i) && (at < 0 || columnsOf(rest[:i]) <= o.Width) {
					at = i
				}
			}
			if at < 0 {
				break
			}
			b.WriteString(strings.TrimRight(rest[:at], " ") + "\n")
			rest = indent + strings.TrimLeft(rest[at:], " ")
		}
		b.WriteString(rest)
		if end {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// Lines returns a writer to w that fits whole lines.
func (o Output) Lines(w io.Writer) io.Writer { return fitting{o, w} }

type fitting struct {
	out Output
	to  io.Writer
}

func (f fitting) Write(b []byte) (int, error) {
	_, err := io.WriteString(f.to, f.out.Fit(string(b)))
	return len(b), err
}

// columnsOf is the width of text without our own colours.
func columnsOf(s string) int {
	for {
		before, after, painted := strings.Cut(s, paintMark)
		if !painted {
			return text.DisplayWidth(s)
		}
		_, after, _ = strings.Cut(after, "m")
		s = before + after
	}
}

// Hanging wraps text after begin, whose last column is blank; further lines are indented slightly
// more than begin.
func (o Output) Hanging(begin, s string) string {
	word := strings.Repeat("x", max(text.DisplayWidth(begin)-1, 1))
	lines := Wrap(word+" "+s, o.Width-len(hang))
	return begin + strings.TrimPrefix(strings.TrimPrefix(strings.Join(lines, "\n"+hang), word), " ") + "\n"
}

const hang = "    "

// Linked wraps text after begin, followed by a URL, or with the URL on the next line if it does not
// fit. A URL is never cut.
func (o Output) Linked(begin, s, link string) string {
	s = OneLine(s)
	if link = OneLine(link); link == "" {
		return o.Indented(begin, s)
	}
	if text.DisplayWidth(begin+s+between+link) <= o.Width {
		return begin + s + between + o.Dim(link) + "\n"
	}
	return o.Indented(begin, s) + strings.Repeat(" ", text.DisplayWidth(begin)) + o.Dim(link) + "\n"
}

// leastWords is the smallest width of a table's last column of sentences.
const leastWords = 30

// Age formats how long ago a time was, for a table.
func Age(t, now time.Time) string {
	switch d := now.Sub(t); {
	case t.IsZero():
		return ""
	case d < time.Minute:
		return "now"
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d/time.Minute))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d/time.Hour))
	default:
		return fmt.Sprintf("%dd", int(d/(24*time.Hour)))
	}
}
