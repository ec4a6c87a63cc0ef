package report

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/mergexo/gh-mergexo/cmd/status"
	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/sorted"
	"github.com/mergexo/gh-mergexo/store"
)

// Facts are the data of a report.
type Facts struct {
	From     time.Time // beginning of a day in UTC; zero: no limit
	Now      time.Time
	Pulls    []store.PullFacts // open, or ended since From
	Items    []status.Item     // open ones
	ByItem   []store.CostLine  // by item, without a time limit
	Costs    []store.CostLine
	Failures []store.CountLine // by day and kind
	Verdicts []store.VerdictLine
	Answers  []store.TimeLine // by day
	Called   func(work.RepoName) string
}

// Pull is what became of a pull request.
type Pull struct {
	status.PullRequest
	Repo    string        `json:"repo"`
	Issue   int           `json:"issue"`
	Flow    string        `json:"flow"`
	Title   string        `json:"title"`
	Outcome work.Outcome  `json:"outcome"` // `accepted`, `rejected`, `pending`, `ignored` or `unknown`
	Opened  time.Time     `json:"openedAt"`
	Ended   terminal.Time `json:"endedAt"`      // null: it is open
	Commits *int          `json:"commits"`      // null: not known
	Human   *int          `json:"humanCommits"` // null: not known
	Turns   int           `json:"turns"`        // for its issue
	status.Cost
}

// Numbers are the main numbers, of all the time or of one period.
type Numbers struct {
	Outcomes     map[work.Outcome]int `json:"outcomes"`               // pull requests by outcome
	ZeroTouch    int                  `json:"zeroTouch"`              // accepted ones without a commit by a person
	ZeroKnown    int                  `json:"zeroTouchKnown"`         // accepted ones whose commits are known
	Answers      int                  `json:"answers"`                // to comments
	AnswerMedian *float64             `json:"answerSecondsMedian"`    // after the comment; null: fewer than ten
	AnswerMost   *float64             `json:"answerSecondsNineInTen"` // the 90th percentile
	TurnsPerPull *float64             `json:"turnsPerAccepted"`
	CostPerPull  *float64             `json:"costUSDPerAccepted"`
	Turns        int                  `json:"turns"`
	status.Cost

	failures int                   // attempts that failed, and stops for a person
	used     work.UsageSum         // by all runs
	accepted spent                 // for accepted pull requests
	answers  map[time.Duration]int // by upper bound; 0: no bound
}

// spent is what some turns used.
type spent struct {
	turns, unknown int // unknown: runs whose cost is unknown
	usd            float64
}

// Failure is how often something failed.
type Failure struct {
	Kind  string `json:"reasonCode"`
	Count int    `json:"count"`
}

// Decided is how often a reviewer made a decision.
type Decided struct {
	Reviewer string `json:"reviewer"` // empty: people
	Decision string `json:"decision"`
	Count    int    `json:"count"`
	Findings int    `json:"findings"` // how many
}

// Report is the content of a report. JSON, Markdown and the page show it.
type Report struct {
	From     terminal.Time `json:"since"` // the first day that counts; null: from the beginning
	To       time.Time     `json:"until"`
	Numbers  Numbers       `json:"numbers"`
	Pulls    []Pull        `json:"pullRequests"` // those that are open, or were merged or closed since then
	Items    []status.Item `json:"items"`        // the open ones
	Failures []Failure     `json:"failures"`     // the most frequent first
	Verdicts []Decided     `json:"verdicts"`

	periods []period // oldest first; those in which something happened
	monthly bool     // a period is a month, not a day
}

// period is a day or a month with its numbers.
type period struct {
	name string
	Numbers
}

// mostDays is how many days are shown one by one. A longer time is shown by months.
const mostDays = 31

// Make makes a report from facts.
func Make(f Facts) Report {
	r := Report{From: terminal.Stamp(f.From), To: f.Now.UTC(), Items: terminal.OrEmpty(f.Items), Pulls: pulls(f), monthly: f.Now.Sub(f.From) > mostDays*24*time.Hour}
	for _, o := range work.Outcomes() {
		r.Numbers.count(o, 0)
	}
	for _, l := range f.Costs {
		r.Numbers.Turns += l.Turns
		r.Numbers.used = r.Numbers.used.Join(l.UsageSum)
	}
	for _, p := range r.Pulls {
		r.add(p.Ended.Time, func(n *Numbers) { n.addPull(p) })
	}
	for _, l := range f.Answers {
		r.add(dayOf(l.Day), func(n *Numbers) { n.addAnswers(l) })
	}
	for _, l := range f.Failures {
		r.add(dayOf(l.Day), func(n *Numbers) { n.failures += l.Count })
	}
	r.Numbers.conclude()
	for i := range r.periods {
		r.periods[i].conclude()
	}
	sorted.By(r.periods, func(a, b period) int { return cmp.Compare(a.name, b.name) })
	r.Failures = fold(f.Failures, func(l store.CountLine) Failure { return Failure{Kind: l.Kind} }, func(v *Failure, l store.CountLine) { v.Count += l.Count })
	sorted.By(r.Failures, func(a, b Failure) int { return cmp.Or(b.Count-a.Count, cmp.Compare(a.Kind, b.Kind)) })
	r.Verdicts = fold(f.Verdicts, func(l store.VerdictLine) Decided { return Decided{Reviewer: l.Reviewer, Decision: l.Outcome} }, func(v *Decided, l store.VerdictLine) {
		v.Count, v.Findings = v.Count+l.Count, v.Findings+l.Findings
	})
	sorted.By(r.Verdicts, func(a, b Decided) int {
		return cmp.Or(cmp.Compare(a.Reviewer, b.Reviewer), cmp.Compare(a.Decision, b.Decision))
	})
	return r
}

// fold joins lines that begin alike, in the order in which each first occurs.
func fold[L any, V comparable](lines []L, begin func(L) V, add func(*V, L)) []V {
	all, at := []V{}, map[V]int{}
	for _, l := range lines {
		v := begin(l)
		i, known := at[v]
		if !known {
			i, at[v] = len(all), len(all)
			all = append(all, v)
		}
		add(&all[i], l)
	}
	return all
}

// pulls returns the pull requests: open ones first, then the others, latest end first.
func pulls(f Facts) []Pull {
	byItem := map[int64]store.CostLine{}
	for _, l := range f.ByItem {
		byItem[l.ItemID] = l
	}
	all := terminal.Each(f.Pulls, func(p store.PullFacts) Pull {
		l := byItem[p.ItemID]
		v := Pull{
			PullRequest: status.PullOf(p.PullRequest), Repo: f.Called(p.Repo), Issue: p.Issue, Flow: string(p.Flow), Title: p.Title,
			Outcome: p.Outcome(f.Now), Opened: p.CreatedAt, Ended: terminal.Stamp(p.Ended()), Turns: l.Turns, Cost: status.CostOf(l.CostUSD, l.UnknownCost),
		}
		if p.End.PullID != 0 && p.End.Human >= 0 {
			v.Commits, v.Human = &p.End.Commits, &p.End.Human
		}
		return v
	})
	sorted.By(all, func(a, b Pull) int {
		switch {
		case a.Ended.IsZero() && !b.Ended.IsZero():
			return -1
		case b.Ended.IsZero() && !a.Ended.IsZero():
			return 1
		}
		return cmp.Or(b.Ended.Compare(a.Ended.Time), b.Opened.Compare(a.Opened))
	})
	return all
}

// add adds something to the sum and, unless it is not over, to its period.
func (r *Report) add(at time.Time, to func(*Numbers)) {
	to(&r.Numbers)
	if at.IsZero() {
		return
	}
	name := at.UTC().Format(time.DateOnly)
	if r.monthly {
		name = name[:len("2006-01")]
	}
	i := slices.IndexFunc(r.periods, func(p period) bool { return p.name == name })
	if i < 0 {
		i, r.periods = len(r.periods), append(r.periods, period{name: name})
	}
	to(&r.periods[i].Numbers)
}

func dayOf(day string) time.Time {
	t, _ := time.Parse(time.DateOnly, day) // in the store's format
	return t
}

func (n *Numbers) count(o work.Outcome, by int) {
	if n.Outcomes == nil {
		n.Outcomes = map[work.Outcome]int{}
	}
	n.Outcomes[o] += by
}

func (n *Numbers) addPull(p Pull) {
	n.count(p.Outcome, 1)
	if p.Outcome != work.Accepted {
		return
	}
	n.accepted = spent{n.accepted.turns + p.Turns, n.accepted.unknown + p.Unknown, n.accepted.usd + status.Known(p.USD)}
	if p.Human == nil {
		return
	}
	n.ZeroKnown++
	if *p.Human == 0 {
		n.ZeroTouch++
	}
}

func (n *Numbers) addAnswers(l store.TimeLine) {
	if n.answers == nil {
		n.answers = map[time.Duration]int{}
	}
	n.answers[l.Most] += l.Count
	n.Answers += l.Count
}

// leastTimes is the least number of durations of which a quantile says something.
const leastTimes = 10

// conclude sets what follows from the sums.
func (n *Numbers) conclude() {
	n.Cost = status.CostOf(n.used.CostUSD, n.used.UnknownCost)
	if n.Answers >= leastTimes {
		n.AnswerMedian, n.AnswerMost = new(within(n.answers, 0.5)), new(within(n.answers, 0.9))
	}
	if pulls := float64(n.Outcomes[work.Accepted]); pulls > 0 {
		n.TurnsPerPull = new(float64(n.accepted.turns) / pulls)
		if work.KnownPart(n.accepted.usd, n.accepted.unknown) != nil {
			n.CostPerPull = new(n.accepted.usd / pulls)
		}
	}
}

// within returns the seconds within which a part of the durations ended, which are counted by upper
// bound. It assumes that they are spread evenly below it. Those without a bound count as the largest one.
func within(counts map[time.Duration]int, part float64) float64 {
	all, before, least := 0, 0.0, time.Duration(0)
	for _, n := range counts {
		all += n
	}
	want := part * float64(all)
	for _, most := range store.TimeBounds() {
		n := float64(counts[most])
		if n > 0 && before+n >= want {
			return math.Round((least + time.Duration(float64(most-least)*(want-before)/n)).Seconds())
		}
		before, least = before+n, most
	}
	return least.Seconds()
}
