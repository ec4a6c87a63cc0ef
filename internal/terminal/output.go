// Package terminal is how results look: tables with headings on a terminal, bare
// TSV and JSON for programs, and nothing that a terminal would obey.
package terminal

import (
	"io"
	"strings"
	"time"

	"github.com/cli/go-gh/v2/pkg/term"
	"github.com/cli/go-gh/v2/pkg/text"
)

// Output is where results go and how they look there: tables with headings and
// ages on a terminal, bare TSV with exact times elsewhere.
type Output struct {
	W     io.Writer // what people read
	Bare  io.Writer // the same for JSON that a program reads, or a terminal's colours go to
	TTY   bool      // it is a terminal
	Color bool      // in which colours show
	Width int       // in columns
}

// Open asks the terminal as gh does: NO_COLOR, CLICOLOR, GH_FORCE_TTY. What
// people read goes to w; bare is the same without a Screen.
func Open(w, bare io.Writer) Output {
	t := term.FromEnv()
	o := Output{W: w, Bare: bare, Width: 80}
	if bare != t.Out() || !t.IsTerminalOutput() {
		return o
	}
	o.TTY, o.Color = true, t.IsColorEnabled()
	if w, _, err := t.Size(); err == nil && w > 0 {
		o.Width = w
	}
	return o
}

// Bold makes text stand out.
func (o Output) Bold(s string) string { return o.Paint("1", s) }

// Dim makes text recede.
func (o Output) Dim(s string) string { return o.Paint("2", s) }

// Paint gives text a colour by its ANSI code, where colours show.
func (o Output) Paint(code, s string) string {
	if !o.Color || s == "" {
		return s
	}
	return paintMark + code + "m" + s + paintMark + "m"
}

// When renders a time: its age on a terminal, RFC 3339 elsewhere, nothing for
// no time.
func (o Output) When(t, now time.Time) string {
	switch {
	case t.IsZero():
		return ""
	case o.TTY:
		return text.RelativeTimeAgo(now, t)
	}
	return t.UTC().Format(time.RFC3339)
}

// OneLine makes text fit for a cell: white space becomes single blanks, and
// what a terminal would obey is shown, here already for the cell's width.
func OneLine(s string) string { return legible(strings.Join(strings.Fields(s), " ")) }
