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
	Repo        string        `json:"repo"`         // owner/name, with the host in front where two hosts are configured
	Number      int           `json:"number"`       // of the pull request
	Issue       int           `json:"issue"`        // the issue that the pull request is for
	Flow        string        `json:"flow"`         // `design`, `implementation`, `bugfix`, `small_job`, `roadmap` or `review`
	Title       string        `json:"title"`        // title of the pull request
	URL         string        `json:"url"`          // of the pull request
	Outcome     work.Outcome  `json:"outcome"`      // accepted, rejected, pending, ignored or unknown
	Opened      time.Time     `json:"openedAt"`     // when it was opened
	Ended       terminal.Time `json:"endedAt"`      // when it was merged or closed; null: it is open
	Commits     *int          `json:"commits"`      // number of its commits; null: not known
	Human       *int          `json:"humanCommits"` // number of its commits by people; null: not known
	Zero        bool          `json:"zeroTouch"`    // whether it was accepted without a commit by a person
	Turns       int           `json:"turns"`        // turns for its issue, as budgets count them
	status.Cost               // of all turns for its issue

	usd   float64
	item  int64
	marks []store.Mark
}

// Numbers are the main numbers.
type Numbers struct {
	Outcomes     map[work.Outcome]int `json:"outcomes"`               // pull requests by outcome
	ZeroTouch    int                  `json:"zeroTouch"`              // accepted pull requests without a commit by a person
	ZeroKnown    int                  `json:"zeroTouchKnown"`         // accepted pull requests whose commits are known; only these can count in zeroTouch
	Answers      int                  `json:"answers"`                // comments that were answered
	AnswerMedian *float64             `json:"answerSecondsMedian"`    // median time from a comment to its answer, in seconds; null: fewer than ten answers
	AnswerMost   *float64             `json:"answerSecondsNineInTen"` // 90th percentile of that time, in seconds; null: fewer than ten answers
	TurnsPerPull *float64             `json:"turnsPerAccepted"`       // turns per accepted pull request; null: none was accepted
	CostPerPull  *float64             `json:"costUSDPerAccepted"`     // cost per accepted pull request, in US dollars, as far as known; null: none was accepted, or unknown
	Runs         int                  `json:"runs"`                   // how often an agent's program was started
	Turns        int                  `json:"turns"`                  // runs that budgets count as a turn
	status.Usage
	Failures       int `json:"failures"`                     // attempts that failed, and stops for a person
	Waiting        int `json:"waiting"`                      // open items that are not stopped
	Stopped        int `json:"stopped"`                      // open items that wait for a person to act
	UnknownPerPull int `json:"runsOfUnknownCostPerAccepted"` // runs for accepted pull requests whose cost is unknown; if there are any, costUSDPerAccepted is too small

	used work.UsageSum
}

// Failure is how often something failed.
type Failure struct {
	Kind  string `json:"kind"`  // code of the reason: one of [reasons](reasons.md)
	Count int    `json:"count"` // how often it occurred
}

// Verdict is how often a reviewer made a decision.
type Verdict struct {
	Reviewer string `json:"reviewer"` // the reviewer's name; empty: people
	Decision string `json:"decision"` // approve or request_changes
	Count    int    `json:"count"`    // how often it occurred
	Findings int    `json:"findings"` // number of findings in these verdicts
}

// MachineUse is what a machine did, and what is wrong there.
type MachineUse struct {
	Name    string `json:"name"`    // its name
	Host    string `json:"host"`    // its host name; empty: the machine was forgotten
	Version string `json:"version"` // of the program
	Trouble string `json:"trouble"` // what is wrong there, for people; empty: nothing
	Runs    int    `json:"runs"`    // how often an agent's program was started there
	Turns   int    `json:"turns"`   // runs there that budgets count as a turn
	status.Usage

	used work.UsageSum
}

// Called returns its name, with its host name if that is another one.
func (m MachineUse) Called() string {
	return work.Machine{Name: cmp.Or(m.Name, "not known"), Host: m.Host}.Called()
}

// cost is what its runs cost.
func (m MachineUse) cost() string { return spending.Cost(m.used.CostUSD, m.used.UnknownCost) }

// Report is the content of a report.
type Report struct {
	From     terminal.Time `json:"since"`        // the first day that counts; null: from the beginning
	To       time.Time     `json:"until"`        // when it was made
	Numbers  Numbers       `json:"numbers"`      // the main numbers
	Pulls    []Pull        `json:"pullRequests"` // pull requests that are open, or were merged or closed since then
	Items    []status.Item `json:"items"`        // open items
	Step     Step          `json:"period"`       // how long each of periods is: day, week or month
	Periods  []Period      `json:"periods"`      // numbers by period, oldest first
	Failures []Failure     `json:"failures"`     // failures, most frequent first
	Verdicts []Verdict     `json:"verdicts"`     // verdicts of reviewers
	Machines []MachineUse  `json:"machines"`     // the machines that share the database, or this one, and forgotten ones on which agents ran
}

// Empty reports whether there is no data.
func (r Report) Empty() bool {
	return len(r.Pulls) == 0 && len(r.Items) == 0 && r.Numbers.Runs == 0 && len(r.Failures) == 0 && len(r.Verdicts) == 0 &&
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
	return r.withoutNulls()
}

// machines returns the machines, and what agents used there.
func machines(f Facts) []MachineUse {
	all := []MachineUse{}
	for _, m := range f.Machines {
		all = append(all, MachineUse{Name: m.Name, Host: m.Host, Version: m.Version, Trouble: m.Trouble})
	}
	for _, l := range f.Used {
		i := slices.IndexFunc(all, func(m MachineUse) bool { return m.Name == l.Machine })
		if i < 0 {
			i, all = len(all), append(all, MachineUse{Name: l.Machine})
		}
		m := &all[i]
		m.Runs, m.Turns, m.used = m.Runs+l.Runs, m.Turns+l.Turns, m.used.Join(l.UsageSum)
	}
	for i := range all {
		all[i].Usage = status.UsageOf(all[i].used)
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

// withoutNulls replaces nil lists by empty ones, which JSON shows as [].
func (r Report) withoutNulls() Report {
	r.Pulls, r.Items, r.Periods = append([]Pull{}, r.Pulls...), append([]status.Item{}, r.Items...), append([]Period{}, r.Periods...)
	r.Failures, r.Verdicts = append([]Failure{}, r.Failures...), append([]Verdict{}, r.Verdicts...)
	return r
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

func verdicts(lines []store.VerdictLine) []Verdict {
	var all []Verdict
	for _, l := range lines {
		v := Verdict{l.Reviewer, l.Outcome, l.Count, l.Findings}
		i := slices.IndexFunc(all, func(o Verdict) bool { return o.Reviewer == v.Reviewer && o.Decision == v.Decision })
		if i < 0 {
			all = append(all, v)
			continue
		}
		all[i].Count += v.Count
		all[i].Findings += v.Findings
	}
	slices.SortFunc(all, func(a, b Verdict) int {
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
		v.Zero, _ = p.ZeroTouch()
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
		n.UnknownPerPull += p.Unknown
		if p.Human != nil {
			n.ZeroKnown++
		}
		if p.Zero {
			n.ZeroTouch++
		}
	}
	n.TurnsPerPull, n.CostPerPull = per(float64(turns), n.Outcomes[work.Accepted]), costPer(cost, n.UnknownPerPull, n.Outcomes[work.Accepted])
	var h Histogram
	h.add(f.Answers)
	n.Answers, n.AnswerMedian, n.AnswerMost = h.Count(), h.seconds(0.5), h.seconds(0.9)
	for _, l := range f.Costs {
		n.Runs, n.Turns, n.used = n.Runs+l.Runs, n.Turns+l.Turns, n.used.Join(l.UsageSum)
	}
	n.Usage = status.UsageOf(n.used)
	for _, l := range f.Failures {
		n.Failures += l.Count
	}
	for _, i := range r.Items {
		if i.Stopped {
			n.Stopped++
		} else {
			n.Waiting++
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
