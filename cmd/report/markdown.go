package report

import (
	"fmt"
	"strings"

	"github.com/mergexo/gh-mergexo/cmd/status"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// Markdown returns the report for an issue, a comment or a workflow summary on GitHub.
func (r Report) Markdown() string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("# gh mergexo\n\n%s\n", r.span())
	if r.Empty() {
		line("Nothing happened in this time, and nothing is open.")
		return b.String()
	}
	for _, t := range r.tiles() {
		more := ""
		if t.More != "" {
			more = " (" + t.More + ")"
		}
		line("- **%s** %s%s", t.Value, t.What, more)
	}
	for _, part := range []struct {
		title string
		items []status.Item
	}{{"Stopped: a person must act", r.stopped()}, {"Waiting", r.waiting()}} {
		line("\n## %s\n", part.title)
		items, more := first(part.items)
		for _, i := range items {
			line("- %s %s: %s, for %s. %s", link(i.Repo, i.Number, i.URL), plain(i.Title), words(i.State), r.age(i.Since), plain(sentences(i.WaitingFor, i.NextStep)))
		}
		switch {
		case more > 0:
			line("\n%d more.", more)
		case len(items) == 0:
			line("None.")
		}
	}
	if fleet := r.Fleet(); len(fleet) > 0 {
		line("\n## Machines\n\n| Machine | Runs | Turns | Cost | Trouble |\n|---|---:|---:|---:|---|")
		for _, m := range fleet {
			line("| %s | %d | %d | %s | %s |", plain(m.Called()), m.Runs, m.Turns, m.cost(), plain(m.Trouble))
		}
	}
	line("\n## Merged\n")
	if merged, more := first(r.of(work.Accepted)); len(merged) > 0 {
		line("| Pull request | Merged | Human commits | Turns | Cost |\n|---|---|---:|---:|---:|")
		for _, p := range merged {
			line("| %s %s | %s | %s | %d | %s |", link(p.Repo, p.Number, p.URL), plain(p.Title), at(p.Ended), human(p), p.Turns, p.cost())
		}
		if more > 0 {
			line("\n%d more.", more)
		}
	} else {
		line("None.")
	}
	line("\n## Over time\n\n| %s | Accepted | No human commit | Rejected | Answers, median | Turns for each | Cost for each | Failures |\n|---|---:|---:|---:|---:|---:|---:|---:|", r.Step)
	for _, p := range r.Periods {
		if p == (Period{Begin: p.Begin}) {
			continue
		}
		line("| %s | %d | %d | %d | %s | %s | %s | %d |", p.Begin.Format("2006-01-02"), p.Accepted, p.ZeroTouch, p.Rejected, seconds(p.AnswerMedian), decimal(p.TurnsPerPull, trim), costEach(p.CostPerPull, p.UnknownPerPull, p.Accepted), p.Failures)
	}
	if len(r.Failures) > 0 {
		line("\n## Failures by kind\n\n| Kind | Times |\n|---|---:|")
		for _, f := range r.Failures {
			line("| `%s` | %d |", f.Kind, f.Count)
		}
	}
	if len(r.Verdicts) > 0 {
		line("\n## Reviewers' verdicts\n\n| Reviewer | Says | Times | Findings |\n|---|---|---:|---:|")
		for _, v := range r.Verdicts {
			line("| %s | %s | %d | %d |", plain(reviewer(v)), words(v.Decision), v.Count, v.Findings)
		}
	}
	return b.String()
}

// sentences joins the reason of a wait and the next step.
func sentences(why, next string) string {
	var all []string
	if why != "" {
		all = append(all, work.Upper(why)+".")
	}
	if next != "" {
		all = append(all, "Next: "+next+".")
	}
	return strings.Join(all, " ")
}

func link(repo string, number int, url string) string {
	return fmt.Sprintf("[%s#%d](<%s>)", plain(repo), number, strings.NewReplacer("<", "%3C", ">", "%3E", "\n", "").Replace(url))
}

// plain escapes people's text for Markdown: no part becomes a link, a mention, an image or HTML.
func plain(s string) string {
	var b strings.Builder
	for _, r := range legible(s) {
		switch {
		case r == '@', r == '#': // GitHub links people and issues even if these are escaped
			fmt.Fprintf(&b, "&#%d;\u200b", r)
		case strings.ContainsRune("\\`*_{}[]<>()+!|~&$", r):
			fmt.Fprintf(&b, "&#%d;", r)
		default:
			b.WriteRune(r)
		}
	}
	return strings.NewReplacer("://", "&#58;//", "www.", "www&#46;").Replace(b.String()) // GitHub makes links of these
}
