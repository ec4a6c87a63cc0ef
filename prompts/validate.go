package prompts

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mergexo/gh-mergexo/internal/lazy"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/prompts/public"
	"github.com/mergexo/gh-mergexo/prompts/secrets"
)

// Limits of the small fields.
const (
	maxPaths   = 200
	maxPath    = MaxPath
	maxDepends = work.MostDependencies

	maxFollowups   = 3
	maxFollowupWhy = 1000
)

// checker collects violations that a schema cannot express.
type checker struct{ out []string }

func (c *checker) add(format string, args ...any) {
	c.out = append(c.out, quoted(fmt.Sprintf(format, args...)))
}

func checkMeaning(kind work.Kind, a Answer, asked Asked) []string {
	var c checker
	blocked := strings.TrimSpace(a.BlockedReason) != ""
	if a.BlockedReason != "" && !blocked {
		c.add("blocked_reason is blank; write the question, or null")
	}
	if a.Replan != "" && strings.TrimSpace(a.Replan) == "" {
		c.add("replan is blank; write why the roadmap is to change, or null")
	}
	switch {
	case kind == work.KindReview:
		c.review(a, asked)
	case kind == work.KindDesignStart:
		c.design(a, blocked)
	case kind == work.KindRoadmapStart:
		c.roadmap(a, asked.Roadmap, blocked)
	case kind.Start():
		c.title("pr_title", a.PRTitle, blocked)
		c.text("pr_summary", a.PRSummary, blocked)
		if !blocked {
			c.headings("pr_summary", a.PRSummary, asked.Headings)
		}
		c.text("commit_message", a.CommitMessage, blocked)
	default:
		c.feedback(a, asked.Replies)
		c.pullText(a, asked)
		c.checkAnswers(a, asked.Unanswered)
		c.checkFindingAnswers(a, asked.Findings)
	}
	c.followups(a.Followups)
	return c.out
}

// followups limits what an answer proposes: people read all of it in a list.
func (c *checker) followups(all []Followup) {
	if len(all) > maxFollowups {
		c.add("followups has %d entries; at most %d are taken: keep those that matter most", len(all), maxFollowups)
	}
	for i, f := range all[:min(len(all), maxFollowups)] {
		if strings.TrimSpace(f.Title) == "" || strings.TrimSpace(f.Why) == "" {
			c.add("followups[%d] must have a title and a why", i)
		}
		c.title(fmt.Sprintf("followups[%d].title", i), f.Title, true)
		if n := utf8.RuneCountInString(f.Why); n > maxFollowupWhy {
			c.add("followups[%d].why has %d characters; at most %d are taken", i, n, maxFollowupWhy)
		}
	}
}

// text demands a non-blank text unless the work is blocked.
func (c *checker) text(key, value string, blocked bool) {
	if strings.TrimSpace(value) == "" && !blocked {
		c.add("%s is empty; it may be null only when blocked_reason says why", key)
	}
}

func (c *checker) title(key, value string, blocked bool) {
	c.text(key, value, blocked)
	if strings.ContainsAny(value, "\r\n") {
		c.add("%s has more than one line", key)
	}
	if n := utf8.RuneCountInString(value); n > public.TitleLimit {
		c.add("%s has %d characters; GitHub takes %d", key, n, public.TitleLimit)
	}
}

func (c *checker) design(a Answer, blocked bool) {
	c.title("title", a.Title, blocked)
	c.text("summary", a.Summary, blocked)
	c.text("design_doc", a.DesignDoc, blocked)
	c.text("estimated_size", a.EstimatedSize, blocked)
	if a.Priority == 0 && !blocked {
		c.add("priority is empty; it may be null only when blocked_reason says why")
	}
	if len(a.TouchPaths) > maxPaths {
		c.add("touch_paths has %d entries; at most %d are taken: use globs", len(a.TouchPaths), maxPaths)
	}
	for i, p := range a.TouchPaths[:min(len(a.TouchPaths), maxPaths)] {
		if why := PathProblem(p); why != "" {
			c.add("touch_paths[%d] %q %s", i, p, why)
		}
	}
	if len(a.DependsOn) > maxDepends {
		c.add("depends_on has %d entries; at most %d are taken", len(a.DependsOn), maxDepends)
	}
	for i, d := range a.DependsOn[:min(len(a.DependsOn), maxDepends)] {
		if strings.TrimSpace(d) == "" || strings.ContainsAny(d, "\r\n") || utf8.RuneCountInString(d) > maxPath {
			c.add("depends_on[%d] must be one short line, such as \"#12\"", i)
		}
	}
	if len(c.out) > 0 {
		return
	}
	for _, fault := range FaultsOf(RenderDocument(DocumentFields{Priority: a.Priority, TouchPaths: a.TouchPaths, DependsOn: a.DependsOn, EstimatedSize: a.EstimatedSize})) {
		c.add("the front matter of the design has a fault: %s", fault)
	}
}

func (c *checker) feedback(a Answer, asked []int64) {
	seen := map[int64]bool{}
	for i, r := range a.ReviewReplies {
		switch {
		case !slices.Contains(asked, r.ReviewCommentID):
			c.add("review_replies[%d] answers review comment %d, which was not asked about; asked: %s", i, r.ReviewCommentID, idList(asked))
		case seen[r.ReviewCommentID]:
			c.add("review_replies[%d] answers review comment %d a second time", i, r.ReviewCommentID)
		}
		seen[r.ReviewCommentID] = true
		if strings.TrimSpace(r.Body) == "" {
			c.add("review_replies[%d] has an empty body", i)
		}
	}
	if f := a.FlakyTest; f != nil {
		if strings.TrimSpace(f.Name) == "" || strings.ContainsAny(f.Name, "\r\n") || utf8.RuneCountInString(f.Name) > maxPath {
			c.add("flaky_test.name must be the test's name, one short line")
		}
		if strings.TrimSpace(f.Reason) == "" {
			c.add("flaky_test.reason is empty")
		}
	}
}

// pullText checks a new title and a new text of the pull request.
func (c *checker) pullText(a Answer, asked Asked) {
	if a.Title == "" && a.Description == "" {
		return
	}
	if !asked.EditsPull {
		c.add("title and description must be null: this turn is about no red check")
	}
	c.title("title", a.Title, true)
	if n := utf8.RuneCountInString(a.Description); n > maxIssueBody {
		c.add("description has %d characters; at most %d are taken", n, maxIssueBody)
	}
	if a.Description != "" {
		c.headings("description", a.Description, asked.Headings)
	}
}

// headings demands each heading of the repository's template.
func (c *checker) headings(key, text string, wanted []string) {
	there := headingsOf(text)
	for _, h := range wanted {
		if !slices.ContainsFunc(there, func(x string) bool { return strings.EqualFold(x, h) }) {
			c.add("%s lacks the heading %q of the repository's pull request template; keep it, and say below it if nothing applies", key, h)
		}
	}
}

func idList(ids []int64) string {
	if len(ids) == 0 {
		return "none"
	}
	return strings.Trim(strings.Join(strings.Fields(fmt.Sprint(ids)), ", "), "[]")
}

// Leaks returns violations for secrets in any string of an answer. An answer is checked once,
// before it is stored: the patterns may change later, and a stored answer must stay valid.
func Leaks(known *secrets.Redactor, answer []byte) []string {
	value, err := decodeOne(answer)
	if err != nil {
		return []string{known.Redact(quoted(err.Error()))}
	}
	return known.Check("answer", value)
}

// MaxPath is the longest accepted path, in characters.
const MaxPath = 300

var drive = lazy.Regexp(`^[A-Za-z]:[/\\]`)

// PathProblem returns why an agent's value is no valid touched path, or "". It must be a path or
// glob inside the repository, written with slashes.
func PathProblem(p string) string {
	switch {
	case strings.TrimSpace(p) == "":
		return "is empty"
	case utf8.RuneCountInString(p) > MaxPath:
		return "is too long"
	case strings.ContainsAny(p, "\r\n\t"):
		return "has more than one line"
	case strings.HasPrefix(p, "/") || strings.HasPrefix(p, "~") || drive().MatchString(p):
		return "is absolute; write it relative to the repository's root"
	case strings.Contains(p, `\`):
		return "has a backslash; write it with slashes"
	case slices.Contains(strings.Split(p, "/"), ".."):
		return "leaves the repository"
	case strings.EqualFold(strings.Split(p, "/")[0], ".git"):
		return "is inside .git"
	}
	return ""
}
