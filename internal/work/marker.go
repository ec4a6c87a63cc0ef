package work

import (
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/lazy"
)

// Markers are HTML comments: GitHub returns them in the API and does not display them. They are
// printable ASCII, because go-gh rewrites control characters in responses.

var (
	actionMarker  = lazy.Regexp(`^<!-- mergexo-action:([0-9a-f]{64}) -->$`)
	handledMarker = lazy.Regexp(`^<!-- mergexo-handled:([!-~ ]*) -->$`)
	reviewMarker  = lazy.Regexp(`^<!-- mergexo-(review|finding|epoch|merge):([A-Za-z0-9_-]+) -->$`)
)

// Marks are the contents of the markers at the end of a body.
type Marks struct {
	Token   string
	Handled []string // event keys; only on the last visible action of a turn
	Stop    string   // from MarkStop; only on the comment about a stop that lasts
	Review  string   // defined by internal/work/review; only on our reviews
	Finding string   // defined by internal/work/review; only on the comments of a review
	Merge   string   // a head that a person approved for merging; only on the answer to that command
	Epoch   string   // how often a person restarted the reviews; only on the comment about a stop of the reviews, and on the answer to the command
}

// Mark adds a blank line and the markers to a body, the token last.
func Mark(body string, m Marks) string {
	var b strings.Builder
	b.WriteString(strings.TrimRight(Normalise(body), "\n"))
	b.WriteString("\n\n")
	if len(m.Handled) > 0 {
		b.WriteString("<!-- mergexo-handled:" + strings.Join(m.Handled, " ") + " -->\n")
	}
	for _, line := range []struct{ name, says string }{{"stop", m.Stop}, {"review", m.Review}, {"finding", m.Finding}, {"epoch", m.Epoch}, {"merge", m.Merge}} {
		if line.says != "" {
			b.WriteString("<!-- mergexo-" + line.name + ":" + line.says + " -->\n")
		}
	}
	b.WriteString("<!-- mergexo-action:" + m.Token + " -->")
	return b.String()
}

// ParseMarks reads the markers of a body. Only unquoted ones at its very end count: the action's
// marker on the last line, the others directly above. They do not prove who wrote the body.
func ParseMarks(body string) (Marks, bool) {
	lines := strings.Split(strings.TrimRight(Normalise(body), "\n \t"), "\n")
	last := actionMarker().FindStringSubmatch(lines[len(lines)-1])
	if last == nil {
		return Marks{}, false
	}
	m := Marks{Token: last[1]}
	for i := len(lines) - 2; i >= 0 && m.read(lines[i]); i-- {
	}
	return m, true
}

// read reads the marker on a line. It reports whether there is one.
func (m *Marks) read(line string) bool {
	if h := handledMarker().FindStringSubmatch(line); h != nil {
		m.Handled = strings.Fields(h[1])
		return true
	}
	if s := stopMarker().FindStringSubmatch(line); s != nil {
		m.Stop = s[1]
		return true
	}
	found := reviewMarker().FindStringSubmatch(line)
	if found == nil {
		return false
	}
	switch found[1] {
	case "review":
		m.Review = found[2]
	case "finding":
		m.Finding = found[2]
	case "merge":
		m.Merge = found[2]
	default:
		m.Epoch = found[2]
	}
	return true
}

// Unmarked returns a body without the markers at its end.
func Unmarked(body string) string {
	lines := strings.Split(strings.TrimRight(Normalise(body), "\n \t"), "\n")
	if actionMarker().MatchString(lines[len(lines)-1]) {
		lines = lines[:len(lines)-1]
		for m := (&Marks{}); len(lines) > 0 && m.read(lines[len(lines)-1]); {
			lines = lines[:len(lines)-1]
		}
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n \t")
}

// Ours reports whether a body was written by us: by an account that we have used, and with a
// marker. The operator and gh mergexo usually share an account, and anybody can paste a marker;
// only both together are proof.
func Ours(body string, author Account, accounts []int64) bool {
	_, marked := ParseMarks(body)
	return marked && author.ID != 0 && slices.Contains(accounts, author.ID)
}
