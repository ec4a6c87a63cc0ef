// Package terminal formats results: tables with headings on a terminal, bare TSV and JSON for
// programs, and no control sequences from strangers.
package terminal

import (
	"io"
	"strings"
	"time"

	"github.com/cli/go-gh/v2/pkg/term"
	"github.com/cli/go-gh/v2/pkg/text"
)

// Output is where results go and their format: tables with headings and ages on a terminal, bare
// TSV with exact times elsewhere.
type Output struct {
	W     io.Writer // for text
	Bare  io.Writer // the same without a Screen, for JSON for programs and a terminal's colours
	TTY   bool      // it is a terminal
	Color bool      // colours are enabled
	Width int       // in columns
}

// Open uses gh's rules: NO_COLOR, CLICOLOR, GH_FORCE_TTY. Text goes to w; bare is the same without
// a Screen.
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

// Paint colours text by an ANSI code if colours are enabled.
func (o Output) Paint(code, s string) string {
	if !o.Color || s == "" {
		return s
	}
	return paintMark + code + "m" + s + paintMark + "m"
}

// When formats a time: its age on a terminal, RFC 3339 elsewhere, "" for the zero time.
func (o Output) When(t, now time.Time) string {
	switch {
	case t.IsZero():
		return ""
	case o.TTY:
		return text.RelativeTimeAgo(now, t)
	}
	return t.UTC().Format(time.RFC3339)
}

// OneLine makes text fit for a cell: white space becomes single blanks, and control characters
// become visible, which counts for the cell's width.
func OneLine(s string) string { return legible(strings.Join(strings.Fields(s), " ")) }
