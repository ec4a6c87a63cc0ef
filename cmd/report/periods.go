package report

import (
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// Step is the length of a period.
type Step string

// The steps.
const (
	Daily   Step = "day"
	Weekly  Step = "week"
	Monthly Step = "month"
)

// mostPeriods is how many periods fit into a chart.
const mostPeriods = 31

// Period is the result of a day, a week or a month.
type Period struct {
	Begin                    time.Time // its first moment, UTC
	Accepted                 int
	ZeroTouch                int // accepted without a commit by a person
	ByPeople                 int // accepted with a commit by a person; the commits of the others are not known
	Rejected                 int
	Answers                  int      // comments that were answered
	AnswerMedian, AnswerMost *float64 // seconds from a comment to its answer: median, 90th percentile; nil: fewer than ten answers
	TurnsPerPull             *float64 // of the accepted pull requests; nil: none was accepted
	CostPerPull              *float64 // in US dollars, as far as known; nil: unknown, too
	UnknownPerPull           int      // runs for accepted pull requests whose cost is unknown
	Failures                 int      // attempts that failed, and stops for a person

	turns int
	cost  float64 // of the accepted pull requests
}

// Label is the period's name in a chart.
func (p Period) label(step Step) string {
	if step == Monthly {
		return p.Begin.Format("2006-01")
	}
	return p.Begin.Format("01-02")
}

// begin returns the beginning of the period that holds a time; weeks begin on Monday.
func (s Step) begin(t time.Time) time.Time {
	t = t.UTC()
	day := time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC)
	switch s {
	case Weekly:
		return day.AddDate(0, 0, -(int(day.Weekday())+6)%7)
	case Monthly:
		return day.AddDate(0, 0, 1-day.Day())
	case Daily:
	}
	return day
}

func (s Step) next(t time.Time) time.Time {
	switch s {
	case Weekly:
		return t.AddDate(0, 0, 7)
	case Monthly:
		return t.AddDate(0, 1, 0)
	case Daily:
	}
	return t.AddDate(0, 0, 1)
}

// earliest returns the first day with data.
func earliest(f Facts, all []Pull) time.Time {
	if !f.From.IsZero() {
		return f.From
	}
	first := f.Now
	note := func(t time.Time) {
		if !t.IsZero() && t.Before(first) {
			first = t
		}
	}
	for _, p := range all {
		if !p.Ended.IsZero() {
			note(p.Ended.Time)
		}
	}
	for _, l := range f.Costs {
		note(dayOf(l.Day))
	}
	for _, l := range f.Answers {
		note(dayOf(l.Day))
	}
	return first
}

func dayOf(day string) time.Time {
	t, _ := time.Parse(time.DateOnly, day) // in the store's format
	return t
}

// periods sums up by day or, if there are too many, by week or month.
func periods(f Facts, pulls []Pull) (Step, []Period) {
	first, step := earliest(f, pulls), Daily
	switch days := f.Now.Sub(first).Hours() / 24; {
	case days > 7*mostPeriods:
		step = Monthly
	case days > mostPeriods:
		step = Weekly
	}
	var all []Period
	at := map[time.Time]int{}
	for b := step.begin(first); !b.After(f.Now); b = step.next(b) {
		at[b] = len(all)
		all = append(all, Period{Begin: b})
	}
	of := func(t time.Time) *Period {
		if i, ok := at[step.begin(t)]; ok {
			return &all[i]
		}
		return &Period{} // GitHub's clock is ahead
	}
	for _, p := range pulls {
		if !p.Ended.IsZero() {
			of(p.Ended.Time).end(p)
		}
	}
	for _, l := range f.Failures {
		of(dayOf(l.Day)).Failures += l.Count
	}
	answers := map[*Period]*Histogram{}
	for _, l := range f.Answers {
		p := of(dayOf(l.Day))
		if answers[p] == nil {
			answers[p] = &Histogram{}
		}
		answers[p].add([]store.TimeLine{l})
	}
	for p, h := range answers {
		p.Answers, p.AnswerMedian, p.AnswerMost = h.Count(), h.seconds(0.5), h.seconds(0.9)
	}
	for i := range all {
		all[i].TurnsPerPull, all[i].CostPerPull = per(float64(all[i].turns), all[i].Accepted), costPer(all[i].cost, all[i].UnknownPerPull, all[i].Accepted)
	}
	return step, all
}

// end counts a pull request that ended.
func (p *Period) end(pull Pull) {
	if pull.Outcome == work.Rejected {
		p.Rejected++
	}
	if pull.Outcome != work.Accepted {
		return
	}
	p.Accepted++
	p.turns, p.cost = p.turns+pull.Turns, p.cost+pull.usd
	p.UnknownPerPull += pull.Unknown
	switch {
	case pull.zero:
		p.ZeroTouch++
	case pull.Human != nil:
		p.ByPeople++
	}
}
