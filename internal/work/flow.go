package work

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/mergexo/gh-mergexo/internal/lazy"
)

// Flow is the way by which an issue becomes a pull request.
type Flow string

// The flows.
const (
	FlowDesign         Flow = "design"
	FlowImplementation Flow = "implementation"
	FlowBugfix         Flow = "bugfix"
	FlowSmallJob       Flow = "small_job"

	// FlowReview is somebody else's pull request: reviewed, and never pushed to. No issue
	// begins it, so it is not among Flows.
	FlowReview Flow = "review"
)

// Flows lists every flow, in the order of label precedence for those that a
// label can start (an issue with several labels takes the first).
func Flows() []Flow { return []Flow{FlowBugfix, FlowSmallJob, FlowDesign, FlowImplementation} }

// branchWord is the flow's part of a branch name.
func (f Flow) branchWord() string {
	switch f {
	case FlowDesign:
		return "design"
	case FlowImplementation:
		return "impl"
	case FlowBugfix:
		return "bugfix"
	case FlowSmallJob:
		return "small"
	case FlowReview: // has no branch of ours
	}
	return string(f)
}

// StartKind is the prompt that begins the flow.
func (f Flow) StartKind() Kind { return Kind(string(f) + "_start") }

// FeedbackKind is the prompt that answers people on the flow's pull request.
func (f Flow) FeedbackKind() Kind {
	if f == FlowDesign {
		return KindDesignFeedback
	}
	return KindImplementationFeedback
}

// BranchPrefix is how a flow's branch for an issue is found again. Only the
// prefix identifies it, never the slug: titles change.
func BranchPrefix(f Flow, issue int) string {
	return fmt.Sprintf("agent/%s/%d-", f.branchWord(), issue)
}

// BranchName is the branch that a flow makes for an issue. attempt counts the
// branches under the same prefix that exist already: history is never
// rewritten, so a later start gets a name of its own.
func BranchName(f Flow, issue int, title string, attempt int) string {
	name := BranchPrefix(f, issue) + Slug(title)
	if attempt > 0 {
		name += fmt.Sprintf("-%d", attempt+1)
	}
	return name
}

// ParseBranch reads flow and issue from a branch name made by BranchName.
func ParseBranch(branch string) (Flow, int, bool) {
	for _, f := range Flows() {
		rest, ok := strings.CutPrefix(branch, "agent/"+f.branchWord()+"/")
		if !ok {
			continue
		}
		var n int
		digits, _, ok := strings.Cut(rest, "-")
		if !ok || len(digits) > 9 {
			return "", 0, false
		}
		if _, err := fmt.Sscanf(digits, "%d", &n); err != nil || n <= 0 || fmt.Sprint(n) != digits {
			return "", 0, false
		}
		return f, n, true
	}
	return "", 0, false
}

// DocumentPath is where a design document for an issue is written.
func DocumentPath(issue int, title string) string {
	return fmt.Sprintf("docs/design/%d-%s.md", issue, Slug(title))
}

// documentName is what may stand between a document's number and its ending. It
// stands in prompts among our own words, so that it holds no sentence.
var documentName = lazy.Regexp(`^[A-Za-z0-9._-]{1,100}$`)

// IsDocument reports whether a path is that of a design document for an issue,
// whatever its title was.
func IsDocument(path string, issue int) bool {
	name, numbered := strings.CutPrefix(path, fmt.Sprintf("docs/design/%d-", issue))
	name, ended := strings.CutSuffix(name, ".md")
	return numbered && ended && documentName().MatchString(name)
}

// maxSlug keeps branch names readable; it is counted in bytes, all ASCII.
const maxSlug = 40

// Slug makes a short lower-case ASCII name of a title: letters and digits,
// joined by single hyphens. It is never empty.
func Slug(title string) string {
	var b strings.Builder
	gap := false
	for _, r := range strings.ToLower(title) {
		if r > unicode.MaxASCII || (!unicode.IsLetter(r) && !unicode.IsDigit(r)) {
			gap = true
			continue
		}
		if gap && b.Len() > 0 {
			b.WriteByte('-')
		}
		gap = false
		b.WriteRune(r)
		if b.Len() >= maxSlug {
			break
		}
	}
	if s := strings.Trim(b.String(), "-"); s != "" {
		return s
	}
	return "issue"
}
