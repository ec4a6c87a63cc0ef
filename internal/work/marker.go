package work

import (
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/lazy"
)

// Markers are HTML comments: GitHub keeps them in the API's body and does not
// show them. They are printable ASCII, because go-gh rewrites control
// characters in responses.

var (
	actionMarker  = lazy.Regexp(`^<!-- mergexo-action:([0-9a-f]{64}) -->$`)
	handledMarker = lazy.Regexp(`^<!-- mergexo-handled:([!-~ ]*) -->$`)
	reviewMarker  = lazy.Regexp(`^<!-- mergexo-(review|finding|epoch|merge):([A-Za-z0-9_-]+) -->$`)
)

// Marks are what the end of a body of ours says.
type Marks struct {
	Token   string
	Handled []string // event keys; only on the last visible action of a turn
	Stop    string   // MarkStop's; only on the comment about a stop that lasts
	Review  string   // internal/work/review has what it says; only in the body of a review of ours
	Finding string   // as Review; only in a comment that belongs to one
	Merge   string   // a head that a person says may be merged; only in the answer to that command
	Epoch   string   // how often a person had the reviews begin again; only on the comment about a stop of theirs, and in the answer to the command
}

// Mark ends a body with a blank line and its markers, the token last.
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

// ParseMarks reads the markers of a body. They count at its very end only, unquoted:
// the action's on the last line, the others right above it. They prove nothing about
// who wrote them.
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

// read takes the marker of one line over. It reports whether there is one.
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

// Unmarked is what stands above the markers at the end of a body.
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

// Ours reports whether a body is our own writing: by an account that we have
// used, and with a marker. The operator and the tool usually share an account,
// and anyone can paste a marker; only both together are proof.
func Ours(body string, author Account, accounts []int64) bool {
	_, marked := ParseMarks(body)
	return marked && author.ID != 0 && slices.Contains(accounts, author.ID)
}
