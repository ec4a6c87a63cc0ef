package report

import (
	"bytes"
	_ "embed" // the page and its style
	"fmt"
	"html/template"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/mergexo/gh-mergexo/cmd/status"
	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/spending"
)

//go:embed page.html
var pageText string

//go:embed page.css
var styleText string

// tile is one of the numbers at the top of the page.
type tile struct{ Value, What, More string }

// page is the data of the template.
type page struct {
	Report
	Style    template.CSS
	Span     string
	Tiles    []tile
	Stopped  []status.Item
	Waiting  []status.Item
	Merged   []Pull
	Lives    []timeline
	Figures  []figure
	NotDrawn int
	Made     string
	MoreStop int
	MoreWait int
	NotShown int // of the merged pull requests
}

// HTML returns the report as one page without external resources.
func (r Report) HTML() ([]byte, error) {
	r = r.legible()
	figures, err := r.figures()
	if err != nil {
		return nil, err
	}
	p := page{Report: r, Style: template.CSS(styleText), Span: r.span(), Tiles: r.tiles(), Lives: r.timelines(), Figures: figures} //nolint:gosec // our own
	p.Stopped, p.MoreStop = first(r.stopped())
	p.Waiting, p.MoreWait = first(r.waiting())
	p.Merged, p.NotShown = first(r.of(work.Accepted))
	p.NotDrawn, p.Made = len(r.Pulls)-len(p.Lives), at(terminal.Stamp(r.To))
	t, err := template.New("report").Funcs(template.FuncMap{
		"at": at, "stamp": stamp, "words": words, "several": work.Count, "age": r.age,
		"cost": Pull.cost, "machineCost": MachineUse.cost, "human": human, "took": func(l timeline) string { return Took(l.To.Sub(l.From)) },
	}).Parse(pageText)
	if err != nil {
		return nil, fmt.Errorf("read the page: %w", err)
	}
	var b bytes.Buffer
	if err := t.Execute(&b, p); err != nil {
		return nil, fmt.Errorf("make the page: %w", err)
	}
	return b.Bytes(), nil
}

// legible returns the report without characters that hide or reorder others.
func (r Report) legible() Report {
	r.Pulls, r.Items = slices.Clone(r.Pulls), slices.Clone(r.Items)
	for i := range r.Pulls {
		p := &r.Pulls[i]
		p.Title, p.marks = legible(p.Title), slices.Clone(p.marks)
		for k := range p.marks {
			p.marks[k].Who = legible(p.marks[k].Who)
		}
	}
	for i := range r.Items {
		it := &r.Items[i]
		it.Title, it.WaitingFor, it.NextStep = legible(it.Title), legible(it.WaitingFor), legible(it.NextStep)
	}
	r.Machines = slices.Clone(r.Machines)
	for i := range r.Machines {
		r.Machines[i].Host, r.Machines[i].Trouble = legible(r.Machines[i].Host), legible(r.Machines[i].Trouble)
	}
	return r
}

// legible removes control and format characters, except joiners of letters and emoji.
func legible(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\u200c' || r == '\u200d' || !unicode.In(r, unicode.Cc, unicode.Cf) {
			return r
		}
		return -1
	}, strings.Join(strings.Fields(s), " "))
}

func (r Report) of(o work.Outcome) (some []Pull) {
	for _, p := range r.Pulls {
		if p.Outcome == o {
			some = append(some, p)
		}
	}
	return some
}

// mostRows bounds a list.
const mostRows = 200

// first returns the first rows and the number of the others.
func first[T any](all []T) ([]T, int) {
	n := min(len(all), mostRows)
	return all[:n], len(all) - n
}

func (r Report) stopped() []status.Item { return r.items(true) }
func (r Report) waiting() []status.Item { return r.items(false) }

func (r Report) items(stopped bool) (some []status.Item) {
	for _, i := range r.Items {
		if i.Stopped == stopped {
			some = append(some, i)
		}
	}
	return some
}

// span is the period of the report.
func (r Report) span() string {
	if r.From.IsZero() {
		return "From the beginning to " + at(terminal.Stamp(r.To))
	}
	return r.From.Format(time.DateOnly) + " to " + at(terminal.Stamp(r.To))
}

func (r Report) tiles() []tile {
	n := r.Numbers
	accepted := n.Outcomes[work.Accepted]
	zero := tile{"–", "without a human commit", ""}
	if n.ZeroKnown > 0 {
		zero.Value = fmt.Sprintf("%d of %d", n.ZeroTouch, n.ZeroKnown)
	}
	if less := accepted - n.ZeroKnown; less > 0 {
		zero.More = fmt.Sprintf("of %d nothing says", less)
	}
	all := []tile{
		{fmt.Sprint(accepted), "pull requests accepted", r.otherOutcomes()},
		zero,
		{seconds(n.AnswerMedian), "from comment to answer, median", n.answers()},
		{decimal(n.TurnsPerPull, trim), "turns for each accepted one", work.Count(n.Turns, "turn") + " in all"},
		{costEach(n.CostPerPull, n.unknownPerPull, accepted), "for each accepted one", "all turns: " + spending.Cost(n.used.CostUSD, n.used.UnknownCost)},
		{fmt.Sprint(n.stopped), "stopped now", fmt.Sprintf("%d waiting", n.waiting)},
	}
	return all
}

// costEach formats the cost of each of n accepted pull requests, of which the runs with unknown cost
// are missing.
func costEach(usd *float64, unknown, n int) string {
	if n == 0 {
		return "–"
	}
	return spending.Cost(number(usd), unknown)
}

func (p Pull) cost() string { return spending.Cost(p.usd, p.Unknown) }

// answers tells how many answers the median is of.
func (n Numbers) answers() string {
	said := work.Count(n.Answers, "answer")
	switch {
	case n.AnswerMost != nil:
		return said + ", nine in ten within " + seconds(n.AnswerMost)
	case n.Answers > 0:
		return fmt.Sprintf("%s; a median is of %d or more", said, leastTimes)
	}
	return said
}

func (r Report) otherOutcomes() string {
	var all []string
	for _, o := range work.Outcomes() {
		if n := r.Numbers.Outcomes[o]; n > 0 && o != work.Accepted {
			all = append(all, fmt.Sprintf("%d %s", n, o))
		}
	}
	return strings.Join(all, ", ")
}

func seconds(v *float64) string {
	if v == nil {
		return "–"
	}
	return Took(time.Duration(*v) * time.Second)
}

func decimal(v *float64, as func(float64) string) string {
	if v == nil {
		return "–"
	}
	return as(*v)
}

func at(t terminal.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(minutes)
}

func stamp(t terminal.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// age is how long something has lasted.
func (r Report) age(t terminal.Time) string {
	if t.IsZero() {
		return ""
	}
	return Took(max(r.To.Sub(t.Time), 0))
}

// human tells how many of a pull request's commits are by people.
func human(p Pull) string {
	switch {
	case p.Human == nil:
		return "not known"
	case *p.Human == 0:
		return "none"
	}
	return fmt.Sprintf("%d of %d", *p.Human, *p.Commits)
}
