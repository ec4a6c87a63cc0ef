package report

import (
	"fmt"
	"html/template"
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/work/review"
)

// figure is a chart with its numbers as a table.
type figure struct {
	Title string
	Says  string
	SVG   template.HTML
	Head  []string
	Rows  [][]string
}

// figures returns the charts over time, without empty ones.
func (r Report) figures() ([]figure, error) {
	var all []figure
	for _, make := range []func() (Bars, bool){r.accepted, r.answers, r.turns, r.costs, r.failures, r.said} {
		b, ok := make()
		if !ok {
			continue
		}
		svg, err := b.SVG()
		if err != nil {
			return nil, err
		}
		f := figure{Title: b.Title, Says: b.Says, SVG: template.HTML(svg), Head: []string{""}} //nolint:gosec // the package that draws charts escapes every text
		for _, s := range b.Series {
			f.Head = append(f.Head, s.Name)
		}
		for i, label := range b.Labels {
			row, some := []string{label}, false
			for _, s := range b.Series {
				row, some = append(row, b.Value(s.Values[i])), some || s.Values[i] != 0
			}
			if some {
				f.Rows = append(f.Rows, row)
			}
		}
		all = append(all, f)
	}
	return all, nil
}

// over makes a chart over the periods.
func (r Report) over(id, title string, least float64, value func(float64) string, series ...Series) (Bars, bool) {
	b := Bars{ID: id, Title: title, Series: series, Value: value, Least: least}
	some := false
	for _, p := range r.Periods {
		b.Labels = append(b.Labels, p.label(r.Step))
	}
	var says []string
	for _, s := range series {
		top, at := 0.0, 0
		for i, v := range s.Values {
			if some = some || v > 0; v > top {
				top, at = v, i
			}
		}
		if top > 0 {
			says = append(says, fmt.Sprintf("%s: at most %s (%s)", s.Name, value(top), b.Labels[at]))
		}
	}
	b.Says = fmt.Sprintf("By %s. %s.", r.Step, strings.Join(says, "; "))
	return b, some
}

// each makes a series with one number per period.
func (r Report) each(name, color string, of func(Period) float64) Series {
	s := Series{Name: name, Color: color}
	for _, p := range r.Periods {
		s.Values = append(s.Values, of(p))
	}
	return s
}

func whole(v float64) string { return fmt.Sprintf("%.0f", v) }

func (r Report) accepted() (Bars, bool) {
	b, ok := r.over("accepted", "Accepted pull requests", 1, whole,
		r.each("no human commit", "--good", func(p Period) float64 { return float64(p.ZeroTouch) }),
		r.each("human commits", "--people", func(p Period) float64 { return float64(p.ByPeople) }),
		r.each("not known", "--quiet", func(p Period) float64 { return float64(p.Accepted - p.ZeroTouch - p.ByPeople) }),
	)
	b.Stacked = true
	b.Series = slices.DeleteFunc(b.Series, func(s Series) bool {
		return s.Name == "not known" && !slices.ContainsFunc(s.Values, func(v float64) bool { return v > 0 })
	})
	return b, ok
}

func (r Report) answers() (Bars, bool) {
	minutes := func(of func(Period) *float64) func(Period) float64 {
		return func(p Period) float64 { return number(of(p)) / 60 }
	}
	return r.over("answers", "Minutes from comment to answer", 0.1, func(v float64) string { return trim(v) },
		r.each("median", "--turn", minutes(func(p Period) *float64 { return p.AnswerMedian })),
		r.each("nine in ten within", "--quiet", minutes(func(p Period) *float64 { return p.AnswerMost })),
	)
}

func (r Report) turns() (Bars, bool) {
	return r.over("turns", "Turns for each accepted pull request", 0.1, func(v float64) string { return trim(v) },
		r.each("turns", "--turn", func(p Period) float64 { return number(p.TurnsPerPull) }))
}

func (r Report) costs() (Bars, bool) {
	title := "Cost of each accepted pull request, USD"
	if r.Numbers.unknownPerPull > 0 {
		title += ", as far as known"
	}
	return r.over("costs", title, 0.01, func(v float64) string { return fmt.Sprintf("%.2f", v) },
		r.each("USD", "--money", func(p Period) float64 { return number(p.CostPerPull) }))
}

func number(v *float64) float64 {
	if v == nil {
		return 0
	}
	return *v
}

// mostKinds is how many kinds of failures a chart shows.
const mostKinds = 10

func (r Report) failures() (Bars, bool) {
	b := Bars{ID: "failures", Title: "Failures by kind", Sideways: true, Least: 1, Value: whole, Series: []Series{{Name: "times", Color: "--bad"}}}
	var says []string
	for _, f := range slices.Backward(r.Failures[:min(len(r.Failures), mostKinds)]) { // the first bar is the lowest
		b.Labels, b.Series[0].Values = append(b.Labels, words(f.Kind)), append(b.Series[0].Values, float64(f.Count))
		says = append([]string{fmt.Sprintf("%s %d", words(f.Kind), f.Count)}, says...)
	}
	b.Says = strings.Join(says, ", ") + "."
	return b, len(r.Failures) > 0
}

func (r Report) said() (Bars, bool) {
	b := Bars{ID: "verdicts", Title: "Reviewers' verdicts", Sideways: true, Stacked: true, Least: 1, Value: whole, Series: []Series{
		{Name: "approved", Color: "--good"}, {Name: "requested changes", Color: "--bad"},
	}}
	var says []string
	for _, v := range slices.Backward(r.Verdicts) {
		name := reviewer(v)
		i := slices.Index(b.Labels, name)
		if i < 0 {
			i = len(b.Labels)
			b.Labels = append(b.Labels, name)
			b.Series[0].Values, b.Series[1].Values = append(b.Series[0].Values, 0), append(b.Series[1].Values, 0)
		}
		which := 1
		if v.Decision == string(review.Approve) {
			which = 0
		}
		b.Series[which].Values[i] += float64(v.Count)
		says = append([]string{fmt.Sprintf("%s %s %d times", name, b.Series[which].Name, v.Count)}, says...)
	}
	b.Says = strings.Join(says, "; ") + "."
	return b, len(r.Verdicts) > 0
}

func reviewer(v Decided) string {
	if v.Reviewer == "" {
		return "people"
	}
	return v.Reviewer
}
