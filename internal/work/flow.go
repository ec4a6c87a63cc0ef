package work

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/mergexo/gh-mergexo/internal/lazy"
)

// Flow is how an issue becomes a pull request.
type Flow string

// The flows.
const (
	FlowDesign         Flow = "design"
	FlowImplementation Flow = "implementation"
	FlowBugfix         Flow = "bugfix"
	FlowSmallJob       Flow = "small_job"
	FlowRoadmap        Flow = "roadmap" // the issue is done by sub-issues, which its document describes

	// FlowReview is for somebody else's pull request: it is reviewed and never pushed to. No issue
	// starts it, so Flows does not list it.
	FlowReview Flow = "review"
)

// Flows lists every flow, in the order of precedence: an issue with several labels takes the first.
func Flows() []Flow {
	return []Flow{FlowBugfix, FlowSmallJob, FlowDesign, FlowImplementation, FlowRoadmap}
}

// branchWord is the flow's name in branch names.
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
	case FlowRoadmap:
		return "roadmap"
	case FlowReview: // never pushes a branch
	}
	return string(f)
}

// StartKind is the kind of turn that starts the flow.
func (f Flow) StartKind() Kind { return Kind(string(f) + "_start") }

// FeedbackKind is the kind of turn that answers people on the flow's pull request.
func (f Flow) FeedbackKind() Kind {
	if f.Document() {
		return KindDesignFeedback
	}
	return KindImplementationFeedback
}

// Document reports whether the flow's pull request is a document for people to discuss, after whose
// merge the work begins.
func (f Flow) Document() bool { return f == FlowDesign || f == FlowRoadmap }

// BranchRoot is the first name of all our branches.
const BranchRoot = "agent"

// BranchPatterns returns git's patterns of all our branches.
func BranchPatterns() (patterns []string) {
	for _, f := range Flows() {
		patterns = append(patterns, BranchRoot+"/"+f.branchWord()+"/*")
	}
	return patterns
}

// BranchPrefix is the prefix by which a flow's branch for an issue is found again. The slug is not
// compared, because titles change.
func BranchPrefix(f Flow, issue int) string {
	return fmt.Sprintf(BranchRoot+"/%s/%d-", f.branchWord(), issue)
}

// BranchName returns the name of a flow's new branch for an issue. attempt is the number of
// existing branches with the same prefix: history is never rewritten, so a later start gets its own
// name.
func BranchName(f Flow, issue int, title string, attempt int) string {
	name := BranchPrefix(f, issue) + slug(title)
	if attempt > 0 {
		name += fmt.Sprintf("-%d", attempt+1)
	}
	return name
}

// ParseBranch reads flow and issue from a branch name made by BranchName.
func ParseBranch(branch string) (Flow, int, bool) {
	for _, f := range Flows() {
		rest, ok := strings.CutPrefix(branch, BranchRoot+"/"+f.branchWord()+"/")
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

// DocumentPath is the path of a flow's document for an issue.
func DocumentPath(f Flow, issue int, title string) string {
	return fmt.Sprintf("docs/%s/%d-%s.md", f.documents(), issue, slug(title))
}

// documents is the folder below docs with the documents of a flow: an implementation's is its
// design.
func (f Flow) documents() string {
	if f == FlowRoadmap {
		return "roadmap"
	}
	return "design"
}

// documentName matches the part of a document's name after its number. The name appears in prompts
// next to our instructions, so it must not contain a sentence.
var documentName = lazy.Regexp(`^[A-Za-z0-9._-]{1,100}$`)

// IsDocument reports whether a path is a flow's document of an issue, with any title.
func IsDocument(f Flow, path string, issue int) bool {
	name, numbered := strings.CutPrefix(path, fmt.Sprintf("docs/%s/%d-", f.documents(), issue))
	name, ended := strings.CutSuffix(name, ".md")
	return numbered && ended && documentName().MatchString(name)
}

// maxSlug limits branch names to a readable length, in bytes. A slug is ASCII.
const maxSlug = 40

// slug makes a short name from a title: lower-case ASCII letters and digits, joined by single
// hyphens. It is never empty.
func slug(title string) string {
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
