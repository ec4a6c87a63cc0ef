package prompts

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/mergexo/gh-mergexo/internal/lazy"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/roadmap"
	"github.com/mergexo/gh-mergexo/prompts/public"
)

// page is the data of a template. Text written by people is already fenced. All other text is ours,
// or was cleaned and put on one line.
type page struct {
	Nonce      string
	Repository string
	Writes     bool // the agent may change files
	Reviews    bool // the answer is a verdict
	Refused    []string
	Criteria   bool // the issue or its design has criteria to meet

	Adapter        string // claude, codex or command: how the answer is given
	Shell          bool
	Network        Network
	TurnLimit      string // such as "30 minutes"; empty: none
	IdleLimit      string
	TestLimit      string
	RequiredTests  string // their command, in a block of its own; empty: none
	Instructions   string // files for contributors
	NoInstructions bool   // there are none
	Setup          string // what it did; empty: there is none
	SetupAltered   bool   // it ran on the change, without network
	SetupFailure   string // such as "ended with exit code 1"; empty: it did not fail

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
	Parent   string
	Roadmap  *roadmapPage
	Accepts  string // of a pull request's title and text
	PullText string // title and text of the pull request; empty: they cannot be replaced

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
		Refused: c.Refused, Criteria: hasCriteria(c),
		Instructions: f.instructions(t.Instructions), NoInstructions: t.Instructions != nil,
		Issue:           t.Issue,
		IssueText:       f.data(labelIssue, describeIssue(t.Issue)),
		Conversation:    f.comments(labelConversation, t.Issue.Comments),
		PullRequest:     t.PullRequest,
		Where:           where(t),
		Document:        t.Document,
		ChangedFiles:    f.optional(labelFiles, strings.Join(t.ChangedFiles, "\n")),
		Previous:        f.optional("what happened before", c.Previous),
		Waited:          waited(f, c),
		DecisionSummary: f.optional(labelDecisions, c.DecisionSummary),
		Earlier:         f.comments(labelSaid, c.Earlier),
		Unresolved:      f.unresolved(c.Unresolved),
		Events:          f.events(c.NewEvents), ReplyIDs: strings.Join(replyIDs(c), ", "),
		Checks: f.checks(c.Checks), Conflict: f.conflict(c.Conflict), Findings: f.findings(c.Findings), Handoff: f.handoff(c.Handoff), Parent: f.parent(c.Parent), Roadmap: newRoadmapPage(f, c),
		reviewPage: newReviewPage(f, kind, c),
	}
	p.surround(f, c.Surroundings)
	p.Accepts = f.accepts(c.Accepts)
	if t.PullRequest != nil {
		p.Head = t.PullRequest.HeadSHA
		if t.PullRequest.Version != "" {
			p.PullText = f.data("the pull request", head("title", t.PullRequest.Title)+"\n"+orNothing(t.PullRequest.Text))
		}
	}
	if c.Partial != nil {
		p.Partial, p.PartialFiles = c.Partial, f.data("files of the unfinished work", strings.Join(c.Partial.ChangedFiles, "\n"))
	}
	return p, nil
}

// TestsKnown reports whether the agent can know if a test fails: it can run the tests, or sees what
// they said.
func (p page) TestsKnown() bool { return p.Writes && p.Shell || p.Checks != "" || p.Results != "" }

// criterion matches an entry of a checklist and the names of lists of criteria.
var criterion = lazy.Regexp(`(?im)^[ \t]*[-*+][ \t]+\[[ x]\]|acceptance criteri|definition of done|test plan`)

// hasCriteria reports whether people wrote down what the change must fulfil.
func hasCriteria(c Context) bool {
	texts := []string{c.Task.Issue.Body}
	for _, said := range c.Task.Issue.Comments {
		texts = append(texts, said.Body)
	}
	for _, s := range c.Specification {
		texts = append(texts, s.Text)
	}
	if h := c.Handoff; h != nil {
		texts = append(texts, h.Document)
	}
	return c.Handoff != nil && len(c.Handoff.Criteria) > 0 || slices.ContainsFunc(texts, criterion().MatchString)
}

func (p *page) surround(f fencer, s Surroundings) {
	p.Adapter, p.Shell, p.Network = s.Adapter, s.Shell, s.Network
	p.TurnLimit, p.IdleLimit, p.TestLimit = limit(s.TurnSeconds), limit(s.IdleSeconds), limit(s.TestSeconds)
	p.RequiredTests = commandLine(s.RequiredTests)
	if u := s.Setup; u != nil {
		p.SetupAltered, p.SetupFailure = len(u.Altered) > 0, u.Failure
		text := head("command", strings.Join(u.Command, " "), "lock files that the change alters", strings.Join(u.Altered, ", "), "in the checkout now", strings.Join(u.Made, ", "))
		if u.Output != "" {
			text += "the end of its output:\n" + u.Output
		}
		p.Setup = f.data("set-up", text)
	}
}

func where(t Task) string {
	base := t.Base
	if base != "" && t.BaseSHA != "" {
		base += " at " + t.BaseSHA
	}
	return strings.TrimRight(head("Branch", t.Branch, "Base", base, documentLabel(t), t.Document), "\n")
}

func documentLabel(t Task) string {
	if roadmap.IsPath(t.Document, t.Issue.Number) {
		return "Roadmap"
	}
	return "Design document"
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
		parts = append(parts, f.data(labelOpen, text.String()))
	}
	return strings.Join(parts, "\n")
}

// cut shortens text to limit characters in all and replaces its end by a note of how many were left
// out. Text within the limit is unchanged, so cutting twice is cutting once.
func cut(s string, limit int) string {
	n := utf8.RuneCountInString(s)
	if n <= limit {
		return s
	}
	note := fmt.Sprintf("\n[… %d characters left out]", n-limit)
	return public.FirstRunes(s, max(0, limit-utf8.RuneCountInString(note)-8)) + note
}

// cutHead cuts the beginning, for text whose end matters most.
func cutHead(s string, limit int) string {
	n := utf8.RuneCountInString(s)
	if n <= limit {
		return s
	}
	note := fmt.Sprintf("[… %d characters left out]\n", n-limit)
	keep := max(0, limit-utf8.RuneCountInString(note)-8)
	return note + s[len(public.FirstRunes(s, n-keep)):]
}

// nonceOf derives the fences' nonce from the turn key and all text inside the fences: nobody can
// write a text that contains its own nonce.
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

// Labels of fenced data that lasts.
const (
	labelIssue         = "issue"
	labelConversation  = "said on the issue" // unlike a new comment on it, which asks for an answer
	labelInstructions  = "instructions for contributors"
	labelFiles         = "changed files"
	labelDecisions     = "decisions so far"
	labelSaid          = "said before"
	labelOpen          = "still open"
	labelAgreed        = "what was agreed on"
	labelRoadmap       = "roadmap"
	labelBefore        = "done before"
	labelDesign        = "design document"
	labelSpecification = "specification"
	labelAccepts       = "what pull requests look like here"
)

// fencer puts text between fences.
type fencer struct{ nonce string }

// fenceLike matches lines that look like one of our fences.
var fenceLike = lazy.Regexp(`(?im)^([^\n]*?)(-{2,}[ \t]*)(BEGIN|END)([ \t]+DATA)`)

func (f fencer) data(label, text string) string {
	text = strings.ReplaceAll(text, f.nonce, "[nonce]")
	text = fenceLike().ReplaceAllString(text, `$1$2\$3$4`)
	return "-----BEGIN DATA " + f.nonce + " (" + label + ")\n" + strings.Trim(text, "\n") + "\n-----END DATA " + f.nonce
}

// optional is data, but returns nothing for an empty text.
func (f fencer) optional(label, text string) string {
	if text == "" {
		return ""
	}
	return f.data(label, text)
}

// waited begins the prompt of a turn that resumes after people commented.
func waited(f fencer, c Context) string {
	if c.Waited == "" {
		return ""
	}
	text := "This resumes work that waited for people, for this reason:\n" + f.data("why it waited", c.Waited) + "\n"
	if len(c.NewEvents) > 0 {
		text += "Their comments since then stand below, under \"New events\".\n"
	}
	return text + "\n"
}

// section renders a heading with its points; nothing if there are none.
func section(title string, points []string) string {
	if len(points) == 0 {
		return ""
	}
	return title + ":\n- " + strings.Join(points, "\n- ") + "\n"
}

// handoff renders a merged design: the short agreement, then the document itself.
func (f fencer) handoff(h *Handoff) string {
	if h == nil {
		return ""
	}
	base := h.Base
	if h.BaseSHA != "" {
		base += " at " + h.BaseSHA
	}
	facts := head("document", h.DocumentPath, "merged as", h.MergeCommit, "work from", base) +
		section("decisions", h.Decisions) + section("non-goals", h.NonGoals) +
		section("acceptance criteria", h.Criteria) + section("files that will likely change", h.TouchPaths) + section("risks", h.Risks)
	return f.data(labelAgreed, facts) + "\n" + f.data(labelDesign, orNothing(h.Document))
}

// parent renders the goal of an issue's roadmap, then what was merged for the issues that blocked it.
func (f fencer) parent(p *Parent) string {
	if p == nil {
		return ""
	}
	parts := []string{f.data(labelRoadmap, head("issue", fmt.Sprintf("#%d", p.Number), "title", p.Title)+"\n"+orNothing(p.Goal))}
	for _, b := range p.Before {
		text := head("issue", b.Issue, "title", b.Title, "pull request", b.PullRequest, "merged as", b.MergeCommit) +
			section("decisions", b.Decisions) + section("changed files", b.ChangedFiles)
		if b.Summary != "" {
			text += "\n" + b.Summary
		}
		parts = append(parts, f.data(labelBefore, text))
	}
	return strings.Join(parts, "\n")
}

func (f fencer) checks(list []Check) string {
	parts := make([]string, 0, len(list))
	for _, c := range list {
		var text strings.Builder
		text.WriteString(head("check", c.Name, "conclusion", c.Conclusion, "link", c.URL))
		if c.Summary != "" {
			text.WriteString("\n" + c.Summary + "\n")
		}
		for _, a := range c.Annotations {
			text.WriteString("\n" + head("at", place(a.Path, a.Line), "level", a.Level) + a.Message + "\n")
		}
		if c.Log != "" {
			text.WriteString("\nthe end of its log:\n" + c.Log + "\n")
		}
		parts = append(parts, f.data("red check", text.String()))
	}
	return strings.Join(parts, "\n")
}

func (f fencer) conflict(c *Conflict) string {
	if c == nil {
		return ""
	}
	base := c.Base
	if c.BaseSHA != "" {
		base += " at " + c.BaseSHA
	}
	text := head("base", base, "head", c.HeadSHA) + section("files in conflict", c.Paths)
	if c.Log != "" {
		text += "what the merge said:\n" + c.Log + "\n"
	}
	return f.data("conflict", text)
}
