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

func (p *parser) labels(t *table) work.Labels {
	l := work.Labels{
		Design:   t.text("design", "agent:design"),
		Bugfix:   t.text("bugfix", "agent:bugfix"),
		SmallJob: t.text("small_job", "agent:small-job"),
		Ignore:   t.text("ignore", "agent:ignore"),
		Working:  t.text("working", "agent:working"),
		Blocked:  t.text("blocked", "agent:blocked"),
		Done:     t.text("done", "agent:done"),
	}
	t.done()
	seen := map[string]string{}
	for _, x := range []struct{ key, name string }{
		{"design", l.Design},
		{"bugfix", l.Bugfix},
		{"small_job", l.SmallJob},
		{"ignore", l.Ignore},
		{"working", l.Working},
		{"blocked", l.Blocked},
		{"done", l.Done},
	} {
		if why := labelProblem(x.name); why != "" {
			t.bad(x.key, "%q %s", x.name, why)
			continue
		}
		if other, ok := seen[strings.ToLower(x.name)]; ok {
			t.bad(x.key, "%q is the label for %s already", x.name, other)
		}
		seen[strings.ToLower(x.name)] = x.key
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
