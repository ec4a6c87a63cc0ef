package prompts

import (
	"path"
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/lazy"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// Accepts is what a repository expects of a pull request's title and text, as its base branch shows it.
type Accepts struct {
	Template string   `json:"template"` // the default template of pull requests; empty: there is none
	Rules    string   `json:"rules"`    // configuration of commitlint; empty: there is none
	Titles   []string `json:"titles"`   // subjects of the newest commits, which squashed pull requests gave their titles
}

// How much of it goes into a prompt.
const (
	maxTemplate = 8000
	maxRules    = 4000
	maxTitles   = 20
	maxHeadings = 30
)

// FindAccepts returns the paths of the default template of pull requests and of commitlint's
// configuration among a tree's paths; empty: there is none. GitHub looks for the former in .github, at
// the root and in docs, in this order.
func FindAccepts(paths []string) (template, rules string) {
	rank := func(p string) int {
		return slices.Index([]string{".github", ".", "docs"}, strings.ToLower(path.Dir(p)))
	}
	for _, p := range paths {
		at := rank(p)
		if at >= 0 && pullTemplate().MatchString(p) && (template == "" || at < rank(template)) {
			template = p
		}
		if work.SetsTitles(p) {
			rules = p
		}
	}
	return template, rules
}

func prepareAccepts(a *Accepts) *Accepts {
	if a == nil {
		return nil
	}
	return &Accepts{Template: said(a.Template, maxTemplate), Rules: said(a.Rules, maxRules), Titles: lines(a.Titles, maxTitles)}
}

func (f fencer) accepts(a *Accepts) string {
	if a == nil || a.Template == "" && a.Rules == "" && len(a.Titles) == 0 {
		return ""
	}
	text := section("subjects of the newest commits on the base branch", a.Titles)
	if a.Rules != "" {
		text += "\nconfiguration of commitlint:\n" + a.Rules + "\n"
	}
	if a.Template != "" {
		text += "\npull request template:\n" + a.Template + "\n"
	}
	return f.data(labelAccepts, text)
}

var heading = lazy.Regexp(`^ {0,3}#{1,6}[ \t]+(.*?)[ \t]*#*[ \t]*$`)

// headingsOf returns the headings of a text in Markdown, outside of its blocks of code.
func headingsOf(text string) (all []string) {
	code := false
	for l := range strings.Lines(text) {
		if t := strings.TrimSpace(l); strings.HasPrefix(t, "```") || strings.HasPrefix(t, "~~~") {
			code = !code
		}
		if m := heading().FindStringSubmatch(strings.TrimRight(l, "\r\n")); m != nil && !code && m[1] != "" {
			all = append(all, line(m[1]))
		}
	}
	return all
}

// headings returns the headings that a pull request's text keeps.
func (a *Accepts) headings() []string {
	if a == nil {
		return nil
	}
	all := headingsOf(a.Template)
	return all[:min(len(all), maxHeadings)]
}
