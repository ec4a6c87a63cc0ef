package prompts

import (
	"strconv"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/prompts/public"
)

// page is the data of a template. People's text is already in fences; the rest is ours or was made
// one clean line.
type page struct {
	Nonce          string
	Repository     string
	Writes         bool // the agent may change files
	Reviews        bool // the answer is a verdict
	Starts         bool // the answer opens a pull request
	AllowedActions []string
	Refused        []string

	Adapter        string // claude, codex or command: how the answer is given
	Shell          bool
	Network        Network
	TurnLimit      string // such as "30 minutes"; empty: none
	IdleLimit      string
	TestLimit      string
	RequiredTests  string // their command, in a block of its own; empty: none
	Instructions   string // files for contributors
	NoInstructions bool   // there are none

	Issue        Issue // only number and URL are used unfenced
	IssueText    string
	Conversation string

	PullRequest     *PullRequest
	Where           string // branch, base, document
	Head            string
	Document        string
	ChangedFiles    string
	Previous        string
	Partial         *Partial
	PartialFiles    string
	Waited          string
	DecisionSummary string
	Earlier         string
	Unresolved      string

	Events   string
	ReplyIDs string
	Checks   string
	Conflict string
	Findings string
	Handoff  string

	reviewPage
}

func newPage(kind work.Kind, c Context) (page, error) {
	nonce, err := nonceOf(c)
	if err != nil {
		return page{}, err
	}
	f := fencer{nonce: nonce}
	t := c.Task
	p := page{
		Nonce: nonce, Repository: t.Repository, Writes: kind.Mode() == work.ModeWrite && !c.ReadOnly, Reviews: kind == work.KindReview,
		Starts: kind.Start(), AllowedActions: c.AllowedActions, Refused: c.Refused,
		Instructions: f.instructions(t.Instructions), NoInstructions: t.Instructions != nil,
		Issue:           t.Issue,
		IssueText:       f.data("issue", describeIssue(t.Issue)),
		Conversation:    f.comments("comment on the issue", t.Issue.Comments),
		PullRequest:     t.PullRequest,
		Where:           where(t),
		Document:        t.Document,
		ChangedFiles:    f.optional("changed files", strings.Join(t.ChangedFiles, "\n")),
		Previous:        f.optional("what happened before", c.Previous),
		Waited:          waited(f, c),
		DecisionSummary: f.optional("decisions so far", c.DecisionSummary),
		Earlier:         f.comments("said before", c.Earlier),
		Unresolved:      f.unresolved(c.Unresolved),
		Events:          f.events(c.NewEvents), ReplyIDs: strings.Join(replyIDs(c), ", "),
		Checks: f.checks(c.Checks), Conflict: f.conflict(c.Conflict), Findings: f.findings(c.Findings), Handoff: f.handoff(c.Handoff),
		reviewPage: newReviewPage(f, kind, c),
	}
	p.surround(c.Surroundings)
	if t.PullRequest != nil {
		p.Head = t.PullRequest.HeadSHA
	}
	if c.Partial != nil {
		p.Partial, p.PartialFiles = c.Partial, f.data("files of the unfinished work", strings.Join(c.Partial.ChangedFiles, "\n"))
	}
	return p, nil
}

func (p *page) surround(s Surroundings) {
	p.Adapter, p.Shell, p.Network = s.Adapter, s.Shell, s.Network
	p.TurnLimit, p.IdleLimit, p.TestLimit = limit(s.TurnSeconds), limit(s.IdleSeconds), limit(s.TestSeconds)
	p.RequiredTests = commandLine(s.RequiredTests)
}

func where(t Task) string {
	base := t.Base
	if base != "" && t.BaseSHA != "" {
		base += " at " + t.BaseSHA
	}
	return strings.TrimRight(head("Branch", t.Branch, "Base", base, "Design document", t.Document), "\n")
}

func describeIssue(i Issue) string {
	return head("title", i.Title, "author", i.Author, "role", i.Role.shown()) + "\n" + orNothing(i.Body)
}

// head renders pairs of names and values as lines and skips empty values.
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
		parts = append(parts, f.data(label, head("author", c.Author, "role", c.Role.shown(), "at", stamp(c.CreatedAt), "url", c.URL)+"\n"+orNothing(c.Body)))
	}
	return strings.Join(parts, "\n")
}

// eventNames are the kinds of event in words for an agent.
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
			title += " " + public.OneLine(e.ID)
		}
		thread := ""
		if e.InReplyTo != 0 {
			thread = strconv.FormatInt(e.InReplyTo, 10)
		}
		text := head("author", e.Author, "role", e.Role.shown(), "at", stamp(e.CreatedAt), "url", e.URL, "verdict", e.State, "file", place(e.Path, e.Line), "in the thread of", thread)
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
			text.WriteString("\n" + head("author", c.Author, "role", c.Role.shown(), "at", stamp(c.CreatedAt)) + orNothing(c.Body) + "\n")
		}
		parts = append(parts, f.data("still open", text.String()))
	}
	return strings.Join(parts, "\n")
}
