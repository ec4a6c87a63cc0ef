package config

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// maxLabel is GitHub's limit for a label's name, in characters.
const maxLabel = 50

// labelKeys are the keys of [repo.labels].
func labelKeys(l *work.Labels) []key {
	return []key{
		textKey("design", &l.Design, "agent:design"),
		textKey("bugfix", &l.Bugfix, "agent:bugfix"),
		textKey("small_job", &l.SmallJob, "agent:small-job"),
		textKey("ignore", &l.Ignore, "agent:ignore"),
		textKey("review", &l.Review, "agent:review"),
		textKey("hold", &l.Hold, "agent:hold"),
		textKey("working", &l.Working, "agent:working"),
		textKey("blocked", &l.Blocked, "agent:blocked"),
		textKey("done", &l.Done, "agent:done"),
		textKey("human_review", &l.HumanReview, "agent:human-review"),
		textKey("freeze", &l.Freeze, "agent:freeze"),
	}
}

func (p *parser) labels(t *Table) (l work.Labels) {
	keys := labelKeys(&l)
	readKeys(t, keys)
	t.done()
	seen := map[string]string{}
	for _, k := range keys {
		name, _ := k.print().(string)
		if why := labelProblem(name); why != "" {
			t.bad(k.name, "%q %s", name, why)
			continue
		}
		if other, ok := seen[strings.ToLower(name)]; ok {
			t.bad(k.name, "%q is the label for %s already", name, other)
		}
		seen[strings.ToLower(name)] = k.name
	}
	return l
}

func labelProblem(s string) string {
	switch {
	case strings.TrimSpace(s) == "":
		return "is empty; a label has a name"
	case s != strings.TrimSpace(s):
		return "begins or ends with a space"
	case utf8.RuneCountInString(s) > maxLabel:
		return "is longer than GitHub's limit of " + strconv.Itoa(maxLabel) + " characters"
	case strings.ContainsRune(s, ',') || strings.ContainsFunc(s, unicode.IsControl):
		return "holds a comma or a control character, which no search for labels can name"
	}
	return ""
}
