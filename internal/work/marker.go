package work

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

// Markers are HTML comments: GitHub keeps them in the API's body and does not
// show them. They are printable ASCII, because go-gh rewrites control
// characters in responses.

var (
	actionMarker  = regexp.MustCompile(`^<!-- mergexo-action:([0-9a-f]{64}) -->$`)
	handledMarker = regexp.MustCompile(`^<!-- mergexo-handled:([!-~ ]*) -->$`)
	workMarker    = regexp.MustCompile(`(?m)^<!-- mergexo-work:(\{.*\}) -->$`)
)

// Marks are what the end of a body of ours says.
type Marks struct {
	Token   string
	Handled []string // event keys; only on the last visible action of a turn
	Stop    string   // MarkStop's; only on the comment about a stop that lasts
}

// Mark ends a body with a blank line and its markers, the token last.
func Mark(body string, m Marks) string {
	var b strings.Builder
	b.WriteString(strings.TrimRight(Normalise(body), "\n"))
	b.WriteString("\n\n")
	if len(m.Handled) > 0 {
		b.WriteString("<!-- mergexo-handled:" + strings.Join(m.Handled, " ") + " -->\n")
	}
	if m.Stop != "" {
		b.WriteString("<!-- mergexo-stop:" + m.Stop + " -->\n")
	}
	b.WriteString("<!-- mergexo-action:" + m.Token + " -->")
	return b.String()
}

// ParseMarks reads the markers of a body. A marker counts on the body's last
// line only, unquoted; it proves nothing about who wrote it.
func ParseMarks(body string) (Marks, bool) {
	lines := strings.Split(strings.TrimRight(Normalise(body), "\n \t"), "\n")
	last := actionMarker.FindStringSubmatch(lines[len(lines)-1])
	if last == nil {
		return Marks{}, false
	}
	m := Marks{Token: last[1]}
	if len(lines) > 1 {
		if h := handledMarker.FindStringSubmatch(lines[len(lines)-2]); h != nil {
			m.Handled = strings.Fields(h[1])
		}
		if s := stopMarker.FindStringSubmatch(lines[len(lines)-2]); s != nil {
			m.Stop = s[1]
		}
	}
	return m, true
}

// Ours reports whether a body is our own writing: by an account that we have
// used, and with a marker. The operator and the tool usually share an account,
// and anyone can paste a marker; only both together are proof.
func Ours(body string, author Account, accounts []int64) bool {
	_, marked := ParseMarks(body)
	return marked && author.ID != 0 && slices.Contains(accounts, author.ID)
}

// PullMark is what the body of a pull request of ours says about its origin.
type PullMark struct {
	Issue int    `json:"issue"`
	Flow  Flow   `json:"flow"`
	Turn  string `json:"turn"`
}

// MarkPull renders the origin of a pull request as a line of its body.
func MarkPull(m PullMark) string {
	b, err := json.Marshal(m)
	if err != nil {
		panic(err) // three plain fields
	}
	return "<!-- mergexo-work:" + string(b) + " -->"
}

// ParsePullMark finds the origin in a pull request's body.
func ParsePullMark(body string) (PullMark, bool) {
	found := workMarker.FindStringSubmatch(Normalise(body))
	if found == nil {
		return PullMark{}, false
	}
	var m PullMark
	if err := json.Unmarshal([]byte(found[1]), &m); err != nil || m.Issue <= 0 || m.Flow == "" {
		return PullMark{}, false
	}
	return m, true
}

// The trailers of our commits.
const (
	TrailerTurn    = "Mergexo-Turn"
	TrailerHandled = "Mergexo-Handled"
)

// turnDigits is how much of a turn's key a commit names: 64 bits tell all turns apart.
const turnDigits = 16

// ShortTurn is how a commit names its turn.
func ShortTurn(key string) string { return key[:min(len(key), turnDigits)] }

// TrailersOf reads the trailers of a commit's message: how the key of the turn that
// made it begins, empty when none did, and the events that it was made for.
func TrailersOf(message string) (turn string, handled []string) {
	for line := range strings.Lines(message) {
		line = strings.TrimSpace(line)
		if v, ok := strings.CutPrefix(line, TrailerTurn+": "); ok {
			turn = v
		}
		if v, ok := strings.CutPrefix(line, TrailerHandled+": "); ok {
			handled = append(handled, v)
		}
	}
	return turn, handled
}
