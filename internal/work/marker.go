package work

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/lazy"
)

// Markers are HTML comments: GitHub returns them in the API and does not display them. They are
// printable ASCII, because go-gh rewrites control characters in responses.

var (
	actionMarker  = lazy.Regexp(`^<!-- mergexo-action:([0-9a-f]{64}) -->$`)
	handledMarker = lazy.Regexp(`^<!-- mergexo-handled:([!-~ ]*) -->$`)
	reviewMarker  = lazy.Regexp(`^<!-- mergexo-(review|finding|epoch|merge|node|followups|cancelled|by):([A-Za-z0-9_-]+) -->$`)
)

// Marks are the contents of the markers at the end of a body.
type Marks struct {
	Token     string
	Nodes     string   // from MarkNodes; only on the comment with the table of a roadmap
	Handled   []string // event keys; only on the last visible action of a turn
	Stop      string   // from MarkStop; only on the comment about a stop that lasts
	Review    string   // defined by internal/work/review; only on our reviews
	Finding   string   // defined by internal/work/review; only on the comments of a review
	Merge     string   // a head that a person approved for merging; only on the answer to that command
	Node      string   // from MarkNode; only in the text of a roadmap's sub-issue
	Cancelled string   // number of the issue whose merged roadmap a person cancelled; only on the answer to that command
	Proposals string   // from MarkProposals; only on a text that lists follow-ups
	By        string   // id of the installation that wrote it
	Epoch     string   // how often a person restarted the reviews; only on the comment about a stop of the reviews, and on the answer to the command
}

// Mark adds a blank line and the markers to a body, the token last.
func Mark(body string, m Marks) string {
	var b strings.Builder
	b.WriteString(strings.TrimRight(Normalise(body), "\n"))
	b.WriteString("\n\n")
	if len(m.Handled) > 0 {
		b.WriteString("<!-- mergexo-handled:" + strings.Join(m.Handled, " ") + " -->\n")
	}
	for _, line := range []struct{ name, says string }{{"stop", m.Stop}, {"review", m.Review}, {"finding", m.Finding}, {"epoch", m.Epoch}, {"merge", m.Merge}, {"node", m.Node}, {"followups", m.Proposals}, {"cancelled", m.Cancelled}, {"by", m.By}} {
		if line.says != "" {
			b.WriteString("<!-- mergexo-" + line.name + ":" + line.says + " -->\n")
		}
	}
	if m.Nodes != "" {
		b.WriteString("<!-- mergexo-nodes:" + m.Nodes + " -->\n")
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
	if s := nodesMarker().FindStringSubmatch(line); s != nil {
		m.Nodes = s[1]
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
	case "followups":
		m.Proposals = found[2]
	case "node":
		m.Node = found[2]
	case "cancelled":
		m.Cancelled = found[2]
	case "by":
		m.By = found[2]
	default:
		m.Epoch = found[2]
	}
	return true
}

// Signature returns the line at the end of a text of ours which says that a program wrote it: the
// agent with this name, or gh mergexo itself.
func Signature(agent string) string {
	if agent != "" {
		agent = " · " + agent
	}
	return "<sub>gh mergexo" + agent + "</sub>"
}

var signature = lazy.Regexp(`^<sub>.*\bgh mergexo\b.*</sub>$`)

// Unmarked returns a body without the markers at its end and the line above them which says that a
// program wrote it.
func Unmarked(body string) string {
	lines := strings.Split(strings.TrimRight(Normalise(body), "\n \t"), "\n")
	if actionMarker().MatchString(lines[len(lines)-1]) {
		lines = lines[:len(lines)-1]
		for m := (&Marks{}); len(lines) > 0 && m.read(lines[len(lines)-1]); {
			lines = lines[:len(lines)-1]
		}
	}
	text := strings.TrimRight(strings.Join(lines, "\n"), "\n \t")
	if at := strings.LastIndexByte(text, '\n') + 1; signature().MatchString(text[at:]) {
		text = strings.TrimRight(text[:at], "\n \t")
	}
	return text
}

// Ours reports whether a body was written by us: by an account that we have used, and with a
// marker. The operator and gh mergexo usually share an account, and anybody can paste a marker;
// only both together are proof.
func Ours(body string, author Account, accounts []int64) bool {
	_, marked := ParseMarks(body)
	return marked && author.ID != 0 && slices.Contains(accounts, author.ID)
}

var workMarker = lazy.Regexp(`(?m)^<!-- mergexo-work:(\{.*\}) -->$`)

// PullMark is the origin of a pull request of ours, in its body.
type PullMark struct {
	Issue int    `json:"issue"`
	Flow  Flow   `json:"flow"`
	Turn  string `json:"turn"`
	Run   int    `json:"run,omitempty"` // of a pull request that changes a roadmap: the number of the one that began it
}

// MarkPull formats a pull request's origin as a line of its body.
func MarkPull(m PullMark) string {
	b, err := json.Marshal(m)
	if err != nil {
		panic(err) // plain fields
	}
	return "<!-- mergexo-work:" + string(b) + " -->"
}

// ParsePullMark finds the origin in a pull request's body.
func ParsePullMark(body string) (PullMark, bool) {
	found := workMarker().FindStringSubmatch(Normalise(body))
	if found == nil {
		return PullMark{}, false
	}
	var m PullMark
	if err := json.Unmarshal([]byte(found[1]), &m); err != nil || m.Issue <= 0 || m.Flow == "" {
		return PullMark{}, false
	}
	return m, true
}

// SplitPull splits the body of a pull request of ours into its text, and what stands below it: the line
// that refers to its issue with all after it, or else the markers at its end.
func SplitPull(body string) (text, tail string) {
	body = strings.TrimRight(Normalise(body), "\n \t")
	at := len(Unmarked(body))
	if m, ok := ParsePullMark(body); ok {
		at = min(at, workMarker().FindStringIndex(body)[0])
		for _, refers := range []string{"Fixes", "Refs"} {
			if i := strings.LastIndex("\n"+body[:at], "\n"+refers+" #"+strconv.Itoa(m.Issue)+"\n"); i >= 0 {
				at = min(at, i)
			}
		}
	}
	return strings.TrimRight(body[:at], "\n \t"), strings.TrimLeft(body[at:], "\n")
}

var stopMarker = lazy.Regexp(`^<!-- mergexo-stop:([A-Za-z0-9_-]+) -->$`)

// maxMarked limits a reason's texts in a marker, in bytes, and each text if there are several: most
// of a comment is for people.
const maxMarked = 6000

// stopMark is a stop as its comment's marker stores it, for a pass whose database was lost. The
// visible text is never parsed.
type stopMark struct {
	Number   int    `json:"number"` // of the conversation: a paste elsewhere says nothing there
	Reason   Reason `json:"reason"`
	Attempts int    `json:"attempts"`
	Since    int64  `json:"since"` // unix milliseconds
}

// MarkStop returns the marker of the comment about a stop.
func MarkStop(s Stop) string {
	b, err := json.Marshal(stopMark{s.Number, Marked(s.Reason), s.Attempts, s.Since.UnixMilli()})
	if err != nil {
		panic(err) // plain fields
	}
	return base64.RawURLEncoding.EncodeToString(b)
}

// Marked returns the part of a reason that a marker may contain: without details of this machine,
// without what was spent, and shortened if it is long.
func Marked(r Reason) Reason {
	r.Local = ""
	if isSpending(r.Name) {
		r.Used, r.Limit = 0, 0
	}
	if len(r.identity()+r.Advice) > maxMarked {
		r.Names = nil
		r = r.Map(func(s string) string { return strings.ToValidUTF8(s[:min(len(s), maxMarked/4)], "") })
	}
	return r
}

// ParseStop reads a marker made by MarkStop for this conversation. It returns false for any other.
func ParseStop(mark string, number int) (Stop, bool) {
	b, _ := base64.RawURLEncoding.DecodeString(mark) // invalid base64 gives no valid JSON
	var m stopMark
	if err := json.Unmarshal(b, &m); err != nil || m.Number != number || m.Reason.None() || m.Attempts <= 0 || m.Since <= 0 {
		return Stop{}, false
	}
	return Stop{Number: number, Reason: m.Reason, Attempts: m.Attempts, Since: time.UnixMilli(m.Since).UTC()}, true
}

// Stop is why a work item is stopped, or last was, and where GitHub shows it. The same reason in
// the same place is the same stop, regardless of the number of attempts.
type Stop struct {
	ItemID   int64
	Number   int    // the issue or pull request that has the comment
	Token    string // of the comment
	Reason   Reason
	Attempts int // how often the item stopped for this reason; 0: the stop is over, and the next one starts at 1
	Since    time.Time
	Ended    time.Time // when the item resumed; zero: it has not
	Taken    time.Time // since when the comment says that people paused the item; zero: it does not
}

// Lasts reports whether the item is stopped now.
func (s Stop) Lasts() bool { return s.Attempts > 0 && s.Ended.IsZero() }

// NodeMark says which node of which roadmap a sub-issue is, for a pass whose database was lost and
// for one that finds it elsewhere.
type NodeMark struct {
	Roadmap int    `json:"roadmap"` // number of the roadmap's issue
	Run     int    `json:"run"`     // number of the pull request that began the roadmap
	Node    string `json:"node"`    // id in the roadmap's document
	Hash    string `json:"hash"`    // of the title, flow and text that were applied last
}

// MarkNode returns the marker of a roadmap's sub-issue.
func MarkNode(m NodeMark) string {
	b, err := json.Marshal(m)
	if err != nil {
		panic(err) // plain fields
	}
	return base64.RawURLEncoding.EncodeToString(b)
}

// ParseNode reads a marker made by MarkNode for a node of this roadmap; 0: of any. It returns false for
// any other.
func ParseNode(mark string, roadmap int) (NodeMark, bool) {
	b, _ := base64.RawURLEncoding.DecodeString(mark) // invalid base64 gives no valid JSON
	var m NodeMark
	if err := json.Unmarshal(b, &m); err != nil || m.Roadmap <= 0 || roadmap != 0 && m.Roadmap != roadmap || m.Node == "" || m.Hash == "" {
		return NodeMark{}, false
	}
	return m, true
}
