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

// RefusalKind is the kind of reason for which GitHub refuses a merge.
type RefusalKind string

// Kinds of refusals.
const (
	HeadMoved    RefusalKind = "head_moved"    // the head is not the given one
	BaseModified RefusalKind = "base_modified" // the base moved in the meantime: look, and try later
	InProgress   RefusalKind = "in_progress"   // a merge of the pull request is running: look, and try later
	CheckMissing RefusalKind = "check"         // a required check is missing, running or red
	ReviewNeeded RefusalKind = "review"        // a review is missing or requests changes
	RuleBroken   RefusalKind = "rules"         // another rule of the base branch
	NotMergeable RefusalKind = "not_mergeable" // conflicts, or GitHub has not computed it yet
	IsDraft      RefusalKind = "draft"
	MethodBarred RefusalKind = "method"      // the merge method is not allowed
	AboutQueue   RefusalKind = "queue"       // the base has a merge queue or none, or the pull request is queued already
	NoPermission RefusalKind = "permission"  // the account may not, or the repository is archived
	NothingNew   RefusalKind = "nothing_new" // the branch already contains the base
	OtherRefusal RefusalKind = "other"       // unknown text
)

// Refusal is GitHub's reason for not doing what it was asked. The request had no effect. Look
// before reporting it: another merge may have come first.
type Refusal struct {
	Kind RefusalKind
	Name string // the missing or forbidden thing; empty if it has no name
	Text string // GitHub's text on one line, shortened
}

// RefusalOf extracts a refusal from an error of a merge, a queue entry or an update of a branch. It
// is false for a missing or unclear answer, a limit and a rejected login.
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
	if e.Status == http.StatusNotFound { // GitHub hides what the account may not see
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

// refusalKindOf returns the kind of a refusal with an unknown text, by its status.
func refusalKindOf(status int) RefusalKind {
	switch status {
	case http.StatusForbidden, http.StatusNotFound:
		return NoPermission
	case http.StatusConflict:
		return HeadMoved
	}
	return OtherRefusal
}

// refusalText returns the message and the items of an error without control characters.
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

// longestText limits GitHub's texts and names, in characters: many rules may be broken.
const longestText = 300

// shortLine returns text on one line, cut at longestText.
func shortLine(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if r := []rune(text); len(r) > longestText {
		return string(r[:longestText]) + "…"
	}
	return text
}

// refusalPatterns match GitHub's texts. The first match wins, so specific texts come before those
// that accompany them. The queue's refusals put "Pull request" before the same sentences.
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

// refusalPattern compiles a pattern at its first use, because few runs of the program need it.
func refusalPattern(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)` + pattern) })
}

// quoted matches a quoted name in GitHub's texts.
var quoted = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`["“']([^"“”'\n]+)["”']`) })

// refusalName returns what a refusal is about: names of checks, a method, or the rule's own
// sentence if it has no name.
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

// refusalHeadline matches the line above the broken rules.
var refusalHeadline = refusalPattern(`repository rule violations found|protected branch update failed`)

// ruleSentence returns the first sentence about a rule, without the headline.
func ruleSentence(said string) string {
	for one := range strings.Lines(said) {
		one = strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(one), "-*"))
		if one != "" && !refusalHeadline().MatchString(one) {
			return strings.TrimSuffix(strings.TrimPrefix(one, "Pull request "), ".")
		}
	}
	return ""
}
