package config

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mergexo/gh-mergexo/internal/config/document"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// maxLabel is GitHub's limit for a label's name, in characters.
const maxLabel = 50

func (p *parser) labels(t *document.Table) work.Labels {
	l := work.Labels{
		Design:   t.Text("design", "agent:design"),
		Bugfix:   t.Text("bugfix", "agent:bugfix"),
		SmallJob: t.Text("small_job", "agent:small-job"),
		Ignore:   t.Text("ignore", "agent:ignore"),
		Review:   t.Text("review", "agent:review"),
		Hold:     t.Text("hold", "agent:hold"),
		Working:  t.Text("working", "agent:working"),
		Blocked:  t.Text("blocked", "agent:blocked"),
		Done:     t.Text("done", "agent:done"),

		HumanReview: t.Text("human_review", "agent:human-review"),
		Freeze:      t.Text("freeze", "agent:freeze"),
	}
	t.Done()
	seen := map[string]string{}
	for _, x := range []struct{ key, name string }{
		{"design", l.Design},
		{"bugfix", l.Bugfix},
		{"small_job", l.SmallJob},
		{"ignore", l.Ignore},
		{"review", l.Review},
		{"hold", l.Hold},
		{"working", l.Working},
		{"blocked", l.Blocked},
		{"done", l.Done},
		{"human_review", l.HumanReview},
		{"freeze", l.Freeze},
	} {
		if why := labelProblem(x.name); why != "" {
			t.Bad(x.key, "%q %s", x.name, why)
			continue
		}
		if other, ok := seen[strings.ToLower(x.name)]; ok {
			t.Bad(x.key, "%q is the label for %s already", x.name, other)
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
