package explain

import (
	"strconv"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// details are the values for a template.
type details struct {
	work.Reason
	p Place
}

// fill fills a template. {name} and others are replaced with a detail of the reason. A part in [[
// ]] is left out if one of its details is missing. Of texts separated by |, the first one with all
// its details is used, or else the last. Details are not templates.
func (d details) fill(template string) string {
	if !strings.ContainsAny(template, "{[|") {
		return template // a pass makes a text for each item that waits
	}
	text, whole := "", false
	for t := range strings.SplitSeq(template, "|") {
		if text, whole = d.parts(t); whole {
			break
		}
	}
	return text
}

// parts fills one text, and reports whether all details outside [[ ]] are present.
func (d details) parts(t string) (string, bool) {
	var b strings.Builder
	all := true
	for t != "" {
		before, after, optional := strings.Cut(t, "[[")
		text, whole := d.put(before)
		if !optional && b.Len() == 0 {
			return text, all && whole // most templates have no part in [[ ]]
		}
		b.WriteString(text)
		all = all && whole
		if !optional {
			break
		}
		part, rest, _ := strings.Cut(after, "]]")
		if text, whole := d.put(part); whole {
			b.WriteString(text)
		}
		t = rest
	}
	return b.String(), all
}

// put replaces the details in braces, and reports whether all are present.
func (d details) put(t string) (string, bool) {
	var b strings.Builder
	all := true
	for {
		before, after, found := strings.Cut(t, "{")
		b.WriteString(before)
		if !found {
			return b.String(), all
		}
		key, rest, _ := strings.Cut(after, "}")
		value := d.value(key)
		b.WriteString(value)
		all = all && value != ""
		t = rest
	}
}

// value returns the detail for a key in braces.
func (d details) value(key string) string {
	if noun, ok := strings.CutPrefix(key, "count "); ok {
		return work.Count(d.Count, noun)
	}
	switch key {
	case "text":
		return d.Text
	case "advice":
		return d.Advice
	case "who":
		return d.Who
	case "name":
		return d.Name
	case "spaced":
		return strings.ReplaceAll(d.Name, "_", " ")
	case "branch":
		return d.Branch
	case "commit":
		return work.Short(d.Commit)
	case "head":
		return work.Short(d.Head)
	case "names":
		return strings.Join(d.Names, ", ")
	case "list":
		return work.JoinNames(d.Names)
	case "path":
		return strings.Join(d.Names, " → ")
	case "problems":
		return strings.Join(d.Names, "; ")
	case "checks":
		return checks(d.Names)
	case "have":
		return plural(len(d.Names), "has", "have")
	case "them":
		return plural(len(d.Names), "it", "them")
	case "they":
		return plural(len(d.Names), "it", "they")
	case "are":
		return plural(len(d.Names), "is", "are")
	case "lack":
		return plural(len(d.Names), "lacks", "lack")
	case "approvals":
		return approvals(d.Count)
	case "number":
		return positive(d.Number)
	case "count":
		return strconv.Itoa(d.Count)
	case "position":
		return positive(d.Count)
	case "is":
		return plural(d.Count, "is", "are")
	case "slot":
		return strconv.Itoa(d.Number)
	case "turn":
		return Turn(work.Kind(d.Name))
	case "budget":
		return budget(d.Reason, d.p)
	}
	return d.valueOfPlace(key)
}

// valueOfPlace returns a time, reference or command as it is called where the text is shown.
func (d details) valueOfPlace(key string) string {
	switch key {
	case "pull":
		return d.p.Repo + "#" + strconv.Itoa(d.Number)
	case "first":
		return d.p.Repo + "#" + strconv.Itoa(d.Count)
	case "since":
		return d.when(work.UTC)
	case "second":
		return d.when(func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") })
	case "stamp":
		return d.when(work.Stamp)
	case "waited":
		return (time.Duration(d.At) * time.Millisecond).String()
	case "label":
		return d.p.Label
	case "ignore":
		if d.p.Ignore == "" {
			return "the label agent:ignore"
		}
		return d.p.Ignore
	case "over":
		return d.p.startOver()
	case "retry", "unblock", "resume", "merge", "cancel":
		return d.p.howToGive(work.Verb(key))
	case "resume-merging":
		return d.p.resumeMerging()
	}
	panic("explain: no detail is called " + key) // the tests fill every template
}

func (d details) when(words func(time.Time) string) string {
	if d.At == 0 {
		return ""
	}
	return words(time.UnixMilli(d.At))
}

func positive(n int) string {
	if n <= 0 {
		return ""
	}
	return strconv.Itoa(n)
}

func plural(n int, one, other string) string {
	if n == 1 {
		return one
	}
	return other
}

// approvals says how many approving reviews a branch requires.
func approvals(n int) string {
	if n > 1 {
		return work.Count(n, "approving review")
	}
	return "an approving review"
}

// checks names checks.
func checks(names []string) string {
	switch len(names) {
	case 0:
		return "the checks"
	case 1:
		return "the check " + names[0]
	}
	return "the checks " + strings.Join(names, ", ")
}

// Turn returns a kind of turn with its article.
func Turn(kind work.Kind) string {
	if strings.HasPrefix(string(kind), "i") {
		return "an " + kind.Words() + " turn"
	}
	return "a " + kind.Words() + " turn"
}
