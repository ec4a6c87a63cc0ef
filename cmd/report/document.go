package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/spending"
)

// document is a report for people. Markdown and the page print it.
type document struct {
	Span, Made string
	Tiles      []tile
	Parts      []part // none: nothing happened
}

// tile is one of the main numbers.
type tile struct{ Value, What, More string }

// part is a table under a heading.
type part struct {
	Title string
	Head  []column
	Rows  [][]cell
	More  int // rows that are not shown
}

// column is a heading; numbers stand at the right.
type column struct {
	Name   string
	Number bool
}

// cell is one field of a table.
type cell struct {
	Text     string
	Ref, URL string // what it is about, owner/name#12, with its address
	Bar      int    // the length of its bar, in percent of the longest in its column

	value float64 // for its bar
}

// mostRows bounds a table.
const mostRows = 200

func texts(names ...string) []column {
	return terminal.Each(names, func(name string) column { return column{Name: name} })
}

func numbers(names ...string) []column {
	return terminal.Each(names, func(name string) column { return column{name, true} })
}

// row is a row of texts.
func row(fields ...string) []cell {
	return terminal.Each(fields, func(text string) cell { return cell{Text: legible(text)} })
}

func linked(repo string, number int, url, title string) cell {
	return cell{Text: legible(title), Ref: fmt.Sprintf("%s#%d", legible(repo), number), URL: url}
}

// counted is a number that a bar shows, too.
func counted(n int) cell { return cell{Text: fmt.Sprint(n), value: float64(n)} }

// document returns the report for people.
func (r Report) document() document {
	d := document{Span: "From the beginning to " + at(r.To), Made: at(r.To)}
	if !r.From.IsZero() {
		d.Span = r.From.Format(time.DateOnly) + " to " + at(r.To)
	}
	if len(r.Pulls) == 0 && len(r.Items) == 0 && r.Numbers.Turns == 0 && len(r.Failures) == 0 && len(r.Verdicts) == 0 {
		return d
	}
	stopped, waiting := r.items(true), r.items(false)
	d.Tiles = r.tiles(len(stopped), len(waiting))
	item := texts("Item", "State", "For", "Waits for", "Next")
	d.Parts = []part{
		{Title: "Stopped: a person must act", Head: item, Rows: stopped},
		{Title: "Waiting", Head: item, Rows: waiting},
		{Title: "Pull requests", Head: slices.Concat(texts("Pull request", "Outcome", "Ended"), numbers("Human commits", "Turns", "Cost")), Rows: terminal.Each(r.Pulls, Pull.row)},
	}
	every := "Day"
	if r.monthly {
		every = "Month"
	}
	for _, p := range []part{
		{Title: "Over time", Head: append(texts(every), numbers("Accepted", "No human commit", "Rejected", "Answers, median", "Nine in ten", "Turns for each", "Cost for each", "Failures")...), Rows: terminal.Each(r.periods, period.row)},
		{Title: "Failures by kind", Head: append(texts("Kind"), numbers("Times")...), Rows: terminal.Each(r.Failures, func(f Failure) []cell { return append(row(words(f.Kind)), counted(f.Count)) })},
		{Title: "Reviewers' verdicts", Head: append(texts("Reviewer", "Says"), numbers("Times", "Findings")...), Rows: terminal.Each(r.Verdicts, func(v Decided) []cell {
			return append(row(cmp.Or(v.Reviewer, "people"), words(v.Decision)), counted(v.Count), cell{Text: fmt.Sprint(v.Findings)})
		})},
	} {
		if len(p.Rows) > 0 {
			d.Parts = append(d.Parts, p)
		}
	}
	for i := range d.Parts {
		d.Parts[i].finish()
	}
	return d
}

// finish cuts a long table and measures its bars.
func (p *part) finish() {
	p.More = max(len(p.Rows)-mostRows, 0)
	p.Rows = p.Rows[:len(p.Rows)-p.More]
	for c := range p.Head {
		longest := 0.0
		for _, row := range p.Rows {
			longest = max(longest, row[c].value)
		}
		for _, row := range p.Rows {
			if longest > 0 {
				row[c].Bar = int(100 * row[c].value / longest)
			}
		}
	}
}

func (r Report) items(stopped bool) (rows [][]cell) {
	for _, i := range r.Items {
		if i.Stopped == stopped {
			rows = append(rows, append([]cell{linked(i.Repo, i.Number, i.URL, i.Title)}, row(words(i.State), terminal.Age(i.Since.Time, r.To), i.WaitingFor, i.NextStep)...))
		}
	}
	return rows
}

func (p Pull) row() []cell {
	ended, human := "", ""
	if !p.Ended.IsZero() {
		ended, human = at(p.Ended.Time), "not known"
	}
	if p.Human != nil {
		human = fmt.Sprintf("%d of %d", *p.Human, *p.Commits)
	}
	return append([]cell{linked(p.Repo, p.Number, p.URL, p.Title)}, row(string(p.Outcome), ended, human, fmt.Sprint(p.Turns), p.Says())...)
}

func (p period) row() []cell {
	cells := append(row(p.name), counted(p.Outcomes[work.Accepted]))
	cells = append(cells, row(fmt.Sprint(p.ZeroTouch), fmt.Sprint(p.Outcomes[work.Rejected]), seconds(p.AnswerMedian), seconds(p.AnswerMost), p.turnsEach(), p.costEach())...)
	return append(cells, counted(p.failures))
}

func (r Report) tiles(stopped, waiting int) []tile {
	n, others := r.Numbers, []string{}
	for _, o := range work.Outcomes() {
		if n.Outcomes[o] > 0 && o != work.Accepted {
			others = append(others, fmt.Sprintf("%d %s", n.Outcomes[o], o))
		}
	}
	accepted := n.Outcomes[work.Accepted]
	zero := tile{"–", "without a human commit", ""}
	if n.ZeroKnown > 0 {
		zero.Value = fmt.Sprintf("%d of %d", n.ZeroTouch, n.ZeroKnown)
	}
	if less := accepted - n.ZeroKnown; less > 0 {
		zero.More = fmt.Sprintf("of %d nothing says", less)
	}
	answers := work.Count(n.Answers, "answer")
	switch {
	case n.AnswerMost != nil:
		answers += ", nine in ten within " + seconds(n.AnswerMost)
	case n.Answers > 0:
		answers = fmt.Sprintf("%s; a median is of %d or more", answers, leastTimes)
	}
	return []tile{
		{fmt.Sprint(accepted), "pull requests accepted", strings.Join(others, ", ")},
		zero,
		{seconds(n.AnswerMedian), "from comment to answer, median", answers},
		{n.turnsEach(), "turns for each accepted one", work.Count(n.Turns, "turn") + " in all"},
		{n.costEach(), "for each accepted one", "all turns: " + n.Says()},
		{fmt.Sprint(stopped), "stopped now", fmt.Sprintf("%d waiting", waiting)},
	}
}

// turnsEach is how many turns an accepted pull request took.
func (n Numbers) turnsEach() string {
	if n.TurnsPerPull == nil {
		return "–"
	}
	return strings.TrimSuffix(fmt.Sprintf("%.1f", *n.TurnsPerPull), ".0")
}

// costEach is what an accepted pull request cost.
func (n Numbers) costEach() string {
	pulls := n.Outcomes[work.Accepted]
	if pulls == 0 {
		return "–"
	}
	return spending.Cost(n.accepted.usd/float64(pulls), n.accepted.unknown)
}

func seconds(v *float64) string {
	if v == nil {
		return "–"
	}
	return terminal.Took(time.Duration(*v) * time.Second)
}

func at(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 MST") }

// words turns an identifier into words.
func words(s string) string { return strings.ReplaceAll(s, "_", " ") }

// legible removes control and format characters, except joiners of letters and emoji.
func legible(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\u200c' || r == '\u200d' || !unicode.In(r, unicode.Cc, unicode.Cf) {
			return r
		}
		return -1
	}, strings.Join(strings.Fields(s), " "))
}
