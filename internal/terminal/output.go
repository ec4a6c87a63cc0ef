// Package terminal formats results: tables with headings on a terminal, bare TSV and JSON for
// programs, and no control sequences from strangers.
package terminal

import (
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/cli/go-gh/v2/pkg/browser"
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

	Typed func(string) string // completes commands in a text of ours as they have to be typed here; nil: nothing is missing
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

// Fitted returns a writer to w, which is written to bare in the end, that breaks lines as Fit does if bare is
// a terminal.
func Fitted(w, bare io.Writer) io.Writer {
	o := Output{TTY: Watched(bare), Width: 80}
	if width, _, err := term.FromEnv().Size(); err == nil && width > 0 {
		o.Width = width
	}
	return o.Lines(w)
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

// Words shows people a code as words. Programs get the code.
func (o Output) Words(code string) string {
	if !o.TTY {
		return code
	}
	return strings.ReplaceAll(code, "_", " ")
}

// OneLine makes text fit for a cell: white space becomes single blanks, and control characters
// become visible, which counts for the cell's width.
func OneLine(s string) string { return legible(strings.Join(strings.Fields(s), " ")) }

// Browse opens a URL in the browser that gh uses: its own setting, GH_BROWSER or BROWSER.
func Browse(url string, stdout, stderr io.Writer) error {
	b := browser.New("", stdout, stderr)
	if err := b.Browse(url); err != nil {
		return fmt.Errorf("open %s in a browser: %w", url, err)
	}
	return nil
}

// Took formats a duration for people.
func Took(d time.Duration) string {
	switch d = max(d, 0).Round(time.Second); {
	case d < time.Minute:
		return fmt.Sprintf("%ds", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%dm %02ds", d/time.Minute, d%time.Minute/time.Second)
	}
	return fmt.Sprintf("%dh %02dm", d/time.Hour, d%time.Hour/time.Minute)
}

// Tokens formats a number of tokens, rounded.
func Tokens(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprint(n)
	case n < 999_950:
		return fmt.Sprintf("%.1fk", float64(n)/1000)
	}
	return fmt.Sprintf("%.1fM", float64(n)/1_000_000)
}

// stamps matches the times in our texts, see work.Stamp, and those in comments on GitHub.
var stamps = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\b\d{4}-\d\d-\d\d(?:T\d\d:\d\d:\d\dZ|[ ]\d\d:\d\d(?::\d\d)? UTC)`)
})

var stampForms = []string{time.RFC3339, "2006-01-02 15:04:05 MST", "2006-01-02 15:04 MST"}

// Ours fits a text of ours to who reads it: commands are completed, and on a terminal times are local, with the
// zone. Programs get UTC.
func (o Output) Ours(s string) string {
	if o.Typed != nil {
		s = o.Typed(s)
	}
	if !o.TTY {
		return s
	}
	return stamps().ReplaceAllStringFunc(s, func(stamp string) string {
		for _, form := range stampForms {
			if t, err := time.Parse(form, stamp); err == nil {
				return t.Local().Format("2006-01-02 15:04 MST")
			}
		}
		return stamp
	})
}
