package github

import (
	"errors"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"unicode"

	"github.com/mergexo/gh-mergexo/internal/github/transport"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// RefusalKind says what kind of thing GitHub refused a merge for.
type RefusalKind string

// The kinds of refusals.
const (
	HeadMoved    RefusalKind = "head_moved"    // the head is another one than was meant
	BaseModified RefusalKind = "base_modified" // the base moved meanwhile: look, and again later
	InProgress   RefusalKind = "in_progress"   // a merge of it is under way: look, and again later
	CheckMissing RefusalKind = "check"         // a required check is missing, runs or is red
	ReviewNeeded RefusalKind = "review"        // a review is missing, or requests changes
	RuleBroken   RefusalKind = "rules"         // another rule of the base
	NotMergeable RefusalKind = "not_mergeable" // conflicts, or GitHub does not know yet
	IsDraft      RefusalKind = "draft"
	MethodBarred RefusalKind = "method"      // not by this method
	AboutQueue   RefusalKind = "queue"       // the base has a merge queue, or none, or it stands in it already
	NoPermission RefusalKind = "permission"  // this account may not, or nobody may in an archived repository
	NothingNew   RefusalKind = "nothing_new" // the branch holds all of the base
	OtherRefusal RefusalKind = "other"       // in words that are not known here
)

// Refusal is why GitHub did not do what it was asked to: nothing came of it. Even so a
// look is due before anybody is told: another merge may have come first.
type Refusal struct {
	Kind RefusalKind
	Name string // what is missing or not allowed, by its name; empty where there is none
	Text string // GitHub's words, in one line that is not too long
}

// RefusalOf tells a refusal by an error of a merge, of the queue or of an update of a
// branch. It is false for what is no refusal: no answer, an unclear one, a limit, a login
// that is not accepted.
func RefusalOf(err error) (Refusal, bool) {
	_, unclear := errors.AsType[*transport.UnclearError](err)
	if _, limited := errors.AsType[*work.WaitError](err); unclear || limited {
		return Refusal{}, false
	}
	e, ok := errors.AsType[*transport.Error](err)
	if !ok || e.Status == http.StatusUnauthorized || e.Status == http.StatusBadRequest || e.Status >= http.StatusInternalServerError {
		return Refusal{}, false
	}
	said := refusalText(e)
	r := Refusal{Kind: refusalKindOf(e.Status), Text: shortLine(said)}
	if e.Status == http.StatusNotFound { // of what may not be seen
		return r, true
	}
	for _, k := range refusalPatterns {
		if found := k.words().FindStringSubmatch(said); found != nil {
			r.Kind = k.kind
			r.Name = shortLine(refusalName(k.kind, said, found))
			break
		}
	}
	return r, true
}

// refusalKindOf is the kind of a refusal whose text is not known, by its status.
func refusalKindOf(status int) RefusalKind {
	switch status {
	case http.StatusForbidden, http.StatusNotFound:
		return NoPermission
	case http.StatusConflict:
		return HeadMoved
	}
	return OtherRefusal
}

// refusalText is the message and the items of an error, without control characters.
func refusalText(e *transport.Error) string {
	lines := []string{e.Message}
	for _, i := range e.Items {
		switch {
		case i.Message != "":
			lines = append(lines, i.Message)
		case i.Field != "" || i.Code != "":
			lines = append(lines, i.Field+": "+i.Code)
		}
	}
	said := strings.Join(lines, "\n")
	return strings.Map(func(r rune) rune {
		if r != '\n' && !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, said)
}

// longestText bounds what GitHub says, and what it names: it may break many rules.
const longestText = 300

// shortLine is text in one line, cut at longestText.
func shortLine(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if r := []rune(text); len(r) > longestText {
		return string(r[:longestText]) + "…"
	}
	return text
}

// refusalPatterns are GitHub's words, the first that match count: what is more particular stands
// before what may be said along with it. The queue's refusals put "Pull request" before
// the same sentences.
var refusalPatterns = []struct {
	kind  RefusalKind
	words func() *regexp.Regexp
}{
	{BaseModified, refusalPattern(`base branch was modified`)},
	{HeadMoved, refusalPattern(`head branch (?:was modified|is out of date)|head (?:sha|oid|commit)\b.* (?:didn.t|did not|does not|doesn.t) match|expected ?head ?oid`)},
	{InProgress, refusalPattern(`merge (?:is )?already in progress|already being merged`)},
	{AboutQueue, refusalPattern(`merge queue|already (?:in the queue|queued)`)},
	{IsDraft, refusalPattern(`\bdraft\b`)},
	{MethodBarred, refusalPattern(`(squash|merge|rebase) (?:merges|commits) are not allowed|must not contain (merge) commits|(merge)_method|(?:can.?t|cannot) be (rebase)d`)},
	{NoPermission, refusalPattern(`not authorized to|(archived)|resource not accessible|must have (?:admin|write|push)|permission`)},
	{CheckMissing, refusalPattern(`required status check|status checks? |required workflow|required check|status check`)},
	{ReviewNeeded, refusalPattern(`approving review|approv|changes (?:were |have been )?requested|code owner|review (?:is )?required`)},
	{NothingNew, refusalPattern(`no new commits on the base`)},
	{RuleBroken, refusalPattern(`rule violation|protected branch|protected ref|conversation|comments? must be resolved|signature|out.of.date|up.to.date`)},
	{NotMergeable, refusalPattern(`not (?:in a )?mergeable|merge conflict|conflicts|cannot be (?:cleanly )?(?:created|merged)|is closed`)},
}

// refusalPattern compiles a pattern when GitHub refuses something: not every start of the program needs them.
func refusalPattern(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)` + pattern) })
}

// quoted is a name in GitHub's sentences.
var quoted = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`["“']([^"“”'\n]+)["”']`) })

// refusalName is what a refusal is about: the names of checks, a method, or the rule's own
// sentence where it has no name.
func refusalName(kind RefusalKind, said string, found []string) string {
	switch kind {
	case MethodBarred, NoPermission:
		for _, group := range found[1:] {
			if group != "" {
				return strings.ToLower(group)
			}
		}
	case CheckMissing:
		var names []string
		for _, one := range quoted().FindAllStringSubmatch(said, -1) {
			names = append(names, one[1])
		}
		if len(names) > 0 {
			return strings.Join(names, ", ")
		}
		return ruleSentence(said)
	case ReviewNeeded, RuleBroken:
		return ruleSentence(said)
	case HeadMoved, BaseModified, InProgress, NotMergeable, IsDraft, AboutQueue, NothingNew, OtherRefusal:
	}
	return ""
}

// refusalHeadline is the line that stands above the rules that a merge breaks.
var refusalHeadline = refusalPattern(`repository rule violations found|protected branch update failed`)

// ruleSentence is the first sentence about a rule, without what stands above it.
func ruleSentence(said string) string {
	for one := range strings.Lines(said) {
		one = strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(one), "-*"))
		if one != "" && !refusalHeadline().MatchString(one) {
			return strings.TrimSuffix(strings.TrimPrefix(one, "Pull request "), ".")
		}
	}
	return ""
}
