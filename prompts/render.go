package prompts

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"text/template"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
)

//go:embed templates/*.tmpl
var templateFiles embed.FS

var templates = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("prompts").Option("missingkey=error").ParseFS(templateFiles, "templates/*.tmpl"))
})

// page is what a template sees. Whatever people wrote stands in fences
// already; the rest is ours or was made one clean line.
type page struct {
	Nonce          string
	Repository     string
	Writes         bool
	AllowedActions []string
	Refused        []string

	Issue        Issue // number and URL only are used unfenced
	IssueText    string
	Conversation string

	PullRequest     *PullRequest
	Where           string // branch, base, document
	Document        string
	ChangedFiles    string
	Previous        string
	Partial         *Partial
	PartialFiles    string
	DecisionSummary string
	Events          string
	Unresolved      string
	ReplyIDs        string
}

// Render makes the prompt of a turn. The context goes through Prepare first;
// the same kind and context always give the same prompt.
func Render(kind work.Kind, c Context) (string, error) {
	if !Known(kind) {
		return "", fmt.Errorf("render prompt: no prompt of kind %q", kind)
	}
	c = Prepare(c)
	p, err := newPage(kind, c)
	if err != nil {
		return "", fmt.Errorf("render prompt %q: %w", kind, err)
	}
	var b strings.Builder
	if err := templates().ExecuteTemplate(&b, string(kind)+".tmpl", p); err != nil {
		return "", fmt.Errorf("render prompt %q: %w", kind, err)
	}
	return strings.TrimSpace(b.String()) + "\n", nil
}

func newPage(kind work.Kind, c Context) (page, error) {
	nonce, err := nonceOf(c)
	if err != nil {
		return page{}, err
	}
	f := fencer{nonce: nonce}
	t := c.Task
	p := page{
		Nonce: nonce, Repository: t.Repository, Writes: kind.Mode() == work.ModeWrite,
		AllowedActions: c.AllowedActions, Refused: c.Refused,
		Issue:        t.Issue,
		IssueText:    f.data("issue", describeIssue(t.Issue)),
		Conversation: f.comments("comment on the issue", t.Issue.Comments),
		PullRequest:  t.PullRequest,
		Where:        where(t),
		Document:     t.Document,
		Events:       f.events(c.NewEvents), Unresolved: f.unresolved(c.Unresolved),
		ReplyIDs: replyIDs(c.NewEvents),
	}
	if len(t.ChangedFiles) > 0 {
		p.ChangedFiles = f.data("changed files", strings.Join(t.ChangedFiles, "\n"))
	}
	if c.Previous != "" {
		p.Previous = f.data("what happened before", c.Previous)
	}
	if c.Partial != nil {
		p.Partial, p.PartialFiles = c.Partial, f.data("files of the unfinished work", strings.Join(c.Partial.ChangedFiles, "\n"))
	}
	if c.DecisionSummary != "" {
		p.DecisionSummary = f.data("decisions so far", c.DecisionSummary)
	}
	return p, nil
}

// nonceOf derives the fence's nonce from the turn key and from everything that
// goes into the fences: a text that holds its own nonce cannot be written.
func nonceOf(c Context) (string, error) {
	b, err := json.Marshal(c)
	if err != nil {
		return "", fmt.Errorf("derive the nonce: %w", err)
	}
	h := sha256.New()
	fmt.Fprintf(h, "mergexo prompt fence\n%d:%s\n", len(c.Task.TurnKey), c.Task.TurnKey)
	h.Write(b)
	return hex.EncodeToString(h.Sum(nil))[:20], nil
}

// fencer puts text between fences.
type fencer struct{ nonce string }

// fenceLike finds lines that look like one of our fences.
var fenceLike = regexp.MustCompile(`(?im)^([^\n]*?)(-{2,}[ \t]*)(BEGIN|END)([ \t]+DATA)`)

func (f fencer) data(label, text string) string {
	text = strings.ReplaceAll(text, f.nonce, "[nonce]")
	text = fenceLike.ReplaceAllString(text, `$1$2\$3$4`)
	return "-----BEGIN DATA " + f.nonce + " (" + label + ")\n" + strings.Trim(text, "\n") + "\n-----END DATA " + f.nonce
}

func where(t Task) string {
	base := t.Base
	if base != "" && t.BaseSHA != "" {
		base += " at " + t.BaseSHA
	}
	return strings.TrimRight(head("Branch", t.Branch, "Base", base, "Design document", t.Document), "\n")
}

func describeIssue(i Issue) string {
	return head("title", i.Title, "author", i.Author) + "\n" + orNothing(i.Body)
}

// head renders pairs of names and values as lines, without the empty ones.
func head(pairs ...string) string {
	var b strings.Builder
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			b.WriteString(pairs[i] + ": " + pairs[i+1] + "\n")
		}
	}
	return b.String()
}

func orNothing(s string) string {
	if strings.TrimSpace(s) == "" {
		return "(nothing was written here)"
	}
	return s
}

func place(path string, line int) string {
	if line > 0 {
		return path + ", line " + strconv.Itoa(line)
	}
	return path
}

func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

func (f fencer) comments(label string, list []Comment) string {
	parts := make([]string, 0, len(list))
	for _, c := range list {
		parts = append(parts, f.data(label, head("author", c.Author, "at", stamp(c.CreatedAt))+"\n"+orNothing(c.Body)))
	}
	return strings.Join(parts, "\n")
}

// eventNames says to an agent what kind of event it reads.
var eventNames = map[work.EventKind]string{
	work.EventReview:   "review comment",
	work.EventIssue:    "comment on the pull request",
	work.EventSummary:  "review",
	work.EventSource:   "comment on the issue",
	work.EventCheck:    "red checks",
	work.EventConflict: "conflict with the base branch",
}

func (f fencer) events(list []NewEvent) string {
	parts := make([]string, 0, len(list))
	for _, e := range list {
		name, ok := eventNames[e.Kind]
		if !ok {
			name = "event"
		}
		title := name
		if e.Kind == work.EventReview {
			title += " " + oneLine(e.ID)
		}
		thread := ""
		if e.InReplyTo != 0 {
			thread = strconv.FormatInt(e.InReplyTo, 10)
		}
		text := head("author", e.Author, "at", stamp(e.CreatedAt), "verdict", e.State, "file", place(e.Path, e.Line), "in the thread of", thread)
		if e.DiffHunk != "" {
			text += "diff:\n" + e.DiffHunk + "\n"
		}
		parts = append(parts, title+"\n"+f.data(name, text+"\n"+orNothing(e.Body)))
	}
	return strings.Join(parts, "\n\n")
}

func (f fencer) unresolved(list []Unresolved) string {
	parts := make([]string, 0, len(list))
	for _, u := range list {
		var text strings.Builder
		text.WriteString(head("kind", u.Kind, "title", u.Title, "file", place(u.Path, u.Line)))
		for _, c := range u.Comments {
			text.WriteString("\n" + head("author", c.Author, "at", stamp(c.CreatedAt)) + orNothing(c.Body) + "\n")
		}
		parts = append(parts, f.data("still open", text.String()))
	}
	return strings.Join(parts, "\n")
}

func replyIDs(list []NewEvent) string {
	var ids []string
	for _, e := range list {
		if e.Kind == work.EventReview {
			ids = append(ids, oneLine(e.ID))
		}
	}
	return strings.Join(ids, ", ")
}

const maxQuoted = 20

// Repair is the prompt of the one repair turn after an answer that could not
// be used.
func Repair(kind work.Kind, violations []string) string {
	list := make([]string, 0, len(violations))
	for i, v := range violations {
		if i == maxQuoted {
			list = append(list, fmt.Sprintf("and %d more", len(violations)-i))
			break
		}
		list = append(list, quoted(v))
	}
	var b strings.Builder
	err := templates().ExecuteTemplate(&b, "repair", struct {
		Kind       work.Kind
		Violations []string
	}{kind, list})
	if err != nil {
		panic(err) // a fixed template over two plain fields, rendered by a test
	}
	return b.String()
}

// quoted bounds a violation, which may hold pieces of the answer.
func quoted(s string) string { return cut(Redact(oneLine(s)), 400) }
