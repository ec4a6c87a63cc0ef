package report

import (
	"cmp"
	"slices"
	"time"

	"github.com/mergexo/gh-mergexo/cmd/status"
	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/spending"
	"github.com/mergexo/gh-mergexo/store"
)

// Facts are the data of a report.
type Facts struct {
	From     time.Time // beginning of a day in UTC; zero: no limit
	Now      time.Time
	Pulls    []store.PullFacts // open, or ended since From
	Items    []status.Item     // open ones
	ByItem   []store.CostLine  // by item, without a time limit
	Costs    []store.CostLine  // by day
	Failures []store.CountLine // by day and kind
	Verdicts []store.VerdictLine
	Answers  []store.TimeLine // by day
	Machines []status.Machine
	Used     []store.CostLine // by machine
	Marks    []store.Mark
	Called   func(work.RepoName) string
}

// Pull is the result of a pull request.
type Pull struct {
	Repo        string        `json:"repo"`
	Number      int           `json:"number"`
	Issue       int           `json:"issue"`
	Flow        string        `json:"flow"`
	Title       string        `json:"title"`
	URL         string        `json:"url"`
	Outcome     work.Outcome  `json:"outcome"` // `accepted`, `rejected`, `pending`, `ignored` or `unknown`
	Opened      time.Time     `json:"openedAt"`
	Ended       terminal.Time `json:"endedAt"`      // null: it is open
	Commits     *int          `json:"commits"`      // null: not known
	Human       *int          `json:"humanCommits"` // null: not known
	Turns       int           `json:"turns"`        // for its issue
	status.Cost               // of these turns

	zero  bool // it was accepted without a commit by a person
	usd   float64
	item  int64
	marks []store.Mark
}

// Numbers are the main numbers.
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

	runs             int // how often an agent's program was started
	failures         int // attempts that failed, and stops for a person
	waiting, stopped int // open items; the latter wait for a person
	unknownPerPull   int // runs for accepted pull requests whose cost is unknown: costUSDPerAccepted is too small
	used             work.UsageSum
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

// MachineUse is what a machine did, and what is wrong there.
type MachineUse struct {
	status.Machine // with its name alone if it was forgotten

	Runs, Turns int
	used        work.UsageSum
}

// Called returns its name, with its host name if that is another one.
func (m MachineUse) Called() string {
	return work.Machine{Name: cmp.Or(m.Name, "not known"), Host: m.Host}.Called()
}

// cost is what its runs cost.
func (m MachineUse) cost() string { return spending.Cost(m.used.CostUSD, m.used.UnknownCost) }

// Report is the content of a report.
type Report struct {
	From     terminal.Time `json:"since"` // the first day that counts; null: from the beginning
	To       time.Time     `json:"until"`
	Numbers  Numbers       `json:"numbers"`
	Pulls    []Pull        `json:"pullRequests"` // those that are open, or were merged or closed since then
	Items    []status.Item `json:"items"`        // the open ones
	Failures []Failure     `json:"failures"`     // the most frequent first
	Verdicts []Decided     `json:"verdicts"`

	Step     Step         `json:"-"` // how long each period is
	Periods  []Period     `json:"-"` // oldest first
	Machines []MachineUse `json:"-"`
}

// Empty reports whether there is no data.
func (r Report) Empty() bool {
	return len(r.Pulls) == 0 && len(r.Items) == 0 && r.Numbers.runs == 0 && len(r.Failures) == 0 && len(r.Verdicts) == 0 &&
		!slices.ContainsFunc(r.Fleet(), func(m MachineUse) bool { return m.Trouble != "" })
}

// Make makes a report from facts.
func Make(f Facts) Report {
	r := Report{To: f.Now.UTC(), Items: f.Items, From: terminal.Stamp(f.From)}
	r.Pulls = pulls(f)
	r.Numbers = numbers(f, r)
	for _, l := range f.Failures {
		r.Failures = tally(r.Failures, l)
	}
	slices.SortFunc(r.Failures, func(a, b Failure) int { return cmp.Or(b.Count-a.Count, cmp.Compare(a.Kind, b.Kind)) })
	r.Verdicts = verdicts(f.Verdicts)
	r.Machines = machines(f)
	r.Step, r.Periods = periods(f, r.Pulls)
	r.Items, r.Failures, r.Verdicts = terminal.OrEmpty(r.Items), terminal.OrEmpty(r.Failures), terminal.OrEmpty(r.Verdicts)
	return r
}

// machines returns the machines, and what agents used there.
func machines(f Facts) []MachineUse {
	all := terminal.Each(f.Machines, func(m status.Machine) MachineUse { return MachineUse{Machine: m} })
	for _, l := range f.Used {
		i := slices.IndexFunc(all, func(m MachineUse) bool { return m.Name == l.Machine })
		if i < 0 {
			i, all = len(all), append(all, MachineUse{Machine: status.Machine{Name: l.Machine}})
		}
		m := &all[i]
		m.Runs, m.Turns, m.used = m.Runs+l.Runs, m.Turns+l.Turns, m.used.Join(l.UsageSum)
	}
	return all
}

// Fleet returns the machines where there are several, else none.
func (r Report) Fleet() []MachineUse {
	if len(r.Machines) < 2 {
		return nil
	}
	return r.Machines
}

func tally(all []Failure, l store.CountLine) []Failure {
	for i := range all {
		if all[i].Kind == l.Kind {
			all[i].Count += l.Count
			return all
		}
	}
	return append(all, Failure{l.Kind, l.Count})
}

func verdicts(lines []store.VerdictLine) []Decided {
	var all []Decided
	for _, l := range lines {
		v := Decided{l.Reviewer, l.Outcome, l.Count, l.Findings}
		i := slices.IndexFunc(all, func(o Decided) bool { return o.Reviewer == v.Reviewer && o.Decision == v.Decision })
		if i < 0 {
			all = append(all, v)
			continue
		}
		all[i].Count += v.Count
		all[i].Findings += v.Findings
	}
	slices.SortFunc(all, func(a, b Decided) int {
		return cmp.Or(cmp.Compare(a.Reviewer, b.Reviewer), cmp.Compare(a.Decision, b.Decision))
	})
	return all
}

// pulls returns the pull requests: open ones first, then the others, latest end first.
func pulls(f Facts) []Pull {
	spent, marks := map[int64]store.CostLine{}, map[int64][]store.Mark{}
	for _, l := range f.ByItem {
		spent[l.ItemID] = l
	}
	for _, m := range f.Marks {
		marks[m.ItemID] = append(marks[m.ItemID], m)
	}
	all := make([]Pull, 0, len(f.Pulls))
	for _, p := range f.Pulls {
		l := spent[p.ItemID]
		v := Pull{
			Repo: f.Called(p.Repo), Number: p.Number, Issue: p.Issue, Flow: string(p.Flow), Title: p.Title, URL: p.URL,
			Outcome: p.Outcome(f.Now), Opened: p.Opened, Ended: terminal.Stamp(p.Ended()), Turns: l.Turns, Cost: status.CostOf(l.CostUSD, l.UnknownCost), usd: l.CostUSD,
			item: p.ItemID, marks: marks[p.ItemID],
		}
		if p.End.PullID != 0 && p.End.Human >= 0 {
			v.Commits, v.Human = &p.End.Commits, &p.End.Human
		}
		v.zero, _ = p.ZeroTouch()
		all = append(all, v)
	}
	slices.SortStableFunc(all, func(a, b Pull) int {
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

func numbers(f Facts, r Report) Numbers {
	n := Numbers{Outcomes: map[work.Outcome]int{}}
	for _, o := range work.Outcomes() {
		n.Outcomes[o] = 0
	}
	turns, cost := 0, 0.0
	for _, p := range r.Pulls {
		n.Outcomes[p.Outcome]++
		if p.Outcome != work.Accepted {
			continue
		}
		turns, cost = turns+p.Turns, cost+p.usd
		n.unknownPerPull += p.Unknown
		if p.Human != nil {
			n.ZeroKnown++
		}
		if p.zero {
			n.ZeroTouch++
		}
	}
	n.TurnsPerPull, n.CostPerPull = per(float64(turns), n.Outcomes[work.Accepted]), costPer(cost, n.unknownPerPull, n.Outcomes[work.Accepted])
	var h Histogram
	h.add(f.Answers)
	n.Answers, n.AnswerMedian, n.AnswerMost = h.Count(), h.seconds(0.5), h.seconds(0.9)
	for _, l := range f.Costs {
		n.runs, n.Turns, n.used = n.runs+l.Runs, n.Turns+l.Turns, n.used.Join(l.UsageSum)
	}
	n.Cost = status.CostOf(n.used.CostUSD, n.used.UnknownCost)
	for _, l := range f.Failures {
		n.failures += l.Count
	}
	for _, i := range r.Items {
		if i.Stopped {
			n.stopped++
		} else {
			n.waiting++
		}
	}
	return n
}

// costPer is per for a cost of which the runs with unknown cost are missing.
func costPer(usd float64, unknown, n int) *float64 {
	if work.KnownPart(usd, unknown) == nil {
		return nil
	}
	return per(usd, n)
}

func per(sum float64, n int) *float64 {
	if n == 0 {
		return nil
	}
	sum /= float64(n)
	return &sum
}
